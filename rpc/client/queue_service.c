/* The queue service of a session, see hx_queues.h.
 *
 * A thread of ours waits inside the service's wait_signal method, as the published protocol wants it.  Doorbells make its
 * signals unnecessary; what remains is that the call fails when the PD ends, and that is how queues learn of it. */
#include "hx_queues.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "hx_worker.h"

#define SERVICE_URI "file:///libdspqueue_rpc_skel.so?dspqueue_rpc_skel_handle_invoke&_modver=1.0"

struct service {
    remote_handle64 handle; /* 0 = not open; while open it keeps the session up, unless that is dropped */
    pthread_t watcher;
    int watching;
    _Atomic int watch_over; /* written by the watcher: it calls no more */
    int ended; /* AEE code */
    unsigned n_queues;
    struct dspqueue *queue[DSPQUEUE_MAX_PROCESS_QUEUES]; /* NULL = free */
    int published[DSPQUEUE_MAX_PROCESS_QUEUES];
};

enum { CANCEL_TRIES = 3 };

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a service is opened or closed, calls included */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* protects all below and queues' refs, error_* */
static pthread_cond_t error_over = PTHREAD_COND_INITIALIZER;
static struct service services[HX_SESSIONS];
static struct hx_worker worker = HX_WORKER_INIT(1);

static int call(struct service *v, uint32_t method, void *in, size_t in_bytes, void *out,
                size_t out_bytes)
{
    remote_arg pra[2] = {{.buf = {in, in_bytes}}, {.buf = {out, out_bytes}}};
    struct hx_client_session *s;
    remote_handle64 h;
    uint32_t dsp_handle;
    int rc;

    pthread_mutex_lock(&lock);
    h = v->handle;
    pthread_mutex_unlock(&lock);
    s = hx_session_get_handle(h, &dsp_handle);
    if (!s)
        return AEE_ECONNRESET;
    rc = hx_invoke(s, dsp_handle, REMOTE_SCALARS_MAKE(method, in != NULL, out != NULL),
                   in ? pra : pra + 1);
    hx_session_put(s);
    return rc;
}

/* --- the PD's end -------------------------------------------------------------------------------------------------- */

struct error_job {
    struct hx_async_job job;
    struct dspqueue *q; /* referenced */
    int error;
};

/* Under lock. */
static void unref(struct dspqueue *q)
{
    if (--q->refs)
        return;
    hx_dspq_fini(&q->q);
    free(q);
}

static void run_error(struct hx_async_job *job)
{
    struct error_job *e = (struct error_job *)job;
    struct dspqueue *q = e->q;

    pthread_mutex_lock(&lock);
    q->error_running = 1;
    q->error_thread = pthread_self();
    pthread_mutex_unlock(&lock);
    q->error_callback(q, e->error, q->callback_context);
    pthread_mutex_lock(&lock);
    q->error_running = q->error_due = 0;
    unref(q);
    pthread_cond_broadcast(&error_over);
    pthread_mutex_unlock(&lock);
    free(e);
}

/* Under lock. */
static void report_end(struct dspqueue *q, int error)
{
    struct error_job *e;

    hx_dspq_end(&q->q, error);
    if (!q->error_callback)
        return;
    e = malloc(sizeof(*e));
    if (e) {
        *e = (struct error_job){.job.run = run_error, .q = q, .error = error};
        q->refs++;
        q->error_due = 1;
        if (hx_worker_submit(&worker, &e->job) == 0)
            return;
        q->refs--;
        q->error_due = 0;
        free(e);
    }
    fprintf(stderr, "libcdsprpc: dspqueue %u: error 0x%x could not be reported\n", q->slot,
            (unsigned)error);
}

static void end_service(struct service *v, int error)
{
    pthread_mutex_lock(&lock);
    if (!v->ended) {
        v->ended = error;
        for (unsigned i = 0; i < DSPQUEUE_MAX_PROCESS_QUEUES; i++)
            if (v->published[i])
                report_end(v->queue[i], error);
    }
    pthread_mutex_unlock(&lock);
}

static void wake_all(struct service *v)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < DSPQUEUE_MAX_PROCESS_QUEUES; i++)
        if (v->published[i])
            hx_dspq_poke(&v->queue[i]->q);
    pthread_mutex_unlock(&lock);
}

static void *watch(void *arg)
{
    struct service *v = arg;
    int32_t what = 0;
    int rc;

    while ((rc = call(v, HX_QUEUE_WAIT_SIGNAL, NULL, 0, &what, sizeof(what))) == AEE_SUCCESS &&
           what != -1)
        wake_all(v);
    if (rc)
        end_service(v, rc == AEE_ECONNRESET || rc == AEE_ECONNREFUSED ? AEE_ECONNRESET
                                                                      : AEE_ENOSUCH);
    atomic_store(&v->watch_over, 1);
    return NULL;
}

/* --- opening and closing: under open_lock ------------------------------------------------------------------------- */

static int start_watcher(struct service *v)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    atomic_store(&v->watch_over, 0);
    rc = pthread_create(&v->watcher, NULL, watch, v);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    v->watching = rc == 0;
    return rc ? AEE_ENOMEMORY : AEE_SUCCESS;
}

/* AEE_ENOMEMORY: the call that ends the thread's wait could not be made, and the thread is still there.  After any other error
 * the PD is gone, and the thread has returned or is about to. */
