/* What skels may ask about the machine: hardware threads, and the pcycle counter. */
#include "qurt_sysenv.h"

#include "base/machine.h"
#include "qurt_cycles.h"
#include "qurt_error.h"
#include "qurt_wait.h"
#include "cost/vtime.h"

HX_EXPORT unsigned long long int qurt_get_core_pcycles(void)
{
    return hx_vt_seen();
}

HX_EXPORT int qurt_sysenv_get_arch_version(qurt_arch_version_t *vers)
{
    vers->arch_version = hx_arch_version();
    return QURT_EOK;
}

HX_EXPORT int qurt_sysenv_get_max_hw_threads(qurt_sysenv_max_hthreads_t *mhwt)
{
    if (!hx_machine)
        return QURT_EINVALID;
    mhwt->max_hthreads = hx_machine->hw_threads;
    return QURT_EOK;
}
