/* Trajectories in qf32, see gtc_steps.h. */
#include "gtc_steps.h"

#include "gtc_steps_hvx.listing.h"
#include "layer/layer_float.h"

enum { AXES = HX_TRAJECTORY_AXES, LANES = HX_TRAJECTORY_LANES };

/* Two sums, so that one does not wait for itself.  Patterns of positive floats are ordered as integers. */
static HX_KERNEL void gtc_nearest(const HVX_Vector *starts, uint32_t blocks, const float *x, HVX_Vector *best_d2, HVX_Vector *best_block)
{
    HVX_Vector least = splat(3e38f), which = Q6_V_vzero(), number = Q6_V_vzero();
    const HVX_Vector one = Q6_V_vsplat_R(1);

    HX_CODE(gtc_nearest);
    HX_TRIPS(1, blocks);
    for (uint32_t b = 0; b < blocks; b++, starts += AXES) {
        HVX_Vector even = Q6_V_vzero(), odd = even;

        HX_TRIPS(2, AXES / 2);
        for (int l = 0; l < AXES; l += 2) {
            const HVX_Vector p = to_sf(Q6_Vqf32_vsub_VsfVsf(starts[l], splat(x[l])));
            const HVX_Vector q = to_sf(Q6_Vqf32_vsub_VsfVsf(starts[l + 1], splat(x[l + 1])));

            even = add_product(even, p, p);
            odd = add_product(odd, q, q);
        }
        const HVX_Vector d2 = to_sf(add(even, odd));
        const HVX_VectorPred nearer = Q6_Q_vcmp_gt_VwVw(least, d2);

        least = Q6_V_vmux_QVV(nearer, d2, least);
        which = Q6_V_vmux_QVV(nearer, number, which);
        number = Q6_Vw_vadd_VwVw(number, one);
    }
    *best_d2 = least;
    *best_block = which;
}

static HX_KERNEL struct hx_gtc_nearest gtc_least(const float *d2, const uint32_t *block)
{
    struct hx_gtc_nearest best = {d2[0], block[0] * LANES};

    HX_CODE(gtc_least);
    HX_TRIPS(1, LANES - 1);
    for (uint32_t i = 1; i < LANES; i++) {
        const uint32_t which = block[i] * LANES + i;
        const int nearer = d2[i] < best.d2 || (d2[i] == best.d2 && which < best.which);

        best.d2 = nearer ? d2[i] : best.d2;
        best.which = nearer ? which : best.which;
    }
    return best;
}

struct hx_gtc_nearest hx_gtc_nearest_hvx(const float *starts, uint32_t blocks, const float *x)
{
    HVX_Vector d2, block;

    gtc_nearest((const HVX_Vector *)starts, blocks, x, &d2, &block);
    return gtc_least((const float *)&d2, (const uint32_t *)&block);
}

static HX_KERNEL void gtc_correct(const float *record, const float *q, const HVX_Vector *x, uint32_t vectors, HVX_Vector *y)
{
    HX_CODE(gtc_correct);
    HX_TRIPS(1, vectors);
    for (uint32_t v = 0; v < vectors; v++) {
        HVX_Vector off[AXES];

        HX_TRIPS(2, AXES);
        for (int l = 0; l < AXES; l++)
            off[l] = to_sf(Q6_Vqf32_vsub_VsfVsf(x[(uint32_t)l * vectors + v], splat(q[l])));
        HX_TRIPS(3, AXES);
        for (int i = 0; i < AXES; i++) {
            const float *row = record + i * AXES;
            HVX_Vector even = qf32_of(splat(row[HX_TRAJECTORY_ENDS])), odd = Q6_V_vzero();

            HX_TRIPS(4, AXES / 2);
            for (int l = 0; l < AXES; l += 2) {
                even = add_product(even, splat(row[l]), off[l]);
                odd = add_product(odd, splat(row[l + 1]), off[l + 1]);
            }
            y[(uint32_t)i * vectors + v] = to_sf(add(even, odd));
        }
    }
}

void hx_gtc_correct_hvx(const float *record, const float *q, const float *x, uint32_t n, float *y)
{
    gtc_correct(record, q, (const HVX_Vector *)x, n / LANES, (HVX_Vector *)y);
}

/* Sums of eights of lanes, in the first of each. */
HX_INLINE HVX_Vector sum_eights(HVX_Vector v)
{
    v = add(v, Q6_V_vror_VR(v, 16));
    v = add(v, Q6_V_vror_VR(v, 8));
    return add(v, Q6_V_vror_VR(v, 4));
}

/* Four rows of M are a vector, and so are four times the displacement. */
static HX_KERNEL void gtc_correct_one(const HVX_Vector *record, const HVX_Vector *off, HVX_Vector *rows)
{
    HX_CODE(gtc_correct_one);
    rows[0] = to_sf(add(sum_eights(Q6_Vqf32_vmpy_VsfVsf(record[0], *off)), qf32_of(record[2])));
    rows[1] = to_sf(add(sum_eights(Q6_Vqf32_vmpy_VsfVsf(record[1], *off)), qf32_of(record[3])));
}

static HX_KERNEL void gtc_spread(const float *off, float *four)
{
    HX_CODE(gtc_spread);
    HX_TRIPS(1, LANES);
    for (int i = 0; i < LANES; i++)
        four[i] = off[i % AXES];
}

static HX_KERNEL void gtc_gather(const float *rows, float *y)
{
    HX_CODE(gtc_gather);
    HX_TRIPS(1, AXES);
    for (int i = 0; i < AXES; i++)
        y[i] = rows[i * AXES]; /* of rows 4..7 in the second vector */
}

void hx_gtc_correct_one_hvx(const float *record, const float *off, float *y)
{
    HVX_Vector four, rows[2];

    gtc_spread(off, (float *)&four);
    gtc_correct_one((const HVX_Vector *)record, &four, rows);
    gtc_gather((const float *)rows, y);
}
