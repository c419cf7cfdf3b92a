/* Test support: running programs, for end-to-end tests.  No shell is involved: arguments are a vector.
 *
 * Time limits are for what will never come.  Four times as much is waited, because a machine may be slow, and what it stood still
 * counts as a quarter of a second, so no test can fail because it took long.
 *
 * Every command runs in its own process group with a time limit; what it prints is collected.  When the limit expires while it is
 * waited for, the whole group is killed and the result says so.  A background process that a command left on purpose (a rig) does not
 * keep hxt_wait() waiting, even if it holds the pipes. */
#ifndef HXT_PROC_H
#define HXT_PROC_H

#include <stddef.h>
#include <sys/types.h>

struct hxt_cmd {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH when it has no slash */
    const char *const *env;  /* NULL-terminated "KEY=VALUE" (added) and "KEY" (removed), or NULL */
    const char *cwd;         /* or NULL */
    const char *input;       /* written to stdin (at most 64 KiB), or NULL: stdin is /dev/null */
    double timeout_s;        /* 0 = 60 */
};

struct hxt_child {
    pid_t pid;      /* also the id of its process group */
    int pidfd;
    int out_fd;     /* read ends, non-blocking */
    int err_fd;
    double left_s;  /* until the limit */
    double start;   /* CLOCK_MONOTONIC seconds */
};

struct hxt_result {
    int exit_code;  /* -1 when a signal ended it */
    int signal;     /* 0 when it exited by itself */
    int timed_out;  /* 1: the group was killed at the time limit */
    double seconds; /* wall time */
    char *out, *err; /* 0-terminated, never NULL; owned by the result */
    size_t out_len, err_len;
    pid_t group; /* for hxt_group_alive() */
};

/* Start and wait in one go.  Returns 0, or negative errno when it could not be started (nothing to free then). */
int hxt_run(struct hxt_result *r, const struct hxt_cmd *cmd);

/* 1 when it could be started and exits 0.  For skips: a result that is still held when a test leaves is a leak. */
int hxt_succeeds(const struct hxt_cmd *cmd);

/* The same in two steps, to do something (send a signal, look at files) in between. */
int hxt_start(struct hxt_child *c, const struct hxt_cmd *cmd);
int hxt_signal(const struct hxt_child *c, int sig); /* to the process, not to its group; SIGSTOP as hxt_stop() */
int hxt_wait(struct hxt_child *c, struct hxt_result *r);

/* SIGSTOP, and waits until all threads of the process stand still: kill() returns before, and one of them could still serve somebody.
 * 0 or negative errno; -ETIMEDOUT: some thread cannot be stopped now. */
int hxt_stop(pid_t pid);

/* 1 when none of its threads runs: stopped, dead, or there is no such process. */
int hxt_is_stopped(pid_t pid);

/* 1 while any process of the command's group still exists. */
int hxt_group_alive(pid_t group);

/* Processes that `pid` has started, those of all its threads: up to `max` ids, returns how many there are. */
size_t hxt_children(pid_t pid, pid_t *children, size_t max);

/* Accepts a zeroed result. */
void hxt_result_free(struct hxt_result *r);

/* Polls `ready(arg)` every 10 ms until it returns non-zero or the time is over; returns its last answer. */
int hxt_until(int (*ready)(void *arg), void *arg, double timeout_s);

#endif
