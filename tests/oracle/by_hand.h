/* What a hand-written version of an intrinsic takes: instructions per register of the result, counted in the shortest sequence that we
 * know for registers of 64 bytes (AVX-512 with VBMI, BITALG and VNNI) and of 32 (AVX2), loads and stores left out.  The first pattern
 * that fits counts.  A row is what bench_vectors.c compares with, so an entry that is too large hides a slow intrinsic: what the host
 * has an instruction for stands under the last row. */
#ifndef BY_HAND_H
#define BY_HAND_H

struct by_hand {
    const char *pattern; /* of the name behind Q6_ */
    double wide, narrow; /* instructions per register of 64, of 32 bytes */
};

static const struct by_hand by_hand[] = {
    /* qfloat: every result rounds exactly.  qf16 is done as the even and the odd halves, and woven */
    {"Vqf32_vmpy_Vqf32Vqf32", 16, 22},
    {"Vqf32_vmpy_VsfVsf", 24, 34},
    {"Vqf32_v???_Vqf32Vqf32", 26, 38},
    {"Vqf32_v???_Vqf32Vsf", 31, 42},
    {"Vqf32_v???_VsfVsf", 36, 46},
    {"Vsf_equals_Vqf32", 7, 9},
    {"Vhf_equals_*", 18, 22},
    {"Wqf32_vmpy_*", 18, 24},
    {"Vqf16_vmpy_*", 38, 50},
    {"Vqf16_v???_*", 64, 88},
    /* rounding, clamping, narrowing: two registers become one */
    {"V*_vasr_*_rnd_sat", 11, 12},
    {"V*_vround_*", 9, 10},
    {"V*_vasr_*_sat", 6, 7},
    {"Vh_vasr_VhVh", 4, 14}, /* AVX2 has none by halves */
    {"Vh_vlsr_VhVh", 4, 12},
    {"Vh_vasl_VhVh", 4, 14},
    {"V*_vpack_*_sat", 2, 2},
    {"V*_vsat_*", 4, 5},
    /* products of words and halves, fractional products, dot products */
    {"Vw_vmpyoacc_*", 14, 18},
    {"Vw_vmpyo_*", 9, 11},
    {"Vw_vmpye_*", 6, 7},
    {"W_vmpye_*", 6, 7},
    {"W_vmpyoacc_*", 9, 12},
    {"V*_vmpy_*_s1_*", 7, 9},
    {"Vuh_vmpy_VuhVuh_rs16", 1, 1},
    {"Vw_vdmpy*Ruh_sat", 14, 18},
    {"Vw_vdmpyacc_*_sat", 8, 10},
    {"Vw_vdmpy_*_sat", 3, 3},
    {"Ww_vmpyacc_WwVhRh_sat", 8, 11},
    {"Wh_vtmpy*", 6, 6},
    {"Ww_v6mpy*", 22, 24},
    {"Vh_vmp?_Vh*_sat", 16, 18},
    {"W*_vrsad*", 6, 6},
    {"W*_vdsad*", 8, 8},
    {"V*_vrmpy*VbVb", 6, 6},
    {"W*_vrmpy*", 5, 6},
    {"Vw_vadd_VwVwQ_carry_sat", 9, 11},
    {"Vw_v???_VwVwQ_carry", 4, 4}, /* and as many for the carries */
    {"Ww_v???_WwWw_sat", 5, 6},
    {"Vw_v???_VwVw_sat", 5, 6},
    /* permutations */
    {"W_v*_VVR", 14, 24},
    {"V_v*delta_VV", 14, 20},
    {"V_v*align_VVR", 4, 12}, /* AVX2 shuffles within 16 bytes only */
    {"V_vror_VR", 4, 12},
    {"V_v*align_VVI", 3, 5},
    {"Wh_vlut16*", 7, 9},
    {"Vb_vlut32*", 4, 9},
    {"Vh_vlut4_*", 8, 9},
    {"Vb_vdeale_VbVb", 1, 4},
    /* counts */
    {"V?_prefixsum_Q", 15, 18},
    {"Ww_vasrinto_*", 11, 12},
    {"V*clb*", 6, 10},
    {"V*_vcl0_*", 4, 9},
    {"V?_vnormamt_*", 6, 11},
    {"Vh_vpopcount_Vh", 1, 9},
    {"*", 3, 3},
};

#endif
