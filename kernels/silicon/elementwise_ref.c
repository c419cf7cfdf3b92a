/* axpby and argmax in plain C, see elementwise.h. */
#include "elementwise.h"

#include "AEEStdErr.h"

int hx_axpby_ref(int16_t *y, const int16_t *x, int n, int16_t alpha, int32_t beta)
{
    for (int i = 0; i < n; i++) {
        int64_t v = ((int64_t)alpha * x[i] + beta) >> 15;

        y[i] = (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
    }
    return AEE_SUCCESS;
}

int hx_argmax_ref(const uint16_t *x, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}
