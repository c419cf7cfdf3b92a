/* The hand-over to a worker pool: as many threads as the machine has contexts, see parallel.h. */
#include "parallel.h"

#include <pthread.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "qurt_hvx.h"
#include "worker_pool.h"

enum { STACK_BYTES = 128 << 10 }; /* kernels keep groups of blocks there */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects pool */
static worker_pool_context_t pool;

struct job {
    hx_part_body *body;
    void *arg;
    struct hx_part part;
    worker_synctoken_t *done;
    int rc;
};

static void run(struct job *j)
{
    j->rc = AEE_EFAILED;
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return;
    j->rc = j->body(j->arg, j->part);
    qurt_hvx_unlock();
}

static void run_in_pool(void *arg)
{
    struct job *j = arg;

    run(j);
    worker_pool_synctoken_jobdone(j->done);
}

static worker_pool_context_t get_pool(void)
{
    worker_pool_context_t p;

    pthread_mutex_lock(&lock);
    if (!pool && worker_pool_init_with_stack_size(&pool, STACK_BYTES) != AEE_SUCCESS)
        FARF(ERROR, "skel: no threads for more HVX contexts: one does it all");
    p = pool;
    pthread_mutex_unlock(&lock);
    return p;
}

/* A part that no thread takes is done here, once the others have begun. */
static void run_all(struct job *job, unsigned parts)
{
    worker_pool_context_t p = get_pool();
    worker_synctoken_t done;
    unsigned taken = 1;

    worker_pool_synctoken_init(&done, parts - 1);
    for (unsigned i = 1; i < parts; i++)
        job[i].done = &done;
    while (p && taken < parts &&
           worker_pool_submit(p, (worker_pool_job_t){run_in_pool, &job[taken]}) == AEE_SUCCESS)
        taken++;
    run(&job[0]);
    for (unsigned i = taken; i < parts; i++)
        run_in_pool(&job[i]);
    worker_pool_synctoken_wait(&done);
}

static int run_pool(unsigned parts, hx_part_body *body, void *arg, struct hx_parallel_time *time)
{
    struct job job[HX_PARTS_MAX];

    (void)time; /* nobody asks for it */
    for (unsigned i = 0; i < parts; i++)
        job[i] = (struct job){.body = body, .arg = arg, .part = {i, parts}};
    if (parts > 1)
        run_all(job, parts);
    else
        run(&job[0]);
    for (unsigned i = 0; i < parts; i++)
        if (job[i].rc)
            return job[i].rc;
    return AEE_SUCCESS;
}

static void stop_pool(void)
{
    worker_pool_context_t p;

    pthread_mutex_lock(&lock);
    p = pool;
    pool = NULL;
    pthread_mutex_unlock(&lock);
    worker_pool_deinit(&p);
}

const struct hx_handover hx_handover_pool = {HX_PARTS_MAX, run_pool, stop_pool};
