/* Spaces of constant curvature, see space_form.h. */
#include "space_form.h"

#include <string.h>

static int slopes(const void *arg, const double *x, struct hx_metric_at *out, struct hx_error *err)
{
    const struct hx_space_form *s = arg;
    double q = 1;

    (void)err;
    for (size_t i = 0; i < s->n; i++)
        q += s->k * x[i] * x[i];
    for (size_t i = 0; i < s->n * s->n; i++) {
        const int diagonal = i % (s->n + 1) == 0;

        out->g[i] = diagonal ? (s->k == 0 ? 1 : 4 / (q * q)) : 0;
        out->inverse[i] = diagonal ? 1 / out->g[i] : 0;
        for (size_t l = 0; l < s->n; l++)
            out->slope[l][i] = diagonal && s->k != 0 ? -16 * s->k * x[l] / (q * q * q) : 0;
    }
    return 0;
}

static int at(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err)
{
    const struct hx_space_form *s = arg;
    struct hx_metric_at all;
    int rc = slopes(arg, x, &all, err);

    memcpy(g, all.g, s->n * s->n * sizeof(*g));
    memcpy(inverse, all.inverse, s->n * s->n * sizeof(*inverse));
    return rc;
}

struct hx_metric hx_space_form_metric(const struct hx_space_form *s, int exact)
{
    return (struct hx_metric){.n = s->n, .at = at, .arg = s, .slopes = exact ? slopes : NULL};
}
