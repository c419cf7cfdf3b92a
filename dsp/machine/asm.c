/* Instructions of inline assembly that concern the whole machine: dsp/include/hexrig/hexrig_asm.h.  Those of HMX are in hmx.c. */
#pragma GCC visibility push(default)
#include "HAP_perf.h"
#include "hexrig_asm.h"
#include "hexrig_dma.h"
#pragma GCC visibility pop

#include "cost/vtime.h"
#include "qurt/qurt_spin.h"

enum { CYCLES_MAX = 255 };

uint64_t hexrig_asm_upcycle(void)
{
    return HAP_perf_get_pcycles();
}

uint64_t hexrig_asm_pktcount(void)
{
    return hx_vt_packets();
}

uint64_t hexrig_asm_utimer(void)
{
    return HAP_perf_get_qtimer_count();
}

void hexrig_asm_pause(unsigned cycles)
{
    hx_spin_pause(cycles < CYCLES_MAX ? cycles : CYCLES_MAX);
}

void hexrig_asm_dmstart(void *descriptor)
{
    Q6_dmstart_A(descriptor);
}

void hexrig_asm_dmlink(void *tail, void *descriptor)
{
    Q6_dmlink_AA(tail, descriptor);
}

uint32_t hexrig_asm_dmpoll(void)
{
    return (uint32_t)Q6_R_dmpoll();
}

uint32_t hexrig_asm_dmwait(void)
{
    return (uint32_t)Q6_R_dmwait();
}
