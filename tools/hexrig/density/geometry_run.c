/* Runs a geometry: the calls of a forward pass without a model. */
#include "geometry_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/arch/arch.h"
#include "engine/draft.h"
#include "engine/linear.h"
#include "methods/dsp/linear_pack.h"
#include "methods/spinor/geometry.h"

/* --- what the plan asks for */

static int on_dsp(const struct hx_plan *p, size_t layer, enum hx_matrix which)
{
    const struct hx_plan_linear l = hx_plan_linear(p, layer, which);

    if (which != HX_OUT && hx_plan_whole_layers(p))
        return 1;
    return l.method->needs & HX_TRAIT_RIG || (l.on_dsp && l.method->gives & HX_TRAIT_SHAPES);
}

int hx_geometry_has_matrices(const struct hx_geometry *g, const struct hx_plan *p)
{
    int any = on_dsp(p, 0, HX_OUT);

    for (size_t i = 0; i < g->n_layer * HX_PER_LAYER && !any; i++)
        any = on_dsp(p, i / HX_PER_LAYER, (enum hx_matrix)(i % HX_PER_LAYER));
    return any;
}

/* A linear method that computes on both sides: what it moves follows from weights. */
static const struct hx_method *mixed_method(const struct hx_plan *p, size_t n_layer)
{
    for (size_t layer = 0; layer < n_layer; layer++)
        for (int w = 0; w < HX_MATRICES; w++) {
            const struct hx_plan_linear l = hx_plan_linear(p, layer, (enum hx_matrix)w);

            if (l.on_dsp && !on_dsp(p, layer, (enum hx_matrix)w))
                return l.method;
        }
    return NULL;
}

/* 1: an option that matters, but neither to the cache nor to matrices on the DSP. */
static int needs_a_model(const struct hx_geometry *g, const struct hx_plan *p, const struct hx_option *o,
                         const struct hx_method *owner)
{
    static const char *const never[] = {"kv", "offload", "packets"};

    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (strcmp(o->name, never[i]) == 0)
            return 0;
    if (!hx_plan_given(p, o->name) || hx_method_has(hx_plan_method(p, HX_SEAM_KV), o->name))
        return 0;
    if (o->flags & HX_OPTION_SHAPES)
        return !hx_geometry_has_matrices(g, p);
    if (strcmp(o->name, "linear") == 0 || o->flags & HX_OPTION_ON_DSP)
        return !hx_geometry_has_matrices(g, p);
    return !owner || hx_plan_uses_option(p, o->name);
}

/* A matrix on the DSP that has no size. */
static int check_sizes(const struct hx_geometry *g, const struct hx_plan *p, struct hx_error *err)
{
    int ffn = 0;

    for (size_t layer = 0; layer < g->n_layer && !ffn; layer++)
        ffn = on_dsp(p, layer, HX_GATE) || on_dsp(p, layer, HX_UP) || on_dsp(p, layer, HX_DOWN);
    if (ffn && !g->ffn)
        return hx_error_set(err, -EINVAL, "--geometry %s has no FFN, whose matrices are on the DSP: say how wide it is", g->name);
    if (on_dsp(p, 0, HX_OUT) && !g->vocab)
        return hx_error_set(err, -EINVAL, "--geometry %s has no vocabulary, and logits are on the DSP: say how large it is", g->name);
    return 0;
}

int hx_geometry_check(const struct hx_geometry *g, const struct hx_plan *p, int guesses, struct hx_error *err)
{
    const struct hx_method *mixed = mixed_method(p, g->n_layer), *owner;
    const struct hx_option *o;
    int rc = hx_plan_check_layers(p, g->n_layer, err);

    if (!rc && mixed)
        rc = hx_error_set(err, -EINVAL, "--geometry has no weights: linear method %s needs a model", mixed->name);
    if (!rc)
        rc = check_sizes(g, p, err);
    for (size_t i = 0; !rc && (o = hx_plan_option(i, &owner)); i++)
        if (!(guesses && strcmp(o->name, "draft") == 0) && needs_a_model(g, p, o, owner))
            rc = hx_error_set(err, -EINVAL, "--geometry has a cache and matrices on the DSP, and nothing else: --%s needs a model",
                              o->name);
    return rc;
}

/* --- shapes */

static size_t row_bytes(uint32_t type, size_t cols)
{
    return hx_quant_row_bytes(type, cols);
}

/* Weights as most models have them: Q8_0 where rows are made of its blocks. */
static uint32_t type_of(size_t cols)
{
    return cols % HX_Q8_0_WEIGHTS ? HX_QUANT_F16 : HX_QUANT_Q8_0;
}

