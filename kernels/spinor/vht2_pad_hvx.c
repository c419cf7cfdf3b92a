/* Padded transforms on HVX, see vht2_pad.h. */
#include "vht2_pad.h"

#include "skel/kernel.h"
#include "vht2_pad_hvx.listing.h"
#include "vht2_pad_tables.h"

static HX_KERNEL void vht2_pad_fill(float *x, int dh, int n)
{
    float sum = 0, mean;

    HX_CODE(vht2_pad_fill);
    HX_TRIPS(1, dh);
    for (int i = 0; i < dh; i++)
        sum += x[i];
    mean = sum / (float)dh;
    HX_TRIPS(2, n - dh);
    for (int i = dh; i < n; i++)
        x[i] = mean;
}

/* A float as what vsplat takes. */
typedef int32_t __attribute__((may_alias)) word;

/* The matrix: row r of x becomes v[r].  Sums begin with a product: qf32 has no 0 to begin with. */
static HX_KERNEL void vht2_pad_low(const word *x, int rows, int low, const HVX_Vector *column,
                                   HVX_Vector *v)
{
    HX_CODE(vht2_pad_low);
    HX_TRIPS(1, rows);
    for (int r = 0; r < rows; r++, x += low) {
        HVX_Vector sum = Q6_Vqf32_vmpy_VsfVsf(Q6_V_vsplat_R(x[0]), column[0]);

        HX_TRIPS(2, low - 1);
        for (int j = 1; j < low; j++) {
            const HVX_Vector product = Q6_Vqf32_vmpy_VsfVsf(Q6_V_vsplat_R(x[j]), column[j]);

            sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, product);
        }
        v[r] = Q6_Vsf_equals_Vqf32(sum);
    }
}

/* One stage over whole rows. */
static HX_KERNEL void vht2_pad_stage(HVX_Vector *v, int rows, int p, int apart,
                                     const HVX_Vector *cas)
{
    HVX_Vector y[HX_VHT2_PAD_PRIME];

    HX_CODE(vht2_pad_stage);
    HX_TRIPS(1, rows / (p * apart));
    for (int block = 0; block < rows; block += p * apart) {
        HX_TRIPS(2, apart);
        for (int i = block; i < block + apart; i++) {
            HX_TRIPS(3, p);
            for (int k = 0; k < p; k++) {
                HVX_Vector sum = Q6_Vqf32_vmpy_VsfVsf(v[i], cas[0]);
                int at = 0;

                HX_TRIPS(4, p - 1);
                for (int j = 1; j < p; j++) {
                    at += k;
                    at -= at >= p ? p : 0;
                    const HVX_Vector product = Q6_Vqf32_vmpy_VsfVsf(v[i + j * apart], cas[at]);

                    sum = Q6_Vqf32_vadd_Vqf32Vqf32(sum, product);
                }
                y[k] = Q6_Vsf_equals_Vqf32(sum);
            }
            HX_TRIPS(5, p);
            for (int k = 0; k < p; k++)
                v[i + k * apart] = y[k];
        }
    }
}

/* Rows close up again: each one overwrites what the one before wrote behind its end. */
static HX_KERNEL void vht2_pad_store(const HVX_Vector *v, int rows, int low, float *x)
{
    HX_CODE(vht2_pad_store);
    HX_TRIPS(1, rows);
    for (int r = 0; r < rows; r++, x += low)
        *(HVX_UVector *)x = v[r];
}

void hx_vht2_pad_fill(float *x, int dh, int n)
{
    vht2_pad_fill(x, dh, n);
}

int hx_vht2_pad_hvx(float *x, int n)
{
    HVX_Vector v[HX_VHT2_PAD_ROWS];
    struct hx_vht2_plan p;
    int rc = hx_vht2_plan(&p, n);

    if (rc)
        return rc;
    vht2_pad_low((const word *)x, p.rows, p.low, p.column, v);
    for (int i = 0; i < p.stages; i++)
        vht2_pad_stage(v, p.rows, p.stage[i].p, p.stage[i].apart, p.stage[i].cas);
    vht2_pad_store(v, p.rows, p.low, x);
    return AEE_SUCCESS;
}
