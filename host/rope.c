/* Rotary position embedding, see rope.h. */
#include "rope.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int hx_rope_init(struct hx_rope *r, size_t dh, size_t n_ctx, float base)
{
    r->half = dh / 2;
    r->cosines = calloc(n_ctx, r->half * sizeof(*r->cosines));
    r->sines = calloc(n_ctx, r->half * sizeof(*r->sines));
    if (!r->cosines || !r->sines)
        return -ENOMEM;
    for (size_t i = 0; i < r->half; i++) {
        double freq = pow((double)base, -2.0 * (double)i / (double)dh);

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
    *r = (struct hx_rope){0, NULL, NULL};
}

void hx_rope_turn(const struct hx_rope *r, float *x, size_t pos)
{
    const float *c = r->cosines + pos * r->half, *s = r->sines + pos * r->half;

    for (size_t i = 0; i < r->half; i++) {
        float a = x[i], b = x[i + r->half];

        x[i] = a * c[i] - b * s[i];
        x[i + r->half] = a * s[i] + b * c[i];
    }
}

void hx_rope_back(const struct hx_rope *r, float *x, size_t pos)
{
    const float *c = r->cosines + pos * r->half, *s = r->sines + pos * r->half;

    for (size_t i = 0; i < r->half; i++) {
        float a = x[i], b = x[i + r->half];

        x[i] = a * c[i] + b * s[i];
        x[i + r->half] = b * c[i] - a * s[i];
    }
}
