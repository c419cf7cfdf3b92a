/* See log_sum.h. */
#include "log_sum.h"

#include <math.h>

struct hx_log_sum hx_log_sum(const float *x, size_t n)
{
    struct hx_log_sum s = {.most = -INFINITY};
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (x[i] > s.most) {
            s.most = x[i];
            s.top = i;
        }
    for (size_t i = 0; i < n; i++)
        sum += isnan(x[i]) ? 0 : exp((double)x[i] - (double)s.most);
    s.rest = log(sum);
    return s;
}
