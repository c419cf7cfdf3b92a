/* Checks and counts of what skels touch: dsp/include/hexrig/hexrig_hvx_check.h and hexrig_hvx_trace.h.
 *
 * Instrumented code calls the functions at the end by the names that gcc's sanitizers use.  A build
 * of this process with the real sanitizers brings its own, so these are left out there. */
#include "hexrig_hvx_check.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "cost/cost.h"
#include "cost/pending.h"
#include "hexrig_hvx_trace.h"
#include "base/export.h"
#include "base/machine.h"
#include "base/stacks.h"
#include "mem_stream.h"
#include "qurt/qurt_spin.h"

__thread struct hx_mem_counts hx_mem_counts;

void hx_mem_reset(void)
{
    memset(&hx_mem_counts, 0, sizeof(hx_mem_counts));
}

/* How machine.h records this PD as an owner. */
static int32_t owner(void)
{
    return hx_pd_client ? hx_pd_client : -1;
}

/* Where a call came from, for a message: function or file, and offset. */
struct place {
    const char *name;
    unsigned long offset;
};

static struct place place_of(const void *pc)
{
    struct place p = {"?", (unsigned long)(uintptr_t)pc};
    Dl_info info;

    if (!dladdr(pc, &info))
        return p;
    if (info.dli_sname)
        return (struct place){info.dli_sname,
                              (unsigned long)((uintptr_t)pc - (uintptr_t)info.dli_saddr)};
    return (struct place){info.dli_fname,
                          (unsigned long)((uintptr_t)pc - (uintptr_t)info.dli_fbase)};
}

/* As an exception would, but readable: message, then the end of the PD. */
static _Noreturn void fault(const void *pc, const char *what, const char *by, const void *p)
{
    const struct place at = place_of(pc);

    FARF(FATAL, "%s: %s, address %p, in %s+0x%lx", what, by, p, at.name, at.offset);
    abort();
}

/* All of p[bytes] lies in what one request of this PD asked for.  Reads the table without its lock: grants to others may
 * change meanwhile, but those of this PD only change by its own calls. */
int hx_vtcm_granted(const void *p, size_t bytes)
{
    const uintptr_t from = (uintptr_t)p - (uintptr_t)hx_vtcm;
    uintptr_t start;
    int32_t first;

    if (!hx_in_vtcm(p) || hx_machine->vtcm[from / HX_VTCM_GRAIN].client != owner())
        return 0;
    first = hx_machine->vtcm[from / HX_VTCM_GRAIN].first;
    if (first < 0 || first >= HX_VTCM_GRAINS) /* another PD's skel wrote there */
        return 0;
    start = (uintptr_t)first * HX_VTCM_GRAIN;
    return from - start + bytes <= hx_machine->vtcm[start / HX_VTCM_GRAIN].bytes;
}

void hx_check_vtcm(const char *intrinsic, const void *p, size_t bytes)
{
    if (hx_machine && !hx_vtcm_granted(p, bytes))
        fault(__builtin_return_address(0), "gather or scatter outside of granted VTCM", intrinsic,
              p);
}

void hx_check_context(const char *intrinsic)
{
    if (!hx_machine || hx_hvx_context_held())
        return;
    fault(__builtin_return_address(0), "HVX used without an HVX context", intrinsic, NULL);
}

int hx_check_int(const char *by, double value)
{
    const struct place at = place_of(__builtin_return_address(0));
    const int above = value >= 2147483648.0, below = value <= -2147483649.0;

    if (!above && !below && value == value)
        return (int)value;
    if (!hx_machine)
        return above ? INT32_MAX : below ? INT32_MIN : 0;
    FARF(FATAL, "float %g given to %s, which takes an int: outside of its range C leaves the result undefined, in %s+0x%lx", value, by,
         at.name, at.offset);
    abort();
}

#ifdef __SANITIZE_ADDRESS__

void hx_mem_stream(const void *p, size_t bytes, int is_store)
{
    (void)p;
    (void)bytes;
    (void)is_store;
}

#else

