/* Votes for clock, sleep and HVX power (published names).
 *
 * A voter is a context: any address that is the caller's own, or HAP_utils_create_context().  Votes of all contexts of a PD are
 * combined, and the driver combines those of all PDs (docs/power.md): the highest clock wins, the shortest latency, and HVX
 * is powered unless somebody switched it off and nobody wants it on; HMX, where the profile has it, when somebody wants it.  A clock
 * takes effect with the next call; votes end with HAP_power_destroy(), or with the PD.  Thread-safe.
 *
 * Not here, because nothing of it is modelled: line locks, L3 and bus clocks (bus votes are checked, then forgotten). */
#ifndef HAP_POWER_H
#define HAP_POWER_H

#include <string.h>

#include "AEEStdDef.h"
#include "AEEStdErr.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HAP_POWER_ERR_UNKNOWN = -1,         /* out of memory */
    HAP_POWER_ERR_INVALID_PARAM = -2,   /* the log says which */
    HAP_POWER_ERR_UNSUPPORTED_API = -3, /* this DSP has none of it */
} HAP_power_error_codes;

/* --- what a request holds --------------------------------------------------------------------------------------- */

/* The older way to vote: by need.  A thread issues one packet per pcycle at most, so a MIPS is a MHz. */
typedef struct {
    boolean set_mips;
    unsigned int mipsPerThread;
    unsigned int mipsTotal; /* of all hardware threads */
    boolean set_bus_bw;
    uint64 bwBytePerSec;
    unsigned short busbwUsagePercentage; /* 0..100 */
    boolean set_latency;
    int latency; /* us, see below; 65535 ends the vote */
} HAP_power_mips_bw_payload;

typedef struct {
    boolean power_up;
} HAP_power_hvx_payload;

typedef struct {
    boolean power_up; /* refused unless the profile has HMX */
} HAP_power_hmx_payload;

/* What kind of program the PD is; changes nothing here. */
typedef enum {
    HAP_POWER_UNKNOWN_CLIENT_CLASS = 0x00,
    HAP_POWER_AUDIO_CLIENT_CLASS = 0x01,
    HAP_POWER_VOICE_CLIENT_CLASS = 0x02,
    HAP_POWER_COMPUTE_CLIENT_CLASS = 0x04,
    HAP_POWER_STREAMING_1HVX_CLIENT_CLASS = 0x08,
    HAP_POWER_STREAMING_2HVX_CLIENT_CLASS = 0x10,
} HAP_power_app_type_payload;

typedef enum {
    HAP_DCVS_ADJUST_UP_DOWN = 0x1,
    HAP_DCVS_ADJUST_ONLY_UP = 0x2,
} HAP_power_dcvs_payload_option;

typedef struct {
    boolean dcvs_enable;
    HAP_power_dcvs_payload_option dcvs_option;
} HAP_power_dcvs_payload;

typedef enum {
    HAP_DCVS_V2_ADJUST_UP_DOWN = 0x1,
    HAP_DCVS_V2_ADJUST_ONLY_UP = 0x2,
    HAP_DCVS_V2_POWER_SAVER_MODE = 0x4,
    HAP_DCVS_V2_POWER_SAVER_AGGRESSIVE_MODE = 0x8,
    HAP_DCVS_V2_PERFORMANCE_MODE = 0x10, /* a busy core rises to max_corner; in all other modes it runs at target_corner */
    HAP_DCVS_V2_DUTY_CYCLE_MODE = 0x20,
} HAP_power_dcvs_v2_option;

/* Voltage corners, from slow to fast.  What lies above TURBO is TURBO. */
typedef enum {
    HAP_DCVS_VCORNER_DISABLE = 0, /* no vote */
    HAP_DCVS_VCORNER_SVS2,
    HAP_DCVS_VCORNER_SVS,
    HAP_DCVS_VCORNER_SVS_PLUS,
    HAP_DCVS_VCORNER_NOM,
    HAP_DCVS_VCORNER_NOM_PLUS,
    HAP_DCVS_VCORNER_TURBO,
    HAP_DCVS_VCORNER_TURBO_PLUS,
    HAP_DCVS_VCORNER_TURBO_L2,
    HAP_DCVS_VCORNER_TURBO_L3,
    HAP_DCVS_VCORNER_MAX = 255,
    HAP_DCVS_VCORNER_SVSPLUS = HAP_DCVS_VCORNER_SVS_PLUS, /* older spellings */
    HAP_DCVS_VCORNER_NOMPLUS = HAP_DCVS_VCORNER_NOM_PLUS,
} HAP_dcvs_voltage_corner_t;

/* min_corner <= target_corner <= max_corner, as far as they are not DISABLE. */
typedef struct {
    HAP_dcvs_voltage_corner_t target_corner;
    HAP_dcvs_voltage_corner_t min_corner;
    HAP_dcvs_voltage_corner_t max_corner;
    HAP_dcvs_voltage_corner_t param1, param2, param3; /* ignored */
} HAP_dcvs_params_t;
typedef HAP_dcvs_params_t HAP_core_params_t;
typedef HAP_dcvs_params_t HAP_bus_params_t;

