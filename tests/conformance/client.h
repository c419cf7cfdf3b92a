/* What the points have in common: checks, PDs, calls, shared memory, threads inside a call.
 *
 * Every point runs in a process of its own: need() ends it, and with it everything that it has open. */
#ifndef CONFORMANCE_CLIENT_H
#define CONFORMANCE_CLIENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "access.h"
#include "fastrpc_uapi.h"
#include "hx_session_stats.h"
#include "hxt_skel.h"

/* --- checks: the first that fails ends the point with its text */
void need(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void need_is(long long got, long long want, const char *what);
/* The call before returned `rc`: it must be -1 with this errno. */
void need_errno(int rc, int error, const char *what);
/* Polls until ready(arg), or for a minute in which this process could run: a machine that is busy with something else, or that was
 * stopped, is not the driver's fault. */
void need_soon(bool (*ready)(void *arg), void *arg, const char *what);
void point_report_to(int fd);
double now_s(void);

/* SIGSTOP, and waits until none of its threads runs: kill() returns before, and one could still serve a call. */
void stop_process(pid_t pid);

/* Seconds that this process could run, from some time before on; for upper bounds.  Its first call starts to count. */
double awake_s(void);
/* Sleeps 10 ms.  How many seconds that took, 0.05 at most. */
double step_s(void);

/* --- files and PDs */
struct file {
    int h;
    uint32_t skel; /* handle of the test skel */
};
int open_node(const char *node); /* must succeed */
int init_create(int h, uint32_t attrs, uint32_t filelen); /* the ioctl's result */
uint32_t load_skel(int h);   /* into the PD that it has; the handle */
struct file open_skel(void); /* an open node with an unsigned PD that holds the test skel */
void close_file(struct file f);

/* --- calls */
struct fastrpc_invoke_args arg(const void *p, size_t n);
struct fastrpc_invoke_args arg_fd(const struct shared *s, size_t offset, size_t n);
int invoke(int h, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args);
int call0(struct file f, enum hxt_method m, int code, uint32_t value);
int call1(struct file f, enum hxt_method m, int code, uint32_t value, void *out, size_t n);
int echo(struct file f, int code, struct fastrpc_invoke_args in, struct fastrpc_invoke_args out);
struct hx_session_stats stats(struct file f);

/* --- shared memory (zeroed memfd); put gives the descriptor and the mapping back */
struct shared *shared_get(size_t bytes);
struct shared *shared_get_at(size_t bytes, int fd); /* the descriptor gets this number */
void shared_put(struct shared *s);

enum { CONTEXTS = FASTRPC_CTX_MAX - 1 }; /* calls under way at a time, at most */

/* --- a thread inside HXT_WAIT, that is: a call which is under way until its gate opens */
struct waiter {
    struct file f;
    struct shared *gate; /* struct hxt_gate */
    int code;            /* what the call returns */
    int result, error;
    pthread_t thread;
};
struct shared *gate_get(void);
struct hxt_gate *gate_of(const struct shared *s);
void gate_open(struct shared *s);
void need_inside(struct shared *gate, unsigned n);
int wait_at(struct file f, struct shared *gate, int code); /* in this thread */
void waiter_start(struct waiter *w, struct file f, struct shared *gate, int code);
void waiter_join(struct waiter *w);
/* Signals it until its call has ended with EINTR, and joins it.  A signal that comes before the call waits ends nothing. */
void waiter_interrupt(struct waiter *w);
bool gate_was_left(const struct shared *gate);
void need_left(struct shared *gate, unsigned n); /* n calls have left the method */

/* points_signal.c: there are n ids left; interrupted calls on f use them up, one after the other. */
void use_up_ids(struct file f, unsigned n);

/* --- processes: a child that ends with this one; the status with which it ended */
pid_t fork_child(void);
int end_of(pid_t pid);

/* --- the rig's own figures: number after "key=" of the text node `status`, or -1 */
long status_number(const char *key);
bool no_session_is_open(void *unused);

#endif
