/* HAP_power_set() and its kin: each context's votes for clocks, latency and HVX, and what they add up to. */
#pragma GCC visibility push(default)
#include "HAP_power.h"
#pragma GCC visibility pop

#include <pthread.h>
#include <stdlib.h>

#include "HAP_farf.h"
#include "hap_power.h"
#include "base/machine.h"
#include "cost/vtime.h"

enum { LATENCY_ANY = 65535, LATENCY_LEAST = 10, MHZ_MAX = 65535 };
enum { HVX_SILENT, HVX_ON, HVX_OFF };

/* What one context votes for; all zero: nothing. */
struct voter {
    void *context;
    unsigned mips_mhz;
    unsigned mips_latency, latency; /* us, 0 = none: by MIPS and by DCVS requests, which do not cancel each other */
    HAP_core_params_t core;
    int dcvs_enable;
    HAP_power_dcvs_v2_option dcvs_option;
    int awake;
    int hvx;
    int hmx; /* powered up */
    unsigned app_class;
    struct voter *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects voters and what they hold */
static struct voter *voters;

/* --- requests ------------------------------------------------------------------------------------------------------ */

/* Under the lock. */
static struct voter *voter_of(void *context)
{
    for (struct voter *v = voters; v; v = v->next)
        if (v->context == context)
            return v;
    return NULL;
}

static struct voter *voter_make(void *context)
{
    struct voter *v = voter_of(context);

