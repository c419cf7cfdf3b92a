#include "AEEStdErr.h"
#include "hexrig_uncosted.h"
#include "hxt_classic.h"

HX_UNCOSTED("what a test calls, not a kernel");

static _Atomic int n_calls;

int hxt_classic_sum(const int *vec, int vecLen, int64_t *res)
{
    n_calls++;
    *res = 0;
    for (int i = 0; i < vecLen; i++)
        *res += vec[i];
    return AEE_SUCCESS;
}

int hxt_classic_max(const int *vec, int vecLen, int *res)
{
    n_calls++;
    if (vecLen == 0)
        return AEE_EBADPARM;
    *res = vec[0];
    for (int i = 1; i < vecLen; i++)
        if (vec[i] > *res)
            *res = vec[i];
    return AEE_SUCCESS;
}

int hxt_classic_calls(int *n)
{
    *n = ++n_calls;
    return AEE_SUCCESS;
}
