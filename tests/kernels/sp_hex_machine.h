/* What kernels/spinor/sp_hex_*.c expect of the machine beside VTCM, HVX contexts and messages, for programs that are their own platform:
 * worker pools whose jobs are done at once, mutexes for one thread, and DMA that is done when it is started.  Include once. */
#ifndef SP_HEX_MACHINE_H
#define SP_HEX_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "hexrig_dma.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "worker_pool.h"

int qurt_hvx_get_units(void)
{
    return 2 << 8; /* two contexts */
}

AEEResult worker_pool_init_with_stack_size(worker_pool_context_t *context, int stack_size)
{
    static int pool;

    (void)stack_size;
    *context = &pool;
    return AEE_SUCCESS;
}

void worker_pool_deinit(worker_pool_context_t *context)
{
    *context = NULL;
}

AEEResult worker_pool_submit(worker_pool_context_t context, worker_pool_job_t job)
{
    (void)context;
    job.fptr(job.dptr);
    return AEE_SUCCESS;
}

void worker_pool_synctoken_init(worker_synctoken_t *token, unsigned int njobs)
{
    *token = (worker_synctoken_t){.left = njobs};
}

void worker_pool_synctoken_jobdone(worker_synctoken_t *token)
{
    token->left--;
}

void worker_pool_synctoken_wait(worker_synctoken_t *token)
{
    if (token->left)
        abort();
}

void qurt_mutex_init(qurt_mutex_t *lock)
{
    memset(lock, 0, sizeof(*lock));
}

void qurt_mutex_destroy(qurt_mutex_t *lock)
{
    if (lock->count)
        abort();
}

void qurt_mutex_lock(qurt_mutex_t *lock)
{
    if (lock->count++)
        abort();
}

void qurt_mutex_unlock(qurt_mutex_t *lock)
{
    if (--lock->count)
        abort();
}

void Q6_dmlink_AA(void *tail, void *descriptor)
{
    struct hx_dma_type0 *d = descriptor;

    if (tail)
        ((struct hx_dma_type0 *)tail)->next = (uint32_t)(uintptr_t)d;
    memcpy((void *)(uintptr_t)d->dst, (const void *)(uintptr_t)d->src, d->length);
    d->done = 1;
}

int Q6_R_dmwait(void)
{
    return HX_DMA_IDLE;
}

#endif
