/* The tables of isa.c; each is in a file of its own, compiled for its instruction set. */
#ifndef HX_CPU_ISA_TABLES_H
#define HX_CPU_ISA_TABLES_H

#include "isa.h"

#if defined(__x86_64__)
#define HX_ISA_X86 1
extern const struct hx_cpu_kernels hx_isa_avx2, hx_isa_avx512, hx_isa_avx512_vnni;
#endif
extern const struct hx_cpu_kernels hx_isa_portable;

/* What ops.inc and flash.inc define has the same names everywhere. */
#define HX_ISA_TABLE(isa_name, isa_matmul, ...)                                             \
    {                                                                                       \
        .name = isa_name, .matmul = isa_matmul, .batches = __VA_ARGS__, .tile = V16_TILE_VECS, .pack = f_pack,       \
        .quantize32 = ops_quantize32,                                                       \
        .quantize256 = ops_quantize256, .rmsnorm = ops_rmsnorm, .swiglu = ops_swiglu,       \
        .geglu = ops_geglu, .finite = ops_finite, .argmax = ops_argmax, .flash = flash_step \
    }

#endif
