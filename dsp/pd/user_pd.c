/* The process of a user PD: its threads and their loop.
 *
 * The main thread reads the control socket (buffers come and go; its end is the PD's end).  Worker threads take requests:
 * whoever finds one serves the call to its end, and a thread that leaves nobody waiting starts another
 * one first, so that calls of several client threads run in parallel. */
#include "user_pd.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include "HAP_farf.h"
#include "buffers.h"
#include "invoke.h"
#include "base/crash.h"
#include "base/low_memory.h"
#include "cost/queue_cost.h"
#include "cost/uncosted.h"
#include "hx_stage.h"
#include "interfaces.h"
#include "services.h"
#include "settle_in.h"

/* Threads have a part of the heap, so those that most clients need are there before a skel has: one that began when two calls
 * happened to meet would shift what the skel allocates meanwhile. */
enum { WORKERS_FIRST = 4, WORKERS_MAX = 256, STACK_BYTES = 1 << 20, GUARD_BYTES = 4096 };

static struct hx_dsp_channel *channel;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects idle, workers */
static int idle, workers;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* kept by who starts the first workers: none serves a call before all are there */

static int start_worker(void);

static void *worker(void *ready)
{
    struct hx_msg msg;
    struct hx_reply reply;

    hx_settle_in();
    sem_post(ready);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    for (;;) {
        int rc = hx_dsp_channel_take(channel, &msg), start;
        if (rc) {
            FARF(FATAL, "request ring: errno %d", -rc);
            _exit(1);
        }
        hx_stage_at("pd.taken");
        pthread_mutex_lock(&lock);
        start = --idle == 0 && workers < WORKERS_MAX;
        if (start) {
            idle++;
            workers++;
        }
        pthread_mutex_unlock(&lock);
        if (start)
            start_worker();
        hx_invoke_serve(channel, &msg, &reply, hx_user_services, hx_n_user_services);
        pthread_mutex_lock(&lock);
        idle++; /* before the answer, so that a client in a loop does not make us start threads */
        pthread_mutex_unlock(&lock);
        hx_dsp_channel_answer(channel, &reply);
        hx_stage_at("pd.replied");
    }
    return NULL;
}

/* The caller has counted the new thread already.  0 or a positive errno. */
static int start_worker(void)
{
    pthread_attr_t attr;
    pthread_t t;
    void *stack = hx_low_map(STACK_BYTES, -1);
    sem_t ready;
    int rc = stack ? 0 : ENOMEM;

    sem_init(&ready, 0, 0);
    pthread_attr_init(&attr);
    if (!rc && mprotect(stack, GUARD_BYTES, PROT_NONE)) /* what lies below is somebody else's */
        rc = errno;
    if (!rc)
        rc = pthread_attr_setstack(&attr, stack, STACK_BYTES);
    if (!rc)
        rc = pthread_create(&t, &attr, worker, &ready);
    pthread_attr_destroy(&attr);
    if (rc) {
        hx_low_unmap(stack, STACK_BYTES);
        FARF(ERROR, "thread %d cannot be started: errno %d", workers, rc);
        pthread_mutex_lock(&lock);
        idle--;
        workers--;
        pthread_mutex_unlock(&lock);
    } else {
        while (sem_wait(&ready))
            ;
        pthread_detach(t);
    }
    sem_destroy(&ready);
    return rc;
}

_Noreturn void hx_user_pd_main(struct hx_dsp_channel *c)
{
    struct hx_ctl ctl;
    int fd[HX_PD_FDS], rc;

    channel = c;
    hx_crash_open(&c->rings->crash, c->fd[HX_FD_CTL]);
    hx_queue_cost_open(&c->rings->packets);
    hx_uncosted_open(&c->rings->uncosted);
    hx_interfaces_open(&c->rings->interfaces);
    idle = workers = WORKERS_FIRST;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < WORKERS_FIRST; i++)
        start_worker();
    pthread_mutex_unlock(&gate);
    if (!workers)
        _exit(1); /* nobody would ever serve a call */
    while ((rc = hx_dsp_channel_control(c, &ctl, fd)) == 1) {
        hx_buffers_apply(&ctl, fd[0]);
        for (int i = 1; i < HX_PD_FDS; i++)
            if (fd[i] >= 0)
                close(fd[i]);
    }
    /* The client is gone, or the driver; whatever still runs here must not outlive them. */
    _exit(rc ? 1 : 0);
}
