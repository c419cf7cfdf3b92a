/* A tree of points, see nearest.h. */
#include "nearest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 12, AXES = HX_NEAREST_AXES };

typedef double row __attribute__((vector_size(AXES * sizeof(double)), aligned(8)));

struct node {
    double cut;           /* points before `middle` are at or below it on the axis */
    size_t from, to;      /* points */
    size_t axis;
    size_t below, above;  /* nodes; 0: this is a leaf */
};

struct hx_nearest {
    size_t n, points, nodes;
    double *x;            /* [points][AXES] in the tree's order, zeros behind n */
    size_t *number;       /* [points] the caller's */
    struct node *node;
};

/* --- making it */

static void swap_points(struct hx_nearest *t, size_t a, size_t b)
{
    const size_t number = t->number[a];
    row x;

    memcpy(&x, t->x + a * AXES, sizeof(x));
    memcpy(t->x + a * AXES, t->x + b * AXES, sizeof(x));
    memcpy(t->x + b * AXES, &x, sizeof(x));
    t->number[a] = t->number[b];
    t->number[b] = number;
}

static double on(const struct hx_nearest *t, size_t point, size_t axis)
{
    return t->x[point * AXES + axis];
}

/* Along which they are widest apart. */
static size_t widest(const struct hx_nearest *t, size_t from, size_t to)
{
    double most = -1;
    size_t axis = 0;

    for (size_t k = 0; k < t->n; k++) {
        double low = on(t, from, k), high = low;

        for (size_t i = from + 1; i < to; i++) {
            low = fmin(low, on(t, i, k));
            high = fmax(high, on(t, i, k));
        }
        if (high - low > most) {
            most = high - low;
            axis = k;
        }
    }
    return axis;
}

/* Those before `middle` are at or below it, those behind at or above.  Source: Hoare 1961. */
static void halve(struct hx_nearest *t, size_t from, size_t to, size_t middle, size_t axis)
{
    size_t low = from, high = to - 1;

    while (low < high) {
        const double pivot = on(t, low + (high - low) / 2, axis);
        size_t i = low, j = high;

        while (i <= j) {
            while (on(t, i, axis) < pivot)
                i++;
            while (on(t, j, axis) > pivot)
                j--;
            if (i <= j) {
                swap_points(t, i++, j);
                if (!j--)
                    break;
            }
        }
        if (middle <= j && j < to)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static size_t grow(struct hx_nearest *t, size_t from, size_t to)
{
    const size_t self = t->nodes++, middle = from + (to - from) / 2;
    struct node *n = &t->node[self];

    *n = (struct node){.from = from, .to = to};
    if (to - from <= LEAF)
        return self;
    n->axis = widest(t, from, to);
    halve(t, from, to, middle, n->axis);
    n->cut = on(t, middle, n->axis);
    n->below = grow(t, from, middle);
    n->above = grow(t, middle, to);
    return self;
}

int hx_nearest_open(struct hx_nearest **out, const double *x, size_t points, size_t n, struct hx_error *err)
{
    struct hx_nearest *t = calloc(1, sizeof(*t));

    for (size_t i = 0; i < points * n; i++)
        if (!isfinite(x[i])) {
            free(t);
            return hx_error_set(err, -EINVAL, "point %zu is not finite", i / n);
        }
    if (t) {
        t->n = n;
        t->points = points;
        t->x = calloc(points + 1, AXES * sizeof(*t->x));
        t->number = malloc((points + 1) * sizeof(*t->number));
        t->node = malloc((points + 1) * sizeof(*t->node)); /* leaves hold more than LEAF / 2 */
    }
    if (!t || !t->x || !t->number || !t->node) {
        hx_nearest_close(t);
        return hx_error_set(err, -ENOMEM, "no memory for a tree of %zu points", points);
    }
    for (size_t i = 0; i < points; i++) {
        memcpy(t->x + i * AXES, x + i * n, n * sizeof(*x));
        t->number[i] = i;
    }
    grow(t, 0, points);
    *out = t;
    return 0;
}

void hx_nearest_close(struct hx_nearest *t)
{
    if (!t)
        return;
    free(t->x);
    free(t->number);
    free(t->node);
    free(t);
}

/* --- questions */

/* The nearest so far. */
struct found {
    struct hx_neighbour *at;
    size_t n, k, but;
};

static int nearer(double d2, size_t number, const struct hx_neighbour *than)
{
    return d2 < than->d2 || (d2 == than->d2 && number < than->at);
}

static void take(struct found *f, double d2, size_t number)
{
    size_t i;

    if (number == f->but || (f->n == f->k && !nearer(d2, number, &f->at[f->n - 1])))
        return;
    f->n += f->n < f->k;
    for (i = f->n - 1; i > 0 && nearer(d2, number, &f->at[i - 1]); i--)
        f->at[i] = f->at[i - 1];
    f->at[i] = (struct hx_neighbour){d2, number};
}

/* Always added up in the same order, so that scan and tree agree bit for bit. */
static double distance2(const double *a, const double *b)
{
    row x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    x -= y;
    x *= x;
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

struct question {
    const struct hx_nearest *t;
    double x[AXES], off[AXES]; /* off: how far the part that is looked at is away on each axis */
    struct found f;
};

static void look(struct question *q, size_t at, double away)
{
    const struct node *n = &q->t->node[at];
    double off, was;

    if (!n->above) {
        for (size_t i = n->from; i < n->to; i++)
            take(&q->f, distance2(q->x, q->t->x + i * AXES), q->t->number[i]);
        return;
    }
    off = q->x[n->axis] - n->cut;
    was = q->off[n->axis];
    look(q, off < 0 ? n->below : n->above, away);
    away += off * off - was * was;
    /* a rounding more than nothing, so that equals are found, too */
    if (q->f.n == q->f.k && away * (1 - 1e-12) > q->f.at[q->f.n - 1].d2)
        return;
    q->off[n->axis] = off;
    look(q, off < 0 ? n->above : n->below, away);
    q->off[n->axis] = was;
}

size_t hx_nearest_find(const struct hx_nearest *t, const double *x, size_t k, size_t but, struct hx_neighbour *out)
{
    struct question q = {.t = t, .f = {out, 0, k < HX_NEAREST_MOST ? k : HX_NEAREST_MOST, but}};

    memcpy(q.x, x, t->n * sizeof(*x));
    if (t->points && k)
        look(&q, 0, 0);
    return q.f.n;
}

size_t hx_nearest_scan(const double *y, size_t points, size_t n, const double *x, size_t k, size_t but, struct hx_neighbour *out)
{
    struct found f = {out, 0, k < HX_NEAREST_MOST ? k : HX_NEAREST_MOST, but};
    double a[AXES] = {0}, b[AXES] = {0};

    memcpy(a, x, n * sizeof(*x));
    for (size_t i = 0; i < points && k; i++) {
        memcpy(b, y + i * n, n * sizeof(*y));
        take(&f, distance2(a, b), i);
    }
    return f.n;
}
