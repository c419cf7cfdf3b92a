/* Whole numbers by weights, see allot.h. */
#include "allot.h"

#include <errno.h>

/* In steps, as all that follows. */
static double cut(const struct hx_allot *a, double x)
{
    const double least = (double)(a->least / a->step), most = (double)(a->most / a->step);

    return x < least ? least : x > most ? most : x;
}

static double sum_at(const double *weight, size_t n, const struct hx_allot *a, double t)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += cut(a, t * weight[i]);
    return sum;
}

/* The sum rises with t: halving finds the one wanted. */
static double find(const double *weight, size_t n, const struct hx_allot *a)
{
    const double want = (double)(a->sum / a->step);
    double low = 0, high = 1;

    while (sum_at(weight, n, a, high) < want)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        const double mid = (low + high) / 2;

        *(sum_at(weight, n, a, mid) < want ? &low : &high) = mid;
    }
    return high;
}

/* Which gets the next step: the largest remainder of those that may have more. */
static size_t neediest(const double *weight, size_t n, const struct hx_allot *a, double t, const size_t *got)
{
    size_t best = n;
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        const double left = cut(a, t * weight[i]) - (double)got[i];

        if (got[i] < a->most / a->step && (best == n || left > most)) {
            best = i;
            most = left;
        }
    }
    return best;
}

static int check(size_t n, const struct hx_allot *a, struct hx_error *err)
{
    if (a->sum % a->step || a->least % a->step || a->most % a->step)
        return hx_error_set(err, -EINVAL, "a sum of %zu, %zu to %zu each: all have to be multiples of %zu", a->sum, a->least, a->most,
                            a->step);
    if (a->least > a->most || a->sum < n * a->least || a->sum > n * a->most)
        return hx_error_set(err, -EINVAL, "a sum of %zu over %zu layers, %zu to %zu each; legal: %zu..%zu", a->sum, n, a->least, a->most,
                            n * a->least, n * a->most);
    return 0;
}

int hx_allot(const double *weight, size_t n, const struct hx_allot *a, size_t *got, struct hx_error *err)
{
    size_t sum = 0;
    double t;
    int rc = check(n, a, err);

    if (rc)
        return rc;
    t = find(weight, n, a);
    for (size_t i = 0; i < n; i++) {
        got[i] = (size_t)cut(a, t * weight[i]);
        sum += got[i];
    }
    for (; sum < a->sum / a->step; sum++)
        got[neediest(weight, n, a, t, got)]++;
    for (size_t i = 0; i < n; i++)
        got[i] *= a->step;
    return 0;
}
