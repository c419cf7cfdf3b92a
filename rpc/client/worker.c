/* Threads that run queued jobs, and end with the process. */
#include "hx_worker.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static void *run(void *arg)
{
    struct hx_worker *w = arg;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        struct hx_async_job *job = w->first;

        if (!job) {
            w->idle++;
            pthread_cond_wait(&w->work, &w->lock);
            w->idle--;
            continue;
        }
        w->first = job->next;
        w->queued--;
        if (!w->first)
            w->last = &w->first;
        pthread_mutex_unlock(&w->lock);
        job->run(job);
        pthread_mutex_lock(&w->lock);
    }
    return NULL;
}

/* Under lock.  Our threads must not take the client's signals. */
static int start(struct hx_worker *w)
{
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_t t;
    int rc;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&t, &attr, run, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (rc == 0)
        w->threads++;
    return -rc;
}

/* Under lock: in a forked child the parent's threads and jobs are not there. */
static void check_pid(struct hx_worker *w)
{
    if (w->pid == getpid())
        return;
    w->pid = getpid();
    w->threads = w->idle = w->queued = 0;
    w->first = NULL;
    w->last = &w->first;
    pthread_cond_init(&w->work, NULL);
}

int hx_worker_submit(struct hx_worker *w, struct hx_async_job *job)
{
    int rc = 0;

    pthread_mutex_lock(&w->lock);
    check_pid(w);
    /* each queued job has an idle thread, which may not have woken up yet */
    if (w->queued >= w->idle && w->threads < w->max_threads)
        rc = start(w);
    if (w->threads) {
        rc = 0;
        w->queued++;
        job->next = NULL;
        *w->last = job;
        w->last = &job->next;
        pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
    return rc ? -EAGAIN : 0;
}
