/* What code with listings and traced accesses (kernels/silicon) expects of the DSP process, for programs that are their own
 * platform and charge nothing.  Include once. */
#ifndef SP_HEX_PLATFORM_H
#define SP_HEX_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#include "hexrig_code.h"

struct hx_code_scope hx_code_enter(const struct hx_code *code)
{
    (void)code;
    return (struct hx_code_scope){0};
}

void hx_code_leave(struct hx_code_scope *scope)
{
    (void)scope;
}

void hx_code_trips(unsigned level, uint64_t trips)
{
    (void)level, (void)trips;
}

#ifndef __SANITIZE_ADDRESS__ /* then nothing is traced, and the sanitizer has these names */
#define HXT_ACCESS(n)                           \
    void __asan_load##n##_noabort(uintptr_t p); \
    void __asan_load##n##_noabort(uintptr_t p)  \
    {                                           \
        (void)p;                                \
    }                                           \
    void __asan_store##n##_noabort(uintptr_t p); \
    void __asan_store##n##_noabort(uintptr_t p) \
    {                                           \
        (void)p;                                \
    }
HXT_ACCESS(1)
HXT_ACCESS(2)
HXT_ACCESS(4)
HXT_ACCESS(8)
HXT_ACCESS(16)

void __asan_loadN_noabort(uintptr_t p, size_t n);
void __asan_loadN_noabort(uintptr_t p, size_t n)
{
    (void)p, (void)n;
}

void __asan_storeN_noabort(uintptr_t p, size_t n);
void __asan_storeN_noabort(uintptr_t p, size_t n)
{
    (void)p, (void)n;
}
#endif

#endif
