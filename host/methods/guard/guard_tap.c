/* The guard's tap, see guard_tap.h. */
#include "guard_tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const char *const hx_guard_mode_names[] = {"project", "gate", "monitor", NULL};

struct guard_tap {
    struct hx_tap tap; /* first */
    struct hx_guard g;
    enum hx_guard_mode mode;
    double threshold;
    struct hx_guard_seen seen;
};

static void look_at(struct guard_tap *t, float *row)
{
    const struct hx_guard_q q = {t->g.q, t->g.f, t->g.d};
    const double teh = hx_guard_teh(&q, row);
    const int told = teh > t->threshold;

    t->seen.tokens++;
    t->seen.told += (size_t)told;
    t->seen.teh_sum += teh;
    t->seen.energy_sum += teh * teh;
    t->seen.teh_most = fmax(t->seen.teh_most, teh);
    if (t->mode != HX_GUARD_PROJECT && !(t->mode == HX_GUARD_GATE && told))
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

static void release(struct hx_tap *tap)
{
    struct guard_tap *t = (struct guard_tap *)tap;

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

int hx_guard_tap_open(struct hx_tap **out, struct hx_guard *g, enum hx_guard_mode mode, double threshold, struct hx_error *err)
{
    struct guard_tap *t = calloc(1, sizeof(*t));

    if (!t) {
        hx_guard_free(g);
        return hx_error_set(err, -ENOMEM, "guard: out of memory");
    }
    *t = (struct guard_tap){.tap = {&ops, 1u << HX_TAP_IN_OUT}, .g = *g, .mode = mode, .threshold = threshold};
    g->q = NULL;
    *out = &t->tap;
    return 0;
}

struct hx_guard_seen hx_guard_tap_seen(const struct hx_tap *t)
{
    return ((const struct guard_tap *)t)->seen;
}

const struct hx_guard *hx_guard_tap_guard(const struct hx_tap *t)
{
    return &((const struct guard_tap *)t)->g;
}

double hx_guard_tap_threshold(const struct hx_tap *t)
{
    return ((const struct guard_tap *)t)->threshold;
}
