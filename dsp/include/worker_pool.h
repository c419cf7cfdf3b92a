/* A pool of threads (names of the Hexagon SDK's worker pool).
 *
 *     worker_pool_context_t pool;
 *     worker_synctoken_t done;
 *     worker_pool_init(&pool);
 *     worker_pool_synctoken_init(&done, n);
 *     for (i = 0; i < n; i++)
 *         worker_pool_submit(pool, (worker_pool_job_t){run, &part[i]});   // run() ends with ..._jobdone(&done)
 *     worker_pool_synctoken_wait(&done);
 *
 * Jobs go round: the k-th to worker k modulo their number, so that a run repeats in virtual time; a worker takes its jobs in
 * order.  A pool has as many workers as the machine has hardware threads; they run at its creator's priority.
 *
 * The names are macros, because skels bring worker pools of their own under the same names; without hx_ they would meet. */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include "AEEStdDef.h"
#include "AEEStdErr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define worker_pool_init hx_worker_pool_init
#define worker_pool_init_with_stack_size hx_worker_pool_init_with_stack_size
#define worker_pool_deinit hx_worker_pool_deinit
#define worker_pool_available hx_worker_pool_available
#define worker_pool_submit hx_worker_pool_submit
#define worker_pool_synctoken_init hx_worker_pool_synctoken_init
#define worker_pool_synctoken_jobdone hx_worker_pool_synctoken_jobdone
#define worker_pool_synctoken_wait hx_worker_pool_synctoken_wait
#define worker_pool_set_thread_priority hx_worker_pool_set_thread_priority
#define worker_pool_get_thread_priority hx_worker_pool_get_thread_priority

typedef void (*worker_callback_t)(void *);
typedef void *worker_pool_context_t;

typedef struct {
    worker_callback_t fptr;
    void *dptr;
} worker_pool_job_t;

typedef struct {
    unsigned int left;         /* jobs */
    unsigned long long latest; /* pcycle at which the latest of the others was done */
    unsigned long long hvx_ops; /* of their jobs */
} worker_synctoken_t;

/* AEE_SUCCESS, or AEE_ENOMEMORY: threads could not be started.  Stacks have 32 KiB unless given (bytes). */
AEEResult worker_pool_init(worker_pool_context_t *context);
AEEResult worker_pool_init_with_stack_size(worker_pool_context_t *context, int stack_size);

/* Waits for the jobs that were submitted, ends the threads; *context becomes NULL.  Accepts NULL and an empty context. */
void worker_pool_deinit(worker_pool_context_t *context);

int worker_pool_available(worker_pool_context_t context); /* 1: it can be submitted to */

/* AEE_SUCCESS, AEE_EBADPARM: no pool; AEE_ENOMEMORY. */
AEEResult worker_pool_submit(worker_pool_context_t context, worker_pool_job_t job);

void worker_pool_synctoken_init(worker_synctoken_t *token, unsigned int njobs);
void worker_pool_synctoken_jobdone(worker_synctoken_t *token);
void worker_pool_synctoken_wait(worker_synctoken_t *token); /* one thread */

/* AEE_SUCCESS, or AEE_EBADPARM: no pool, or not 1..255. */
AEEResult worker_pool_set_thread_priority(worker_pool_context_t context, unsigned int prio);
AEEResult worker_pool_get_thread_priority(worker_pool_context_t context, unsigned int *prio);

static inline unsigned int worker_pool_atomic_inc_return(unsigned int *target)
{
    return __atomic_add_fetch(target, 1u, __ATOMIC_SEQ_CST);
}

static inline unsigned int worker_pool_atomic_dec_return(unsigned int *target)
{
    return __atomic_sub_fetch(target, 1u, __ATOMIC_SEQ_CST);
}

#ifdef __cplusplus
}
#endif

#endif
