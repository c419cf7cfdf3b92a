/* The threads that run the driver's loop one after the other, and the main thread that watches them. */
#include "client_watchdog.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "closer.h"
#include "core/driver.h"
#include "proc_stat.h"

#define GONE 0x80000000u
enum { CHECK_MS = 250, CHECKS_STILL = 4, CHECKS_INSIDE = 20 };

/* The lock protects ended, result and the job. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t main_wakes, job_done = PTHREAD_COND_INITIALIZER;
static bool ended;
static int result;
static void (*job)(void *);
static void *job_arg;

static int (*loop_fn)(void *);
static void *loop_arg;
static struct hx_watchdog *current; /* the main thread's, and of a new thread while it starts */
static struct hx_watchdog *gone;    /* the loop's: those that are replaced */
static _Atomic unsigned n_gone;
static __thread struct hx_watchdog *self;

/* --- the loop's side -------------------------------------------------------------------------------------------- */

void hx_watchdog_enter(uid_t uid, hx_give_up_fn give_up, void *arg)
{
    if (!self)
        return;
    self->uid = uid;
    self->give_up = give_up;
    self->arg = arg;
    self->mine = (self->mine + 1) & ~GONE;
    atomic_store_explicit(&self->turn, self->mine, memory_order_release);
}

void hx_watchdog_leave(void)
{
    unsigned inside;

    if (!self)
        return;
    inside = self->mine;
    self->mine = (inside + 1) & ~GONE;
    if (atomic_compare_exchange_strong_explicit(&self->turn, &inside, self->mine,
                                                memory_order_acq_rel, memory_order_acquire))
        return;
    atomic_store_explicit(&self->back, 1, memory_order_release); /* from here on self may be freed */
    pthread_exit(NULL);
}

void hx_watchdog_on_main(void (*fn)(void *arg), void *arg)
{
    if (!self) {
        fn(arg);
        return;
    }
    pthread_mutex_lock(&lock);
    job = fn;
    job_arg = arg;
    pthread_cond_signal(&main_wakes);
    while (job)
        pthread_cond_wait(&job_done, &lock);
    pthread_mutex_unlock(&lock);
}

static void release(struct hx_watchdog *w)
{
    if (w->arena)
        munmap(w->arena, HX_ARENA_BYTES);
    else if (w->session && w->bytes)
        hx_channel_give(&w->session->channel, w->offset, w->bytes);
    if (w->session)
        w->session->stall = NULL;
    free(w);
    atomic_fetch_sub(&n_gone, 1);
}

void hx_watchdog_collect(void)
{
    for (struct hx_watchdog **p = &gone; *p;) {
        struct hx_watchdog *w = *p;

        if (!atomic_load_explicit(&w->back, memory_order_acquire)) {
            p = &w->next;
            continue;
        }
        *p = w->next;
        release(w);
    }
}

void hx_watchdog_keep_arena(struct hx_session *s)
{
    if (!s->stall || !s->stall->bytes)
        return;
    s->stall->arena = s->channel.arena;
    s->channel.arena = NULL;
}

void hx_watchdog_forget(struct hx_session *s)
{
    if (s->stall)
        s->stall->session = NULL;
    s->stall = NULL;
}

unsigned hx_watchdog_count(void)
{
    return atomic_load(&n_gone);
}

unsigned hx_watchdog_count_of(uid_t uid)
{
    unsigned n = 0;

    for (const struct hx_watchdog *w = gone; w; w = w->next)
        n += w->uid == uid;
    return n;
}

/* --- threads ---------------------------------------------------------------------------------------------------- */

struct start {
    struct hx_watchdog *me, *before; /* before: NULL = the first thread */
};

