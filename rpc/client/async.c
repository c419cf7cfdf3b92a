/* Calls that do not wait (remote_handle64_invoke_async): jobs, the threads that run them, and their results. */
#include "hx_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hx_handle32.h"
#include "hx_session.h"
#include "hx_worker.h"

enum { THREADS_MAX = 64 };

struct async {
    struct hx_async_job job;
    struct async *next; /* in jobs */
    struct hx_client_session *session;
    uint32_t dsp_handle, sc;
    fastrpc_async_jobid id;
    enum fastrpc_async_notify_type type;
    fastrpc_async_callback_t cb;
    int done, result;
    remote_arg pra[]; /* [REMOTE_SCALARS_LENGTH(sc)] */
};

static struct hx_worker worker = HX_WORKER_INIT(THREADS_MAX);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects jobs, last_id and every job's done, result */
static pthread_cond_t finished;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct async *jobs; /* jobs whose result can be asked for */
static fastrpc_async_jobid last_id;

static void init_cond(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&finished, &attr);
    pthread_condattr_destroy(&attr);
}

/* Under lock. */
static struct async **find(fastrpc_async_jobid id)
{
    struct async **p = &jobs;

    while (*p && (*p)->id != id)
        p = &(*p)->next;
    return p;
}

static void run(struct hx_async_job *job)
{
    struct async *a = (struct async *)job;
    int serial = hx_session_serial_begin();
    int result = hx_invoke(a->session, a->dsp_handle, a->sc, a->pra);
    fastrpc_async_callback_t cb = a->cb;
    fastrpc_async_jobid id = a->id;
    int callback = a->type == FASTRPC_ASYNC_CALLBACK;

    hx_session_serial_end(serial);
    hx_session_put(a->session);
    if (a->type == FASTRPC_ASYNC_NO_SYNC) {
        free(a);
        return;
    }
    pthread_mutex_lock(&lock);
    a->result = result;
    a->done = 1; /* from here on another thread may free it */
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&lock);
    if (callback)
        cb.fn(id, cb.context, result);
}

static struct async *make(remote_handle64 h, const fastrpc_async_descriptor_t *desc, uint32_t sc,
                          const remote_arg *pra, int *rc)
{
    size_t n = REMOTE_SCALARS_LENGTH(sc);
    struct async *a;

    *rc = AEE_EBADPARM;
    if (!desc || (n && !pra) || (unsigned)desc->type > FASTRPC_ASYNC_POLL ||
        (desc->type == FASTRPC_ASYNC_CALLBACK && !desc->cb.fn))
        return NULL;
    *rc = AEE_ENOMEMORY;
    a = calloc(1, sizeof(*a) + n * sizeof(*pra));
    if (!a)
        return NULL;
    *rc = AEE_EINVHANDLE;
    a->session = hx_session_get_handle(h, &a->dsp_handle); /* put in run() */
    if (!a->session) {
        free(a);
        return NULL;
    }
    a->job.run = run;
    a->sc = sc;
    a->type = desc->type;
    a->cb = desc->cb;
    if (n)
        memcpy(a->pra, pra, n * sizeof(*pra));
    *rc = AEE_SUCCESS;
    return a;
}

int remote_handle64_invoke_async(remote_handle64 h, fastrpc_async_descriptor_t *desc, uint32_t sc,
                                 remote_arg *pra)
{
    int rc;
    struct async *a = make(h, desc, sc, pra, &rc);

    if (!a)
        return rc;
    pthread_once(&once, init_cond);
    pthread_mutex_lock(&lock);
    desc->jobid = a->id = ++last_id;
    if (a->type != FASTRPC_ASYNC_NO_SYNC) {
        a->next = jobs;
        jobs = a;
    }
    pthread_mutex_unlock(&lock);
    if (hx_worker_submit(&worker, &a->job) == 0)
        return AEE_SUCCESS;
    pthread_mutex_lock(&lock);
    if (a->type != FASTRPC_ASYNC_NO_SYNC)
        *find(a->id) = a->next;
    pthread_mutex_unlock(&lock);
    hx_session_put(a->session);
    free(a);
    return AEE_ENOMEMORY;
}

int remote_handle_invoke_async(remote_handle h, fastrpc_async_descriptor_t *desc, uint32_t sc,
                               remote_arg *pra)
{
    return remote_handle64_invoke_async(hx_handle64_of(h), desc, sc, pra);
}

static struct timespec deadline(int timeout_us)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += timeout_us / 1000000;
    t.tv_nsec += timeout_us % 1000000 * 1000L;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    return t;
}

int fastrpc_async_get_status(fastrpc_async_jobid jobid, int timeout_us, int *result)
{
    struct timespec end = deadline(timeout_us > 0 ? timeout_us : 0);
    struct async *a;
    int rc = 0;

    if (!result)
        return AEE_EBADPARM;
    pthread_once(&once, init_cond);
    pthread_mutex_lock(&lock);
    /* looked up again each time: another thread may release it in between */
    while ((a = *find(jobid)) && !a->done && timeout_us && rc != ETIMEDOUT)
        rc = timeout_us < 0 ? pthread_cond_wait(&finished, &lock)
                            : pthread_cond_timedwait(&finished, &lock, &end);
    rc = !a ? AEE_EBADPARM : a->done ? AEE_SUCCESS : AEE_EBUSY;
    if (rc == AEE_SUCCESS)
        *result = a->result;
    pthread_mutex_unlock(&lock);
    return rc;
}

int fastrpc_release_async_job(fastrpc_async_jobid jobid)
{
    struct async **p, *a;
    int rc;

    pthread_mutex_lock(&lock);
    p = find(jobid);
    a = *p;
    rc = !a ? AEE_EBADPARM : a->done ? AEE_SUCCESS : AEE_EBUSY;
    if (rc == AEE_SUCCESS)
        *p = a->next;
    pthread_mutex_unlock(&lock);
    if (rc == AEE_SUCCESS)
        free(a);
    return rc;
}
