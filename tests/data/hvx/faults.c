/* What the checking build has to stop, one fault per child process: tests/cases/hvx_faults.sh
 * builds and runs it. Usage: faults NAME.  A run that reaches its end prints the counts and exits
 * 0. */
#include <stdio.h>
#include <string.h>

#include <hvx_hexagon_protos.h>

#include "HAP_compute_res.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_hvx_trace.h"
#include "base/machine.h"
#include "qurt_hvx.h"

enum { ASKED = 2 * HX_VTCM_GRAIN - 4096 }; /* the grant is whole grains, the check is not */

static float data[8192] __attribute__((aligned(128)));

/* n vectors; kept out of line, as a kernel would be. */
__attribute__((noinline)) void kernel_copy(HVX_Vector *to, const HVX_Vector *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = Q6_V_vnot_V(from[i]);
}

__attribute__((noinline)) void kernel_unaligned(HVX_Vector *to, const void *from)
{
    *to = Q6_V_vnot_V(*(const HVX_UVector *)from);
}

/* As kernels do that mean a float's bits. */
__attribute__((noinline)) HVX_Vector kernel_clamp(HVX_Vector v, float max)
{
    return Q6_Vsf_vmin_VsfVsf(v, Q6_V_vsplat_R(max));
}

/* VTCM of a compute resource context; in cache mode it is only assigned so far. */
static HVX_Vector *assigned(unsigned char cached)
{
    compute_res_attr_t a;

    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_vtcm_param(&a, ASKED, 1);
    HAP_compute_res_attr_set_cache_mode(&a, cached);
    return HAP_compute_res_acquire(&a, 0) ? HAP_compute_res_attr_get_vtcm_ptr(&a) : NULL;
}

int main(int argc, char **argv)
{
    const struct hx_profile profile = {.clock_mhz = 1000, .hvx_contexts = 2};
    const char *what = argc > 1 ? argv[1] : "none";
    HVX_Vector *vtcm;

    if (hx_machine_init(&profile))
        return 2;
    vtcm = HAP_request_VTCM(ASKED, 1);
    if (!vtcm)
        return 2;
    if (strcmp(what, "context"))
        qurt_hvx_lock(QURT_HVX_MODE_128B);
    if (!strcmp(what, "misaligned"))
        kernel_copy(vtcm, (const HVX_Vector *)(data + 16), 1);
    if (!strcmp(what, "splat"))
        *vtcm = kernel_clamp(kernel_clamp(*vtcm, 7.5f), 1e30f * 1e30f);
    if (!strcmp(what, "past"))
        kernel_copy(vtcm + ASKED / 128 - 1, (const HVX_Vector *)data, 2);
    if (!strcmp(what, "context-past"))
        kernel_copy(assigned(0) + ASKED / 128 - 1, (const HVX_Vector *)data, 2);
    if (!strcmp(what, "context-rests"))
        kernel_copy(assigned(1), (const HVX_Vector *)data, 1);
    if (!strcmp(what, "gather"))
        Q6_vgather_ARMVw(vtcm, (int32_t)(uintptr_t)data, 4095, Q6_V_vzero());
    if (!strcmp(what, "scatter"))
        Q6_vscatter_RMVwV((int32_t)(uintptr_t)vtcm, 1 << 20, Q6_V_vsplat_R(ASKED),
                          Q6_V_vzero());
    hx_mem_reset();
    kernel_copy(vtcm, (const HVX_Vector *)data, 64);
    kernel_copy((HVX_Vector *)data, vtcm, 16);
    kernel_unaligned(vtcm, data + 3);
    printf("load vtcm=%llu ddr=%llu store vtcm=%llu ddr=%llu\n",
           (unsigned long long)hx_mem_counts.vector_load_bytes[HX_MEM_VTCM],
           (unsigned long long)hx_mem_counts.vector_load_bytes[HX_MEM_DDR],
           (unsigned long long)hx_mem_counts.vector_store_bytes[HX_MEM_VTCM],
           (unsigned long long)hx_mem_counts.vector_store_bytes[HX_MEM_DDR]);
    Q6_vgather_ARMVw(vtcm, (int32_t)(uintptr_t)vtcm, 4095, Q6_V_vzero());
    return 0;
}
