/* Matrix and elementwise products modulo a 30-bit prime in plain C, see modmatmul.h. */
#include "modmatmul.h"

#include <stddef.h>

#include "AEEStdErr.h"

int hx_modmatmul_ref(const struct hx_modmatmul *shape, const uint32_t *x, const uint32_t *w,
                     uint32_t *y)
{
    for (int b = 0; b < shape->batch; b++) {
        for (int j = 0; j < shape->outer; j++) {
            uint64_t sum = 0;

            for (int k = 0; k < shape->inner; k++)
                sum = (sum + (uint64_t)x[(size_t)b * shape->inner + k] *
                                 w[(size_t)k * shape->outer + j]) % shape->q;
            y[(size_t)b * shape->outer + j] = (uint32_t)sum;
        }
    }
    return AEE_SUCCESS;
}

int hx_barrett_ref(const uint32_t *a, const uint32_t *b, uint32_t *r, int n, uint32_t q)
{
    for (int i = 0; i < n; i++)
        r[i] = (uint32_t)((uint64_t)a[i] * b[i] % q);
    return AEE_SUCCESS;
}
