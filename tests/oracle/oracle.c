/* Inputs and batches: see oracle.h.  Included by both sides. */
#include "oracle.h"

static uint64_t rnd(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static const uint32_t edge[] = {
    0,          0xffffffff, 0x80808080, 0x80008000, 0x80000000, 0x7f7f7f7f,
    0x7fff7fff, 0x7fffffff, 0x55555555, 0xaaaaaaaa, 0x01010101, 0x00010001,
    0x00000001, 0xff00ff00, 0x00ff00ff, 0xffff0000, 0x0000ffff, 0xfffffffe,
};
#define EDGES ((uint32_t)(sizeof(edge) / sizeof(*edge)))

/* No division: the other side has no library for it. */
static uint32_t pick(uint64_t r)
{
    return edge[((r & 0xffff) * EDGES) >> 16];
}

static uint64_t edge64(uint64_t r)
{
    return pick(r >> 32) | (uint64_t)pick(r >> 16) << 32;
}

/* n random words, some of them edges. */
static void fill(uint64_t *d, int n, uint64_t *s)
{
    for (int i = 0; i < n; i++) {
        const uint64_t r = rnd(s);

        d[i] = (r & 7) < 2 ? edge64(r) : r * 0x9e3779b97f4a7c15u;
    }
}

static void same(uint64_t *d, int n, uint64_t x)
{
    for (int i = 0; i < n; i++)
        d[i] = x;
}

/* Offsets for gather and scatter: of any alignment, with collisions in some vectors.  All are
 * inside the region: qemu does not look at its length. */
static void offsets(uint64_t *d, int bits, uint64_t *s)
{
    const uint64_t start = rnd(s), range = start & 0x30000 ? 510 : 62;
    uint64_t lane = 0;

    for (int i = 0; i < 32; i++) {
        d[i] = rnd(s) & (bits == 16 ? 0x0003000300030003u : 0x0000000300000003u);
        for (int k = 0; k < 64; k += bits)
            d[i] |= ((lane++ * 37 + start) & range) * 4 << k;
    }
}

void oracle_input(struct input *in, unsigned int c, unsigned int k, int memory)
{
    uint64_t s = (c * 4099ull + k + 1) * 0x9e3779b97f4a7c15u;

    rnd(&s);
    fill(in->uu_, 32, &s);
    fill(in->vv_, 32, &s);
    fill(in->xx_, 32, &s);
    fill(in->q_, 16, &s);
    fill(in->p_, 16, &s);
    in->rr = (int64_t)((k & 3) ? rnd(&s) : edge64(rnd(&s)));
    in->r =
        (int32_t)((k & 3 ? (uint32_t)rnd(&s) : pick(rnd(&s))) & 0xffffff00u) | (int32_t)(k & 255);
    if (k % 5 == 0)
        in->r = (int32_t)pick(rnd(&s));
    if (k < 1024) { /* each single bit of one operand, then of the other */
        same(in->uu_, 16, 0);
        in->uu_[k / 64] = 1ull << k % 64;
    } else if (k < 2048) {
        same(in->vv_, 16, 0);
        in->vv_[k / 64 - 16] = 1ull << k % 64;
    } else if (k < 2048 + EDGES * EDGES) { /* every edge against every edge */
        const uint64_t a = edge[(k - 2048) % EDGES], b = edge[(k - 2048) / EDGES],
                       x = pick(rnd(&s));

        same(in->uu_, 32, a | a << 32);
        same(in->vv_, 32, b | b << 32);
        same(in->xx_, 32, x | x << 32);
    }
    if (k % 64 == 1)
        same(in->q_, 16, 0);
    if (k % 64 == 2)
        same(in->q_, 16, ~0ull);
    in->target = oracle_memory + ORACLE_REGION;
    in->base = (int32_t)(uintptr_t)oracle_memory;
    in->length = ORACLE_REGION - 1;
    if (memory)
        offsets(in->vv_, memory, &s);
}

static uint64_t mix(uint64_t h, const uint64_t *d, int n)
{
    for (int i = 0; i < n; i++) {
        h = (h ^ d[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

uint64_t oracle_batch(const struct oracle_case *test, unsigned int c, unsigned int b,
                      uint64_t *dump)
{
    uint64_t h = 0, s = c * 64 + b + 1;
    struct input in;
    struct output out;

    if (test->memory)
        fill((uint64_t *)(void *)oracle_memory, (ORACLE_REGION + 128) / 8, &s);
    for (unsigned int k = b * ORACLE_BATCH; k < (b + 1) * ORACLE_BATCH; k++) {
        oracle_input(&in, c, k, test->memory);
        same(out.word, 32, 0);
        test->run(&in, &out);
        h = mix(h, out.word, 32);
        if (test->memory)
            h = mix(h, (const uint64_t *)(const void *)oracle_memory, (ORACLE_REGION + 128) / 8);
        if (dump) {
            for (int i = 0; i < 32; i++)
                dump[i] = out.word[i];
            for (int i = 0; test->memory && i < (ORACLE_REGION + 128) / 8; i++)
                dump[32 + i] = ((const uint64_t *)(const void *)oracle_memory)[i];
            dump += ORACLE_DUMP;
        }
    }
    return h;
}

uint64_t oracle_digest(const uint64_t *n)
{
    return mix(0, n, ORACLE_BATCHES);
}
