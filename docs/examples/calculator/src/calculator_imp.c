/* The DSP's side: scalar code, HVX, and inline assembly, which hexrig's hexagon-clang translates. */
#include <AEEStdErr.h>
#include <HAP_farf.h>
#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <qurt.h>
#include <qurt_hvx.h>

#include "calculator.h"
#include "cycles.h"

enum { HALVES = 64 }; /* of a vector */

int calculator_open(const char *uri, remote_handle64 *handle)
{
    *handle = 1;
    FARF(HIGH, "open %s", uri);
    return AEE_SUCCESS;
}

int calculator_close(remote_handle64 handle)
{
    return AEE_SUCCESS;
}

int calculator_sum(remote_handle64 handle, const int *vec, int vecLen, int64 *res)
{
    *res = 0;
    for (int i = 0; i < vecLen; i++)
        *res += vec[i];
    return AEE_SUCCESS;
}

int calculator_add(remote_handle64 handle, const short *a, int aLen, const short *b, int bLen, short *sums, int sumsLen, uint64 *cycles)
{
    const HVX_Vector *va = (const HVX_Vector *)a, *vb = (const HVX_Vector *)b;
    HVX_Vector *out = (HVX_Vector *)sums;
    uint64_t began = cycles_now();

    if (aLen % HALVES || bLen != aLen || sumsLen != aLen)
        return AEE_EBADPARM;
    qurt_hvx_lock(QURT_HVX_MODE_128B);
    for (int i = 0; i < aLen / HALVES; i++)
        out[i] = Q6_Vh_vadd_VhVh_sat(va[i], vb[i]);
    qurt_hvx_unlock();
    asm volatile("syncht" : : : "memory");
    *cycles = cycles_now() - began;
    return AEE_SUCCESS;
}
