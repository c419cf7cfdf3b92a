/* The process of a PD (published names).
 *
 * Lists of processes, names of processes and the kinds of PDs are not here: they are the root PD's, and a user PD sees itself only. */
#ifndef HAP_PS_H
#define HAP_PS_H

#include "AEEStdDef.h"
#include "AEEStdErr.h"
#include "qurt_thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most urgent priority that a thread of this PD may have: 1, as every PD here may use all of them. */
static inline int HAP_get_thread_priority_ceiling(void)
{
    return 1;
}

/* "The call that thread tidQ serves will be done in earlyWakeTime us", so that the client's processor is awake by then.  The client's
 * processor never sleeps here, so it changes nothing.  0, or AEE_EINVALIDTHREAD: no such thread. */
static inline int HAP_send_early_signal(uint32_t tidQ, uint32_t earlyWakeTime)
{
    (void)earlyWakeTime;
    return qurt_thread_get_priority(tidQ) < 0 ? AEE_EINVALIDTHREAD : AEE_SUCCESS;
}

typedef enum {
    HAP_req_get_orig_apps_pid = 1,
} HAP_req_userpd_params_type;

typedef struct {
    HAP_req_userpd_params_type type;
    union {
        int orig_apps_pid; /* the client's process */
    };
} HAP_req_userpd_params_t;

/* AEE_EVERSIONNOTSUPPORT: it came after V69. */
static inline int HAP_get_userpd_params(HAP_req_userpd_params_t *request)
{
    (void)request;
    return AEE_EVERSIONNOTSUPPORT;
}

#ifdef __cplusplus
}
#endif

#endif
