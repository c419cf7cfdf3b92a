/* Test support: QuRT threads of a test, on stacks that are kept.  Include in one file of a test. */
#ifndef QURT_THREADS_H
#define QURT_THREADS_H

#include <unistd.h>

#include "hxt.h"
#include "base/low_memory.h"
#include "qurt_thread.h"
#include "cost/vtime.h"

enum { STACK = 1 << 20 };

static void *stacks[16]; /* kept for all tests */

static inline qurt_thread_t start_with(unsigned slot, unsigned short priority, unsigned short state,
                                       void (*run)(void *), void *arg)
{
    qurt_thread_attr_t a;
    qurt_thread_t id;

    if (!stacks[slot])
        stacks[slot] = hx_low_map(STACK, -1);
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_name(&a, "worker");
    qurt_thread_attr_set_stack_addr(&a, stacks[slot]);
    qurt_thread_attr_set_stack_size(&a, STACK);
    qurt_thread_attr_set_priority(&a, priority);
    qurt_thread_attr_set_detachstate(&a, state);
    assert_int_equal(qurt_thread_create(&id, &a, run, arg), QURT_EOK);
    return id;
}

static inline qurt_thread_t start(unsigned slot, void (*run)(void *), void *arg)
{
    return start_with(slot, QURT_THREAD_ATTR_PRIORITY_DEFAULT, QURT_THREAD_ATTR_CREATE_JOINABLE,
                      run, arg);
}

static inline int join(qurt_thread_t id)
{
    int status = -1;

    assert_int_equal(qurt_thread_join(id, &status), QURT_EOK);
    return status;
}

static inline void work(double pcycles)
{
    hx_vt_spend(HX_VT_CODE, pcycles);
}

static inline void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* The virtual clock of a test begins anew. */
static inline uint64_t begin(void)
{
    hx_vt_call_begin(0, 1000000);
    return hx_vt_now();
}

#endif