/* rows 0: there is none. */
static struct hx_linear matrix(size_t rows, size_t cols)
{
    return (struct hx_linear){.ops = &hx_linear_ref, .type = type_of(cols), .rows = rows, .cols = rows ? cols : 0};
}

static struct hx_layer layer_of(const struct hx_geometry *g, const struct hx_plan *p, size_t layer)
{
    const size_t q = g->n_head * g->dh, kv = g->n_kv * g->dh;
    struct hx_layer l = {
        .q = matrix(q, g->width), .k = matrix(kv, g->width), .v = matrix(kv, g->width), .o = matrix(g->width, q),
        .gate = matrix(g->gated ? g->ffn : 0, g->width), .up = matrix(g->ffn, g->width), .down = matrix(g->width, g->ffn),
    };

    for (int w = 0; w < HX_PER_LAYER; w++)
        if (!on_dsp(p, layer, (enum hx_matrix)w))
            *hx_layer_matrix(&l, (enum hx_matrix)w) = matrix(0, 0);
    return l;
}

/* As linear method `dsp` and whole layers have it; others have forms of their own. */
static double packed_bytes(const struct hx_plan *p, size_t layer, enum hx_matrix which, const struct hx_linear *w)
{
    const int whole = which != HX_OUT && hx_plan_whole_layers(p);

    return w->rows && (whole || strcmp(hx_plan_linear(p, layer, which).method->name, "dsp") == 0) ? (double)hx_linear_pack_bytes(w) : 0;
}

double hx_geometry_matrix_bytes(const struct hx_geometry *g, const struct hx_plan *p)
{
    const struct hx_linear out = on_dsp(p, 0, HX_OUT) ? matrix(g->vocab, g->width) : matrix(0, 0);
    double sum = packed_bytes(p, 0, HX_OUT, &out);

    for (size_t i = 0; i < g->n_layer; i++) {
        struct hx_layer l = layer_of(g, p, i);

        for (int w = 0; w < HX_PER_LAYER; w++)
            sum += packed_bytes(p, i, (enum hx_matrix)w, hx_layer_matrix(&l, (enum hx_matrix)w));
    }
    return sum;
}

/* Places for the weights of each kind of matrix: kinds do not share them, layers do. */
static int place_weights(struct hx_geometry_run *r, const struct hx_geometry *g, struct hx_error *err)
{
    const size_t shape[HX_MATRICES][2] = {
        [HX_WQ] = {g->n_head * g->dh, g->width}, [HX_WK] = {g->n_kv * g->dh, g->width},
        [HX_WV] = {g->n_kv * g->dh, g->width},   [HX_WO] = {g->width, g->n_head * g->dh},
        [HX_GATE] = {g->ffn, g->width},          [HX_UP] = {g->ffn, g->width},
        [HX_DOWN] = {g->width, g->ffn},          [HX_OUT] = {g->vocab, g->width},
    };
    size_t at[HX_MATRICES];

    for (int w = 0; w < HX_MATRICES; w++) {
        at[w] = r->zeros_bytes;
        r->zeros_bytes += shape[w][0] * row_bytes(type_of(shape[w][1]), shape[w][1]);
    }
    /* read only: the kernel has one page of zeros for all of it */
    r->zeros = mmap(NULL, r->zeros_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->zeros == MAP_FAILED) {
        r->zeros = NULL;
        return hx_error_set(err, -ENOMEM, "geometry %s: no addresses for %zu bytes of weights", g->name, r->zeros_bytes);
    }
    for (size_t layer = 0; layer < g->n_layer; layer++)
        for (int w = 0; w < HX_PER_LAYER; w++)
            hx_layer_matrix(&r->m.layers[layer], (enum hx_matrix)w)->w = (const char *)r->zeros + at[w];
    r->m.out.w = (const char *)r->zeros + at[HX_OUT];
    return 0;
}

static size_t max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Vectors of a batch that stands for all tokens before a position: a DSP that has worked for milliseconds is as warm as it gets, and
 * matrices of hundreds of megabytes take that long for one. */
static size_t batch_of(const struct hx_geometry_run *r)
{
    enum { BYTES = 64 << 20, MOST = 64 };
    size_t weights = 1;

    for (size_t layer = 0; layer < r->m.n_layer; layer++)
        for (int w = 0; w < HX_PER_LAYER; w++) {
            const struct hx_linear *l = hx_layer_matrix(&r->m.layers[layer], (enum hx_matrix)w);

            weights += l->rows * l->cols;
        }
    return max(1, BYTES / weights < MOST ? BYTES / weights : MOST);
}

