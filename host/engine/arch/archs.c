/* The table of architectures, see arch.h. */
#include "arch.h"

#include <stdio.h>
#include <string.h>

const struct hx_arch *const hx_archs[] = {
    &hx_arch_llama,  &hx_arch_qwen2, &hx_arch_qwen3, &hx_arch_gemma2,
    &hx_arch_gemma3, &hx_arch_gpt2,  &hx_arch_opt,   &hx_arch_gptj,   NULL,
};

const struct hx_arch *hx_arch_find(struct hx_str name)
{
    for (size_t i = 0; hx_archs[i]; i++)
        if (hx_str_is(name, hx_archs[i]->name))
            return hx_archs[i];
    return NULL;
}

void hx_arch_list(char *out, size_t n)
{
    *out = '\0';
    for (size_t i = 0; hx_archs[i]; i++)
        snprintf(out + strlen(out), n - strlen(out), "%s%s", i ? ", " : "", hx_archs[i]->name);
}
