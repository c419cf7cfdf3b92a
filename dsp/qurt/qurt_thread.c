/* QuRT threads on host threads: attributes, stacks below 4 GiB, priorities, join. */
#include "qurt_thread.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "HAP_farf.h"
#include "cost/cost.h"
#include "cost/queue_cost.h"
#include "machine/dma.h"
#include "machine/hmx.h"
#include "base/crash.h"
#include "base/low_memory.h"
#include "base/machine.h"
#include "qurt_wait.h"
#include "cost/trace.h"
#include "cost/turns.h"
#include "cost/vtime.h"

enum {
    THREADS_MAX = 128,     /* that live in one PD; assumed, no figure was published */
    ENDED_MAX = 256,       /* threads whose end is remembered for a late qurt_thread_join() */
    /* Of a stack, for printf, the loader and the like, and for vectors that the host's compiler leaves there: up to 750 KiB of one
     * function at -O0 (softmax of kernels/silicon/layer_hvx.c), 105 KiB with ASan. */
    HOST_BYTES = 896 << 10,
    GUARD_BYTES = 4 << 10,
    PRIORITY_MAX = 255,
};

struct start {
    struct hx_qthread *t;
    struct hx_vt_origin origin;
    struct hx_place *place; /* in the order of the creator's call */
    void (*entry)(void *);
    void *arg;
};

/* --- the end of a thread */

/* Waits until the host's thread is gone, then gives back what it used.  Not under the lock. */
static void bury(struct hx_qthread *t)
{
    pthread_join(t->host, NULL);
    hx_low_unmap(t->low_stack, t->low_stack_bytes);
    pthread_cond_destroy(&t->woken);
    free(t);
}

/* Takes one ended thread that nobody will join out of the list: a detached one, or the oldest of more than ENDED_MAX. */
static struct hx_qthread *pick_ended(void)
{
    struct hx_qthread *oldest = NULL;
    unsigned n = 0;

    for (struct hx_qthread *t = hx_qurt_threads; t; t = t->next) {
        if (!t->created || t->state != HX_QURT_ENDED || t->joined ||
            t->detach_state == QURT_THREAD_ATTR_CREATE_JOINABLE)
            continue;
        n++;
        oldest = t; /* the list starts with the newest */
        if (t->detach_state == QURT_THREAD_ATTR_CREATE_DETACHED)
            break;
    }
    if (!oldest || (oldest->detach_state != QURT_THREAD_ATTR_CREATE_DETACHED && n <= ENDED_MAX))
        return NULL;
    hx_qurt_remove(oldest);
    return oldest;
}

static void bury_ended(void)
{
    struct hx_qthread *t;

    do {
        hx_qurt_lock();
        t = pick_ended();
        hx_qurt_unlock();
        if (t)
            bury(t);
    } while (t);
}

static void end(struct hx_qthread *t)
{
    if (hx_hvx_release_leaked())
        FARF(ERROR, "thread %u '%s' ended with its HVX context locked", t->id, t->name);
    if (t->n_held)
        FARF(ERROR, "thread %u '%s' ended with %u mutexes locked", t->id, t->name, t->n_held);
    if (hx_hmx_unlock() == 0)
        FARF(ERROR, "thread %u '%s' ended with HMX locked", t->id, t->name);
    hx_dma_end();
    hx_queue_cost_thread_end();
    hx_cost_end();
    hx_qurt_enter();
    t->end_pcycles = hx_vt_now();
    t->ends_off_duty = hx_vt_is_off_duty();
    t->state = HX_QURT_ENDED;
    hx_qurt_unpark(t, t->end_pcycles);
    hx_qurt_unlock();
    hx_turns_leave();
    hx_crash_thread_end();
}

static void *run(void *arg)
{
    struct start s = *(struct start *)arg;

    free(arg);
    hx_qurt_set_self(s.t);
    hx_crash_thread_begin();
    prctl(PR_SET_NAME, s.t->name[0] ? s.t->name : "qurt");
    hx_trace_name_thread(s.t->lane, s.t->name);
    hx_hvx_lazy();
    hx_turns_take(s.place);
    hx_vt_thread_begin(&s.origin);
    if (!setjmp(s.t->end))
        s.entry(s.arg);
    end(s.t);
    return NULL;
}

HX_EXPORT void qurt_thread_exit(int status)
{
    struct hx_qthread *t = hx_qurt_self();

    if (!t->created)
        hx_qurt_fatal("qurt_thread_exit(%d) by a thread that serves calls", status);
    t->status = status;
    longjmp(t->end, 1);
}

/* --- the start */

static int add_tls(struct dl_phdr_info *info, size_t size, void *sum)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)sum += info->dlpi_phdr[i].p_memsz;
    return 0;
}

