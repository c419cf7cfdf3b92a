/* Worker pools of the Hexagon SDK: QuRT threads, each with a list of jobs, which are handed out in turn. */
#include "worker_pool.h"

#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "base/low_memory.h"
#include "base/machine.h"
#include "qurt_sysenv.h"
#include "qurt_thread.h"
#include "qurt_wait.h"
#include "cost/vtime.h"

enum { STACK_BYTES = 32 << 10, WORKERS_MAX = 16 };

struct job {
    struct job *next;
    worker_pool_job_t what;
    struct hx_vt_origin origin; /* of the thread that submitted it */
};

struct worker {
    qurt_thread_t thread;
    struct job *first, **last; /* under QuRT's lock */
    int stop;
    void *stack;
};

struct pool {
    unsigned n, next;
    size_t stack_bytes;
    struct worker worker[WORKERS_MAX];
};

/* Of the job that this thread works on. */
static __thread struct {
    int is_there;
    uint64_t ops_before; /* HVX operations from before it, or already reported */
} present;

/* The worker's next job; NULL when it is to end.  The job begins when it was submitted, or when the worker has time for it, as part
 * of the submitter's call. */
static struct job *take(struct worker *w)
{
    struct job *j;

    hx_qurt_enter();
    while (!w->first && !w->stop)
        hx_qurt_park(w, HX_QURT_FOREVER);
    j = w->first;
    if (j) {
        w->first = j->next;
        if (!w->first)
            w->last = &w->first;
        hx_qurt_work_for(&j->origin);
    }
    hx_qurt_leave();
    return j;
}


static void work(void *arg)
{
    struct worker *w = arg;
    struct job *j;

    while ((j = take(w))) {
        present.is_there = 1;
        present.ops_before = hx_hvx_ops(&hx_hvx_counts);
        j->what.fptr(j->what.dptr);
        present.is_there = 0;
        free(j);
    }
}

static int start(struct pool *p, struct worker *w)
{
    qurt_thread_attr_t a;

    w->last = &w->first;
    w->stack = hx_low_map(p->stack_bytes, -1);
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_name(&a, "worker_pool");
    qurt_thread_attr_set_stack_addr(&a, w->stack);
    qurt_thread_attr_set_stack_size(&a, (unsigned)p->stack_bytes);
    qurt_thread_attr_set_detachstate(&a, QURT_THREAD_ATTR_CREATE_JOINABLE);
    return w->stack && qurt_thread_create(&w->thread, &a, work, w) == QURT_EOK ? 0 : -1;
}

HX_EXPORT AEEResult hx_worker_pool_init_with_stack_size(worker_pool_context_t *context,
                                                        int stack_size)
{
    struct pool *p = calloc(1, sizeof(*p));
    qurt_sysenv_max_hthreads_t threads;
    worker_pool_context_t made = p;

    *context = NULL;
    if (!p || stack_size < 1 || qurt_sysenv_get_max_hw_threads(&threads)) {
        free(p);
        return AEE_ENOMEMORY;
    }
    p->stack_bytes = (size_t)stack_size;
    for (; p->n < threads.max_hthreads && p->n < WORKERS_MAX; p->n++)
        if (start(p, &p->worker[p->n])) {
            hx_low_unmap(p->worker[p->n].stack, p->stack_bytes);
            hx_worker_pool_deinit(&made);
            return AEE_ENOMEMORY;
        }
    *context = p;
    return AEE_SUCCESS;
}

HX_EXPORT AEEResult hx_worker_pool_init(worker_pool_context_t *context)
{
    return hx_worker_pool_init_with_stack_size(context, STACK_BYTES);
}

HX_EXPORT void hx_worker_pool_deinit(worker_pool_context_t *context)
{
    struct pool *p = context ? *context : NULL;

    if (!p)
        return;
    hx_qurt_enter();
    for (unsigned i = 0; i < p->n; i++) {
        p->worker[i].stop = 1;
        hx_qurt_unpark(&p->worker[i], hx_vt_now());
    }
    hx_qurt_leave();
    for (unsigned i = 0; i < p->n; i++) {
        qurt_thread_join(p->worker[i].thread, NULL);
        hx_low_unmap(p->worker[i].stack, p->stack_bytes);
    }
    free(p);
    *context = NULL;
}

HX_EXPORT int hx_worker_pool_available(worker_pool_context_t context)
{
    return context != NULL;
}

HX_EXPORT AEEResult hx_worker_pool_submit(worker_pool_context_t context, worker_pool_job_t job)
{
    struct pool *p = context;
    struct worker *w;
    struct job *j;

    if (!p || !job.fptr)
        return AEE_EBADPARM;
    j = malloc(sizeof(*j));
    if (!j)
        return AEE_ENOMEMORY;
    hx_qurt_enter();
    *j = (struct job){NULL, job, hx_vt_origin()};
    w = &p->worker[p->next++ % p->n];
    *w->last = j;
    w->last = &j->next;
    hx_qurt_unpark(w, 0); /* the job brings its time along */
    hx_qurt_leave();
    return AEE_SUCCESS;
}

HX_EXPORT void hx_worker_pool_synctoken_init(worker_synctoken_t *token, unsigned int njobs)
{
    *token = (worker_synctoken_t){njobs, 0, 0};
}

HX_EXPORT void hx_worker_pool_synctoken_jobdone(worker_synctoken_t *token)
{
    const uint64_t now = hx_vt_now(), ops = hx_hvx_ops(&hx_hvx_counts);

    hx_qurt_enter();
    if (present.is_there) {
        token->hvx_ops += ops - present.ops_before;
        present.ops_before = ops;
    }
    if (now > token->latest)
        token->latest = now;
    if (--token->left == 0)
        hx_qurt_unpark(token, token->latest);
    hx_qurt_leave();
}

HX_EXPORT void hx_worker_pool_synctoken_wait(worker_synctoken_t *token)
{
    hx_qurt_self();
    hx_qurt_enter();
    if (token->left)
        hx_qurt_park(token, HX_QURT_FOREVER);
    else
        hx_qurt_meet(token->latest, HX_QURT_FOREVER);
    hx_qurt_leave();
    hx_vt_add_hvx_ops(token->hvx_ops);
}

HX_EXPORT AEEResult hx_worker_pool_set_thread_priority(worker_pool_context_t context,
                                                       unsigned int prio)
{
    struct pool *p = context;

    if (!p || prio < 1 || prio > 255)
        return AEE_EBADPARM;
    for (unsigned i = 0; i < p->n; i++)
        qurt_thread_set_priority(p->worker[i].thread, (unsigned short)prio);
    return AEE_SUCCESS;
}

HX_EXPORT AEEResult hx_worker_pool_get_thread_priority(worker_pool_context_t context,
                                                       unsigned int *prio)
{
    struct pool *p = context;

    if (!p)
        return AEE_EBADPARM;
    *prio = (unsigned)qurt_thread_get_priority(p->worker[0].thread);
    return AEE_SUCCESS;
}
