/* The Walsh-Hadamard transform on HVX and by scalar stages only, see vht2.h. */
#include "vht2.h"

#include "skel/kernel.h"
#include "vht2_hvx.listing.h"

#define RSQRT2 0.70710678118654752f
#define RSQRT2_BITS 0x3f3504f3

static HX_KERNEL void vht2_scalar(float *x, int n)
{
    HX_CODE(vht2_scalar);
    for (int half = 1; half < n; half <<= 1) {
        HX_TRIPS(1, 1);
        HX_TRIPS(2, n / (2 * half));
        for (int i = 0; i < n; i += 2 * half) {
            HX_TRIPS(3, half);
            for (int j = i; j < i + half; j++) {
                float a = x[j], b = x[j + half];

                x[j] = (a + b) * RSQRT2;
                x[j + half] = (a - b) * RSQRT2;
            }
        }
    }
}

static HX_KERNEL void vht2_hvx(float *x, int n)
{
    const HVX_Vector rsqrt2 =
        Q6_Vqf32_vadd_VsfVsf(Q6_V_vsplat_R(RSQRT2_BITS), Q6_V_vzero());

    HX_CODE(vht2_hvx);
    for (int half = 1; half < HX_VECTOR_WORDS; half <<= 1) {
        HX_TRIPS(1, 1);
        HX_TRIPS(2, n / (2 * half));
        for (int i = 0; i < n; i += 2 * half) {
            HX_TRIPS(3, half);
            for (int j = i; j < i + half; j++) {
                float a = x[j], b = x[j + half];

                x[j] = (a + b) * RSQRT2;
                x[j + half] = (a - b) * RSQRT2;
            }
        }
    }
    HX_TRIPS(4, 0);
    for (int half = HX_VECTOR_WORDS; half < n; half <<= 1) {
        HX_TRIPS(4, 1);
        HX_TRIPS(5, n / (2 * half));
        for (int i = 0; i < n; i += 2 * half) {
            HX_TRIPS(6, half / HX_VECTOR_WORDS);
            for (int j = i; j < i + half; j += HX_VECTOR_WORDS) {
                HVX_Vector a = *(HVX_Vector *)&x[j], b = *(HVX_Vector *)&x[j + half];
                HVX_Vector sum = Q6_Vqf32_vadd_VsfVsf(a, b);
                HVX_Vector difference = Q6_Vqf32_vsub_VsfVsf(a, b);

                sum = Q6_Vqf32_vmpy_Vqf32Vqf32(sum, rsqrt2);
                difference = Q6_Vqf32_vmpy_Vqf32Vqf32(difference, rsqrt2);
                *(HVX_Vector *)&x[j] = Q6_Vsf_equals_Vqf32(sum);
                *(HVX_Vector *)&x[j + half] = Q6_Vsf_equals_Vqf32(difference);
            }
        }
    }
}

static int is_length(int n, int least)
{
    return n >= least && n <= HX_VHT2_MAX && (n & (n - 1)) == 0;
}

int hx_vht2_scalar(float *x, int n)
{
    if (!is_length(n, 2))
        return AEE_EBADPARM;
    vht2_scalar(x, n);
    return AEE_SUCCESS;
}

int hx_vht2_hvx(float *x, int n)
{
    if (!is_length(n, HX_VECTOR_WORDS) || !hx_is_aligned(x))
        return AEE_EBADPARM;
    vht2_hvx(x, n);
    return AEE_SUCCESS;
}
