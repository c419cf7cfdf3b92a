/* Baking OneDecode's table, see ott_bake.h. */
#include "ott_bake.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/attn.h"
#include "engine/forward.h"
#include "engine/kv.h"
#include "ott_pairs.h"
#include "ott_space.h"
#include "quant/quant.h"

enum { ROWS = 64 }; /* that go through the output matrix, or a prompt's pass, at once */

static const uint32_t NONE = UINT32_MAX;

/* A forward pass of the plain reference. */
struct pass {
    const struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
};

static void close_pass(struct pass *p)
{
    hx_forward_close(p->f);
    hx_attn_close(p->attn);
    hx_kv_close(p->kv);
}

static int open_pass(struct pass *p, const struct hx_model *m, size_t n_ctx, size_t batch, struct hx_error *err)
{
    int rc;

    *p = (struct pass){.m = m};
    rc = hx_kv_f32_open(&p->kv, m->n_layer, m->n_kv, m->dh, n_ctx, err);
    if (!rc)
        rc = hx_attn_ref_open(&p->attn, n_ctx, err);
    return rc ? rc : hx_forward_open(&p->f, m, p->kv, p->attn, batch, err);
}

/* --- digests */

static uint64_t digest_matrix(uint64_t h, const struct hx_linear *w)
{
    const uint64_t shape[] = {w->type, w->rows, w->cols};
    const size_t row = hx_quant_row_bytes(w->type, w->cols);

    h = hx_ott_digest(h, shape, sizeof(shape));
    if (!w->rows || !w->w)
        return h;
    h = hx_ott_digest(h, w->w, row);
    return hx_ott_digest(h, (const char *)w->w + (w->rows - 1) * row, row);
}

uint64_t hx_ott_of_model(const struct hx_model *m)
{
    uint64_t h = digest_matrix(digest_matrix(m->fingerprint, &m->embd), &m->out);

    for (size_t i = 0; i < m->n_layer; i++) {
        const struct hx_layer *l = &m->layers[i];
        const struct hx_linear *const all[] = {&l->q, &l->k, &l->v, &l->o, &l->gate, &l->up, &l->down};

        for (size_t j = 0; j < sizeof(all) / sizeof(all[0]); j++)
            h = digest_matrix(h, all[j]);
    }
    return h;
}

uint64_t hx_ott_of_text(const uint32_t *ids, size_t n, const struct hx_ott_how *how)
{
    const uint64_t numbers[] = {how->n_tokens, HX_OTT_AXES, (uint64_t)(HX_OTT_STEP * 1e6), HX_OTT_BEST,
                                how->geodesic ? HX_OTT_NEIGHBOURS : 0};

    return hx_ott_digest(hx_ott_digest(0, numbers, sizeof(numbers)), ids, n * sizeof(*ids));
}

/* --- what is baked */

struct bake {
    const struct hx_model *m;
    struct hx_ott_pairs pairs;
    struct hx_ott *t;
    uint32_t *entry;  /* [vocab] which entry a token has, or NONE */
    float *state;     /* [entries][width]; in the end where the step leads */
    struct hx_ott_space space; /* of the table's states; a prompt has the table's */
    double *x;        /* [entries][axes] the states in it */
};

static void close_bake(struct bake *b)
{
    hx_ott_pairs_free(&b->pairs);
    hx_ott_free(b->t);
    free(b->entry);
    free(b->state);
    hx_ott_space_free(&b->space);
    free(b->x);
}

struct counted {
    uint32_t token;
    size_t count;
};

static int by_count(const void *x, const void *y)
{
    const struct counted *a = x, *b = y;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->token > b->token) - (a->token < b->token);
}

static int by_token(const void *x, const void *y)
{
    const uint32_t a = ((const struct hx_ott_entry *)x)->token, b = ((const struct hx_ott_entry *)y)->token;

    return (a > b) - (a < b);
}

