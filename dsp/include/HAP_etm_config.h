/* The trace unit (published names): there is none here.  `hexrig trace` records what code did (docs/trace.md). */
#ifndef HAP_ETM_CONFIG_H
#define HAP_ETM_CONFIG_H

#include "AEEStdErr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* AEE_EVERSIONNOTSUPPORT, as on a device without it. */
static inline int HAP_user_etm_enable(void)
{
    return AEE_EVERSIONNOTSUPPORT;
}

static inline int HAP_user_etm_disable(void)
{
    return AEE_EVERSIONNOTSUPPORT;
}

#ifdef __cplusplus
}
#endif

#endif
