/* Matrices as products of two thin ones, see linear_lowrank.h. */
#include "linear_lowrank.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/blas.h"
#include "base/digest.h"
#include "methods/cpu/linear_cpu.h"
#include "methods/dsp/linear_dsp.h"
#include "methods/moments/moments.h"
#include "model/model.h"
#include "product.h"
#include "quant/quant.h"
#include "sink.h"
#include "text/text.h"

struct lowrank {
    struct hx_linear_method method; /* first */
    struct hx_lowrank_factors f;
    struct hx_wproj_cache cache;
    struct hx_linear_method *here, *there; /* that apply factors: on this CPU, on the DSP */
    struct hx_lowrank_product product;
    struct hx_lowrank_heat heat;
    void *own;                             /* the factors' block, where they may change; NULL: the cache's */
    double *gain;                          /* of the stream; NULL: all are 1 */
    int of_text;                           /* 1: bases are of one */
    int heats;                             /* 1: ranks follow the temperature */
    struct hx_lowrank_told told;
};

/* --- apply */

/* The model's first basis: a pass begins, throughout which ranks stay. */
static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, float *scratch,
                 struct hx_error *err)
{
    struct lowrank *l = w[0]->state;

    if (l->heats && l->f.parts[w[0]->index].basis == 0)
        l->product.limit = hx_lowrank_heat_look(&l->heat);
    return hx_lowrank_multiply(&l->product, w, y, n_m, x, n, scratch, err);
}

/* Those that are on the DSP have operations of their own, so that they do not go together with others. */
static const struct hx_linear_ops ops = {"lowrank", apply, NULL, 0, NULL}, ops_on_dsp = {"lowrank", apply, NULL, 0, NULL};

/* --- making factors */

/* Threads take bases in turn. */
struct making {
    struct lowrank *l;
    const struct hx_lowrank_how *how;
    const struct hx_moments *moments;
    const struct hx_watch *watch;
    _Atomic size_t next;
    pthread_mutex_t lock; /* protects what follows, and calls of watch */
    size_t done;
    int rc;
    struct hx_error *err;
};

static void make_some(void *arg, size_t part, size_t n_parts)
{
    struct making *g = arg;
    struct hx_lowrank_factors *f = &g->l->f;
    struct hx_error err = {""};
    size_t i;
    int rc = 0;

    (void)part;
    (void)n_parts;
    while (!rc && (i = atomic_fetch_add(&g->next, 1)) < f->n_bases) {
        rc = hx_lowrank_factorize(f, &f->bases[i], g->how, g->moments->of ? g->moments->of[i] : NULL, &err);
        pthread_mutex_lock(&g->lock);
        if (rc && !g->rc) {
            g->rc = rc;
            *g->err = err;
            atomic_store(&g->next, f->n_bases); /* the others need not go on */
        }
        if (!rc)
            hx_watch_step(g->watch, "bases", ++g->done, f->n_bases);
        pthread_mutex_unlock(&g->lock);
    }
}

/* What the matrices of each basis are applied to, over a text. */
static int take_moments(struct hx_moments *m, const struct lowrank *l, const struct hx_open *o, const uint32_t *ids, size_t n_ids,
                        struct hx_error *err)
{
    struct hx_moments_input *in = calloc(l->f.n_bases, sizeof(*in));
    int rc = in ? 0 : hx_error_set(err, -ENOMEM, "lowrank: out of memory");

    for (size_t i = 0; in && i < l->f.n_bases; i++) {
        const struct hx_lowrank_basis *b = &l->f.bases[i];

        in[i] = (struct hx_moments_input){.layer = b->layer, .point = b->input, .cols = b->cols, .rank = b->rank};
    }
    if (!rc)
        rc = hx_moments_take(m, in, l->f.n_bases, "lowrank", o, ids, n_ids, err);
    free(in);
    return rc;
}

/* Texts that factors depend on: of moments, and that sinks are looked for in. */
struct texts {
    uint32_t *ids, *sink_ids; /* NULL: none */
    size_t n, n_sink;
};

