/* The forward transform of N = 256 modulo two 30-bit primes, from 256 integers to a block of 2048 bytes, on one core: in each
 * version of host/methods/ntt, beside the straightforward scalar one and beside what moving its bytes takes at the memory's
 * bandwidth; likewise the dot product with a key, which is one read of such a block.  And products modulo the 60-bit prime, reduced by a
 * 128-bit division and by Barrett's method. */
#include <string.h>

#include "bench.h"
#include "bench/barrett.h"
#include "methods/ntt/ring/ntt.h"

enum { N = 256, BYTES = HX_CRT_PRIMES * N * 4, BATCH = 100, STREAM = 64 << 20, BARRETT_ROUNDS = 100 };

struct rig {
    const struct hx_crt_ops *ops;
    const struct hx_ntt60_ops *ops60;
    int32_t a[N];
    _Alignas(64) uint32_t block[HX_CRT_PRIMES * N], key[HX_CRT_PRIMES * N];
    uint64_t v[N];
    uint32_t sums[HX_CRT_PRIMES];
    uint64_t *stream;
    uint64_t seen; /* keeps the compiler from leaving work out */
};

static void run_transform(void *arg)
{
    struct rig *r = arg;

    for (int i = 0; i < BATCH; i++)
        r->ops->transform(hx_crt_get(N), r->block, r->a);
}

static void run_inverse(void *arg)
{
    struct rig *r = arg;

    for (int i = 0; i < BATCH; i++)
        r->ops->inverse(hx_crt_get(N), r->block);
}

static void run_dot(void *arg)
{
    struct rig *r = arg;

    for (int i = 0; i < BATCH; i++)
        r->ops->dots(hx_crt_get(N), r->sums, r->block, r->key, 0, 1);
}

static void run_forward60(void *arg)
{
    struct rig *r = arg;

    for (int i = 0; i < BATCH; i++)
        r->ops60->forward(hx_ntt60_get(N), r->v);
}

static void run_dot60(void *arg)
{
    struct rig *r = arg;

    for (int i = 0; i < BATCH; i++)
        r->seen += r->ops60->dot(hx_ntt60_get(N), r->v, r->v);
}

static void run_stream(void *arg)
{
    struct rig *r = arg;
    uint64_t sum[8] = {0};

    for (size_t i = 0; i < STREAM / 8; i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += r->stream[i + j];
    for (size_t j = 0; j < 8; j++)
        r->seen += sum[j];
}

/* ns of one of `batch` in fn, the best of many short rounds: other work on the machine comes between long ones. */
static double ns_of(void (*fn)(void *arg), struct rig *r, int batch, int rounds)
{
    double best = 1e30;

    for (int i = 0; i < rounds; i++) {
        const double us = bench_us(fn, r, 1);

        best = us < best ? us : best;
    }
    return best * 1e3 / batch;
}

static void row(const char *what, const char *version, double ns, double scalar_ns, double memory_ns)
{
    printf("%-22s %-7s %8.1f ns %7.1fx of scalar, %5.2fx of its bytes from memory (%.1f ns)\n", what,
           version, ns, scalar_ns / ns, ns / memory_ns, memory_ns);
}

static void bench_crt(struct rig *r, double ns_per_byte)
{
    double scalar[3] = {0};

    for (size_t i = 0; hx_crt_variants[i]; i++) {
        r->ops = hx_crt_variants[i];
        if (!r->ops->supported())
            continue;
        const double ns[] = {ns_of(run_transform, r, BATCH, 400), ns_of(run_inverse, r, BATCH, 400),
                             ns_of(run_dot, r, BATCH, 400)};

        if (!i)
            memcpy(scalar, ns, sizeof(ns));
        row("forward, two primes", r->ops->name, ns[0], scalar[0], (4 * N + BYTES) * ns_per_byte);
        row("inverse, two primes", r->ops->name, ns[1], scalar[1], 2 * BYTES * ns_per_byte);
        row("dot, two primes", r->ops->name, ns[2], scalar[2], BYTES * ns_per_byte);
    }
}

static void bench_60(struct rig *r, double ns_per_byte)
{
    double scalar[2] = {0};

    for (size_t i = 0; hx_ntt60_variants[i]; i++) {
        r->ops60 = hx_ntt60_variants[i];
        if (!r->ops60->supported())
            continue;
        const double ns[] = {ns_of(run_forward60, r, BATCH, 200), ns_of(run_dot60, r, BATCH, 200)};

        if (!i)
            memcpy(scalar, ns, sizeof(ns));
        row("forward, 60 bits", r->ops60->name, ns[0], scalar[0], 2 * BYTES * ns_per_byte);
        row("dot, 60 bits", r->ops60->name, ns[1], scalar[1], BYTES * ns_per_byte);
    }
}

static int bench_barrett(void)
{
    struct hx_barrett_row rows[HX_BARRETT_ROWS];
    struct hx_error err;

    if (hx_barrett_measure(rows, BARRETT_ROUNDS, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    for (size_t i = 0; i < HX_BARRETT_ROWS; i++)
        printf("Barrett, %-13s 60 bits %8.2f ns %7.2fx as fast as by %% (%.2f ns), 95 %%: %.2f to %.2f\n", rows[i].name,
               rows[i].barrett_ns, rows[i].speedup, rows[i].percent_ns, rows[i].interval.low, rows[i].interval.high);
    return 0;
}

int main(void)
{
    struct rig *r = aligned_alloc(64, (sizeof(*r) + 63) / 64 * 64);
    double ns_per_byte;

    if (!r)
        return 1;
    memset(r, 0, sizeof(*r));
    r->stream = calloc(STREAM, 1);
    if (!r->stream)
        return 1;
    memset(r->stream, 1, STREAM);
    for (size_t i = 0; i < N; i++)
        r->a[i] = (int32_t)(i * 2654435761u) >> 8;
    hx_crt_transform(hx_crt_get(N), r->key, r->a);
    ns_per_byte = ns_of(run_stream, r, 1, 3) / STREAM;
    printf("transforms of N = %d; one core reads %.1f GB/s from memory\n", N, 1 / ns_per_byte);
    bench_crt(r, ns_per_byte);
    bench_60(r, ns_per_byte);
    free(r->stream);
    free(r);
    return bench_barrett();
}
