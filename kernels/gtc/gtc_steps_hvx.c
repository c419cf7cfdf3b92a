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

/* --- two stages: distances of all records in qf32, which are off by 2^-18 of themselves at most; the records that are among the nearest
 * by them, and a few more; of these all of it again in f32. */

/* What may be lost twice. */
#define SLACK (1 + 0x1p-15f)

/* Distances [blocks] of all, and the least of each lane. */
static HX_KERNEL void gtc_distances(const HVX_Vector *starts, uint32_t blocks, const float *x, HVX_Vector *d2, HVX_Vector *lane)
{
    HVX_Vector least = splat(HX_GTC_NOWHERE);

    HX_CODE(gtc_distances);
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
        d2[b] = to_sf(add(even, odd));
        least = Q6_Vw_vmin_VwVw(least, d2[b]);
    }
    *lane = least;
}

HX_INLINE HVX_Vector least_of_lanes(HVX_Vector v)
{
    v = Q6_Vw_vmin_VwVw(v, Q6_V_vror_VR(v, 64));
    v = Q6_Vw_vmin_VwVw(v, Q6_V_vror_VR(v, 32));
    v = Q6_Vw_vmin_VwVw(v, Q6_V_vror_VR(v, 16));
    v = Q6_Vw_vmin_VwVw(v, Q6_V_vror_VR(v, 8));
    return Q6_Vw_vmin_VwVw(v, Q6_V_vror_VR(v, 4));
}

/* The eighth of the lanes' least ones, in every lane: no fewer than eight records are as near as that. */
static HX_KERNEL HVX_Vector gtc_eighth(HVX_Vector lane)
{
    const HVX_Vector far = splat(HX_GTC_NOWHERE);
    HVX_Vector least = far;

    HX_CODE(gtc_eighth);
    HX_TRIPS(1, HX_GTC_NEAR);
    for (int k = 0; k < HX_GTC_NEAR; k++) {
        least = least_of_lanes(lane);
        lane = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(lane, least), far, lane);
    }
    return least;
}

/* Numbers of those that are as near as the limit; returns how many. */
static HX_KERNEL uint32_t gtc_gather_near(const float *d2, uint32_t n, float limit, uint32_t *numbers)
{
    uint32_t found = 0;

    HX_CODE(gtc_gather_near);
    HX_TRIPS(1, n);
    for (uint32_t i = 0; i < n; i++) {
        numbers[found] = i;
        found += d2[i] <= limit;
    }
    return found;
}

struct near_ones {
    float d2[HX_GTC_NEAR];
    uint32_t which[HX_GTC_NEAR];
};

/* The eight nearest of some, by d2 of their own in f32; numbers rise, so that among equals the one that is there stays in front. */
static HX_KERNEL void gtc_rank(const float *starts, const float *x, const uint32_t *numbers, uint32_t n, struct near_ones *near)
{
    HX_CODE(gtc_rank);
    HX_TRIPS(1, n);
    for (uint32_t c = 0; c < n; c++) {
        const float *q = starts + numbers[c] / LANES * AXES * LANES + numbers[c] % LANES;
        uint32_t which = numbers[c];
        float d2 = 0;

        HX_TRIPS(2, AXES);
        for (int l = 0; l < AXES; l++) {
            const float off = x[l] - q[l * LANES];

            d2 += off * off;
        }
        HX_TRIPS(3, HX_GTC_NEAR);
        for (int k = 0; k < HX_GTC_NEAR; k++) {
            const int nearer = d2 < near->d2[k];
            const float pushed = near->d2[k];
            const uint32_t number = near->which[k];

            near->d2[k] = nearer ? d2 : pushed;
            near->which[k] = nearer ? which : number;
            d2 = nearer ? pushed : d2;
            which = nearer ? number : which;
        }
    }
}

/* Squared distance by a metric g [8][8]. */
static HX_KERNEL float gtc_by_metric(const float *g, const float *off)
{
    float sum = 0;

    HX_CODE(gtc_by_metric);
    HX_TRIPS(1, AXES);
    for (int i = 0; i < AXES; i++) {
        float row = 0;

        HX_TRIPS(2, AXES);
        for (int l = 0; l < AXES; l++)
            row += g[i * AXES + l] * off[l];
        sum += row * off[i];
    }
    return sum;
}

static HX_KERNEL void gtc_correct_exactly(const float *record, const float *off, float *y)
{
    HX_CODE(gtc_correct_exactly);
    HX_TRIPS(1, AXES);
    for (int i = 0; i < AXES; i++) {
        float sum = record[HX_TRAJECTORY_ENDS + i * AXES];

        HX_TRIPS(2, AXES);
        for (int l = 0; l < AXES; l++)
            sum += record[i * AXES + l] * off[l];
        y[i] = sum;
    }
}

static void displacement(const struct hx_gtc_library *l, uint32_t i, const float *x, float *off)
{
    for (uint32_t k = 0; k < AXES; k++)
        off[k] = x[k] - l->starts[(i / LANES * AXES + k) * LANES + i % LANES];
}

/* The eight nearest; those that there are not are HX_GTC_NOWHERE away. */
static void find_near(const struct hx_gtc_library *l, const float *x, float *room, uint32_t *numbers, struct near_ones *near)
{
    HVX_Vector lane;
    union {
        HVX_Vector v;
        float f[LANES];
    } limit;

    for (int k = 0; k < HX_GTC_NEAR; k++) {
        near->d2[k] = HX_GTC_NOWHERE;
        near->which[k] = 0;
    }
    gtc_distances((const HVX_Vector *)l->starts, l->blocks, x, (HVX_Vector *)room, &lane);
    limit.v = gtc_eighth(lane);
    gtc_rank(l->starts, x, numbers, gtc_gather_near(room, l->n, limit.f[0] * SLACK, numbers), near);
}

struct hx_gtc_found hx_gtc_look_up_hvx(const struct hx_gtc_library *l, const float *x, float *room, uint32_t *numbers, float *y)
{
    struct hx_gtc_found found = {0, HX_GTC_NOWHERE, HX_GTC_NOWHERE};
    struct near_ones near;
    float off[AXES];

    find_near(l, x, room, numbers, &near);
    for (int k = 0; k < HX_GTC_NEAR && near.d2[k] < HX_GTC_NOWHERE; k++) {
        const uint32_t i = near.which[k];
        float g2;

        displacement(l, i, x, off);
        g2 = gtc_by_metric(l->metrics + (uint64_t)i * HX_TRAJECTORY_METRIC, off);
        if (g2 < found.g2 || (g2 == found.g2 && i < found.which))
            found = (struct hx_gtc_found){i, near.d2[k], g2};
    }
    displacement(l, found.which, x, off);
    gtc_correct_exactly(l->records + (uint64_t)found.which * HX_TRAJECTORY_FLOATS, off, y);
    return found;
}