static int read_texts(struct texts *t, const struct hx_open *o, const struct hx_lowrank_cfg *cfg, struct hx_error *err)
{
    int rc = cfg->text ? hx_text_encode(o->model->tok, cfg->text, &t->ids, &t->n, err) : 0;

    if (!rc && cfg->sink_text)
        rc = hx_text_encode(o->model->tok, cfg->sink_text, &t->sink_ids, &t->n_sink, err);
    return rc;
}

static int find_sinks(struct hx_sinks *s, struct lowrank *l, const struct hx_open *o, const struct texts *t, struct hx_error *err)
{
    const int rc = hx_sinks_find(s, &l->f, o, t->sink_ids, t->n_sink, err);

    l->told.sink_tokens = s->tokens;
    l->told.sinks = s->found;
    l->told.sink_sigma = s->most_sigma;
    return rc;
}

static int make(struct lowrank *l, const struct hx_open *o, const struct hx_lowrank_cfg *cfg, const struct texts *t, struct hx_error *err)
{
    struct hx_moments moments = {0};
    struct hx_sinks sinks = {0};
    struct hx_lowrank_how how = cfg->how;
    struct hx_error detail = {""};
    struct making g = {.l = l, .how = &how, .moments = &moments, .watch = o->watch, .lock = PTHREAD_MUTEX_INITIALIZER, .err = &detail};
    const size_t threads = hx_pool_threads(o->pool);
    int rc = t->ids ? take_moments(&moments, l, o, t->ids, t->n, err) : 0;

    l->told.vectors = moments.vectors;
    if (!rc && cfg->sink_text)
        rc = find_sinks(&sinks, l, o, t, err);
    how.sink = (const double *const *)sinks.of;
    if (!rc && !hx_blas(err)) /* before threads need it */
        rc = -ELIBACC;
    if (!rc) {
        hx_pool_run(o->pool, threads < l->f.n_bases ? threads : l->f.n_bases, make_some, &g);
        rc = g.rc ? hx_error_set(err, g.rc, "%s", detail.text) : 0;
    }
    hx_moments_free(&moments);
    hx_sinks_free(&sinks);
    return rc;
}

/* --- what they depend on */

static uint64_t digest_of_weights(const struct lowrank *l, const struct hx_model *m)
{
    uint64_t h = hx_digest(0, &m->fingerprint, sizeof(m->fingerprint));

    for (size_t i = 0; i < l->f.n_parts; i++) {
        const struct hx_lowrank_part *p = &l->f.parts[i];
        const uint64_t is[] = {p->layer, (uint64_t)p->which, p->w->type, p->w->rows, p->w->cols};

        h = hx_digest(h, is, sizeof(is));
        h = hx_digest(h, p->w->w, p->w->rows * hx_quant_row_bytes(p->w->type, p->w->cols));
    }
    return h;
}

