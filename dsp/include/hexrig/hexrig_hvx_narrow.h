/* HVX intrinsics that end in narrower lanes: narrowing shifts, rounding, saturation; and carries.
 *
 * Narrowing forms interleave: even lanes of the result come from Vv (or the low vector), odd ones
 * from Vu (the high). */
#ifndef HEXRIG_HVX_NARROW_H
#define HEXRIG_HVX_NARROW_H

#include "hexrig_hvx_lanes.h"

/* --- by R.  :rnd adds the last bit shifted out, :sat clamps to the result's range. */
#define HX_PLAIN(x, s) ((x) >> (s))
#define HX_RND(x, s) (((x) >> (s)) + ((((x) << 1) >> (s)) & 1))
#define HX_SAME(x) ((hx_nuw)(x))
#define HX_NARROW(name, t, mask, weave, shifted, to) \
    HX_OP2R(name, VS, t, t, weave(to(shifted(b, (R & mask))), to(shifted(a, (R & mask)))))
HX_NARROW(Q6_Vh_vasr_VwVwR, w, 15, hx_weave_h, HX_PLAIN, HX_SAME)
HX_NARROW(Q6_Vh_vasr_VwVwR_sat, w, 15, hx_weave_h, HX_PLAIN, hx_sat_h_w)
HX_NARROW(Q6_Vh_vasr_VwVwR_rnd_sat, w, 15, hx_weave_h, HX_RND, hx_sat_h_w)
HX_NARROW(Q6_Vuh_vasr_VwVwR_sat, w, 15, hx_weave_h, HX_PLAIN, hx_sat_uh_w)
HX_NARROW(Q6_Vuh_vasr_VwVwR_rnd_sat, w, 15, hx_weave_h, HX_RND, hx_sat_uh_w)
HX_NARROW(Q6_Vuh_vasr_VuwVuwR_sat, uw, 15, hx_weave_h, HX_PLAIN, hx_sat_uh_uw)
HX_NARROW(Q6_Vuh_vasr_VuwVuwR_rnd_sat, uw, 15, hx_weave_h, HX_RND, hx_sat_uh_uw)
HX_NARROW(Q6_Vb_vasr_VhVhR_sat, h, 7, hx_weave_b, HX_PLAIN, hx_sat_b_h)
HX_NARROW(Q6_Vb_vasr_VhVhR_rnd_sat, h, 7, hx_weave_b, HX_RND, hx_sat_b_h)
HX_NARROW(Q6_Vub_vasr_VhVhR_sat, h, 7, hx_weave_b, HX_PLAIN, hx_sat_ub_h)
HX_NARROW(Q6_Vub_vasr_VhVhR_rnd_sat, h, 7, hx_weave_b, HX_RND, hx_sat_ub_h)
HX_NARROW(Q6_Vub_vasr_VuhVuhR_sat, uh, 7, hx_weave_b, HX_PLAIN, hx_sat_ub_uh)
HX_NARROW(Q6_Vub_vasr_VuhVuhR_rnd_sat, uh, 7, hx_weave_b, HX_RND, hx_sat_ub_uh)
#undef HX_NARROW

/* --- by a vector: the count is in the lane where the result lands */
HX_FN hx_nuh hx_rnd_uh(hx_nuh x, hx_nuh k)
{
    return hx_shr_uh(x, k) + (hx_shr_uh(x << 1, k) & 1);
}
HX_DEF2(Q6_Vub_vasr_WuhVub_sat, VS, V, W, V,
        hx_weave_b(hx_sat_ub_uh(hx_shr_uh((hx_nuh)a0, hx_eub(b) & 7)),
                   hx_sat_ub_uh(hx_shr_uh((hx_nuh)a1, hx_oub(b) & 7))))
HX_DEF2(Q6_Vub_vasr_WuhVub_rnd_sat, VS, V, W, V,
        hx_weave_b(hx_sat_ub_uh(hx_rnd_uh((hx_nuh)a0, hx_eub(b) & 7)),
                   hx_sat_ub_uh(hx_rnd_uh((hx_nuh)a1, hx_oub(b) & 7))))
HX_DEF2(Q6_Vuh_vasr_WwVuh_sat, VS, V, W, V,
        hx_weave_h(hx_sat_uh_w(HX_PLAIN(a0, (hx_nw)hx_euh(b) & 15)),
                   hx_sat_uh_w(HX_PLAIN(a1, (hx_nw)hx_ouh(b) & 15))))
