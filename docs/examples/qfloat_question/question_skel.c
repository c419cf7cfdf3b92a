/* The question of docs/hvx.md, section qfloat, as a skel: it builds with a Hexagon SDK for a phone's cDSP as it does here.
 *
 * Method 2 takes nothing and answers three words: 12582912 + 4 in qf32, that less 12582912, and how many of the integers from 0 to 4095
 * come back changed when 12582912 is added and taken away again. */
#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <qurt.h>
#include <remote.h>
#include <stdint.h>
#include <string.h>

#include "AEEStdErr.h"

enum { INTEGERS = 4096, METHOD_OPEN = 0, METHOD_CLOSE = 1, METHOD_ASK = 2 };

static const float magic = 12582912.0f; /* 1.5 * 2^23 */

/* A vector of a float, and an element of one. */
static HVX_Vector splat(float f)
{
    int32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return Q6_V_vsplat_R(bits);
}

static float first_of(HVX_Vector v)
{
    float f[32] __attribute__((aligned(128)));

    *(HVX_Vector *)f = v;
    return f[0];
}

static HVX_Vector with_magic(HVX_Vector x)
{
    return Q6_Vqf32_vadd_VsfVsf(splat(magic), x);
}

static HVX_Vector there_and_back(HVX_Vector x)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_Vqf32Vsf(with_magic(x), splat(magic)));
}

static void ask(int32_t answer[3])
{
    answer[0] = (int32_t)first_of(Q6_Vsf_equals_Vqf32(with_magic(splat(4.0f))));
    answer[1] = (int32_t)first_of(there_and_back(splat(4.0f)));
    answer[2] = 0;
    for (int i = 0; i < INTEGERS; i++)
        answer[2] += first_of(there_and_back(splat((float)i))) != (float)i;
}

int question_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    const uint32_t method = REMOTE_SCALARS_METHOD(sc);
    int32_t answer[3];

    (void)h;
    if (method == METHOD_OPEN)
        pra[2].h64 = 1; /* length and URI in, a handle out */
    if (method == METHOD_OPEN || method == METHOD_CLOSE)
        return AEE_SUCCESS;
    if (method != METHOD_ASK || REMOTE_SCALARS_INBUFS(sc) != 0 || REMOTE_SCALARS_OUTBUFS(sc) != 1)
        return AEE_EUNSUPPORTED;
    if (pra[0].buf.nLen != sizeof(answer))
        return AEE_EBADPARM;
    qurt_hvx_lock(QURT_HVX_MODE_128B);
    ask(answer);
    qurt_hvx_unlock();
    memcpy(pra[0].buf.pv, answer, sizeof(answer));
    return AEE_SUCCESS;
}