static void *loop_thread(void *arg)
{
    struct start s = *(struct start *)arg;
    int rc;

    free(arg);
    self = s.me;
    atomic_store(&self->tid, (pid_t)syscall(SYS_gettid));
    if (s.before) {
        s.before->next = gone;
        gone = s.before;
        s.before->give_up(s.before->arg, s.before);
    }
    rc = loop_fn(loop_arg);
    pthread_mutex_lock(&lock);
    ended = true;
    result = rc;
    pthread_cond_signal(&main_wakes);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* 0 and a new `current`, or a positive errno. */
static int start_thread(struct hx_watchdog *before)
{
    struct hx_watchdog *w = calloc(1, sizeof(*w));
    struct start *s = malloc(sizeof(*s));
    int rc = w && s ? 0 : ENOMEM;

    if (!rc) {
        *s = (struct start){w, before};
        rc = pthread_create(&w->thread, NULL, loop_thread, s);
    }
    if (rc) {
        free(s);
        free(w);
        return rc;
    }
    current = w;
    return 0;
}

/* --- the main thread's side ------------------------------------------------------------------------------------- */

struct watch { /* what was seen of a thread that is inside, at the checks before this one */
    unsigned turn, inside, still;
    struct timespec cpu;
};

/* Whether it wants a processor: what starves on a busy machine does not hang. */
static bool is_runnable(pid_t tid)
{
    char path[64], text[256];
    const char *stat;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    stat = hx_proc_stat(path, text, sizeof(text));
    return !stat || *stat == 'R';
}

static bool has_moved(struct watch *seen)
{
    struct timespec cpu = {0};
    clockid_t clock;
    bool moved;

    if (pthread_getcpuclockid(current->thread, &clock) || clock_gettime(clock, &cpu))
        return true;
    moved = cpu.tv_sec != seen->cpu.tv_sec || cpu.tv_nsec != seen->cpu.tv_nsec;
    seen->cpu = cpu;
    return moved || is_runnable(atomic_load(&current->tid));
}

static bool hangs(struct watch *seen, unsigned turn)
{
    if (!(turn & 1) || turn != seen->turn) {
        *seen = (struct watch){.turn = turn};
        return false;
    }
    seen->inside++;
    seen->still = has_moved(seen) ? 0 : seen->still + 1;
    return seen->still >= CHECKS_STILL || seen->inside >= CHECKS_INSIDE;
}

static void replace(struct hx_watchdog *w, unsigned turn)
{
    int rc;

    if (!(turn & GONE)) {
        if (atomic_load(&n_gone) >= HX_HANGING_MAX ||
            !atomic_compare_exchange_strong(&w->turn, &turn, turn | GONE))
            return;
        atomic_fetch_add(&n_gone, 1);
        pthread_detach(w->thread);
    }
    rc = start_thread(w);
    if (rc)
        hx_log("a client's memory hangs, and no thread can be started to go on: %s", strerror(rc));
}

static void check_thread(struct watch *seen)
{
    unsigned turn = atomic_load_explicit(&current->turn, memory_order_acquire);

    if ((turn & GONE) || hangs(seen, turn))
        replace(current, turn);
}

/* With the lock held. */
static void do_job(void)
{
    if (!job)
        return;
    job(job_arg);
    job = NULL;
    pthread_cond_signal(&job_done);
}

static void wait_a_while(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += CHECK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!ended && !job)
        if (pthread_cond_timedwait(&main_wakes, &lock, &until))
            return;
}

int hx_watchdog_run(int (*loop)(void *arg), void *arg)
{
    struct watch seen = {0};
    pthread_condattr_t attr;
    int rc;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&main_wakes, &attr);
    pthread_condattr_destroy(&attr);
    loop_fn = loop;
    loop_arg = arg;
    rc = start_thread(NULL);
    if (rc)
        return -rc;
    pthread_mutex_lock(&lock);
    while (!ended) {
        wait_a_while();
        do_job();
        pthread_mutex_unlock(&lock); /* the loop takes it to hand over a job */
        check_thread(&seen);
        hx_closer_prod();
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(current->thread, NULL);
    free(current);
    current = NULL;
    return result;
}
