/* Probing, selection and thresholds, see probe.h. */
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double eps = 1e-9;

enum { THRESHOLDS = 501 };

static int by_score(const void *x, const void *y)
{
    const struct hx_probe_coordinate *a = x, *b = y;
    const double p = a->d * a->roi, q = b->d * b->roi;

    return p != q ? (p < q) - (p > q) : (a->index > b->index) - (a->index < b->index);
}

int hx_probe(const double *z, const unsigned char *in_topic, size_t n, size_t k, struct hx_probe_coordinate *out, struct hx_error *err)
{
    size_t own = 0;

    for (size_t i = 0; i < n; i++)
        own += in_topic[i] != 0;
    if (!own || own == n)
        return hx_error_set(err, -EINVAL, "probe: %zu states, of which %zu are of the topic: both sides need some", n, own);
    for (size_t a = 0; a < k; a++) {
        double mean[2] = {0}, size[2] = {0};

        for (size_t i = 0; i < n; i++) {
            const int t = in_topic[i] != 0;
            const double each = 1 / (double)(t ? own : n - own);

            mean[t] += each * z[i * k + a];
            size[t] += each * fabs(z[i * k + a]);
        }
        out[a] = (struct hx_probe_coordinate){a, fabs(mean[1] - mean[0]), size[1] / (size[0] + eps)};
    }
    qsort(out, k, sizeof(*out), by_score);
    return 0;
}

int hx_snipe(const struct hx_probe_coordinate *order, size_t tries, const struct hx_snipe_rule *rule, hx_snipe_fn *fn, void *arg,
             size_t *chosen, size_t *n, struct hx_snipe_step *steps, size_t *n_steps, struct hx_error *err)
{
    size_t tried = 0;
    int rc = 0;

    *n = 0;
    while (tried < tries && *n < rule->most && !rc) {
        struct hx_snipe_step s = {.coordinate = order[tried].index};

        chosen[*n] = s.coordinate;
        rc = fn(arg, chosen, *n + 1, &s.loss, &s.effect, err);
        s.kept = !rc && s.loss <= rule->budget;
        *n += (size_t)s.kept;
        if (steps)
            steps[tried] = s;
        tried++;
    }
    if (n_steps)
        *n_steps = tried;
    return rc;
}

/* --- thresholds */

struct hx_teh_roc hx_teh_at(const double *teh, const unsigned char *in_topic, size_t n, double threshold)
{
    double told[2] = {0}, all[2] = {0};
    struct hx_teh_roc r = {.threshold = threshold};

    for (size_t i = 0; i < n; i++) {
        const int t = in_topic[i] != 0;

        all[t]++;
        told[t] += teh[i] > threshold;
    }
    r.tpr = all[1] > 0 ? told[1] / all[1] : 0;
    r.fpr = all[0] > 0 ? told[0] / all[0] : 0;
    r.f1 = told[1] > 0 ? 2 * told[1] / (told[1] + told[0] + all[1]) : 0;
    return r;
}

struct hx_teh_roc hx_teh_threshold(const double *teh, const unsigned char *in_topic, size_t n)
{
    struct hx_teh_roc best = {.threshold = 1};
    int first = -1, last = -1;

    for (int i = 0; i < THRESHOLDS; i++) {
        const struct hx_teh_roc r = hx_teh_at(teh, in_topic, n, (double)i / 1000);

        if (r.fpr > 0 || r.f1 < best.f1 || (first >= 0 && r.f1 == best.f1 && last != i - 1))
            continue;
        first = first < 0 || r.f1 > best.f1 ? i : first;
        last = i;
        best = r;
    }
    return first < 0 ? best : hx_teh_at(teh, in_topic, n, (double)((first + last) / 2) / 1000);
}