    if (v)
        return v;
    v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->context = context;
    v->next = voters;
    voters = v;
    return v;
}

/* 65535, the published default, ends a vote. */
static unsigned latency_vote(unsigned us)
{
    if (us >= LATENCY_ANY)
        return 0;
    return us < LATENCY_LEAST ? LATENCY_LEAST : us;
}

static int corners_ok(const char *what, const HAP_dcvs_params_t *p)
{
    unsigned low = p->min_corner, mid = p->target_corner;
    unsigned high = p->max_corner ? p->max_corner : HAP_DCVS_VCORNER_MAX;

    if (low <= high && (!mid || (low <= mid && mid <= high)))
        return 1;
    FARF(ERROR, "HAP_power_set: %s corners: target %u, min %u, max %u are not in order", what, mid,
         low, (unsigned)p->max_corner);
    return 0;
}

static int set_mips_bw(struct voter *v, const HAP_power_request_t *r)
{
    const HAP_power_mips_bw_payload *p = &r->mips_bw;

    if (p->set_bus_bw && p->busbwUsagePercentage > 100) {
        FARF(ERROR, "HAP_power_set: bus usage of %u %%", p->busbwUsagePercentage);
        return HAP_POWER_ERR_INVALID_PARAM;
    }
    if (p->set_latency && p->latency <= 0) {
        FARF(ERROR, "HAP_power_set: latency of %d us, at least 1", p->latency);
        return HAP_POWER_ERR_INVALID_PARAM;
    }
    if (p->set_mips) {
        unsigned share = p->mipsTotal / (hx_machine ? hx_machine->hw_threads : 1);

        v->mips_mhz = share > p->mipsPerThread ? share : p->mipsPerThread;
    }
    if (p->set_latency)
        v->mips_latency = latency_vote((unsigned)p->latency);
    return AEE_SUCCESS;
}

static int set_hvx(struct voter *v, const HAP_power_request_t *r)
{
    v->hvx = r->hvx.power_up ? HVX_ON : HVX_OFF;
    return AEE_SUCCESS;
}

static int set_hmx(struct voter *v, const HAP_power_request_t *r)
{
    if (r->hmx.power_up && !(hx_machine && hx_machine->hmx)) {
        FARF(ERROR, "HAP_power_set: there is no HMX on V69");
        return HAP_POWER_ERR_UNSUPPORTED_API;
    }
    v->hmx = r->hmx.power_up;
    return AEE_SUCCESS;
}

static int set_apptype(struct voter *v, const HAP_power_request_t *r)
{
    v->app_class = r->apptype;
    return AEE_SUCCESS;
}

static int set_dcvs(struct voter *v, const HAP_power_request_t *r)
{
    v->dcvs_enable = r->dcvs.dcvs_enable;
    v->dcvs_option = (HAP_power_dcvs_v2_option)r->dcvs.dcvs_option;
    return AEE_SUCCESS;
}

static int set_dcvs_v2(struct voter *v, const HAP_power_request_t *r)
{
    const HAP_power_dcvs_v2_payload *p = &r->dcvs_v2;

    if (p->set_dcvs_params && !corners_ok("DCVS", &p->dcvs_params))
        return HAP_POWER_ERR_INVALID_PARAM;
    v->dcvs_enable = p->dcvs_enable;
    v->dcvs_option = p->dcvs_option;
    v->latency = p->set_latency ? latency_vote(p->latency) : 0;
    memset(&v->core, 0, sizeof(v->core));
    if (p->set_dcvs_params)
        v->core = p->dcvs_params;
    return AEE_SUCCESS;
}

static int set_dcvs_v3(struct voter *v, const HAP_power_request_t *r)
{
    const HAP_power_dcvs_v3_payload *p = &r->dcvs_v3;

    if ((p->set_core_params && !corners_ok("core", &p->core_params)) ||
        (p->set_bus_params && !corners_ok("bus", &p->bus_params)))
        return HAP_POWER_ERR_INVALID_PARAM;
    if (p->set_dcvs_enable) {
        v->dcvs_enable = p->dcvs_enable;
        v->dcvs_option = p->dcvs_option;
    }
    if (p->set_latency)
        v->latency = latency_vote(p->latency);
    if (p->set_core_params)
        v->core = p->core_params;
    if (p->set_sleep_disable)
        v->awake = p->sleep_disable != HAP_DCVS_LPM_ENABLE_ALL;
    return AEE_SUCCESS;
}

static int (*const set[])(struct voter *v, const HAP_power_request_t *r) = {
    [HAP_power_set_mips_bw] = set_mips_bw,   [HAP_power_set_HVX] = set_hvx,
    [HAP_power_set_apptype] = set_apptype,   [HAP_power_set_DCVS] = set_dcvs,
    [HAP_power_set_DCVS_v2] = set_dcvs_v2,   [HAP_power_set_DCVS_v3] = set_dcvs_v3,
    [HAP_power_set_HMX] = set_hmx,
};

int HAP_power_set(void *context, HAP_power_request_t *request)
{
    struct voter *v;
    int rc;

    if (!context)
        return AEE_ENULLCONTEXT;
    if (!request || request->type >= sizeof(set) / sizeof(set[0]) || !set[request->type]) {
        FARF(ERROR, "HAP_power_set: no request, or one of unknown type");
        return HAP_POWER_ERR_INVALID_PARAM;
    }
    pthread_mutex_lock(&lock);
    v = voter_make(context);
    rc = v ? set[request->type](v, request) : HAP_POWER_ERR_UNKNOWN;
    pthread_mutex_unlock(&lock);
    return rc;
}

int HAP_power_destroy(void *context)
{
    struct voter *v, **at = &voters;

    if (!context)
        return AEE_ENULLCONTEXT;
    pthread_mutex_lock(&lock);
    while (*at && (*at)->context != context)
        at = &(*at)->next;
    v = *at;
    if (v)
        *at = v->next;
    pthread_mutex_unlock(&lock);
    free(v);
    return v ? AEE_SUCCESS : HAP_POWER_ERR_INVALID_PARAM;
}

int HAP_power_destroy_client(void *context)
{
    return HAP_power_destroy(context);
}

void *HAP_utils_create_context(void)
{
    return malloc(1);
}

int HAP_utils_destroy_context(void *context)
{
    free(context);
    return context ? AEE_SUCCESS : AEE_ENULLCONTEXT;
}

_Static_assert((int)HAP_DCVS_VCORNER_SVS2 == (int)HX_CORNER_SVS2 &&
                   (int)HAP_DCVS_VCORNER_TURBO == (int)HX_CORNER_TURBO,
               "the wire counts corners as the header does");

/* --- all contexts together ----------------------------------------------------------------------------------------- */

/* The corner at which a context makes a busy core run. */
static unsigned corner_of(const struct voter *v)
{
    unsigned corner = v->core.target_corner;

    if (!corner)
        return HX_CORNER_NONE;
    if (v->dcvs_enable && v->dcvs_option == HAP_DCVS_V2_PERFORMANCE_MODE)
        corner = v->core.max_corner ? v->core.max_corner : HAP_DCVS_VCORNER_MAX;
    return corner > HAP_DCVS_VCORNER_TURBO ? HX_CORNER_TURBO : corner;
}

static unsigned shorter(unsigned a, unsigned b)
{
    if (!a || !b)
        return a | b;
    return a < b ? a : b;
}

struct hx_power_vote hx_power_vote(void)
{
    unsigned mhz = 0, latency = 0, corner = 0;
    int awake = 0;