/* The number at its beginning is that of the way in which factors are made. */
static uint64_t digest_of_options(const struct lowrank *l, const struct hx_lowrank_cfg *cfg, uint64_t weights, const struct texts *t)
{
    const uint64_t how[] = {1, weights, cfg->shape.format, cfg->how.solver, (uint64_t)cfg->how.by_slot, t->ids != NULL};
    uint64_t h = hx_digest(0, how, sizeof(how));

    for (size_t i = 0; i < l->f.n_parts; i++) {
        const struct hx_lowrank_part *p = &l->f.parts[i];
        const uint64_t is[] = {p->layer, (uint64_t)p->which, p->basis, l->f.bases[p->basis].rank};

        h = hx_digest(h, is, sizeof(is));
    }
    if (cfg->shape.least)
        h = hx_digest(h, &cfg->shape.least, sizeof(cfg->shape.least));
    if (cfg->how.gain)
        h = hx_digest(h, cfg->how.gain, cfg->shape.plan->n_gain * sizeof(*cfg->how.gain));
    if (cfg->sink_text)
        h = hx_digest(h, "sink", 4);
    if (t->n_sink)
        h = hx_digest(h, t->sink_ids, t->n_sink * sizeof(*t->sink_ids));
    return t->ids ? hx_digest(h, t->ids, t->n * sizeof(*t->ids)) : h;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int leave_zeros(struct lowrank *l, const struct hx_open *o, struct hx_error *err)
{
    int rc = hx_wproj_cache_open(&l->cache, &l->f, NULL, 0, 0, o->watch, err);

    if (!rc)
        hx_lowrank_share_layers(&l->f);
    return rc;
}

static int find_or_make(struct lowrank *l, const struct hx_open *o, const struct hx_lowrank_cfg *cfg, struct hx_error *err)
{
    const uint64_t weights = digest_of_weights(l, o->model);
    const double start = now();
    struct texts t = {.n = 0};
    int rc = read_texts(&t, o, cfg, err);

    if (!rc)
        rc = hx_wproj_cache_open(&l->cache, &l->f, cfg->folder, digest_of_options(l, cfg, weights, &t), weights, o->watch, err);
    if (!rc && l->cache.state != HX_WPROJ_HIT) {
        rc = make(l, o, cfg, &t, err);
        if (!rc)
            hx_wproj_cache_keep(&l->cache, &l->f, o->watch);
    }
    free(t.ids);
    free(t.sink_ids);
    l->told.state = l->cache.state;
    l->told.path = l->cache.state == HX_WPROJ_NONE ? NULL : l->cache.path;
    l->told.seconds = now() - start;
    return rc;
}

/* --- who applies what */

static void put(struct hx_linear_set *set, struct hx_linear *w, size_t layer, enum hx_matrix which)
{
    set->at[set->n].w = w;
    set->at[set->n].layer = layer;
    set->at[set->n++].which = which;
}

/* 1: it is a part: its factors are applied in its place. */
static int is_part(const struct lowrank *l, const struct hx_linear *w)
{
    for (size_t i = 0; i < l->f.n_parts; i++)
        if (l->f.parts[i].w == w)
            return 1;
    return 0;
}

/* Everything that is on the DSP, or everything that is not, in the order in which a token uses it. */
static void collect(struct hx_linear_set *to, struct lowrank *l, const struct hx_linear_set *set, int on_dsp)
{
    to->n = 0;
    for (size_t i = 0; i < l->f.n_bases; i++) {
        struct hx_lowrank_basis *b = &l->f.bases[i];

        if (b->on_dsp != on_dsp)
            continue;
        for (size_t s = 0; s < b->n_slices; s++)
            put(to, &b->down[s], b->layer, l->f.parts[b->first].which);
        for (size_t p = b->first; p < b->first + b->n; p++)
            for (size_t s = 0; s < b->n_slices; s++)
                put(to, &l->f.parts[p].up[s], b->layer, l->f.parts[p].which);
    }
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].on_dsp == on_dsp && !is_part(l, set->at[i].w))
            put(to, set->at[i].w, set->at[i].layer, set->at[i].which);
}

static int open_inner(struct lowrank *l, const struct hx_open *o, const struct hx_linear_set *set, const struct hx_lowrank_cfg *cfg,
                      struct hx_error *err)
{
    struct hx_linear_set to = {.at = calloc(set->n + HX_LOWRANK_SLICES * (l->f.n_parts + l->f.n_bases), sizeof(*to.at))};
    int rc = to.at ? 0 : hx_error_set(err, -ENOMEM, "lowrank: out of memory");

    if (!rc) {
        collect(&to, l, set, 0);
        if (to.n && !cfg->reference) /* else they are the reference's as they stand */
            rc = hx_linear_cpu_open(&l->here, &to, NULL, o->pool, err);
    }
    if (!rc) {
        collect(&to, l, set, 1);
        if (to.n)
            rc = hx_linear_dsp_open(&l->there, &to, cfg->placement, cfg->packets, err);
    }
    free(to.at);
    return rc;
}

/* A plan does not outlive open(). */
static int keep_gain(struct lowrank *l, const struct hx_lowrank_cfg *cfg, struct hx_error *err)
{
    const size_t n = cfg->how.gain ? cfg->shape.plan->n_gain : 0;

    l->of_text = cfg->text != NULL;
    if (!n)
        return 0;
    l->gain = malloc(n * sizeof(*l->gain));
    if (!l->gain)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    memcpy(l->gain, cfg->how.gain, n * sizeof(*l->gain));
    return 0;
}