/* libc puts thread-local storage onto the stack, too. */
static size_t host_bytes(void)
{
    long min = sysconf(_SC_THREAD_STACK_MIN);
    size_t tls = 0;

    dl_iterate_phdr(add_tls, &tls);
    return (size_t)(min > 0 ? min : PTHREAD_STACK_MIN) + tls + HOST_BYTES;
}

static int usable(const qurt_thread_attr_t *attr, size_t least)
{
    uint64_t end_of_stack = (uintptr_t)attr->stack_addr + (uint64_t)attr->stack_size;

    return attr->stack_size >= least && end_of_stack <= UINT32_MAX;
}

/* least: bytes of stack below which a thread of this host cannot live. */
static int start_host(struct hx_qthread *t, const qurt_thread_attr_t *attr, struct start *s,
                      size_t least)
{
    size_t bytes = attr->stack_size;
    void *stack = attr->stack_addr;
    pthread_attr_t a;
    int rc;

    if (!usable(attr, least)) {
        bytes = t->low_stack_bytes =
            (attr->stack_size + least + 2 * GUARD_BYTES - 1) & ~(size_t)(GUARD_BYTES - 1);
        stack = t->low_stack = hx_low_map(bytes, -1);
        if (!stack || mprotect(stack, GUARD_BYTES, PROT_NONE))
            return errno;
        stack = (char *)stack + GUARD_BYTES;
        bytes -= GUARD_BYTES;
    }
    pthread_attr_init(&a);
    rc = pthread_attr_setstack(&a, stack, bytes);
    if (!rc)
        rc = pthread_create(&t->host, &a, run, s);
    pthread_attr_destroy(&a);
    return rc;
}

static const char *objection(const qurt_thread_attr_t *attr)
{
    unsigned n = 0;

    if (!attr->stack_addr || !attr->stack_size)
        return "no stack";
    if ((uintptr_t)attr->stack_addr % 8)
        return "the stack is not 8-byte aligned";
    if (attr->priority < 1 || attr->priority > PRIORITY_MAX)
        return "the priority is not 1..255";
    hx_qurt_lock();
    for (struct hx_qthread *t = hx_qurt_threads; t; t = t->next)
        n += t->created && t->state == HX_QURT_RUNS;
    hx_qurt_unlock();
    return n >= THREADS_MAX ? "128 threads run already" : NULL;
}

static struct hx_qthread *make(const qurt_thread_attr_t *attr)
{
    struct hx_qthread *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    memcpy(t->name, attr->name, sizeof(t->name) - 1);
    t->priority = attr->priority;
    if (attr->priority == QURT_THREAD_ATTR_PRIORITY_DEFAULT)
        t->priority = hx_qurt_self()->priority;
    t->detach_state = attr->detach_state;
    t->stack_addr = attr->stack_addr;
    t->stack_size = attr->stack_size;
    t->created = 1;
    return t;
}

/* Under the lock. */
static unsigned free_lane(void)
{
    unsigned lane = 1;

    for (struct hx_qthread *t = hx_qurt_threads; t;) {
        if (t->lane != lane || !t->created) {
            t = t->next;
        } else {
            lane++;
            t = hx_qurt_threads; /* from the start: the list has no order of lanes */
        }
    }
    return lane;
}

HX_EXPORT int qurt_thread_create(qurt_thread_t *thread_id, qurt_thread_attr_t *attr,
                                 void (*entrypoint)(void *), void *arg)
{
    const char *why = objection(attr);
    struct hx_qthread *t = why ? NULL : make(attr);
    struct start *s = t ? malloc(sizeof(*s)) : NULL;
    size_t least = host_bytes();
    int rc = s ? 0 : ENOMEM;

    bury_ended();
    if (s) {
        hx_qurt_enter();
        *s = (struct start){t, hx_vt_origin(), NULL, entrypoint, arg};
        s->origin.start_pcycles += hx_machine ? (uint64_t)hx_machine->cost.handoff_pcycles : 0;
        s->place = hx_turns_add(s->origin.party, s->origin.start_pcycles);
        t->lane = free_lane();
        hx_qurt_add(t);
        *thread_id = t->id; /* before the thread can run: it may read it */
        rc = start_host(t, attr, s, least);
        if (rc) {
            hx_qurt_remove(t);
            hx_turns_cancel(s->place);
        }
        hx_qurt_leave();
    }
    if (!rc)
        return QURT_EOK;
    FARF(ERROR, "qurt_thread_create '%.15s': %s", attr->name, why ? why : strerror(rc));
    free(s);
    if (t) {
        hx_low_unmap(t->low_stack, t->low_stack_bytes);
        free(t);
    }
    return QURT_EFAILED;
}

/* --- join */

