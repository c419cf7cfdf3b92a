/* Trajectories that are served, see library.h. */
#include "library.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

enum { LATE = 256 }; /* records that are scanned, before the tree is made anew */

struct hx_library {
    struct hx_library_cfg cfg;
    pthread_rwlock_t lock;      /* protects all below; held for reading by who asks */
    struct hx_store_record *at; /* [capacity], n are there */
    float *states;              /* [capacity][width] */
    double *q;                  /* [capacity][n] starts */
    _Atomic uint64_t *served;   /* [capacity] when, by `clock`; written by who asks, too */
    _Atomic uint64_t clock;
    size_t n;
    struct hx_nearest *tree;    /* of the first n_tree records, as they were */
    size_t n_tree;
    uint8_t *changed;           /* [capacity] 1: the tree has what stood there before */
    size_t late[LATE], n_late;  /* records that the tree lacks, or has otherwise */
};

/* Who adds does not wait until nobody asks. */
static void make_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t how;

    pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setkind_np(&how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &how);
    pthread_rwlockattr_destroy(&how);
}

int hx_library_open(struct hx_library **out, const struct hx_library_cfg *cfg, struct hx_error *err)
{
    struct hx_library *l = calloc(1, sizeof(*l));

    if (l) {
        l->cfg = *cfg;
        make_lock(&l->lock);
        l->at = calloc(cfg->capacity, sizeof(*l->at));
        l->states = calloc(cfg->capacity * cfg->width + 1, sizeof(*l->states));
        l->q = calloc(cfg->capacity * cfg->n, sizeof(*l->q));
        l->served = calloc(cfg->capacity, sizeof(*l->served));
        l->changed = calloc(cfg->capacity, 1);
    }
    if (!l || !l->at || !l->states || !l->q || !l->served || !l->changed) {
        hx_library_close(l);
        return hx_error_set(err, -ENOMEM, "no memory for a library of %zu trajectories", cfg->capacity);
    }
    *out = l;
    return 0;
}

void hx_library_close(struct hx_library *l)
{
    if (!l)
        return;
    pthread_rwlock_destroy(&l->lock);
    hx_nearest_close(l->tree);
    free(l->at);
    free(l->states);
    free(l->q);
    free(l->served);
    free(l->changed);
    free(l);
}

/* --- adding */

static size_t served_longest_ago(const struct hx_library *l)
{
    size_t oldest = 0;

    for (size_t i = 1; i < l->n; i++)
        if (l->served[i] < l->served[oldest])
            oldest = i;
    return oldest;
}

static int make_tree(struct hx_library *l, struct hx_error *err)
{
    struct hx_nearest *t = NULL;
    int rc = hx_nearest_open(&t, l->q, l->n, l->cfg.n, err);

    if (rc)
        return rc;
    hx_nearest_close(l->tree);
    l->tree = t;
    l->n_tree = l->n;
    l->n_late = 0;
    memset(l->changed, 0, l->cfg.capacity);
    return 0;
}

static void note_late(struct hx_library *l, size_t which)
{
    if (which < l->n_tree && l->changed[which])
        return; /* it is among them */
    if (which < l->n_tree)
        l->changed[which] = 1;
    l->late[l->n_late++] = which;
}

static void place(struct hx_library *l, size_t which, const struct hx_store_record *r)
{
    const size_t n = l->cfg.n, width = l->cfg.width;

    l->at[which] = *r;
    l->at[which].state = l->states + which * width;
    memcpy(l->at[which].state, r->state, width * sizeof(*r->state));
    memcpy(l->q + which * n, r->t.q, n * sizeof(*l->q));
    l->n += which == l->n;
    l->served[which] = ++l->clock;
}

long hx_library_add(struct hx_library *l, const struct hx_store_record *r, size_t *gone, struct hx_error *err)
{
    size_t which;
    int rc = 0;

    if (r->t.n != l->cfg.n)
        return hx_error_set(err, -EINVAL, "a trajectory of %zu axes; the library's have %zu", r->t.n, l->cfg.n);
    pthread_rwlock_wrlock(&l->lock);
    which = l->n < l->cfg.capacity ? l->n : served_longest_ago(l);
    if (gone)
        *gone = which < l->n ? which : SIZE_MAX;
    if (l->n_late == LATE)
        rc = make_tree(l, err);
    if (!rc) {
        place(l, which, r);
        note_late(l, which);
    }
    pthread_rwlock_unlock(&l->lock);
    return rc ? rc : (long)which;
}

int hx_library_fill(struct hx_library *l, const struct hx_store *s, struct hx_error *err)
{
    int rc = 0;

    if (s->n > l->cfg.capacity || s->frame.w.n != l->cfg.n || s->frame.w.width != l->cfg.width)
        return hx_error_set(err, -EINVAL, "a store of %zu records; the library has room for %zu", s->n, l->cfg.capacity);
    pthread_rwlock_wrlock(&l->lock);
    l->n = 0;
    for (size_t i = 0; i < s->n; i++)
        place(l, i, &s->at[i]);
    rc = make_tree(l, err);
    pthread_rwlock_unlock(&l->lock);
    return rc;
}

