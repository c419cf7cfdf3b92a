/* Rotary position embedding: tables of cosines and sines, and rotating by them. */
#include "rope.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double frequency(const struct hx_rope_spec *spec, size_t i)
{
    const double f = pow((double)spec->base, -2.0 * (double)i / (double)spec->dims) * spec->scale;

    return spec->factors ? f / spec->factors[i] : f;
}

int hx_rope_init(struct hx_rope *r, const struct hx_rope_spec *spec, size_t n_ctx)
{
    *r = (struct hx_rope){.pairs = spec->pairs};
    if (spec->pairs == HX_ROPE_NONE)
        return 0;
    r->half = spec->dims / 2;
    r->cosines = calloc(n_ctx, r->half * sizeof(*r->cosines));
    r->sines = calloc(n_ctx, r->half * sizeof(*r->sines));
    if (!r->cosines || !r->sines)
        return -ENOMEM;
    for (size_t i = 0; i < r->half; i++) {
        const double freq = frequency(spec, i);

        for (size_t pos = 0; pos < n_ctx; pos++) {
            r->cosines[pos * r->half + i] = (float)cos((double)pos * freq);
            r->sines[pos * r->half + i] = (float)sin((double)pos * freq);
        }
    }
    return 0;
}

void hx_rope_free(struct hx_rope *r)
{
    free(r->cosines);
    free(r->sines);
    *r = (struct hx_rope){.pairs = HX_ROPE_NONE};
}

/* One rotation; back is by the negative angle: s is negated. */
static void rotate(float *a, float *b, float c, float s)
{
    const float x = *a, y = *b;

    *a = x * c - y * s;
    *b = x * s + y * c;
}

static void rotate_head(const struct hx_rope *r, float *x, size_t pos, float sign)
{
    const float *c = r->cosines + pos * r->half, *s = r->sines + pos * r->half;

    if (r->pairs == HX_ROPE_NEIGHBOURS)
        for (size_t i = 0; i < r->half; i++)
            rotate(x + 2 * i, x + 2 * i + 1, c[i], sign * s[i]);
    else
        for (size_t i = 0; i < r->half; i++)
            rotate(x + i, x + i + r->half, c[i], sign * s[i]);
}

void hx_rope_apply(const struct hx_rope *r, float *x, size_t pos)
{
    rotate_head(r, x, pos, 1);
}

void hx_rope_undo(const struct hx_rope *r, float *x, size_t pos)
{
    rotate_head(r, x, pos, -1);
}

int hx_ropes_init(struct hx_ropes *r, const struct hx_rope_plan *plan, size_t n_ctx)
{
    int rc;

    *r = (struct hx_ropes){.period = plan->period};
    rc = hx_rope_init(&r->global, &plan->global, n_ctx);
    if (!rc && plan->period)
        rc = hx_rope_init(&r->local, &plan->local, n_ctx);
    return rc;
}

void hx_ropes_free(struct hx_ropes *r)
{
    hx_rope_free(&r->global);
    hx_rope_free(&r->local);
}

const struct hx_rope *hx_ropes_of(const struct hx_ropes *r, size_t layer)
{
    return hx_rope_is_local(r->period, layer) ? &r->local : &r->global;
}