static int stop_watcher(struct service *v)
{
    int rc = AEE_ENOMEMORY;

    if (!v->watching)
        return AEE_SUCCESS;
    for (int i = 0; i < CANCEL_TRIES && rc == AEE_ENOMEMORY; i++)
        rc = call(v, HX_QUEUE_CANCEL_WAIT, NULL, 0, NULL, 0);
    if (rc == AEE_ENOMEMORY && !atomic_load(&v->watch_over))
        return rc;
    pthread_join(v->watcher, NULL);
    v->watching = 0;
    return AEE_SUCCESS;
}

/* A service whose thread cannot be stopped stays open, with its session, until the next queue is opened or closed. */
static void close_service(struct service *v)
{
    if (stop_watcher(v))
        return;
    if (v->handle)
        remote_handle64_close(v->handle);
    pthread_mutex_lock(&lock);
    v->handle = 0;
    v->ended = 0;
    pthread_mutex_unlock(&lock);
}

static int open_service(struct service *v, unsigned index)
{
    remote_handle64 h;
    char uri[160];
    int rc;

    snprintf(uri, sizeof(uri), SERVICE_URI CDSP_DOMAIN "&_session=%u", index);
    rc = remote_handle64_open(uri, &h);
    if (rc)
        return rc;
    pthread_mutex_lock(&lock);
    v->handle = h;
    pthread_mutex_unlock(&lock);
    rc = start_watcher(v);
    if (rc)
        close_service(v);
    return rc;
}

static int take_slot(struct service *v, struct dspqueue *q)
{
    unsigned i = 0;

    pthread_mutex_lock(&lock);
    while (i < DSPQUEUE_MAX_PROCESS_QUEUES && v->queue[i])
        i++;
    if (i < DSPQUEUE_MAX_PROCESS_QUEUES) {
        v->queue[i] = q;
        v->published[i] = 0;
        v->n_queues++;
        q->slot = i;
        q->refs = 1;
    }
    pthread_mutex_unlock(&lock);
    return i < DSPQUEUE_MAX_PROCESS_QUEUES ? AEE_SUCCESS : AEE_EBADPARM;
}

int hx_service_join(unsigned index, struct dspqueue *q)
{
    struct service *v = &services[index];
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&open_lock);
    if (v->handle && !v->n_queues)
        close_service(v); /* once more */
    if (hx_service_state(index))
        rc = AEE_ECONNRESET;
    else if (!v->handle)
        rc = open_service(v, index);
    if (rc == AEE_SUCCESS) {
        rc = take_slot(v, q);
        q->generation = hx_session_generation_of(v->handle);
        if (rc && !v->n_queues)
            close_service(v);
    }
    pthread_mutex_unlock(&open_lock);
    return rc;
}

int hx_service_next_slot(struct dspqueue *q)
{
    struct service *v = &services[q->index];
    unsigned i = q->slot + 1;

    pthread_mutex_lock(&lock);
    while (i < DSPQUEUE_MAX_PROCESS_QUEUES && v->queue[i])
        i++;
    if (i < DSPQUEUE_MAX_PROCESS_QUEUES) {
        v->queue[q->slot] = NULL;
        v->queue[i] = q;
        v->published[i] = 0;
        q->slot = i;
    }
    pthread_mutex_unlock(&lock);
    return i < DSPQUEUE_MAX_PROCESS_QUEUES;
}

void hx_service_publish(struct dspqueue *q)
{
    struct service *v = &services[q->index];

    pthread_mutex_lock(&lock);
    v->published[q->slot] = 1;
    if (v->ended) /* between joining and now */
        report_end(q, v->ended);
    pthread_mutex_unlock(&lock);
}

void hx_service_withdraw(struct dspqueue *q)
{
    pthread_mutex_lock(&lock);
    services[q->index].published[q->slot] = 0;
    pthread_mutex_unlock(&lock);
}

void hx_service_leave(struct dspqueue *q)
{
    struct service *v = &services[q->index];
    int last;

    pthread_mutex_lock(&open_lock);
    pthread_mutex_lock(&lock);
    v->published[q->slot] = 0;
    v->queue[q->slot] = NULL;
    last = --v->n_queues == 0;
    pthread_mutex_unlock(&lock);
    if (last)
        close_service(v);
    pthread_mutex_unlock(&open_lock);
    pthread_mutex_lock(&lock);
    while (q->error_due && !(q->error_running && pthread_equal(q->error_thread, pthread_self())))
        pthread_cond_wait(&error_over, &lock);
    unref(q);
    pthread_mutex_unlock(&lock);
}

int hx_service_state(unsigned index)
{
    int ended;

    pthread_mutex_lock(&lock);
    ended = services[index].ended;
    pthread_mutex_unlock(&lock);
    return ended;
}

int hx_service_call(struct dspqueue *q, uint32_t method, void *in, size_t in_bytes, void *out,
                    size_t out_bytes)
{
    return call(&services[q->index], method, in, in_bytes, out, out_bytes);
}

void hx_queues_disconnect(unsigned index)
{
    struct service *v = &services[index];

    pthread_mutex_lock(&open_lock);
    if (v->handle) {
        end_service(v, AEE_ECONNRESET);
        stop_watcher(v);
    }
    pthread_mutex_unlock(&open_lock);
}