HX_DEF2(Q6_Vuh_vasr_WwVuh_rnd_sat, VS, V, W, V,
        hx_weave_h(hx_sat_uh_w(HX_RND(a0, (hx_nw)hx_euh(b) & 15)),
                   hx_sat_uh_w(HX_RND(a1, (hx_nw)hx_ouh(b) & 15))))

/* --- round to the upper half of each lane */
HX_OP2(Q6_Vh_vround_VwVw_sat, VS, w, w,
       hx_weave_h(hx_sat_h_w(HX_RND(b, 16)), hx_sat_h_w(HX_RND(a, 16))))
HX_OP2(Q6_Vuh_vround_VwVw_sat, VS, w, w,
       hx_weave_h(hx_sat_uh_w(HX_RND(b, 16)), hx_sat_uh_w(HX_RND(a, 16))))
HX_OP2(Q6_Vuh_vround_VuwVuw_sat, VS, uw, uw,
       hx_weave_h(hx_sat_uh_uw(HX_RND(b, 16)), hx_sat_uh_uw(HX_RND(a, 16))))
HX_OP2(Q6_Vb_vround_VhVh_sat, VS, h, h,
       hx_weave_b(hx_sat_b_h(HX_RND(b, 8)), hx_sat_b_h(HX_RND(a, 8))))
HX_OP2(Q6_Vub_vround_VhVh_sat, VS, h, h,
       hx_weave_b(hx_sat_ub_h(HX_RND(b, 8)), hx_sat_ub_h(HX_RND(a, 8))))
HX_OP2(Q6_Vub_vround_VuhVuh_sat, VS, uh, uh,
       hx_weave_b(hx_sat_ub_uh(HX_RND(b, 8)), hx_sat_ub_uh(HX_RND(a, 8))))

/* --- saturate only */
HX_OP2(Q6_Vh_vsat_VwVw, VA, w, w, hx_weave_h(hx_sat_h_w(b), hx_sat_h_w(a)))
HX_OP2(Q6_Vuh_vsat_VuwVuw, VA, uw, uw, hx_weave_h(hx_sat_uh_uw(b), hx_sat_uh_uw(a)))
HX_OP2(Q6_Vub_vsat_VhVh, VA, h, h, hx_weave_b(hx_sat_ub_h(b), hx_sat_ub_h(a)))
/* A 64-bit number with Vu above Vv, clamped to a word: Vv fits when Vu is nothing but its sign. */
HX_OP2(Q6_Vw_vsatdw_VwVw, VA, w, w, HX_PICK(w, a == (b >> 31), b, (a >> 31) ^ INT32_MAX))
#undef HX_RND
#undef HX_PLAIN
#undef HX_SAME

/* --- add with carry, and Vu + ~Vv + carry: bit 4i of the predicate is the carry of lane i, all
 * four bits of it come out */
#define HX_CARRY(name, second) \
    HX_FN HVX_Vector name(HVX_Vector A, HVX_Vector B, HVX_VectorPred *Qx) \
    { \
        union hx_v a_, b_, q, d; \
        HX_HVX_COUNT(VA); \
        a_.v = A; \
        b_.v = B; \
        q.v = *Qx; \
        HX_EACH(i) { \
            const hx_nuw a = (hx_nuw)a_.n[i], s = a + (second), r = s + ((hx_nuw)q.n[i] & 1); \
            d.n[i] = (hx_nw)r; \
            q.n[i] = (hx_nw)(s < a) | (hx_nw)(r < s); \
        } \
        *Qx = q.v; \
        return d.v; \
    }
HX_CARRY(Q6_Vw_vadd_VwVwQ_carry, (hx_nuw)b_.n[i])
HX_CARRY(Q6_Vw_vsub_VwVwQ_carry, ~(hx_nuw)b_.n[i])
#undef HX_CARRY
HX_OP3(Q6_Vw_vadd_VwVwQ_carry_sat, VA, w, w, w,
       hx_weave_w(hx_sat_w_d(hx_ew(a) + hx_ew(b) + hx_ew(c & 1)),
                  hx_sat_w_d(hx_ow(a) + hx_ow(b) + hx_ow(c & 1))))

#endif
