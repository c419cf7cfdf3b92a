/* The negacyclic NTT as the sum that defines it, see skel/ntt.h. */
#include "skel/ntt.h"

#include <string.h>

#include "AEEStdErr.h"

int hx_ntt_forward_ref(uint32_t *v, int n, uint32_t q, uint32_t psi)
{
    uint32_t out[HX_NTT_MAX];

    if (n > HX_NTT_MAX)
        return AEE_EBADPARM;
    uint64_t base = psi; /* psi^(2k+1) */
    const uint64_t omega = (uint64_t)psi * psi % q;
    for (int k = 0; k < n; k++) {
        uint64_t power = 1, sum = 0;

        for (int j = 0; j < n; j++) {
            sum = (sum + v[j] * power) % q;
            power = power * base % q;
        }
        out[k] = (uint32_t)sum;
        base = base * omega % q;
    }
    memcpy(v, out, (size_t)n * sizeof(*v));
    return AEE_SUCCESS;
}
