/* 32 blocks taken apart at once, a lane for each, see spinor_group.h. */
#include "spinor_group.h"

#include "hexrig_code.h"

#include "spinor_group_hvx.listing.h"

/* --- load and transpose */

/* x[i]: 64 bytes of block 2i and the same 64 bytes of block 2i + 1.  to[w]: their word w, lane = block.  Each step
 * exchanges one bit of the lane's number with one of the vector's. */
HX_SPINOR_LISTED void transpose(HVX_Vector x[16], union hx_spinor_lanes *to)
{
    static const struct {
        uint8_t bytes, vector_bit;
    } step[] = {{64, 8}, {32, 4}, {16, 2}, {8, 1}, {4, 8}};
    enum { STEPS = sizeof(step) / sizeof(step[0]), VECTORS = 16 };

    HX_CODE(transpose);
    HX_TRIPS(1, STEPS);
    for (int s = 0; s < STEPS; s++) {
        const int bit = step[s].vector_bit;

        HX_TRIPS(2, VECTORS / 2);
        for (int p = 0; p < VECTORS / 2; p++) { /* the vectors whose number has not that bit */
            const int i = (p & -bit) << 1 | (p & (bit - 1));

            hx_spinor_exchange(&x[i], &x[i | bit], step[s].bytes);
        }
    }
    HX_TRIPS(3, VECTORS);
    for (int w = 0; w < VECTORS; w++)
        to[w].v = x[(w & 1) << 3 | w >> 1];
}

static void load(const struct hx_spinor *k, const uint8_t *const *blocks, size_t n,
                 struct hx_spinor_group *g)
{
    const size_t slot = k->slot_words * 4u;

    for (size_t first = 0; first < slot; first += 64) {
        HVX_Vector x[16];

        hx_spinor_load_pairs(blocks, first, n, x);
        transpose(x, &g->word[first / 4]);
    }
}

/* --- check */

/* Bits of every slot's words at bit offset `bit`; at least `n` of them are right, the rest is what follows. */
HX_SPINOR_FN HVX_Vector field(const struct hx_spinor_group *g, size_t bit, size_t n)
{
    const size_t w = bit / 32;
    const int r = (int)(bit % 32);
    HVX_Vector v = Q6_Vuw_vlsr_VuwR(g->word[w].v, r);

    if ((size_t)r + n > 32)
        v = Q6_V_vor_VV(v, Q6_Vw_vasl_VwR(g->word[w + 1].v, 32 - r));
    return v;
}

/* loop: its number in the caller */
HX_SPINOR_FN HVX_Vector parity(HVX_Vector x, unsigned loop)
{
    enum { STEPS = 5 };

    (void)loop;
    HX_TRIPS(loop, STEPS);
    for (int n = 16; n; n /= 2)
        x = Q6_V_vxor_VV(x, Q6_Vuw_vlsr_VuwR(x, n));
    return Q6_V_vand_VV(x, Q6_V_vsplat_R(1));
}

HX_SPINOR_LISTED void check(const struct hx_spinor *k, struct hx_spinor_group *g)
{
    enum { CRC_BITS = 8 };
    const size_t words = k->slot_words, payload = k->f.shape->payload / 4u;
    HVX_Vector bad = Q6_V_vzero();
    HVX_VectorPred q;

    HX_CODE(check);
    HX_TRIPS(1, CRC_BITS);
    for (int c = 0; c < CRC_BITS; c++) {
        HVX_Vector x = Q6_V_vzero();

        HX_TRIPS(2, words);
        for (size_t w = 0; w < words; w++)
            x = Q6_V_vxor_VV(x, Q6_V_vand_VV(g->word[w].v, hx_spinor_splat(k->crc[c][w])));
        bad = Q6_V_vor_VV(bad, parity(x, 3));
    }
    HX_TRIPS(4, words - payload);
    for (size_t w = payload; w < words; w++)
        bad = Q6_V_vor_VV(bad, Q6_V_vand_VV(g->word[w].v, hx_spinor_splat(k->fill[w])));

    g->amax.v = field(g, 8u * k->f.shape->off_amax, 32);
    q = Q6_Q_vcmp_gt_VuwVuw(g->amax.v, hx_spinor_splat(0x7f7fffff)); /* inf, NaN, negative */
    bad = Q6_V_vor_VV(bad, Q6_V_vand_QR(q, -1));
    q = Q6_Q_vcmp_gt_VwVw(g->exponent.v, Q6_V_vsplat_R(30));
    g->bad.v = Q6_V_vor_VV(bad, Q6_V_vand_QR(q, -1));
}

/* --- unpack */

/* Halves to integers below their largest exponent.  Subnormals have exponent 1 and no hidden bit. */
HX_SPINOR_FN HVX_Vector integers(HVX_Vector h, HVX_Vector largest)
{
    const HVX_Vector magnitude = Q6_V_vand_VV(h, hx_spinor_splat(0x7fff7fff));
    const HVX_Vector sign = Q6_Vh_vasr_VhR(h, 15), one = hx_spinor_splat(0x00010001);
    const HVX_VectorPred normal = Q6_Q_vcmp_gt_VhVh(magnitude, hx_spinor_splat(0x03ff03ff));
    const HVX_Vector e = Q6_Vh_vmax_VhVh(Q6_Vuh_vlsr_VuhR(magnitude, 10), one);
    HVX_Vector m = Q6_V_vand_VV(h, hx_spinor_splat(0x03ff03ff)), d;

    m = Q6_V_vor_VV(m, Q6_V_vmux_QVV(normal, hx_spinor_splat(0x04000400), Q6_V_vzero()));
    d = Q6_Vh_vmin_VhVh(Q6_Vh_vsub_VhVh(largest, e), hx_spinor_splat(0x000f000f));
    m = Q6_Vh_vlsr_VhVh(Q6_Vh_vasl_VhR(m, 4), d);
    m = Q6_Vuh_vlsr_VuhR(Q6_Vh_vadd_VhVh(m, one), 1);
    return Q6_Vh_vsub_VhVh(Q6_V_vxor_VV(m, sign), sign);
}