size_t hx_library_size(struct hx_library *l)
{
    size_t n;

    pthread_rwlock_rdlock(&l->lock);
    n = l->n;
    pthread_rwlock_unlock(&l->lock);
    return n;
}

/* --- asking */

static double by_metric(const struct hx_trajectory *t, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < t->n; i++)
        for (size_t j = 0; j < t->n; j++)
            sum += t->g[i * t->n + j] * (x[i] - t->q[i]) * (x[j] - t->q[j]);
    return sqrt(fmax(sum, 0));
}

/* Of all records, by distance, the tree's that are no longer so left out.  Returns how many. */
static size_t nearest(const struct hx_library *l, const double *x, struct hx_neighbour *out)
{
    struct hx_neighbour found[HX_NEAREST_MOST], late;
    size_t wanted = HX_LIBRARY_NEAR, got, n;

    do { /* more, until so many are still there */
        got = l->tree ? hx_nearest_find(l->tree, x, wanted, SIZE_MAX, found) : 0;
        n = 0;
        for (size_t i = 0; i < got && n < HX_LIBRARY_NEAR; i++)
            if (!l->changed[found[i].at])
                out[n++] = found[i];
        wanted *= 2;
    } while (n < HX_LIBRARY_NEAR && got == wanted / 2 && wanted <= HX_NEAREST_MOST);
    if (n < HX_LIBRARY_NEAR && got == HX_NEAREST_MOST) /* nearly all of the neighbourhood was replaced */
        return hx_nearest_scan(l->q, l->n, l->cfg.n, x, HX_LIBRARY_NEAR, SIZE_MAX, out);
    for (size_t i = 0; i < l->n_late; i++) {
        size_t at;

        hx_nearest_scan(l->q + l->late[i] * l->cfg.n, 1, l->cfg.n, x, 1, SIZE_MAX, &late);
        late.at = l->late[i];
        for (at = n; at > 0 && (out[at - 1].d2 > late.d2 || (out[at - 1].d2 == late.d2 && out[at - 1].at > late.at)); at--)
            if (at < HX_LIBRARY_NEAR)
                out[at] = out[at - 1];
        if (at < HX_LIBRARY_NEAR)
            out[at] = late;
        n += n < HX_LIBRARY_NEAR;
    }
    return n;
}

static struct hx_library_found nothing(void)
{
    return (struct hx_library_found){HX_LIBRARY_MISS, SIZE_MAX, INFINITY, INFINITY};
}

static void choose(const struct hx_library *l, const double *x, const struct hx_neighbour *near, size_t n, struct hx_library_found *f)
{
    for (size_t i = 0; i < n; i++) {
        const double g = by_metric(&l->at[near[i].at].t, x);

        if (g < f->g_distance || (g == f->g_distance && near[i].at < f->which))
            *f = (struct hx_library_found){HX_LIBRARY_MISS, near[i].at, sqrt(near[i].d2), g};
    }
}

static void judge(const struct hx_library *l, struct hx_library_found *f)
{
    if (f->which == SIZE_MAX || (l->cfg.by_metric ? f->g_distance : f->distance) > l->cfg.eps)
        return;
    f->verdict = f->distance <= l->at[f->which].rho ? HX_LIBRARY_CORRECT : HX_LIBRARY_HIT;
}

struct hx_library_found hx_library_ask(struct hx_library *l, const double *x)
{
    struct hx_library_found f = nothing();
    struct hx_neighbour near[HX_LIBRARY_NEAR];

    pthread_rwlock_rdlock(&l->lock);
    choose(l, x, near, nearest(l, x, near), &f);
    judge(l, &f);
    if (f.verdict != HX_LIBRARY_MISS)
        l->served[f.which] = ++l->clock;
    pthread_rwlock_unlock(&l->lock);
    return f;
}

struct hx_library_found hx_library_scan(struct hx_library *l, const double *x, int least)
{
    struct hx_library_found f = nothing();
    struct hx_neighbour near[HX_LIBRARY_NEAR];

    pthread_rwlock_rdlock(&l->lock);
    if (!least)
        choose(l, x, near, hx_nearest_scan(l->q, l->n, l->cfg.n, x, HX_LIBRARY_NEAR, SIZE_MAX, near), &f);
    for (size_t i = 0; i < l->n && least; i++) {
        hx_nearest_scan(l->q + i * l->cfg.n, 1, l->cfg.n, x, 1, SIZE_MAX, near);
        near[0].at = i;
        choose(l, x, near, 1, &f);
    }
    judge(l, &f);
    pthread_rwlock_unlock(&l->lock);
    return f;
}

void hx_library_get(struct hx_library *l, size_t which, struct hx_store_record *to)
{
    float *state = to->state;

    pthread_rwlock_rdlock(&l->lock);
    *to = l->at[which];
    to->state = state;
    if (state)
        memcpy(state, l->at[which].state, l->cfg.width * sizeof(*state));
    pthread_rwlock_unlock(&l->lock);
}
