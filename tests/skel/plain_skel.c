/* Kernels as a user writes them from docs/skel.md, each in DDR on as many bytes as come: HVX copy, scalar copy, libc's memcpy,
 * scalar softmax and HVX softmax.  Built as they are, and with -DLISTED and their listing, whose figure the estimate is
 * compared with (tests/cases/uncosted.sh).
 *
 * Method 2: in 0 is the number of the kernel (u32), in 1 the input, out 0 the output. */
#ifndef __hexagon__
#include <math.h>
#include <string.h>
#endif
#include <hexagon_types.h>
#include <hexagon_protos.h>
#include <hvx_hexagon_protos.h>
#ifndef __hexagon__
#include <qurt_hvx.h>
#include <remote.h>
#else
float expf(float x);
#endif
#ifdef LISTED
#include "plain_skel.listing.h"
#include <hexrig_code.h>
#else
#define HX_CODE(function) ((void)0)
#define HX_TRIPS(level, n) ((void)0)
#endif
#define KERNEL __attribute__((noinline))

KERNEL void hvx_copy(HVX_Vector *to, const HVX_Vector *from, int n)
{
    HX_CODE(hvx_copy);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

KERNEL void scalar_copy(int *to, const int *from, int n)
{
    HX_CODE(scalar_copy);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

KERNEL void scalar_softmax(float *y, const float *x, int n)
{
    float most = x[0], sum = 0;

    HX_CODE(scalar_softmax);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    HX_TRIPS(2, n);
    for (int i = 0; i < n; i++) {
        y[i] = expf(x[i] - most);
        sum += y[i];
    }
    HX_TRIPS(3, n);
    for (int i = 0; i < n; i++)
        y[i] /= sum;
}

static inline __attribute__((always_inline)) HVX_Vector splat(float x)
{
    union {
        float f;
        int i;
    } u = {x};

    return Q6_V_vsplat_R(u.i);
}

static inline __attribute__((always_inline)) HVX_Vector add(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_VsfVsf(a, b));
}

static inline __attribute__((always_inline)) HVX_Vector sub(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_VsfVsf(a, b));
}

static inline __attribute__((always_inline)) HVX_Vector mul(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_VsfVsf(a, b));
}

/* Lane by lane, by the order of the bits; then over the lanes. */
KERNEL void hvx_largest(HVX_Vector *most, const HVX_Vector *x, int n)
{
    HVX_Vector m = x[0];

    HX_CODE(hvx_largest);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        m = Q6_Vsf_vmax_VsfVsf(m, x[i]);
    HX_TRIPS(2, 5);
    for (int by = 64; by >= 4; by /= 2)
        m = Q6_Vsf_vmax_VsfVsf(m, Q6_V_vror_VR(m, by));
    *most = m;
}

/* y = exp(x - most), and the sum of it. */
KERNEL void hvx_exp(HVX_Vector *y, const HVX_Vector *x, const HVX_Vector *most, HVX_Vector *sum, int n)
{
    const HVX_Vector m = *most, log2e = splat(1.44269504f), magic = splat(12582912.0f);
    const HVX_Vector c1 = splat(0.6931472f), c2 = splat(0.2402265f), c3 = splat(0.0555041f), c4 = splat(0.0096181f);
    const HVX_Vector one = splat(1.0f), lowest = splat(-80.0f);
    HVX_Vector s = Q6_V_vzero();

    HX_CODE(hvx_exp);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++) {
        HVX_Vector t = mul(Q6_Vsf_vmax_VsfVsf(sub(x[i], m), lowest), log2e);
        HVX_Vector rounded = add(t, magic);
        HVX_Vector f = sub(t, sub(rounded, magic));
        HVX_Vector p = add(mul(c4, f), c3);

        p = add(mul(p, f), c2);
        p = add(mul(p, f), c1);
        p = add(mul(p, f), one);
        p = Q6_Vw_vadd_VwVw(p, Q6_Vw_vasl_VwR(Q6_Vw_vsub_VwVw(rounded, magic), 23));
        y[i] = p;
        s = add(s, p);
    }
    HX_TRIPS(2, 5);
    for (int by = 64; by >= 4; by /= 2)
        s = add(s, Q6_V_vror_VR(s, by));
    *sum = s;
}

KERNEL void hvx_scale(HVX_Vector *y, float by, int n)
{
    const HVX_Vector s = splat(by);

    HX_CODE(hvx_scale);
    HX_TRIPS(1, n);
    for (int i = 0; i < n; i++)
        y[i] = mul(y[i], s);
}

#ifndef __hexagon__
static void hvx_softmax(float *y, const float *x, int n)
{
    HVX_Vector most, sum;
    float total;

    hvx_largest(&most, (const HVX_Vector *)x, n);
    hvx_exp((HVX_Vector *)y, (const HVX_Vector *)x, &most, &sum, n);
    memcpy(&total, &sum, sizeof(total));
    hvx_scale((HVX_Vector *)y, 1 / total, n);
}

int plain_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    const uint32_t method = REMOTE_SCALARS_METHOD(sc);

    (void)h;
    if (method == 0)
        pra[2].h64 = 1;
    if (method < 2)
        return AEE_SUCCESS;
    if (method != 2 || REMOTE_SCALARS_INBUFS(sc) != 2 || REMOTE_SCALARS_OUTBUFS(sc) != 1 || pra[1].buf.nLen != pra[2].buf.nLen)
        return AEE_DSP(AEE_EBADPARM);

    const int bytes = (int)pra[1].buf.nLen;
    void *to = pra[2].buf.pv;
    const void *from = pra[1].buf.pv;

    qurt_hvx_lock(QURT_HVX_MODE_128B);
    switch (*(const uint32_t *)pra[0].buf.pv) {
    case 0: hvx_copy(to, from, bytes / 128); break;
    case 1: scalar_copy(to, from, bytes / 4); break;
    case 2: memcpy(to, from, (size_t)bytes); break;
    case 3: scalar_softmax(to, from, bytes / 4); break;
    case 4: hvx_softmax(to, from, bytes / 128); break;
    default: break;
    }
    qurt_hvx_unlock();
    return AEE_SUCCESS;
}
#endif
