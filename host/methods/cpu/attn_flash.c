/* See attn_flash.h. */
#include "attn_flash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/method.h"

enum {
    PART_MACS = 1 << 16, /* a part of at least so many multiplications (some us) is worth handing to a thread */
    PARTS_PER_THREAD = 4,
    TOGETHER = 32,       /* queries that share a block of positions */
};

struct flash {
    struct hx_attn attn;
    const struct hx_cpu_kernels *isa;
    struct hx_pool *pool;
};

struct job {
    const struct flash *a;
    const struct hx_attn_in *in;
    struct hx_kv_view past;
    float *out;
};

/* One query: head `head` of token i. */
static struct hx_flash start(const struct job *j, size_t i, size_t head)
{
    const struct hx_attn_in *in = j->in;
    const size_t dh = in->kv->dh, at = (i * in->n_head + head) * dh;
    struct hx_flash f = {
        .q = in->q + at, .dh = dh, .scale = in->scale, .softcap = in->softcap, .out = j->out + at,
        .max = -INFINITY,
    };

    memset(f.out, 0, dh * sizeof(*f.out));
    return f;
}

/* The token's own K and V, and the division that ends it. */
static void finish(const struct job *j, struct hx_flash *f, size_t i, size_t head)
{
    const struct hx_kv *kv = j->in->kv;
    const size_t own = (i * kv->n_kv + head / (j->in->n_head / kv->n_kv)) * kv->dh;

    j->a->isa->flash(f, j->in->k + own, j->in->v + own, 0, 1);
    for (size_t d = 0; d < f->dh; d++)
        f->out[d] /= f->sum;
}

/* Positions of the block at `block` that token i sees. */
static void one_block(const struct job *j, struct hx_flash *f, size_t i, size_t head, size_t block)
{
    const struct hx_attn_in *in = j->in;
    const size_t off = head / (in->n_head / in->kv->n_kv) * in->kv->dh, end = in->pos + i;
    const size_t first = hx_attn_first(in, end), from = first > block ? first : block;
    const size_t to = end < block + HX_FLASH_BLOCK ? end : block + HX_FLASH_BLOCK;

    if (from < to)
        j->a->isa->flash(f, j->past.k + from * j->past.stride + off,
                         j->past.v + from * j->past.stride + off, j->past.stride, to - from);
}

/* Queries first..first+n-1 of all (a query is head * tokens + token), n <= TOGETHER: a block of positions meets all of them
 * while it is in the cache.  Blocks begin at multiples of their length, whatever the query. */
static void run_queries(const struct job *j, size_t first, size_t n)
{
    const struct hx_attn_in *in = j->in;
    struct hx_flash f[TOGETHER];

    for (size_t u = 0; u < n; u++)
        f[u] = start(j, (first + u) % in->n, (first + u) / in->n);
    for (size_t block = hx_attn_first(in, in->pos) / HX_FLASH_BLOCK * HX_FLASH_BLOCK;
         block < in->pos + in->n; block += HX_FLASH_BLOCK)
        for (size_t u = 0; u < n; u++)
            one_block(j, &f[u], (first + u) % in->n, (first + u) / in->n, block);
    for (size_t u = 0; u < n; u++)
        finish(j, &f[u], (first + u) % in->n, (first + u) / in->n);
}

static void run_part(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const size_t all = j->in->n * j->in->n_head, end = all * (part + 1) / n_parts;

    for (size_t u = all * part / n_parts; u < end; u += TOGETHER)
        run_queries(j, u, end - u < TOGETHER ? end - u : TOGETHER);
}

static size_t parts_of(const struct job *j)
{
    const struct hx_attn_in *in = j->in;
    const size_t most = hx_pool_threads(j->a->pool) * PARTS_PER_THREAD, units = in->n * in->n_head;
    const size_t sees = in->pos + in->n - hx_attn_first(in, in->pos);
    const size_t worth = units * sees * in->kv->dh / PART_MACS;
    const size_t parts = worth < most ? worth : most;

    if (hx_pool_threads(j->a->pool) == 1 || parts < 2)
        return 1;
    return parts < units ? parts : units;
}

static int run(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct job j = {.a = (const struct flash *)a, .in = in, .out = out};
    int rc = in->kv->ops->rows(in->kv, in->layer, in->pos + in->n - 1, &j.past, err);

    if (!rc)
        hx_pool_run(j.a->pool, parts_of(&j), run_part, &j);
    return rc;
}

static void close_flash(struct hx_attn *a)
{
    free(a);
}

static const struct hx_attn_ops ops = {"flash", run, close_flash};

int hx_attn_flash_open(struct hx_attn **out, const struct hx_cpu_kernels *isa, struct hx_pool *pool,
                       struct hx_error *err)
{
    struct flash *a = calloc(1, sizeof(*a));

    if (!a)
        return hx_error_set(err, -ENOMEM, "attention: out of memory");
    a->attn.ops = &ops;
    a->isa = isa ? isa : hx_isa_best();
    a->pool = pool;
    *out = &a->attn;
    return 0;
}

static int open_flash(struct hx_attn **out, const struct hx_open *o, struct hx_error *err)
{
    return hx_attn_flash_open(out, NULL, o->pool, err);
}

const struct hx_method hx_method_attn_flash = {
    .name = "flash",
    .seam = HX_SEAM_ATTN,
    .about = "fp32 with online softmax, this CPU's kernels and threads",
    .needs = HX_TRAIT_ROWS | HX_TRAIT_POOL,
    .open.attn = open_flash,
};