static void close_lowrank(struct hx_linear_method *m)
{
    struct lowrank *l = (struct lowrank *)m;

    hx_linear_close(l->here);
    hx_linear_close(l->there);
    hx_wproj_cache_close(&l->cache);
    hx_lowrank_free(&l->f);
    free(l->own);
    free(l->gain);
    hx_lowrank_product_close(&l->product);
    free(l);
}

int hx_linear_lowrank_open(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                           const struct hx_lowrank_cfg *cfg, struct hx_error *err)
{
    struct lowrank *l = calloc(1, sizeof(*l));
    int rc;

    if (!l)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    l->method.close = close_lowrank;
    l->heats = cfg->heat != NULL;
    rc = hx_lowrank_lay_out(&l->f, set, &cfg->shape, err);
    if (!rc)
        rc = cfg->shapes_alone ? leave_zeros(l, o, err) : find_or_make(l, o, cfg, err);
    if (!rc)
        rc = keep_gain(l, cfg, err);
    if (!rc)
        rc = hx_lowrank_product_open(&l->product, &l->f, err);
    if (!rc)
        rc = open_inner(l, o, set, cfg, err);
    if (rc) {
        close_lowrank(&l->method);
        return rc;
    }
    if (l->heats)
        hx_lowrank_heat_begin(&l->heat, cfg->heat, &l->f);
    for (size_t i = 0; i < l->f.n_parts; i++) {
        l->f.parts[i].w->ops = l->f.bases[l->f.parts[i].basis].on_dsp ? &ops_on_dsp : &ops;
        l->f.parts[i].w->state = l;
        l->f.parts[i].w->index = (uint32_t)i;
    }
    *out = &l->method;
    return 0;
}

const struct hx_lowrank_factors *hx_linear_lowrank_factors(const struct hx_linear_method *method)
{
    return &((const struct lowrank *)method)->f;
}

struct hx_lowrank_told hx_linear_lowrank_told(const struct hx_linear_method *method)
{
    return ((const struct lowrank *)method)->told;
}

/* A file is shared with other processes, and stays as it is. */
int hx_linear_lowrank_own(struct hx_linear_method *method, struct hx_error *err)
{
    struct lowrank *l = (struct lowrank *)method;

    for (size_t i = 0; i < l->f.n_bases; i++) {
        const struct hx_lowrank_basis *b = &l->f.bases[i];
        const char *why = b->on_dsp ? "on the DSP" : l->of_text ? "of a text" : b->rows < b->cols ? "of its matrix' smaller side" : NULL;

        if (why)
            return hx_error_set(err, -EINVAL, "lowrank: the basis of %s in layer %zu cannot turn: it is %s",
                                hx_matrix_names[l->f.parts[b->first].which], b->layer, why);
    }
    l->own = aligned_alloc(64, (l->f.bytes + 63) / 64 * 64);
    if (!l->own)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    memcpy(l->own, l->cache.map + l->cache.head, l->f.bytes);
    hx_lowrank_place(&l->f, l->own);
    return 0;
}

int hx_linear_lowrank_directions(const struct hx_linear_method *method, size_t basis, double *out, struct hx_error *err)
{
    const struct lowrank *l = (const struct lowrank *)method;

    return hx_lowrank_directions(&l->f.bases[basis], l->gain, out, err);
}

int hx_linear_lowrank_turn(struct hx_linear_method *method, size_t basis, const double *directions, struct hx_error *err)
{
    struct lowrank *l = (struct lowrank *)method;

    return hx_lowrank_turn(&l->f, &l->f.bases[basis], l->gain, directions, err);
}

const struct hx_lowrank_heat *hx_linear_lowrank_heat(const struct hx_linear_method *method)
{
    const struct lowrank *l = (const struct lowrank *)method;

    return l->heats ? &l->heat : NULL;
}
