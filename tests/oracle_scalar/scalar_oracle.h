/* What both sides of the scalar oracle share: inputs, and how results become one number per intrinsic.
 * Built with our headers for this machine, and with clang's for qemu-hexagon.  Plain C without library calls. */
#ifndef SCALAR_ORACLE_H
#define SCALAR_ORACLE_H

#include <stdint.h>

#include <hexagon_types.h>

#include <hexagon_protos.h>

struct input {
    int32_t r[4];
    int64_t p[4];
    int q[4]; /* predicates, 0..255 */
    float f[4];
    double g[4];
};

struct scalar_case {
    const char *name;
    unsigned int vectors;
    void (*run)(const struct input *in);
};

static uint64_t hash;
static uint64_t *dump; /* where single results go, or NULL */
static unsigned int dumped, dump_size;

static void emit_p(uint64_t v)
{
    hash = (hash ^ v) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    if (dump && dumped < dump_size)
        dump[dumped++] = v;
}

static void emit_r(uint32_t v)
{
    emit_p(v);
}

static void emit_f(float v)
{
    union {
        float f;
        uint32_t u;
    } b = {v};

    emit_p(b.u);
}

static void emit_g(double v)
{
    union {
        double g;
        uint64_t u;
    } b = {v};

    emit_p(b.u);
}

static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x9e3779b97f4a7c15u;
}

static const uint32_t edge[16] = {
    0,          0xffffffff, 0x80000000, 0x7fffffff, 0x80008000, 0x7fff7fff, 0x80808080, 0x7f7f7f7f,
    0x00000001, 0x00010001, 0x01010101, 0xffff0000, 0x0000ffff, 0x55555555, 0x00000020, 0xffffffe0,
};

/* Float and double patterns: zeros, ones, halves, subnormals, the extremes, infinities, NaNs, integers' borders. */
static const uint32_t edge_f[16] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x00000001, 0x807fffff, 0x00800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x4f000000, 0xcf000000, 0x4f800000,
};
static const uint64_t edge_g[16] = {
    0,
    0x8000000000000000u,
    0x3ff0000000000000u,
    0xbfe0000000000000u,
    0x3fe0000000000000u,
    0x0000000000000001u,
    0x800fffffffffffffu,
    0x7fefffffffffffffu,
    0xffefffffffffffffu,
    0x7ff0000000000000u,
    0xfff0000000000000u,
    0x7ff8000000000000u,
    0x41dfffffffe00000u, /* 2^31 - 0.5 */
    0xc1e0000000100000u, /* -2^31 - 0.5 */
    0x43e0000000000000u, /* 2^63 */
    0x43f0000000000000u, /* 2^64 */
};

/* One of: an edge, near 1, an integer and a half, any bits. */
static uint32_t float_bits(void)
{
    const uint64_t x = rnd();

    switch (x >> 60 & 3) {
    case 0:
        return edge_f[x & 15];
    case 1:
        return (uint32_t)(x & 0x87ffffff) | 0x38000000;
    case 2: /* exponents around those of integers, few fraction bits */
        return (uint32_t)(x & 0x80f00000) | (uint32_t)(120 + (x >> 32 & 63)) << 23;
    default:
        return (uint32_t)x;
    }
}

static uint64_t double_bits(void)
{
    const uint64_t x = rnd();

    switch (x >> 60 & 3) {
    case 0:
        return edge_g[x & 15];
    case 1:
        return (x & 0x87ffffffffffffffu) | 0x3800000000000000u;
    case 2:
        return (x & 0x8007800000000000u) | (uint64_t)(1015 + (x >> 8 & 63)) << 52;
    default:
        return x;
    }
}

static void make_input(struct input *in)
{
    for (int i = 0; i < 4; i++) {
        const uint64_t x = rnd(), y = rnd();
        union {
            uint32_t u;
            float f;
        } f = {float_bits()};
        union {
            uint64_t u;
            double g;
        } g = {double_bits()};

        in->r[i] = (int32_t)((x & 7) < 2 ? edge[x >> 4 & 15] : (uint32_t)(x >> 16));
        in->p[i] = (int64_t)rnd();
        if ((y & 7) < 2)
            in->p[i] = (int64_t)(edge[y >> 4 & 15] | (uint64_t)edge[y >> 8 & 15] << 32);
        if ((x & 0x700) == 0) /* equal operands, and close ones */
            in->r[i] = (int32_t)((uint32_t)in->r[0] + (uint32_t)(x >> 12 & 1));
        if ((y & 0x70000) == 0)
            in->p[i] = in->p[0] ^ (int64_t)(0xffull << (y >> 20 & 31));
        in->q[i] = (x & 0x3000) == 0 ? (x & 0x4000 ? 0xff : 0) : (int)(x >> 24 & 0xff);
        in->f[i] = f.f;
        in->g[i] = g.g;
    }
}

static uint64_t run_case(const struct scalar_case *c, unsigned int number)
{
    struct input in;

    hash = 0;
    state = (number + 1) * 0x9e3779b97f4a7c15u;
    for (unsigned int k = 0; k < c->vectors; k++) {
        make_input(&in);
        c->run(&in);
    }
    return hash;
}

#include "memory_cases.h"

#include "scalar_cases.inc"

static const struct scalar_case cases[] = {GENERATED_CASES MEMORY_CASES};
#define CASES (sizeof(cases) / sizeof(cases[0]))

#endif
