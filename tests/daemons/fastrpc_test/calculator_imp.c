/* A skel for libcalculator.so, whose own is Hexagon code. */
#include <stdint.h>

#include "AEEStdErr.h"
#include "calculator.h"

int calculator_open(const char *uri, remote_handle64 *h)
{
    (void)uri;
    *h = 1;
    return AEE_SUCCESS;
}

int calculator_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

int calculator_sum(remote_handle64 h, const int *v, int vLen, int64_t *result)
{
    (void)h;
    *result = 0;
    for (int i = 0; i < vLen; i++)
        *result += v[i];
    return AEE_SUCCESS;
}

int calculator_max(remote_handle64 h, const int *v, int vLen, int *result)
{
    (void)h;
    if (vLen <= 0)
        return AEE_EBADPARM;
    *result = v[0];
    for (int i = 1; i < vLen; i++)
        *result = v[i] > *result ? v[i] : *result;
    return AEE_SUCCESS;
}
