/* Finer votes for clocks (published names), on top of HAP_power.h.
 *
 * A V69 has none of them, or nothing of what they change is modelled: duty cycles, the clock within a voltage corner, bus corners beyond
 * turbo plus, DDR's performance mode.  All give AEE_EVERSIONNOTSUPPORT, which callers may ignore, as on a device without them, and change
 * nothing in the request. */
#ifndef HAP_DCVS_H
#define HAP_DCVS_H

#include "AEEStdErr.h"
#include "HAP_power.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HAP_DCVS_CLK_PERF_HIGH,
    HAP_DCVS_CLK_PERF_LOW,
} HAP_dcvs_clk_perf_mode_t;

/* Activity of max_active_time ms in every `periodicity` ms. */
static inline int HAP_set_dcvs_v3_duty_cycle(void *context, uint32 max_active_time, uint32 periodicity)
{
    (void)context, (void)max_active_time, (void)periodicity;
    return AEE_EVERSIONNOTSUPPORT;
}

static inline int HAP_set_dcvs_v3_duty_cycle_params(HAP_power_request_t *request, uint32 max_active_time, uint32 periodicity)
{
    (void)request, (void)max_active_time, (void)periodicity;
    return AEE_EVERSIONNOTSUPPORT;
}

/* The highest or lowest clock of the corner that the request asks for. */
static inline int HAP_set_dcvs_v3_core_perf_mode(HAP_power_request_t *request, HAP_dcvs_clk_perf_mode_t perf_mode)
{
    (void)request, (void)perf_mode;
    return AEE_EVERSIONNOTSUPPORT;
}

static inline int HAP_set_dcvs_v3_bus_perf_mode(HAP_power_request_t *request, HAP_dcvs_clk_perf_mode_t perf_mode)
{
    (void)request, (void)perf_mode;
    return AEE_EVERSIONNOTSUPPORT;
}

/* 1: bus corners beyond HAP_DCVS_VCORNER_TURBO_PLUS are granted.  V79 and later. */
static inline int HAP_set_dcvs_v3_protected_bus_corners(HAP_power_request_t *request, unsigned char enable_protected_corners)
{
    (void)request, (void)enable_protected_corners;
    return AEE_EVERSIONNOTSUPPORT;
}

/* V79 and later. */
static inline int HAP_set_ddr_perf_mode(HAP_power_request_t *request, unsigned int perf_mode)
{
    (void)request, (void)perf_mode;
    return AEE_EVERSIONNOTSUPPORT;
}

#ifdef __cplusplus
}
#endif

#endif
