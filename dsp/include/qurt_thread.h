/* QuRT threads (published names).
 *
 * A thread starts at the time of its creator, plus the profile's hand-off, and runs in parallel from there on; joining
 * moves the joiner's clock to the thread's end.  Threads live until their PD ends; those of a skel that returns go on.
 *
 * Differences from the device: struct qurt_thread_attr is a little larger.  A stack that lies above 4 GiB, or that is
 * smaller than what a thread of this host needs besides the DSP's own use, is left alone; the thread gets another one
 * below 4 GiB with at least the size asked for and an inaccessible page below it.  The priority decides who gets a lock
 * first; but every thread has a processor of its own, so that more threads than hardware threads do not slow each other
 * down in virtual time. */
#ifndef QURT_THREAD_H
#define QURT_THREAD_H

#include <string.h>

#include "qurt_error.h"
#include "qurt_types.h"

#define QURT_THREAD_ATTR_CREATE_LEGACY 0u
#define QURT_THREAD_ATTR_CREATE_JOINABLE 1u
#define QURT_THREAD_ATTR_CREATE_DETACHED 2u
#define QURT_THREAD_ATTR_NAME_MAXLEN 16
#define QURT_THREAD_ATTR_PRIORITY_DEFAULT 254
#define QURT_THREAD_ATTR_TCB_PARTITION_RAM 0
#define QURT_THREAD_ATTR_TCB_PARTITION_TCM 1
#define QURT_THREAD_ATTR_TCB_PARTITION_DEFAULT QURT_THREAD_ATTR_TCB_PARTITION_RAM
#define QURT_THREAD_ATTR_BUS_PRIO_DEFAULT 255
#define QURT_THREAD_ATTR_TIMETEST_ID_DEFAULT (-2)
#define QURT_THREAD_BUS_PRIO_DISABLED 0
#define QURT_THREAD_BUS_PRIO_ENABLED 1

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int qurt_thread_t;

typedef struct _qurt_thread_attr {
    char name[QURT_THREAD_ATTR_NAME_MAXLEN]; /* 0-terminated */
    unsigned char tcb_partition;             /* kept, without effect */
    unsigned char bus_priority;              /* kept, without effect */
    unsigned short timetest_id;              /* kept, without effect */
    unsigned short priority;     /* 1 (most urgent) .. 255; the default takes the creator's */
    unsigned short detach_state; /* QURT_THREAD_ATTR_CREATE_* */
    unsigned int stack_size;     /* bytes */
    void *stack_addr; /* its lowest byte, 8-byte aligned; the caller's until the thread has ended */
} qurt_thread_attr_t;

static inline void qurt_thread_attr_init(qurt_thread_attr_t *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->tcb_partition = QURT_THREAD_ATTR_TCB_PARTITION_DEFAULT;
    attr->bus_priority = QURT_THREAD_ATTR_BUS_PRIO_DEFAULT;
    attr->timetest_id = (unsigned short)QURT_THREAD_ATTR_TIMETEST_ID_DEFAULT;
    attr->priority = QURT_THREAD_ATTR_PRIORITY_DEFAULT;
    attr->detach_state = QURT_THREAD_ATTR_CREATE_LEGACY;
}

/* Longer names are cut to 15 characters. */
static inline void qurt_thread_attr_set_name(qurt_thread_attr_t *attr, const char *name)
{
    size_t n = strlen(name);

    if (n > QURT_THREAD_ATTR_NAME_MAXLEN - 1)
        n = QURT_THREAD_ATTR_NAME_MAXLEN - 1;
    memcpy(attr->name, name, n);
    attr->name[n] = '\0';
}

static inline void qurt_thread_attr_set_stack_size(qurt_thread_attr_t *attr,
                                                   unsigned int stack_size)
{
    attr->stack_size = stack_size;
}

static inline void qurt_thread_attr_set_stack_addr(qurt_thread_attr_t *attr, void *stack_addr)
{
    attr->stack_addr = stack_addr;
}

static inline void qurt_thread_attr_set_priority(qurt_thread_attr_t *attr, unsigned short priority)
{
    attr->priority = priority;
}

/* Other values than JOINABLE and DETACHED change nothing. */
static inline void qurt_thread_attr_set_detachstate(qurt_thread_attr_t *attr,
                                                    unsigned short detachstate)
{
    if (detachstate == QURT_THREAD_ATTR_CREATE_JOINABLE ||
        detachstate == QURT_THREAD_ATTR_CREATE_DETACHED)
        attr->detach_state = detachstate;
}

static inline void qurt_thread_attr_set_tcb_partition(qurt_thread_attr_t *attr,
                                                      unsigned char partition)
{
    attr->tcb_partition = partition;
}

static inline void qurt_thread_attr_set_bus_priority(qurt_thread_attr_t *attr,
                                                     unsigned short priority)
{
    attr->bus_priority = (unsigned char)priority;
}

static inline void qurt_thread_attr_set_timetest_id(qurt_thread_attr_t *attr,
                                                    unsigned short timetest_id)
{
    attr->timetest_id = timetest_id;
}

/* Starts a thread that runs entrypoint(arg); its end is the function's return (status 0) or qurt_thread_exit().
 * QURT_EOK, or QURT_EFAILED with a line in the log: no stack, priority not 1..255, 128 threads already. */
int qurt_thread_create(qurt_thread_t *thread_id, qurt_thread_attr_t *attr,
                       void (*entrypoint)(void *), void *arg);

/* Ends the calling thread; does not return.  C++ destructors of its frames do not run. */
void qurt_thread_exit(int status);

/* Waits for the end of a thread and takes its status (status may be NULL).  QURT_EOK, or QURT_ENOTHREAD: there is no such
 * thread (any more).  A thread made without QURT_THREAD_ATTR_CREATE_JOINABLE is gone as soon as it has ended, so joining it
 * later (in virtual time) gives QURT_ENOTHREAD.  QURT_EFATAL: another thread joins it already, or it is the caller. */
int qurt_thread_join(unsigned int tid, int *status);

/* A joinable thread needs no join any more.  QURT_EOK or QURT_ENOTHREAD. */
int qurt_thread_detach(unsigned int tid);

qurt_thread_t qurt_thread_get_id(void);

/* Name of the calling thread, cut to max_len - 1 characters. */
void qurt_thread_get_name(char *name, unsigned char max_len);

/* 1..255, -1: no such thread.  Threads that serve calls have 192. */
int qurt_thread_get_priority(qurt_thread_t threadid);

/* 0, or -1: no such thread, or not 1..255. */
int qurt_thread_set_priority(qurt_thread_t threadid, unsigned short newprio);

/* QURT_EOK, or QURT_EINVALID: no such thread. */
int qurt_thread_attr_get(qurt_thread_t thread_id, qurt_thread_attr_t *attr);
int qurt_thread_get_thread_id(qurt_thread_t *thread_id, char *name);

/* The calling thread does nothing for `duration` us of virtual time; it really only yields. */
void qurt_sleep(unsigned long long int duration);

#ifdef __cplusplus
}
#endif

#endif
