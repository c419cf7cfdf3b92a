/* The performance monitor (published names): eight counters of 32 bits, each with an event.
 *
 * One event is modelled: QURT_PMU_COMMITTED_PACKETS, packets of code that the calling thread has been charged (docs/timing.md), its own
 * only, while the device counts those of all hardware threads.  Counters of every other event stand at 0: what they would count
 * (cache misses, stalls by cause, bus accesses, HMX) is not modelled by its number, and what a code means is published for few.
 *
 * Event i has its low 8 bits in byte i of QURT_PMUEVTCFG (counters 0..3) and QURT_PMUEVTCFG1 (4..7), bits 8 and 9 at bits 2i and 2i + 1 of
 * QURT_PMUCFG.  Setting a QURT_PMUEVTCFG clears its four counters.  Settings are a PD's, counts a thread's, and
 * of a call those up to its last look at a counter.  Any thread. */
#ifndef QURT_PMU_H
#define QURT_PMU_H

#include "qurt_error.h"

/* Registers. */
#define QURT_PMUCNT0 0
#define QURT_PMUCNT1 1
#define QURT_PMUCNT2 2
#define QURT_PMUCNT3 3
#define QURT_PMUCFG 4
#define QURT_PMUEVTCFG 5
#define QURT_PMUCNT4 6
#define QURT_PMUCNT5 7
#define QURT_PMUCNT6 8
#define QURT_PMUCNT7 9
#define QURT_PMUEVTCFG1 10

/* hexrig's name of event 0x03. */
#define QURT_PMU_COMMITTED_PACKETS 3

#ifdef __cplusplus
extern "C" {
#endif

/* Unknown registers: nothing happens, and 0. */
void qurt_pmu_set(int reg_id, unsigned int reg_value);
unsigned int qurt_pmu_get(int reg_id);

/* 1: counters count; 0: they stand still.  At first they do. */
void qurt_pmu_enable(int enable);

/* The eight counters at once: buf[8].  QURT_EOK. */
int qurt_pmu_get_pmucnt(void *buf);

#ifdef __cplusplus
}
#endif

#endif
