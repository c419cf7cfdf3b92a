/* Prepares a thread that serves calls or packets, see settle_in.h. */
#include "settle_in.h"

#include <stdlib.h>

#include "base/crash.h"
#include "cost/cost.h"
#include "qurt/qurt_wait.h"

void hx_settle_in(void)
{
    free(malloc(1)); /* libc's part */
    hx_qurt_self();
    hx_cost_prepare();
    hx_crash_thread_begin();
}

void hx_settle_out(void)
{
    hx_cost_end();
    hx_crash_thread_end();
}
