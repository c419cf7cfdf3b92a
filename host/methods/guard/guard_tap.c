/* The guard's tap, see guard_tap.h. */
#include "guard_tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "methods/dsp/linear_dsp.h"

const char *const hx_guard_mode_names[] = {"project", "gate", "monitor", NULL};

struct guard_tap {
    struct hx_tap tap; /* first */
    struct hx_guard g;
    enum hx_guard_mode mode;
    double threshold;
    struct hx_guard_seen seen;
    double recent;           /* the largest TEH since it was asked for */
    struct hx_linear *w;     /* the matrix that is guarded on the DSP; NULL: none is */
    struct hx_linear inner;  /* what it was */
    float *teh;              /* [room] of a call */
    size_t room;
};

static void count(struct guard_tap *t, double teh)
{
    t->seen.tokens++;
    if (!isfinite(teh)) {
        t->seen.not_finite++;
        return;
    }
    t->seen.told += teh > t->threshold;
    t->seen.teh_sum += teh;
    t->seen.energy_sum += teh * teh;
    t->seen.teh_most = fmax(t->seen.teh_most, teh);
    t->recent = fmax(t->recent, teh);
}

/* TEH above this is projected; NaN never is. */
static double above(const struct guard_tap *t)
{
    return t->mode == HX_GUARD_PROJECT ? -1 : t->mode == HX_GUARD_GATE ? t->threshold : INFINITY;
}

static void look_at(struct guard_tap *t, float *row)
{
    const struct hx_guard_q q = {t->g.q, t->g.f, t->g.d};
    const double teh = hx_guard_teh(&q, row);

    count(t, teh);
    if (!(teh > above(t)))
        return;
    hx_guard_project(&q, row);
    t->seen.projected++;
    t->seen.left_most = fmax(t->seen.left_most, hx_guard_left(&q, row));
}

static int at_point(struct hx_tap *tap, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct guard_tap *t = (struct guard_tap *)tap;

    (void)err;
    for (size_t i = 0; i < at->n; i++)
        look_at(t, rows + i * at->row);
    return 0;
}

/* --- on the DSP, within the output matrix' calls */

static int grow(struct guard_tap *t, size_t n, struct hx_error *err)
{
    if (n <= t->room)
        return 0;
    free(t->teh);
    t->teh = malloc(n * sizeof(*t->teh));
    t->room = t->teh ? n : 0;
    return t->teh ? 0 : hx_error_set(err, -ENOMEM, "guard: out of memory");
}

static int on_dsp(struct guard_tap *t, float *y, uint32_t *ids, const float *x, size_t n, struct hx_error *err)
{
    int rc = grow(t, n, err);

    if (!rc)
        rc = hx_linear_dsp_guarded(&t->inner, y, ids, x, n, t->teh, err);
    for (size_t i = 0; i < n && !rc; i++) {
        count(t, t->teh[i]);
        t->seen.projected += t->teh[i] > (float)above(t);
    }
    return rc;
}

/* The output matrix is applied alone. */
static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, float *scratch,
                 struct hx_error *err)
{
    (void)n_m;
    (void)scratch;
    return on_dsp(w[0]->state, y[0], NULL, x, n, err);
}

static int argmax(const struct hx_linear *w, uint32_t *ids, const float *x, size_t n, struct hx_error *err)
{
    return on_dsp(w->state, NULL, ids, x, n, err);
}

static const struct hx_linear_ops guarded_ops = {"guarded dsp", apply, argmax, 0, NULL};

static int take_matrix(struct guard_tap *t, struct hx_linear *w, struct hx_error *err)
{
    int rc;

    if (w && w->ops == &guarded_ops)
        return hx_error_set(err, -EBUSY, "guard: the output matrix has one: one engine of a model at a time");
    if (!w || !hx_linear_is_dsp(w))
        return 0;
    rc = hx_linear_dsp_guard(w, t->g.q, t->g.f, (float)above(t), &t->seen.in_vtcm, err);
    if (rc)
        return rc;
    t->w = w;
    t->inner = *w;
    t->seen.on_dsp = 1;
    t->tap.points = 0;
    w->ops = &guarded_ops;
    w->state = t;
    return 0;
}

static void give_matrix_back(struct guard_tap *t)
{
    size_t unused;

    if (!t->w)
        return;
    hx_linear_dsp_guard(&t->inner, NULL, 0, 0, &unused, NULL);
    *t->w = t->inner;
}

/* --- life */

static void release(struct hx_tap *tap)
{
    struct guard_tap *t = (struct guard_tap *)tap;

    give_matrix_back(t);
    free(t->teh);
    hx_guard_free(&t->g);
    free(t);
}

static int close_tap(struct hx_tap *tap, struct hx_error *err)
{
    (void)err;
    release(tap);
    return 0;
}

static const struct hx_tap_ops ops = {.name = "guard", .at = at_point, .close = close_tap, .abandon = release};

int hx_guard_tap_open(struct hx_tap **out, struct hx_guard *g, enum hx_guard_mode mode, double threshold, struct hx_linear *w,
                      struct hx_error *err)
{
    struct guard_tap *t = calloc(1, sizeof(*t));
    int rc;

    if (!t) {
        hx_guard_free(g);
        return hx_error_set(err, -ENOMEM, "guard: out of memory");
    }
    *t = (struct guard_tap){.tap = {&ops, 1u << HX_TAP_IN_OUT}, .g = *g, .mode = mode, .threshold = threshold};
    g->q = NULL;
    rc = take_matrix(t, w, err);
    if (rc)
        release(&t->tap);
    else
        *out = &t->tap;
    return rc;
}

struct hx_guard_seen hx_guard_tap_seen(const struct hx_tap *t)
{
    return ((const struct guard_tap *)t)->seen;
}

struct hx_tap *hx_guard_tap_find(struct hx_tap *const *taps)
{
    while (*taps && (*taps)->ops != &ops)
        taps++;
    return *taps;
}

double hx_guard_tap_most(struct hx_tap *tap)
{
    struct guard_tap *t = (struct guard_tap *)tap;
    const double most = t->recent;

    t->recent = 0;
    return most;
}

const struct hx_guard *hx_guard_tap_guard(const struct hx_tap *t)
{
    return &((const struct guard_tap *)t)->g;
}

double hx_guard_tap_threshold(const struct hx_tap *t)
{
    return ((const struct guard_tap *)t)->threshold;
}