/* The most frequent tokens of the text get entries. */
static int choose_tokens(struct bake *b, const uint32_t *ids, size_t n, struct hx_error *err)
{
    const size_t vocab = b->m->vocab;
    struct counted *all = calloc(vocab, sizeof(*all));

    if (!all)
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    for (size_t i = 0; i < vocab; i++)
        all[i].token = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        all[ids[i]].count++;
    qsort(all, vocab, sizeof(*all), by_count);
    for (size_t i = 0; i < b->t->n; i++)
        b->t->at[i].token = all[i].token;
    free(all);
    qsort(b->t->at, b->t->n, sizeof(b->t->at[0]), by_token);
    return 0;
}

static void note_followers(struct bake *b)
{
    for (size_t i = 0; i < b->t->n; i++) {
        struct hx_ott_entry *e = &b->t->at[i];
        size_t n, all = 0;
        const struct hx_ott_pair *next = hx_ott_pairs_of(&b->pairs, e->token, &n), *most = next;

        b->entry[e->token] = (uint32_t)i;
        for (size_t j = 0; j < n; j++) {
            all += next[j].count;
            most = next[j].count > most->count ? &next[j] : most;
        }
        if (all)
            e->followed = (struct hx_ott_candidate){most->next, (float)most->count / (float)all};
    }
}

static int open_bake(struct bake *b, const struct hx_model *m, const uint32_t *ids, size_t n, size_t n_entries, struct hx_error *err)
{
    *b = (struct bake){.m = m};
    b->t = hx_ott_alloc(n_entries, m->vocab < HX_OTT_BEST ? m->vocab : HX_OTT_BEST);
    b->entry = malloc(m->vocab * sizeof(*b->entry));
    b->state = calloc(n_entries, m->width * sizeof(*b->state));
    if (!b->t || !b->entry || !b->state || hx_ott_pairs_count(&b->pairs, ids, n))
        return hx_error_set(err, -ENOMEM, "OneDecode: no memory for %zu entries", n_entries);
    for (size_t i = 0; i < m->vocab; i++)
        b->entry[i] = NONE;
    b->t->model = hx_ott_of_model(m);
    return 0;
}

/* --- states */

static int run_tokens(struct bake *b, struct pass *p, struct hx_error *err)
{
    const struct hx_model *m = b->m;
    const uint32_t bos = hx_tokenizer_adds_bos(m->tok) ? hx_tokenizer_bos(m->tok) : HX_NO_TOKEN;
    const size_t pos = bos != HX_NO_TOKEN;
    int rc = pos ? hx_forward_run(p->f, &bos, 1, 0, err) : 0;

    for (size_t i = 0; !rc && i < b->t->n; i++) {
        rc = hx_forward_run(p->f, &b->t->at[i].token, 1, pos, err);
        if (!rc)
            memcpy(b->state + i * m->width, hx_forward_hidden(p->f), m->width * sizeof(*b->state));
    }
    return rc;
}

static int find_states(struct bake *b, struct hx_error *err)
{
    struct pass p;
    int rc = open_pass(&p, b->m, 2, 1, err);

    if (!rc)
        rc = run_tokens(b, &p, err);
    close_pass(&p);
    return rc;
}

/* --- steps */

/* Mean of the places [axes] of those that followed entry i, in y.  0: nothing did. */
static int where_it_goes(const struct bake *b, size_t axes, size_t i, double *y)
{
    size_t n, all = 0;
    const struct hx_ott_pair *next = hx_ott_pairs_of(&b->pairs, b->t->at[i].token, &n);

    for (size_t k = 0; k < axes; k++)
        y[k] = 0;
    for (size_t j = 0; j < n; j++) {
        const uint32_t of = b->entry[next[j].next];

        for (size_t k = 0; of != NONE && k < axes; k++)
            y[k] += next[j].count * b->x[of * axes + k];
        all += of != NONE ? next[j].count : 0;
    }
    for (size_t k = 0; all && k < axes; k++)
        y[k] /= (double)all;
    return all > 0;
}

