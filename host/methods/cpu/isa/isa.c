/* Which table this machine can use, see isa.h. */
#include "isa.h"

#include "isa_tables.h"
#include "quant/quant.h"

#ifdef HX_ISA_X86
#include <cpuid.h>

/* clang 16's __builtin_cpu_supports() does not know f16c. */
static int has_f16c(void)
{
    unsigned a, b, c = 0, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static int has_vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

static int always(void)
{
    return 1;
}

static const struct {
    const struct hx_cpu_kernels *ops;
    int (*here)(void);
} tables[HX_ISAS] = {
    [HX_ISA_PORTABLE] = {&hx_isa_portable, always},
#ifdef HX_ISA_X86
    [HX_ISA_AVX2] = {&hx_isa_avx2, has_avx2},
    [HX_ISA_AVX512] = {&hx_isa_avx512, has_avx512},
    [HX_ISA_AVX512_VNNI] = {&hx_isa_avx512_vnni, has_vnni},
#endif
};

const struct hx_cpu_kernels *hx_isa(enum hx_isa which)
{
    return tables[which].ops && tables[which].here() ? tables[which].ops : NULL;
}

const struct hx_cpu_kernels *hx_isa_best(void)
{
    const struct hx_cpu_kernels *best = NULL;

    for (int i = HX_ISAS - 1; !best; i--)
        best = hx_isa((enum hx_isa)i);
    return best;
}

int hx_qx_form(uint32_t type)
{
    static const int forms[HX_QUANT_NAMES] = {
        [HX_QUANT_Q8_0] = 32,  [HX_QUANT_Q4_0] = 32,  [HX_QUANT_Q4_1] = 32,  [HX_QUANT_Q5_0] = 32,
        [HX_QUANT_Q5_1] = 32,  [HX_QUANT_IQ4_NL] = 32, [HX_QUANT_Q2_K] = 256, [HX_QUANT_Q3_K] = 256,
        [HX_QUANT_Q4_K] = 256, [HX_QUANT_Q5_K] = 256, [HX_QUANT_Q6_K] = 256,
    };

    if (type == HX_QUANT_F32 || type == HX_QUANT_F16 || type == HX_QUANT_BF16)
        return 0;
    return type < HX_QUANT_NAMES && forms[type] ? forms[type] : -1;
}
