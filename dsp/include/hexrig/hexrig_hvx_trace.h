/* Every load and store of a skel, by address, without a change to its source.
 *
 * Compile the skel's files with gcc and
 *   -fsanitize=kernel-address --param asan-instrumentation-with-call-threshold=0
 *   --param asan-stack=0 --param asan-globals=0
 * and each access calls the DSP process, which counts it here.  Nothing else of the sanitizer is
 * used.  Accesses to the thread's own stack (spilled registers, locals) are left out.  An
 * HVX_Vector may be read in pieces of the host's register width, hence bytes and not accesses.
 *
 * A checking build adds -DHEXRIG_CHECK -fsanitize=alignment; see docs/hvx.md. */
#ifndef HEXRIG_HVX_TRACE_H
#define HEXRIG_HVX_TRACE_H

#include <stdint.h>

enum hx_mem_place {
    HX_MEM_VTCM,
    HX_MEM_DDR, /* everything else: DDR behind L2 */
    HX_MEM_PLACES
};

/* Since hx_mem_reset() of this thread. */
struct hx_mem_counts {
    uint64_t vector_load_bytes[HX_MEM_PLACES]; /* in accesses of 16 bytes and more */
    uint64_t vector_store_bytes[HX_MEM_PLACES];
    uint64_t scalar_loads[HX_MEM_PLACES]; /* accesses */
    uint64_t scalar_stores[HX_MEM_PLACES];
};

#ifdef __cplusplus
extern "C" {
#endif

extern __thread struct hx_mem_counts hx_mem_counts
    __attribute__((tls_model("initial-exec"), visibility("default")));

/* Zeroes the calling thread's counts. */
void hx_mem_reset(void) __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#endif