static int find_places(struct bake *b, const struct hx_ott_space *s, struct hx_error *err)
{
    b->x = calloc(b->t->n, s->axes * sizeof(*b->x));
    if (!b->x)
        return hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
    return hx_ott_space_place(s, b->state, b->t->n, b->x, err);
}

static int step(struct bake *b, const struct hx_ott_space *s, struct hx_error *err)
{
    struct hx_ott_geometry *g = &b->t->geometry;
    struct hx_ott_steps all = {0};
    double y[HX_OTT_AXES], dx[HX_OTT_AXES];
    int rc = 0;

    for (size_t i = 0; i < b->t->n && !rc; i++) {
        if (!where_it_goes(b, s->axes, i, y))
            continue;
        rc = hx_ott_space_step(s, b->x + i * s->axes, y, dx, &all, err);
        if (!rc)
            hx_ott_space_move(s, dx, b->state + i * b->m->width);
    }
    g->geodesic = (uint32_t)all.geodesic;
    g->straight = (uint32_t)all.straight;
    g->drift = (float)all.drift;
    g->turn = all.geodesic ? (float)(all.turn / (double)all.geodesic) : 0;
    return rc;
}

/* --- candidates */

static void sort_in(struct hx_ott_candidate *best, size_t n, struct hx_ott_candidate c)
{
    size_t at = n;

    while (at > 0 && best[at - 1].p < c.p) {
        if (at < n)
            best[at] = best[at - 1];
        at--;
    }
    if (at < n)
        best[at] = c;
}

/* logits [vocab]; the lower id among equals. */
static void take_best(struct hx_ott_candidate *best, size_t n, const float *logits, size_t vocab)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        best[k] = (struct hx_ott_candidate){0, -INFINITY};
    for (size_t i = 0; i < vocab; i++)
        sort_in(best, n, (struct hx_ott_candidate){(uint32_t)i, logits[i]});
    for (size_t i = 0; i < vocab; i++)
        sum += exp((double)logits[i] - (double)best[0].p);
    for (size_t k = n; k-- > 0;)
        best[k].p = (float)(exp((double)best[k].p - (double)best[0].p) / sum);
}

static int find_candidates(struct bake *b, struct hx_error *err)
{
    const struct hx_model *m = b->m;
    const struct hx_linear *w = &m->out;
    float *logits = malloc(ROWS * m->vocab * sizeof(*logits)), *scratch = malloc(m->width * sizeof(*scratch));
    int rc = logits && scratch ? 0 : hx_error_set(err, -ENOMEM, "OneDecode: out of memory");

    for (size_t i = 0; !rc && i < b->t->n; i += ROWS) {
        const size_t n = b->t->n - i < ROWS ? b->t->n - i : ROWS;

        rc = hx_linear_apply(&w, &logits, 1, b->state + i * m->width, n, scratch, err);
        for (size_t j = 0; !rc && m->logit_softcap > 0 && j < n * m->vocab; j++)
            logits[j] = m->logit_softcap * tanhf(logits[j] / m->logit_softcap);
        for (size_t j = 0; !rc && j < n; j++)
            take_best(b->t->at[i + j].best, b->t->candidates, logits + j * m->vocab, m->vocab);
    }
    free(logits);
    free(scratch);
    return rc;
}

/* --- all of it */

/* The table is the caller's, unless something failed; so is the space, where it is wanted. */
static int finish(struct bake *b, struct hx_ott **out, struct hx_ott_space *space, int rc)
{
    if (!rc && out) {
        *out = b->t;
        b->t = NULL;
    }
    if (space) {
        *space = b->space;
        b->space = (struct hx_ott_space){0};
    }
    close_bake(b);
    return rc;
}

/* Tokens, their states, and the space of these. */
static int find_space(struct bake *b, const struct hx_model *m, const uint32_t *ids, size_t n, const struct hx_ott_how *how,
                      struct hx_error *err)
{
    const size_t n_tokens = how->n_tokens < m->vocab ? how->n_tokens : m->vocab;
    int rc;