/* What qurt_thread_join() and _detach() may work on; NULL with a line in the log.  Under the lock. */
static struct hx_qthread *joinable(const char *what, unsigned tid, int *rc)
{
    struct hx_qthread *t = hx_qurt_find(tid);

    *rc = QURT_ENOTHREAD;
    if (!t || !t->created || t->detach_state == QURT_THREAD_ATTR_CREATE_DETACHED) {
        FARF(ERROR, "%s: thread %u was joined before, is detached, or is not QuRT's", what, tid);
        return NULL;
    }
    *rc = QURT_EFATAL;
    if (t == hx_qurt_self() || t->joined) {
        FARF(ERROR, "%s: thread %u '%s' %s", what, tid, t->name,
             t->joined ? "is being joined by another thread" : "waits for itself");
        return NULL;
    }
    *rc = QURT_EOK;
    return t;
}

HX_EXPORT int qurt_thread_join(unsigned int tid, int *status)
{
    struct hx_qthread *t;
    uint64_t now;
    int rc;

    hx_qurt_self();
    hx_qurt_enter();
    now = hx_vt_now();
    t = joinable("qurt_thread_join", tid, &rc);
    if (t) {
        t->joined = 1;
        if (t->state != HX_QURT_ENDED)
            hx_qurt_park(t, HX_QURT_FOREVER);
        else
            hx_qurt_meet(t->end_pcycles, HX_QURT_FOREVER);
        if (t->end_pcycles <= now && !t->ends_off_duty && t->detach_state == QURT_THREAD_ATTR_CREATE_LEGACY)
            rc = QURT_ENOTHREAD; /* it had gone by then, whichever thread was really faster */
        hx_qurt_remove(t);
    }
    hx_qurt_leave();
    if (t) {
        if (status && rc == QURT_EOK)
            *status = t->status;
        bury(t);
    }
    return rc;
}

HX_EXPORT int qurt_thread_detach(unsigned int tid)
{
    struct hx_qthread *t;
    int rc;

    hx_qurt_self();
    hx_qurt_enter();
    t = joinable("qurt_thread_detach", tid, &rc);
    if (t)
        t->detach_state = QURT_THREAD_ATTR_CREATE_DETACHED;
    hx_qurt_leave();
    return rc;
}

/* --- what a thread is */

HX_EXPORT qurt_thread_t qurt_thread_get_id(void)
{
    return hx_qurt_self()->id;
}

HX_EXPORT void qurt_thread_get_name(char *name, unsigned char max_len)
{
    if (max_len)
        snprintf(name, max_len, "%s", hx_qurt_self()->name);
}

HX_EXPORT int qurt_thread_get_priority(qurt_thread_t threadid)
{
    struct hx_qthread *t;
    int priority = -1;

    hx_qurt_self();
    hx_qurt_enter();
    t = hx_qurt_find(threadid);
    if (t && t->state == HX_QURT_RUNS)
        priority = t->priority;
    hx_qurt_leave();
    return priority;
}

HX_EXPORT int qurt_thread_set_priority(qurt_thread_t threadid, unsigned short newprio)
{
    struct hx_qthread *t;
    int rc = -1;

    hx_qurt_self();
    if (newprio < 1 || newprio > PRIORITY_MAX)
        return rc;
    hx_qurt_enter();
    t = hx_qurt_find(threadid);
    if (t && t->state == HX_QURT_RUNS) {
        t->priority = newprio;
        rc = 0;
    }
    hx_qurt_leave();
    return rc;
}

HX_EXPORT int qurt_thread_attr_get(qurt_thread_t thread_id, qurt_thread_attr_t *attr)
{
    struct hx_qthread *t;

    qurt_thread_attr_init(attr);
    hx_qurt_enter();
    t = hx_qurt_find(thread_id);
    if (t) {
        qurt_thread_attr_set_name(attr, t->name);
        attr->priority = t->priority;
        attr->detach_state = t->detach_state;
        attr->stack_addr = t->stack_addr;
        attr->stack_size = t->stack_size;
    }
    hx_qurt_leave();
    return t ? QURT_EOK : QURT_EINVALID;
}

HX_EXPORT int qurt_thread_get_thread_id(qurt_thread_t *thread_id, char *name)
{
    struct hx_qthread *t;

    hx_qurt_enter();
    for (t = hx_qurt_threads; t; t = t->next)
        if (t->state == HX_QURT_RUNS && strcmp(t->name, name) == 0)
            break;
    if (t)
        *thread_id = t->id;
    hx_qurt_leave();
    return t ? QURT_EOK : QURT_EINVALID;
}

HX_EXPORT void qurt_sleep(unsigned long long int duration)
{
    hx_vt_order_begin();
    hx_vt_spend(HX_VT_SLEEP, (double)hx_vt_pcycles_of_ns(duration * 1000));
    hx_vt_order_end();
    sched_yield();
}
