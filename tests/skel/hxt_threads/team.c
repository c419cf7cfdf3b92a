/* Creates and joins the threads of a call of interface hxt_threads. */
#include "hxt_threads/team.h"

#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_perf.h"
#include "qurt.h"

enum { STACK_BYTES = 32 << 10 };

static int start(void (*work)(void *), void *member, char *stack, qurt_thread_t *id)
{
    qurt_thread_attr_t a;

    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_name(&a, "member");
    qurt_thread_attr_set_stack_addr(&a, stack);
    qurt_thread_attr_set_stack_size(&a, STACK_BYTES);
    qurt_thread_attr_set_detachstate(&a, QURT_THREAD_ATTR_CREATE_JOINABLE);
    return qurt_thread_create(id, &a, work, member) == QURT_EOK ? AEE_SUCCESS : AEE_EFAILED;
}

int team_run(unsigned n, void (*work)(void *), void *members, size_t bytes, int64_t *pcycles)
{
    char *stacks = aligned_alloc(TEAM_LINE, (size_t)n * STACK_BYTES);
    const uint64_t t0 = HAP_perf_get_pcycles();
    qurt_thread_t id[TEAM_THREADS];
    unsigned started = 0;

    while (stacks && started < n &&
           !start(work, (char *)members + started * bytes, stacks + (size_t)started * STACK_BYTES, &id[started]))
        started++;
    for (unsigned i = 0; i < started; i++)
        qurt_thread_join(id[i], NULL);
    *pcycles = (int64_t)(HAP_perf_get_pcycles() - t0);
    free(stacks);
    if (!stacks)
        return AEE_ENOMEMORY;
    return started == n ? AEE_SUCCESS : AEE_EFAILED;
}
