/* Threads of the library that run jobs: asynchronous calls, notifications.  They are started when there is work and
 * then stay.  Thread-safe; a fork()ed child starts with none. */
#ifndef HX_WORKER_H
#define HX_WORKER_H

#include <pthread.h>

struct hx_async_job {
    struct hx_async_job *next;
    void (*run)(struct hx_async_job *job); /* may free the job */
};

struct hx_worker {
    unsigned max_threads;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t work;
    struct hx_async_job *first, **last;
    unsigned threads, idle, queued;
    int pid; /* process that the threads belong to; 0 = none yet */
};

#define HX_WORKER_INIT(max) \
    {.max_threads = (max), .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER}

/* Queues the job (kept until it runs).  0, or -EAGAIN when there is no thread and none can be started. */
int hx_worker_submit(struct hx_worker *w, struct hx_async_job *job);

#endif