    *b = (struct bake){.m = m};
    if (n < 2)
        return hx_error_set(err, -EINVAL, "OneDecode: a text of %zu tokens has no pairs", n);
    if (how->geodesic && n_tokens < HX_OTT_BENT_LEAST)
        return hx_error_set(err, -EINVAL, "OneDecode: %zu entries; a metric of their states needs %d", n_tokens, HX_OTT_BENT_LEAST);
    rc = open_bake(b, m, ids, n, n_tokens, err);
    if (!rc)
        rc = choose_tokens(b, ids, n, err);
    if (!rc) {
        note_followers(b);
        b->t->made_of = hx_ott_of_text(ids, n, how);
        b->t->flags = how->geodesic ? 0 : HX_OTT_STRAIGHT;
        rc = find_states(b, err);
    }
    if (!rc)
        rc = hx_ott_space_open(&b->space, b->state, b->t->n, m->width, err);
    if (!rc)
        rc = find_places(b, &b->space, err);
    return rc || !how->geodesic ? rc : hx_ott_space_bend(&b->space, b->x, b->t->n, err);
}

int hx_ott_bake(struct hx_ott **out, struct hx_ott_space *space, const struct hx_model *m, const uint32_t *ids, size_t n,
                const struct hx_ott_how *how, struct hx_error *err)
{
    struct bake b;
    int rc = find_space(&b, m, ids, n, how, err);

    if (!rc && how->geodesic)
        rc = hx_ott_axioms_find(&b.t->geometry.axioms, b.state, b.t->n, m->width, err);
    if (!rc)
        rc = step(&b, &b.space, err);
    if (!rc)
        rc = find_candidates(&b, err);
    return finish(&b, out, space, rc);
}

int hx_ott_bake_space(struct hx_ott_space *space, const struct hx_model *m, const uint32_t *ids, size_t n, const struct hx_ott_how *how,
                      struct hx_error *err)
{
    struct bake b;
    const int rc = find_space(&b, m, ids, n, how, err);

    return finish(&b, NULL, space, rc);
}

/* --- a prompt */

/* Entries by rising token; how many. */
static size_t own_tokens(struct hx_ott *t, const uint32_t *ids, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        t->at[i].token = ids[i];
    qsort(t->at, n, sizeof(t->at[0]), by_token);
    for (size_t i = 0; i < n; i++)
        if (!kept || t->at[kept - 1].token != t->at[i].token)
            t->at[kept++].token = t->at[i].token;
    return kept;
}

static int run_prompt(struct bake *b, struct pass *p, const uint32_t *ids, size_t n, struct hx_error *err)
{
    const size_t width = b->m->width;
    int rc = 0;

    for (size_t i = 0, now; !rc && i < n; i += now) {
        now = n - i < ROWS ? n - i : ROWS;
        rc = hx_forward_run(p->f, ids + i, now, i, err);
        for (size_t j = 0; !rc && j < now; j++)
            memcpy(b->state + b->entry[ids[i + j]] * width, hx_forward_hidden(p->f) + j * width, width * sizeof(*b->state));
    }
    return rc;
}

int hx_ott_bake_prompt(struct hx_ott **out, const struct hx_model *m, const struct hx_ott_space *space, const uint32_t *ids, size_t n,
                       struct hx_error *err)
{
    struct pass p = {.m = m};
    struct bake b = {.m = m};
    int rc = open_bake(&b, m, ids, n, n, err);

    if (!rc) {
        b.t->n = own_tokens(b.t, ids, n);
        b.t->flags = space && space->bent ? 0 : HX_OTT_STRAIGHT;
        note_followers(&b);
        rc = open_pass(&p, m, n, n < ROWS ? n : ROWS, err);
    }
    if (!rc)
        rc = run_prompt(&b, &p, ids, n, err);
    if (!rc && space)
        rc = find_places(&b, space, err);
    if (!rc && space)
        rc = step(&b, space, err);
    if (!rc)
        rc = find_candidates(&b, err);
    close_pass(&p);
    return finish(&b, out, NULL, rc);
}
