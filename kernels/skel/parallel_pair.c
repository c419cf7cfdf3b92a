/* The hand-over of the published skels: one worker thread that waits for a sequence number to change, see parallel.h.
 *
 * Its futex calls are charged, which is all that a hand-over costs: `handoff_pcycles` stands for the code around them, too.  So its
 * accesses are not traced. */
#include "parallel.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "qurt_futex.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "qurt_thread.h"

enum { STACK_BYTES = 32 * 1024 };

static struct {
    qurt_mutex_t lock; /* held from a hand-over until its completion; protects what follows */
    bool alive;
    qurt_thread_t thread;
    char stack[STACK_BYTES] __attribute__((aligned(128)));
    /* what is handed over; written before `sequence` changes, or before `done` does */
    hx_part_body *body; /* NULL: end */
    void *arg;
    int rc;
    uint64_t pcycles;
    atomic_int sequence, done;
} worker = {.lock = QURT_MUTEX_INIT};

/* Waits until *counter is not `seen`.  It waits before it looks, because only a wait moves this thread's clock. */
static int wait_for_change(atomic_int *counter, int seen)
{
    int value;

    do {
        qurt_futex_wait(counter, seen);
        /* acquire: pairs with the release in count_up() */
        value = atomic_load_explicit(counter, memory_order_acquire);
    } while (value == seen);
    return value;
}

static void count_up(atomic_int *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_release);
    qurt_futex_wake(counter, 1);
}

static int run_part(hx_part_body *body, void *arg, struct hx_part part, uint64_t *pcycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    int rc = body(arg, part);

    *pcycles = HAP_perf_get_pcycles() - started;
    return rc;
}

/* The worker.  With two parts its own is the first, the lower one. */
static void serve(void *unused)
{
    int seen = 0;

    (void)unused;
    for (;;) {
        seen = wait_for_change(&worker.sequence, seen);
        if (!worker.body)
            return;
        worker.rc = AEE_EFAILED;
        if (qurt_hvx_lock(QURT_HVX_MODE_128B) == QURT_HVX_LOCK_SUCCESS) {
            worker.rc = run_part(worker.body, worker.arg, (struct hx_part){0, 2}, &worker.pcycles);
            qurt_hvx_unlock();
        }
        count_up(&worker.done);
    }
}

static int start_worker(void)
{
    qurt_thread_attr_t attr;

    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_name(&attr, "worker");
    qurt_thread_attr_set_stack_addr(&attr, worker.stack);
    qurt_thread_attr_set_stack_size(&attr, sizeof(worker.stack));
    qurt_thread_attr_set_detachstate(&attr, QURT_THREAD_ATTR_CREATE_JOINABLE);
    atomic_store(&worker.sequence, 0);
    atomic_store(&worker.done, 0);
    worker.alive = qurt_thread_create(&worker.thread, &attr, serve, NULL) == QURT_EOK;
    if (!worker.alive)
        FARF(ERROR, "skel: no thread for a second context");
    return worker.alive ? AEE_SUCCESS : AEE_EFAILED;
}

static int run_two(hx_part_body *body, void *arg, struct hx_parallel_time *time)
{
    uint64_t own;
    int rc = worker.alive ? AEE_SUCCESS : start_worker();

    if (rc)
        return rc;
    const int done = atomic_load(&worker.done);
    worker.body = body;
    worker.arg = arg;
    count_up(&worker.sequence);
    rc = run_part(body, arg, (struct hx_part){1, 2}, &own);
    /* The worker may need this thread's context: two callers that kept one each would wait for ever. */
    qurt_hvx_unlock();
    wait_for_change(&worker.done, done);
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS && !rc)
        rc = AEE_EFAILED;
    time->handler += own;
    time->worker += worker.pcycles;
    return rc ? rc : worker.rc;
}

static int run_pair(unsigned parts, hx_part_body *body, void *arg, struct hx_parallel_time *time)
{
    uint64_t own;
    int rc;

    if (parts == 1) {
        rc = run_part(body, arg, (struct hx_part){0, 1}, &own);
        time->handler += own;
        return rc;
    }
    qurt_mutex_lock(&worker.lock);
    rc = run_two(body, arg, time);
    qurt_mutex_unlock(&worker.lock);
    return rc;
}

static void stop_pair(void)
{
    qurt_mutex_lock(&worker.lock);
    if (worker.alive) {
        worker.body = NULL;
        count_up(&worker.sequence);
        qurt_thread_join(worker.thread, NULL);
        worker.alive = false;
    }
    qurt_mutex_unlock(&worker.lock);
}

const struct hx_handover hx_handover_pair = {2, run_pair, stop_pair};
