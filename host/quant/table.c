/* The table of number formats: sizes, names, and the functions that convert rows. */
#include "codecs.h"

static const struct hx_quant_info infos[HX_QUANT_NAMES] = {
    [HX_QUANT_F32] = {"F32", 1, 4, hx_widen_f32, hx_narrow_f32},
    [HX_QUANT_F16] = {"F16", 1, 2, hx_widen_f16, hx_narrow_f16},
    [HX_QUANT_BF16] = {"BF16", 1, 2, hx_widen_bf16, NULL},
    [HX_QUANT_Q4_0] = {"Q4_0", 32, sizeof(struct hx_q4_0), hx_widen_q4_0, hx_narrow_q4_0},
    [HX_QUANT_Q4_1] = {"Q4_1", 32, sizeof(struct hx_q4_1), hx_widen_q4_1, NULL},
    [HX_QUANT_Q5_0] = {"Q5_0", 32, sizeof(struct hx_q5_0), hx_widen_q5_0, hx_narrow_q5_0},
    [HX_QUANT_Q5_1] = {"Q5_1", 32, sizeof(struct hx_q5_1), hx_widen_q5_1, NULL},
    [HX_QUANT_Q8_0] = {"Q8_0", 32, sizeof(struct hx_q8_0), hx_widen_q8_0, hx_narrow_q8_0},
    [HX_QUANT_IQ4_NL] = {"IQ4_NL", 32, sizeof(struct hx_iq4_nl), hx_widen_iq4_nl, NULL},
    [HX_QUANT_Q2_K] = {"Q2_K", HX_QK_WEIGHTS, sizeof(struct hx_q2_k), hx_widen_q2_k, NULL},
    [HX_QUANT_Q3_K] = {"Q3_K", HX_QK_WEIGHTS, sizeof(struct hx_q3_k), hx_widen_q3_k, NULL},
    [HX_QUANT_Q4_K] = {"Q4_K", HX_QK_WEIGHTS, sizeof(struct hx_q4_k), hx_widen_q4_k,
                       hx_narrow_q4_k},
    [HX_QUANT_Q5_K] = {"Q5_K", HX_QK_WEIGHTS, sizeof(struct hx_q5_k), hx_widen_q5_k, NULL},
    [HX_QUANT_Q6_K] = {"Q6_K", HX_QK_WEIGHTS, sizeof(struct hx_q6_k), hx_widen_q6_k,
                       hx_narrow_q6_k},
};

/* Those that ggml has and we have not. */
static const char *const other_names[HX_QUANT_NAMES] = {
    [9] = "Q8_1",   [15] = "Q8_K",   [16] = "IQ2_XXS", [17] = "IQ2_XS", [18] = "IQ3_XXS",
    [19] = "IQ1_S", [21] = "IQ3_S",  [22] = "IQ2_S",   [23] = "IQ4_XS", [24] = "I8",
    [25] = "I16",   [26] = "I32",    [27] = "I64",     [28] = "F64",    [29] = "IQ1_M",
    [34] = "TQ1_0", [35] = "TQ2_0",  [39] = "MXFP4",
};

const struct hx_quant_info *hx_quant_info(uint32_t type)
{
    return type < HX_QUANT_NAMES && infos[type].name ? &infos[type] : NULL;
}

size_t hx_quant_row_bytes(uint32_t type, size_t n)
{
    return n / infos[type].weights * infos[type].bytes;
}

const char *hx_quant_name(uint32_t type)
{
    if (hx_quant_info(type))
        return infos[type].name;
    return type < HX_QUANT_NAMES && other_names[type] ? other_names[type] : "?";
}