/* One access of `bytes` at p from code at pc. */
static void access_at(const void *pc, const void *p, size_t bytes, int is_store)
{
    const int place = hx_in_vtcm(p) ? HX_MEM_VTCM : HX_MEM_DDR;

    if (hx_on_stack(p)) {
        hx_spin_access(p, bytes, is_store, 1);
        return;
    }
    hx_cost_access(p, bytes, is_store);
    if (!hx_cost_listed() && !hx_on_any_stack(p)) /* what a thread is told often lies on the stack of the one that started it */
        hx_cost_unlisted_access(bytes);
    if (place == HX_MEM_VTCM && hx_machine && !hx_vtcm_granted(p, bytes))
        fault(pc, "access past what was granted of VTCM", is_store ? "store" : "load", p);
    if (bytes >= 16)
        *(is_store ? &hx_mem_counts.vector_store_bytes[place]
                   : &hx_mem_counts.vector_load_bytes[place]) += bytes;
    else
        (*(is_store ? &hx_mem_counts.scalar_stores[place] : &hx_mem_counts.scalar_loads[place]))++;
    hx_spin_access(p, bytes, is_store, 0);
}

/* The first access to each line of L1 is looked up; the others find it there. */
void hx_mem_stream(const void *p, size_t bytes, int is_store)
{
    enum { LINE = 32, WORD = 8 };
    const uintptr_t from = (uintptr_t)p & -(uintptr_t)WORD, to = (uintptr_t)p + bytes;
    const int place = hx_in_vtcm(p) ? HX_MEM_VTCM : HX_MEM_DDR;

    if (bytes == 0 || hx_on_stack(p))
        return;
    if (place == HX_MEM_VTCM && hx_machine && !hx_vtcm_granted(p, bytes))
        fault(__builtin_return_address(0), "access past what was granted of VTCM", is_store ? "store" : "load", p);
    for (uintptr_t at = from; at < to; at = (at | (LINE - 1)) + 1)
        hx_cost_access((const void *)at, WORD, is_store);
    (is_store ? hx_mem_counts.scalar_stores : hx_mem_counts.scalar_loads)[place] += (to - from + WORD - 1) / WORD;
}

#define ACCESS(n) \
    void __asan_load##n##_noabort(const void *p); \
    HX_EXPORT void __asan_load##n##_noabort(const void *p) \
    { \
        access_at(__builtin_return_address(0), p, n, 0); \
    } \
    void __asan_store##n##_noabort(const void *p); \
    HX_EXPORT void __asan_store##n##_noabort(const void *p) \
    { \
        access_at(__builtin_return_address(0), p, n, 1); \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
#undef ACCESS

void __asan_loadN_noabort(const void *p, size_t bytes);
HX_EXPORT void __asan_loadN_noabort(const void *p, size_t bytes)
{
    access_at(__builtin_return_address(0), p, bytes, 0);
}

void __asan_storeN_noabort(const void *p, size_t bytes);
HX_EXPORT void __asan_storeN_noabort(const void *p, size_t bytes)
{
    access_at(__builtin_return_address(0), p, bytes, 1);
}

void __asan_handle_no_return(void);
HX_EXPORT void __asan_handle_no_return(void)
{
}

/* -fsanitize=alignment: what gcc passes along (its layout is gcc's). */
struct mismatch {
    struct {
        const char *file;
        uint32_t line, column;
    } where;
    const struct {
        uint16_t kind, info;
        char name[];
    } * type;
    uint8_t log_alignment;
    uint8_t check_kind;
};

void __ubsan_handle_type_mismatch_v1(const struct mismatch *m, const void *p);
HX_EXPORT void __ubsan_handle_type_mismatch_v1(const struct mismatch *m, const void *p)
{
    const struct place at = place_of(__builtin_return_address(0));

    FARF(FATAL, "misaligned access: %s of alignment %u at address %p, %s:%u, in %s+0x%lx",
         m->type->name, 1u << m->log_alignment, p, m->where.file, m->where.line, at.name,
         at.offset);
    abort();
}
#endif