    pthread_mutex_lock(&lock);
    for (const struct voter *v = voters; v; v = v->next) {
        mhz = v->mips_mhz > mhz ? v->mips_mhz : mhz;
        corner = corner_of(v) > corner ? corner_of(v) : corner;
        latency = shorter(latency, shorter(v->latency, v->mips_latency));
        awake |= v->awake;
    }
    pthread_mutex_unlock(&lock);
    return (struct hx_power_vote){.clock_mhz = (uint16_t)(mhz < MHZ_MAX ? mhz : MHZ_MAX),
                                  .latency_us = (uint16_t)latency,
                                  .corner = (uint8_t)corner,
                                  .awake = (uint8_t)awake};
}

int hx_power_hvx_on(void)
{
    int on = 0, off = 0;

    pthread_mutex_lock(&lock);
    for (const struct voter *v = voters; v; v = v->next) {
        on |= v->hvx == HVX_ON;
        off |= v->hvx == HVX_OFF;
    }
    pthread_mutex_unlock(&lock);
    return on || !off;
}

int hx_power_hmx_on(void)
{
    int on = 0;

    pthread_mutex_lock(&lock);
    for (const struct voter *v = voters; v; v = v->next)
        on |= v->hmx;
    pthread_mutex_unlock(&lock);
    return on;
}

static void add_up(unsigned *app_class, boolean *dcvs)
{
    pthread_mutex_lock(&lock);
    for (const struct voter *v = voters; v; v = v->next) {
        *app_class |= v->app_class;
        *dcvs |= v->dcvs_enable != 0;
    }
    pthread_mutex_unlock(&lock);
}

int HAP_power_get(void *context, HAP_power_response_t *response)
{
    double mhz = hx_machine ? hx_machine->clock_mhz : 0;
    double bytes_per_pcycle = hx_machine ? hx_machine->cost.dma_bytes_per_pcycle : 0;
    unsigned app_class = 0;
    boolean dcvs = FALSE;

    (void)context;
    if (!response)
        return HAP_POWER_ERR_INVALID_PARAM;
    add_up(&app_class, &dcvs);
    switch (response->type) {
    case HAP_power_get_max_mips:
        response->max_mips = (unsigned)mhz;
        return AEE_SUCCESS;
    case HAP_power_get_max_bus_bw:
        response->max_bus_bw = (uint64)(bytes_per_pcycle * mhz * 1e6);
        return AEE_SUCCESS;
    case HAP_power_get_client_class:
        response->client_class = app_class;
        return AEE_SUCCESS;
    case HAP_power_get_clk_Freq:
        response->clkFreqHz = hx_vt_clock_khz() * 1000;
        return AEE_SUCCESS;
    case HAP_power_get_aggregateAVSMpps:
        response->aggregateAVSMpps = 0;
        return AEE_SUCCESS;
    case HAP_power_get_dcvsEnabled:
        response->dcvsEnabled = dcvs;
        return AEE_SUCCESS;
    }
    FARF(ERROR, "HAP_power_get: unknown type %d", (int)response->type);
    return HAP_POWER_ERR_INVALID_PARAM;
}

/* --- short forms ----------------------------------------------------------------------------------------------------- */

static HAP_power_request_t v3(void)
{
    HAP_power_request_t r;

    memset(&r, 0, sizeof(r));
    r.type = HAP_power_set_DCVS_v3;
    return r;
}

static HAP_dcvs_params_t corners(uint32 target, uint32 min, uint32 max)
{
    return (HAP_dcvs_params_t){.target_corner = (HAP_dcvs_voltage_corner_t)target,
                               .min_corner = (HAP_dcvs_voltage_corner_t)min,
                               .max_corner = (HAP_dcvs_voltage_corner_t)max};
}

int HAP_power_set_dcvs_option(void *context, boolean dcvs_enable,
                              HAP_power_dcvs_v2_option dcvs_option)
{
    HAP_power_request_t r = v3();

    r.dcvs_v3.set_dcvs_enable = TRUE;
    r.dcvs_v3.dcvs_enable = dcvs_enable;
    r.dcvs_v3.dcvs_option = dcvs_option;
    return HAP_power_set(context, &r);
}

int HAP_power_set_sleep_latency(void *context, uint32 latency)
{
    HAP_power_request_t r = v3();

    r.dcvs_v3.set_latency = TRUE;
    r.dcvs_v3.latency = latency;
    return HAP_power_set(context, &r);
}

int HAP_power_set_core_corner(void *context, uint32 target_corner, uint32 min_corner,
                              uint32 max_corner)
{
    HAP_power_request_t r = v3();

    r.dcvs_v3.set_core_params = TRUE;
    r.dcvs_v3.core_params = corners(target_corner, min_corner, max_corner);
    return HAP_power_set(context, &r);
}

int HAP_power_set_bus_corner(void *context, uint32 target_corner, uint32 min_corner,
                             uint32 max_corner)
{
    HAP_power_request_t r = v3();

    r.dcvs_v3.set_bus_params = TRUE;
    r.dcvs_v3.bus_params = corners(target_corner, min_corner, max_corner);
    return HAP_power_set(context, &r);
}

int HAP_power_set_sleep_mode(void *context, boolean sleep_disable)
{
    HAP_power_request_t r = v3();

    r.dcvs_v3.set_sleep_disable = TRUE;
    r.dcvs_v3.sleep_disable = sleep_disable ? HAP_DCVS_LPM_LEVEL1 : HAP_DCVS_LPM_ENABLE_ALL;
    return HAP_power_set(context, &r);
}

void HAP_power_set_dcvs_v3_init(HAP_power_request_t *request)
{
    *request = v3();
    request->dcvs_v3.set_dcvs_enable = TRUE;
    request->dcvs_v3.set_latency = TRUE;
    request->dcvs_v3.latency = LATENCY_ANY;
    request->dcvs_v3.set_core_params = TRUE;
    request->dcvs_v3.set_bus_params = TRUE;
    request->dcvs_v3.set_sleep_disable = TRUE;
    request->dcvs_v3.sleep_disable = HAP_DCVS_LPM_ENABLE_ALL;
}