/* Norms of layers that are done as a whole: zeros as well. */
static void place_norms(struct hx_geometry_run *r)
{
    for (size_t layer = 0; layer < r->m.n_layer; layer++)
        r->m.layers[layer].attn_norm.w = r->m.layers[layer].ffn_norm.w = r->zeros;
}

/* Any numbers do, but zeros: what a vector costs does not depend on them. */
static int alloc_vectors(struct hx_geometry_run *r, const struct hx_geometry *g, struct hx_error *err)
{
    const size_t q = g->n_head * g->dh, kv = g->n_kv * g->dh, in = max(max(g->width, g->ffn), q);
    const size_t out = max(max(q + 2 * kv, 2 * g->ffn), max(g->width, g->vocab));

    r->batch = max(batch_of(r), r->rows);
    r->x = calloc(r->batch * in, sizeof(*r->x));
    r->y = calloc(r->batch * out + in, sizeof(*r->y)); /* scratch behind */
    if (!r->x || !r->y)
        return hx_error_set(err, -ENOMEM, "geometry %s: out of memory", g->name);
    for (size_t i = 0; i < r->batch * in; i++)
        r->x[i] = (float)(i * 7919 % 2003) / 1000 - 1;
    return 0;
}

static int open_matrices(struct hx_geometry_run *r, const struct hx_geometry *g, const struct hx_plan *plan, struct hx_error *err)
{
    const struct hx_core_cfg cfg = {.model = &r->m, .threads = 1};
    int rc;

    r->m.layers = calloc(g->n_layer, sizeof(*r->m.layers));
    if (!r->m.layers)
        return hx_error_set(err, -ENOMEM, "geometry %s: out of memory", g->name);
    for (size_t layer = 0; layer < g->n_layer; layer++)
        r->m.layers[layer] = layer_of(g, plan, layer);
    r->m.out = on_dsp(plan, 0, HX_OUT) ? matrix(g->vocab, g->width) : matrix(0, 0);
    rc = place_weights(r, g, err);
    if (!rc && hx_plan_whole_layers(plan))
        place_norms(r);
    if (!rc)
        rc = alloc_vectors(r, g, err);
    return rc ? rc : hx_core_open(&r->core, &cfg, plan, err);
}

int hx_geometry_run_open(struct hx_geometry_run *r, const struct hx_geometry *g, const struct hx_plan *plan, size_t guesses,
                         size_t n_ctx, struct hx_error *err)
{
    const struct hx_method *kv = hx_plan_method(plan, HX_SEAM_KV);
    struct hx_open o = {.plan = plan, .model = &r->m, .n_ctx = n_ctx};
    int rc = 0;

    *r = (struct hx_geometry_run){.rows = 1 + guesses, .argmax = (hx_plan_offload(plan) & HX_OFFLOAD_ARGMAX) != 0};
    if (!(kv->gives & (HX_TRAIT_ROWS | HX_TRAIT_ATTEND | HX_TRAIT_LAYER)))
        return hx_error_set(err, -EINVAL, "a geometry has no queries, which --kv %s needs", kv->name);
    if (kv->gives & HX_TRAIT_LAYER && !g->gated)
        return hx_error_set(err, -EINVAL, "geometry %s has no gate, and --kv %s no layers without one", g->name, kv->name);
    if (kv->gives & HX_TRAIT_ATTEND)
        r->n_head = g->n_head;
    if (r->n_head % g->n_kv)
        return hx_error_set(err, -EINVAL, "geometry %s: %zu heads; attention needs a multiple of the %zu KV heads", g->name, g->n_head,
                            g->n_kv);
    r->m = (struct hx_model){
        .arch = &hx_arch_llama, .eps = 1e-6f, .attn_scale = 1 / sqrtf((float)g->dh),
        .n_layer = g->n_layer, .n_head = kv->gives & HX_TRAIT_LAYER ? g->n_head : r->n_head, .n_kv = g->n_kv, .dh = g->dh,
        .width = g->width, .ffn = g->ffn, .vocab = g->vocab,
        .rope.global = {HX_ROPE_HALVES, g->dh, g->rope_base, 1, NULL},
    };
    if (hx_geometry_has_matrices(g, plan))
        rc = open_matrices(r, g, plan, err);
    if (!rc)
        rc = kv->open.kv(&r->kv, &o, err);
    if (!rc && r->rows > r->kv->max_batch)
        rc = hx_error_set(err, -EINVAL, "%zu guesses; --kv %s takes batches of %zu tokens, the known one among them", guesses, kv->name,
                          r->kv->max_batch);
    return rc;
}

