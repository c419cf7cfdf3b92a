/* Bases that follow a drafter's mistakes, see online.h. */
#include "online.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tap.h"
#include "methods/lowrank/linear_lowrank.h"

enum { RING = HX_DRAFT_MAX + 1 }; /* positions of a verifying batch */

/* What came into each layer at the last positions. */
struct seen {
    struct hx_tap tap; /* first */
    struct hx_online *o;
    float *rows;       /* [n_layer][RING][width] */
    size_t pos[RING];  /* of those rows, one more; 0: none yet */
    uint32_t token[RING];
};

struct sample {
    float *x; /* [n_layer][width] */
};

struct hx_online {
    struct hx_online_cfg cfg;
    size_t n_layer, width;
    struct seen ours, theirs;
    struct hx_linear_method *lowrank;
    const struct hx_lowrank_factors *f;
    double **basis; /* [n_bases][rank][width] */
    size_t n_bases; /* of f, which is gone before this is */
    struct sample queue[HX_ONLINE_QUEUE];
    size_t first, n;                       /* of the queue */
    size_t wrong, dropped, steps, turned;  /* mistakes, samples that had to go, steps that were made (t), times that factors were */
    double error;                          /* the largest |w w^T - 1| behind a turn */
};

/* --- what comes in */

static int see(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct seen *s = (struct seen *)t;
    const size_t width = s->o->width;

    (void)err;
    for (size_t i = 0; i < at->n; i++) {
        const size_t slot = at->pos[i] % RING;

        s->pos[slot] = at->pos[i] + 1;
        s->token[slot] = at->tokens[i];
        memcpy(s->rows + (at->layer * RING + slot) * width, rows + i * width, width * sizeof(*rows));
    }
    return 0;
}

/* Taps belong to this object, and end with it. */
static int end_nothing(struct hx_tap *t, struct hx_error *err)
{
    (void)t;
    (void)err;
    return 0;
}

static const struct hx_tap_ops see_ops = {.name = "online", .at = see, .close = end_nothing};

static int open_seen(struct seen *s, struct hx_online *o)
{
    s->tap = (struct hx_tap){&see_ops, 1u << HX_TAP_IN_QKV};
    s->o = o;
    s->rows = malloc(o->n_layer * RING * o->width * sizeof(*s->rows));
    return s->rows != NULL;
}

/* --- samples */

static struct sample *push(struct hx_online *o)
{
    struct sample *to;

    if (o->n == HX_ONLINE_QUEUE) {
        o->first = (o->first + 1) % HX_ONLINE_QUEUE;
        o->n--;
        o->dropped++;
    }
    to = &o->queue[(o->first + o->n) % HX_ONLINE_QUEUE];
    if (!to->x)
        to->x = malloc(o->n_layer * o->width * sizeof(*to->x));
    o->n += to->x != NULL;
    return to->x ? to : NULL;
}

static int wrong(void *arg, size_t pos, struct hx_error *err)
{
    struct hx_online *o = arg;
    const size_t slot = pos % RING;
    const struct sample *to;

    o->wrong++;
    if (o->ours.pos[slot] != pos + 1 || o->theirs.pos[slot] != pos + 1 || o->ours.token[slot] != o->theirs.token[slot])
        return 0;
    to = push(o);
    if (!to)
        return hx_error_set(err, -ENOMEM, "draft gp: out of memory");
    for (size_t l = 0; l < o->n_layer; l++)
        for (size_t i = 0; i < o->width; i++) {
            const size_t at = (l * RING + slot) * o->width + i;

            to->x[l * o->width + i] = o->theirs.rows[at] - (o->cfg.whole ? 0 : o->ours.rows[at]);
        }
    return 0;
}

/* --- steps */

/* 1: the basis has turned. */
static int step(struct hx_online *o, size_t basis, const struct sample *s, double *x, double eta)
{
    const struct hx_lowrank_basis *b = &o->f->bases[basis];

    for (size_t i = 0; i < o->width; i++)
        x[i] = s->x[b->layer * o->width + i];
    return hx_oja_step(o->basis[basis], b->rank, o->width, x, eta);
}