/* means: per block the fp16 of its slot's mean lane, in the low half. */
HX_SPINOR_LISTED void skeleton(struct hx_spinor_group *g, HVX_Vector means)
{
    const HVX_Vector ones = hx_spinor_splat(0x01010101);
    HVX_Vector h[8], top = hx_spinor_splat(0x00010001), sum_high = Q6_V_vzero(), sum_low = sum_high;

    HX_CODE(skeleton);
    HX_TRIPS(1, 8);
    for (int w = 0; w < 8; w++) {
        h[w] = w < 7 ? g->word[w].v : means;
        top = Q6_Vh_vmax_VhVh(
            top, Q6_Vuh_vlsr_VuhR(Q6_V_vand_VV(h[w], hx_spinor_splat(0x7fff7fff)), 10));
    }
    top = Q6_Vh_vmax_VhVh(top, Q6_V_vor_VV(Q6_Vw_vasl_VwR(top, 16), Q6_Vuw_vlsr_VuwR(top, 16)));
    g->exponent.v = Q6_Vuw_vlsr_VuwR(top, 16);
    HX_TRIPS(2, HX_SPINOR_SKEL_QUADS);
    for (int q = 0; q < HX_SPINOR_SKEL_QUADS; q++) {
        const HVX_Vector a = integers(h[2 * q], top);
        const HVX_Vector b = integers(h[2 * q + 1], top);

        g->high[q].v = Q6_Vb_vshuffo_VbVb(b, a);
        g->low[q].v = Q6_Vb_vshuffe_VbVb(b, a);
        sum_high = Q6_Vw_vrmpyacc_VwVubVb(sum_high, ones, g->high[q].v);
        sum_low = Q6_Vuw_vrmpyacc_VuwVubVub(sum_low, ones, g->low[q].v);
    }
    sum_low = Q6_Vw_vadd_VwVw(sum_low, Q6_Vw_vasl_VwR(sum_high, 8));
    g->skel_fix.v = Q6_Vw_vsub_VwVw(Q6_V_vzero(), Q6_Vw_vasl_VwR(sum_low, 15));
}

/* Twelve bits of magnitudes to the low bits of four bytes. */
HX_SPINOR_FN HVX_Vector spread3(HVX_Vector x)
{
    x = Q6_V_vor_VV(Q6_V_vand_VV(x, Q6_V_vsplat_R(0x3f)),
                    Q6_Vw_vasl_VwR(Q6_V_vand_VV(x, Q6_V_vsplat_R(0xfc0)), 10));
    return Q6_V_vor_VV(Q6_V_vand_VV(x, Q6_V_vsplat_R(0x00070007)),
                       Q6_Vw_vasl_VwR(Q6_V_vand_VV(x, Q6_V_vsplat_R(0x00380038)), 5));
}

/* Four bits of phases likewise. */
HX_SPINOR_FN HVX_Vector spread1(HVX_Vector x)
{
    x = Q6_V_vor_VV(Q6_V_vand_VV(x, Q6_V_vsplat_R(3)),
                    Q6_Vw_vasl_VwR(Q6_V_vand_VV(x, Q6_V_vsplat_R(12)), 14));
    return Q6_V_vor_VV(Q6_V_vand_VV(x, Q6_V_vsplat_R(0x00010001)),
                       Q6_Vw_vasl_VwR(Q6_V_vand_VV(x, Q6_V_vsplat_R(0x00020002)), 7));
}

HX_SPINOR_LISTED void residuals(const struct hx_spinor *k, struct hx_spinor_group *g)
{
    const HVX_Vector ones = hx_spinor_splat(0x01010101), zero = Q6_V_vzero();
    const size_t mag = 8u * k->f.shape->off_mag, phase = 8u * k->f.shape->off_phase;
    /* code sheet: 2 m - 7, and no sign.  Lanes that are none have rows of zeros. */
    const int sheet = k->f.code == HX_CODE_SHEET;
    const HVX_Vector signs = Q6_V_vsplat_R(sheet ? 0 : -1);
    const HVX_Vector less = Q6_V_vsplat_R(sheet ? 0x07070707 : 0);
    HVX_Vector sum = zero;

    HX_CODE(residuals);
    HX_TRIPS(1, k->quads);
    for (size_t q = 0; q < k->quads; q++) {
        const HVX_Vector m =
            Q6_Vb_vsub_VbVb(Q6_Vw_vasl_VwR(spread3(field(g, mag + 12 * q, 12)), sheet), less);
        const HVX_Vector negative = Q6_V_vand_VV(
            signs, Q6_Vb_vsub_VbVb(zero, spread1(field(g, phase + 4 * q, 4))));

        g->residual[q].v = Q6_Vb_vsub_VbVb(Q6_V_vxor_VV(m, negative), negative);
        sum = Q6_Vw_vrmpyacc_VwVubVb(sum, ones, g->residual[q].v);
    }
    g->res_fix.v = Q6_Vw_vsub_VwVw(zero, Q6_Vw_vasl_VwR(sum, 15));
}

void hx_spinor_unpack(const struct hx_spinor *k, const uint8_t *const *blocks, size_t n,
                      HVX_Vector means, struct hx_spinor_group *g)
{
    load(k, blocks, n, g);
    skeleton(g, means);
    residuals(k, g);
    check(k, g);
}