/* The whole vote of the context: what is not set is withdrawn. */
typedef struct {
    boolean dcvs_enable;
    HAP_power_dcvs_v2_option dcvs_option;
    boolean set_latency;
    uint32 latency; /* us */
    boolean set_dcvs_params;
    HAP_dcvs_params_t dcvs_params; /* of core and bus */
} HAP_power_dcvs_v2_payload;

/* Low-power modes that stay allowed.  As on its generation, LEVEL2 and LEVEL3 mean LEVEL1. */
enum {
    HAP_DCVS_LPM_ENABLE_ALL = 0,
    HAP_DCVS_LPM_LEVEL1 = 1, /* none: the DSP does not nap */
    HAP_DCVS_LPM_LEVEL2 = 2,
    HAP_DCVS_LPM_LEVEL3 = 3,
};

/* What is not set stays as it was. */
typedef struct {
    boolean set_dcvs_enable;
    boolean dcvs_enable;
    HAP_power_dcvs_v2_option dcvs_option;
    boolean set_latency;
    uint32 latency; /* us: the longest wake-up that is tolerated; less than 10 is 10, 65535 ends the vote */
    boolean set_core_params;
    HAP_core_params_t core_params;
    boolean set_bus_params;
    HAP_bus_params_t bus_params;
    boolean set_sleep_disable;
    uint32 sleep_disable; /* HAP_DCVS_LPM_* */
} HAP_power_dcvs_v3_payload;

typedef enum {
    HAP_power_set_mips_bw = 1,
    HAP_power_set_HVX,
    HAP_power_set_apptype,
    HAP_power_set_DCVS,
    HAP_power_set_DCVS_v2,
    HAP_power_set_DCVS_v3,
    HAP_power_set_HMX,
} HAP_Power_request_type;

/* Zero it before you fill it. */
typedef struct {
    HAP_Power_request_type type;
    union {
        HAP_power_mips_bw_payload mips_bw;
        HAP_power_hvx_payload hvx;
        HAP_power_app_type_payload apptype;
        HAP_power_dcvs_payload dcvs;
        HAP_power_dcvs_v2_payload dcvs_v2;
        HAP_power_dcvs_v3_payload dcvs_v3;
        HAP_power_hmx_payload hmx;
    };
} HAP_power_request_t;

typedef enum {
    HAP_power_get_max_mips = 1,
    HAP_power_get_max_bus_bw,
    HAP_power_get_client_class,
    HAP_power_get_clk_Freq,
    HAP_power_get_aggregateAVSMpps,
    HAP_power_get_dcvsEnabled,
} HAP_power_response_type;

typedef struct {
    HAP_power_response_type type;
    union {
        unsigned int max_mips;   /* of one thread */
        uint64 max_bus_bw;       /* bytes per second that DMA reaches at the top clock */
        unsigned int client_class; /* HAP_power_app_type_payload, or-ed over the PD's contexts */
        unsigned int clkFreqHz;  /* clock of the calling thread's call */
        unsigned int aggregateAVSMpps; /* 0: there is no audio here */
        boolean dcvsEnabled;     /* some context of the PD lets DCVS work */
    };
} HAP_power_response_t;

/* --- calls ------------------------------------------------------------------------------------------------------- */

/* AEE_SUCCESS; AEE_ENULLCONTEXT: a context is needed (there is no default client on this generation); or
 * HAP_POWER_ERR_*. */
int HAP_power_set(void *context, HAP_power_request_t *request);

/* Fills the member that response->type names; the context is ignored.  AEE_SUCCESS or HAP_POWER_ERR_*. */
int HAP_power_get(void *context, HAP_power_response_t *response);

/* Withdraws all votes of the context.  AEE_SUCCESS, AEE_ENULLCONTEXT, or HAP_POWER_ERR_INVALID_PARAM: it has none. */
int HAP_power_destroy(void *context);
int HAP_power_destroy_client(void *context);

/* A context that nobody else has, or NULL; destroy its votes first, then itself. */
void *HAP_utils_create_context(void);
int HAP_utils_destroy_context(void *context); /* AEE_SUCCESS, AEE_ENULLCONTEXT */

/* Short forms of HAP_power_set_DCVS_v3. */
int HAP_power_set_dcvs_option(void *context, boolean dcvs_enable,
                              HAP_power_dcvs_v2_option dcvs_option);
int HAP_power_set_sleep_latency(void *context, uint32 latency);
int HAP_power_set_core_corner(void *context, uint32 target_corner, uint32 min_corner,
                              uint32 max_corner);
int HAP_power_set_bus_corner(void *context, uint32 target_corner, uint32 min_corner,
                             uint32 max_corner);
int HAP_power_set_sleep_mode(void *context, boolean sleep_disable);

/* A request that withdraws everything that DCVS_v3 can vote for. */
void HAP_power_set_dcvs_v3_init(HAP_power_request_t *request);

#ifdef __cplusplus
}
#endif

#endif