static int turn(struct hx_online *o, size_t basis, double *x, struct hx_error *err)
{
    const struct hx_lowrank_basis *b = &o->f->bases[basis];
    int turned = 0;
    double error;

    for (size_t i = 0; i < o->n; i++)
        turned |= step(o, basis, &o->queue[(o->first + i) % HX_ONLINE_QUEUE], x,
                       hx_oja_eta(o->cfg.eta0, o->cfg.decay, o->steps + i + 1));
    if (!turned)
        return 0;
    hx_oja_orthonormalise(o->basis[basis], b->rank, o->width);
    error = hx_oja_error(o->basis[basis], b->rank, o->width);
    o->error = error > o->error ? error : o->error;
    o->turned++;
    return hx_linear_lowrank_turn(o->lowrank, basis, o->basis[basis], err);
}

static int begin(void *arg, struct hx_error *err)
{
    struct hx_online *o = arg;
    double *x;
    int rc = 0;

    if (o->wrong < HX_ONLINE_LEAST || !o->n)
        return 0;
    x = malloc(o->width * sizeof(*x));
    if (!x)
        return hx_error_set(err, -ENOMEM, "draft gp: out of memory");
    for (size_t i = 0; i < o->f->n_bases && !rc; i++)
        rc = turn(o, i, x, err);
    free(x);
    o->steps += o->n;
    o->n = 0;
    return rc;
}

/* --- open and close */

static void close_online(void *arg)
{
    struct hx_online *o = arg;

    for (size_t i = 0; o->basis && i < o->n_bases; i++)
        free(o->basis[i]);
    for (size_t i = 0; i < HX_ONLINE_QUEUE; i++)
        free(o->queue[i].x);
    free(o->basis);
    free(o->ours.rows);
    free(o->theirs.rows);
    free(o);
}

int hx_online_open(struct hx_online **out, const struct hx_model *m, const struct hx_online_cfg *cfg, struct hx_error *err)
{
    struct hx_online *o = calloc(1, sizeof(*o));

    if (o) {
        o->cfg = *cfg;
        o->n_layer = m->n_layer;
        o->width = m->width;
    }
    if (!o || !open_seen(&o->ours, o) || !open_seen(&o->theirs, o)) {
        if (o)
            close_online(o);
        return hx_error_set(err, -ENOMEM, "draft gp: out of memory");
    }
    *out = o;
    return 0;
}

struct hx_engine_draft_follower hx_online_follower(struct hx_online *o)
{
    return (struct hx_engine_draft_follower){&o->ours.tap, &o->theirs.tap, begin, wrong, close_online, o};
}

int hx_online_begin(struct hx_online *o, struct hx_linear_method *lowrank, struct hx_error *err)
{
    int rc = 0;

    o->lowrank = lowrank;
    o->f = hx_linear_lowrank_factors(lowrank);
    o->n_bases = o->f->n_bases;
    o->basis = calloc(o->n_bases, sizeof(*o->basis));
    for (size_t i = 0; o->basis && i < o->f->n_bases && !rc; i++) {
        o->basis[i] = malloc(o->f->bases[i].rank * o->width * sizeof(**o->basis));
        rc = o->basis[i] ? hx_linear_lowrank_directions(lowrank, i, o->basis[i], err)
                         : hx_error_set(err, -ENOMEM, "draft gp: out of memory");
        if (!rc)
            hx_oja_orthonormalise(o->basis[i], o->f->bases[i].rank, o->width); /* the factors' numbers are rounded */
    }
    return o->basis ? rc : hx_error_set(err, -ENOMEM, "draft gp: out of memory");
}

json_t *hx_online_json(const struct hx_online *o)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:f}", "wrong", (json_int_t)o->wrong, "dropped", (json_int_t)o->dropped, "steps",
                     (json_int_t)o->steps, "turned", (json_int_t)o->turned, "orthonormal_within", o->error);
}
