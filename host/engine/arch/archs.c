/* The architectures that the engine runs. */
#include "arch.h"

const struct hx_arch *const hx_archs[] = {
    &hx_arch_llama,  &hx_arch_qwen2, &hx_arch_qwen3, &hx_arch_gemma2,
    &hx_arch_gemma3, &hx_arch_gpt2,  &hx_arch_opt,   &hx_arch_gptj,   NULL,
};
