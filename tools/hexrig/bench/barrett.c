/* Products modulo the 60-bit prime by % and by Barrett's method, see barrett.h. */
#include "barrett.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mul60.h"

enum { N = 256, PRODUCTS = 4096, TRANSFORMS = 4, BUTTERFLIES = N / 2 * 8 * TRANSFORMS };
enum { TRIES = 3 }; /* of which the fastest counts: other work on the machine falls on some */
enum { DRAWS = 2000, SEED = 1 };

struct work {
    uint64_t a[N], b[N], w[N]; /* residues; weights of the transform */
    uint64_t out[2][N];        /* by way */
};

HX_MUL60_INLINE void chain(struct work *w, int barrett)
{
    uint64_t r = w->a[0];

    for (size_t i = 0; i < PRODUCTS; i++)
        r = hx_mul60(r, w->b[i % N], barrett);
    w->out[barrett][0] = r;
}

HX_MUL60_INLINE void pointwise(struct work *w, int barrett)
{
    uint64_t *out = w->out[barrett];

    memcpy(out, w->a, sizeof(w->a));
    for (size_t round = 0; round < PRODUCTS / N; round++)
        for (size_t i = 0; i < N; i++)
            out[i] = hx_mul60(out[i], w->b[i], barrett);
}

HX_MUL60_INLINE void transform(struct work *w, int barrett)
{
    memcpy(w->out[barrett], w->a, sizeof(w->a));
    for (size_t i = 0; i < TRANSFORMS; i++)
        hx_forward60(w->out[barrett], w->w, N, barrett);
}

static void chain_percent(struct work *w)
{
    chain(w, 0);
}

static void chain_barrett(struct work *w)
{
    chain(w, 1);
}

static void pointwise_percent(struct work *w)
{
    pointwise(w, 0);
}

static void pointwise_barrett(struct work *w)
{
    pointwise(w, 1);
}

static void transform_percent(struct work *w)
{
    transform(w, 0);
}

static void transform_barrett(struct work *w)
{
    transform(w, 1);
}

static const struct {
    const char *name;
    size_t products;
    void (*way[2])(struct work *w); /* by %, by Barrett */
} loops[HX_BARRETT_ROWS] = {
    {"chain", PRODUCTS, {chain_percent, chain_barrett}},
    {"pointwise", PRODUCTS, {pointwise_percent, pointwise_barrett}},
    {"transform", BUTTERFLIES, {transform_percent, transform_barrett}},
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double ns_of(void (*way)(struct work *w), struct work *w, size_t products)
{
    double best = 0;

    for (int i = 0; i < TRIES; i++) {
        const double start = now_ns();

        way(w);
        const double ns = now_ns() - start;

        if (!i || ns < best)
            best = ns;
    }
    return best / (double)products;
}

static int measure(struct hx_barrett_row *row, size_t loop, struct work *w, double *ns[2], size_t rounds, struct hx_error *err)
{
    memset(w->out, 0, sizeof(w->out));
    for (size_t i = 0; i < rounds; i++)
        for (size_t turn = 0; turn < 2; turn++) {
            const size_t way = (turn + i) % 2; /* neither is always the first */

            ns[way][i] = ns_of(loops[loop].way[way], w, loops[loop].products);
        }
    if (memcmp(w->out[0], w->out[1], sizeof(w->out[0])) != 0)
        return hx_error_set(err, -EBADMSG, "bench: %s: products by Barrett's method are not those by division", loops[loop].name);
    *row = (struct hx_barrett_row){.name = loops[loop].name, .percent_ns = hx_mean(ns[0], rounds),
                                   .barrett_ns = hx_mean(ns[1], rounds), .speedup = hx_mean_ratio(ns[1], ns[0], rounds, 1)};
    return hx_bootstrap_ratio(ns[1], ns[0], rounds, 1, DRAWS, SEED, 0.95, &row->interval)
               ? hx_error_set(err, -ENOMEM, "bench: out of memory") : 0;
}

int hx_barrett_measure(struct hx_barrett_row rows[HX_BARRETT_ROWS], size_t rounds, struct hx_error *err)
{
    double *ns[2] = {calloc(rounds, sizeof(double)), calloc(rounds, sizeof(double))};
    struct work *w = calloc(1, sizeof(*w));
    int rc = ns[0] && ns[1] && w ? 0 : hx_error_set(err, -ENOMEM, "bench: out of memory");

    for (uint64_t i = 0, r = 1; !rc && i < N; i++) {
        w->a[i] = r = hx_mul60(r + 1, 0x9e3779b97f4a7c15u % HX_NTT60_Q, 1); /* any residues */
        w->b[i] = r = hx_mul60(r + 1, 0x94d049bb133111ebu % HX_NTT60_Q, 1);
    }
    if (!rc)
        hx_weights60(w->w, N);
    for (size_t i = 0; !rc && i < HX_BARRETT_ROWS; i++)
        rc = measure(&rows[i], i, w, ns, rounds, err);
    free(ns[0]);
    free(ns[1]);
    free(w);
    return rc;
}