void hx_geometry_run_close(struct hx_geometry_run *r)
{
    hx_kv_close(r->kv);
    hx_core_close(r->core);
    if (r->zeros)
        munmap(r->zeros, r->zeros_bytes);
    free(r->m.layers);
    free(r->x);
    free(r->y);
    *r = (struct hx_geometry_run){.kv = NULL};
}

/* --- a token */

/* Those of n matrices with one input that are there, times so many vectors. */
static int apply(struct hx_geometry_run *r, size_t vectors, const struct hx_linear *const *all, size_t n, struct hx_error *err)
{
    const struct hx_linear *w[HX_LINEAR_TOGETHER];
    float *y[HX_LINEAR_TOGETHER], *to = r->y;
    size_t n_m = 0;

    for (size_t i = 0; i < n; i++)
        if (all[i]->rows) {
            w[n_m] = all[i];
            y[n_m++] = to;
            to += vectors * all[i]->rows;
        }
    return n_m ? hx_linear_apply(w, y, n_m, r->x, vectors, to, err) : 0;
}

/* A list of matrices, as apply() takes it. */
#define MATRICES(...) \
    (const struct hx_linear *const[]){__VA_ARGS__}, sizeof((const struct hx_linear *const[]){__VA_ARGS__}) / sizeof(struct hx_linear *)

static int run_out(struct hx_geometry_run *r, struct hx_error *err)
{
    const struct hx_linear *out = &r->core->matrices.out;
    uint32_t id[1 + HX_DRAFT_MAX];

    return r->argmax ? out->ops->argmax(out, id, r->x, r->rows, err) : apply(r, r->rows, MATRICES(out), err);
}

/* x in, and something else out: the next layer may have that. */
static int run_whole_layer(struct hx_geometry_run *r, size_t layer, size_t n, size_t pos, struct hx_error *err)
{
    return r->kv->ops->layer(r->kv, layer, pos, n, r->x, err);
}

/* The matrices of a layer times n vectors, and its part of the cache between them; pos SIZE_MAX: without the cache. */
static int run_layer(struct hx_geometry_run *r, size_t layer, size_t n, size_t pos, struct hx_error *err)
{
    const struct hx_layer *l = r->core ? &r->core->matrices.layers[layer] : NULL;

    if (r->kv->ops->layer)
        return run_whole_layer(r, layer, n, pos == SIZE_MAX ? 0 : pos, err);
    int rc = l ? apply(r, n, MATRICES(&l->q, &l->k, &l->v), err) : 0;

    if (!rc && pos != SIZE_MAX)
        rc = r->n_head ? hx_geometry_attend(r->kv, r->n_head, layer, pos, n, err) : hx_geometry_layer(r->kv, layer, pos, n, err);
    if (!l)
        return rc;
    if (!rc)
        rc = apply(r, n, MATRICES(&l->o), err);
    if (!rc)
        rc = apply(r, n, MATRICES(&l->gate, &l->up), err);
    return rc ? rc : apply(r, n, MATRICES(&l->down), err);
}

int hx_geometry_run_token(struct hx_geometry_run *r, size_t pos, struct hx_error *err)
{
    int rc = 0;

    for (size_t layer = 0; !rc && layer < r->m.n_layer; layer++)
        rc = run_layer(r, layer, r->rows, pos, err);
    return rc || !r->core || !r->m.out.rows ? rc : run_out(r, err);
}

/* As hx_geometry_fill(), of a cache that attends by itself. */
static int fill_attending(struct hx_geometry_run *r, size_t pos, size_t n, struct hx_error *err)
{
    const size_t end = pos + n;
    int rc = 0;

    for (size_t now; !rc && pos < end; pos += now) {
        now = end - pos < r->kv->max_batch ? end - pos : r->kv->max_batch;
        for (size_t layer = 0; !rc && layer < r->m.n_layer; layer++)
            rc = hx_geometry_attend(r->kv, r->n_head, layer, pos, now, err);
    }
    return rc;
}

/* Tokens before the position have used each matrix. */
int hx_geometry_run_fill(struct hx_geometry_run *r, size_t pos, size_t n, struct hx_error *err)
{
    int rc = 0;

    for (size_t layer = 0; r->core && !r->warm && !rc && layer < r->m.n_layer; layer++)
        rc = run_layer(r, layer, n < r->batch ? n : r->batch, SIZE_MAX, err);
    r->warm = 1;
    if (rc || r->kv->ops->layer)
        return rc;
    return r->n_head ? fill_attending(r, pos, n, err) : hx_geometry_fill(r->kv, pos, n, err);
}
