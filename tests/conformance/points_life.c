/* Calls, files and processes over time. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "points.h"

/* The process of the root PD. */
static pid_t dsp_pid(void)
{
    pid_t pid = (pid_t)status_number("dsp_pid");

    need(pid > 1, "status: no dsp_pid"); /* a signal to -1 or 0 would hit bystanders */
    return pid;
}

/* --- 9 ---------------------------------------------------------------------------------------------------------- */

static _Atomic bool node_vanished, watcher_ends;

static void *watch_node(void *node)
{
    const struct timespec pause = {.tv_nsec = 2000000};

    while (!watcher_ends && !node_vanished) {
        int h = dev->open(node);

        if (h >= 0)
            dev->close(h);
        else if (errno == ENOENT)
            node_vanished = true;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static bool has_restarted(void *restarts)
{
    return status_number("dsp_restarts") == *(long *)restarts;
}

/* Nobody may have looked during the tenth of a second in which the nodes were away.  The point's time limit ends it. */
static void kill_until_it_vanishes(long restarts)
{
    const struct timespec rest = {2, 100000000}; /* five deaths within 2 s of their starts would be too many */

    while (!node_vanished) {
        nanosleep(&rest, NULL);
        need(kill(dsp_pid(), SIGKILL) == 0, "kill: %s", strerror(errno));
        restarts++;
        need_soon(has_restarted, &restarts, "another restart");
    }
}

static bool node_opens(void *node)
{
    int h = dev->open(node);

    if (h >= 0)
        dev->close(h);
    return h >= 0;
}

void point_09_ssr(void)
{
    enum { N = 4 };
    struct file f[2] = {open_skel(), open_skel()};
    struct shared *gate = gate_get();
    struct waiter w[N];
    pthread_t watcher;
    long restarts = status_number("dsp_restarts");

    for (int i = 0; i < N; i++)
        waiter_start(&w[i], f[i % 2], gate, 0);
    need_inside(gate, N);
    need(pthread_create(&watcher, NULL, watch_node, "fastrpc-cdsp") == 0, "pthread_create");
    need(kill(dsp_pid(), SIGKILL) == 0, "kill: %s", strerror(errno));
    for (int i = 0; i < N; i++) {
        waiter_join(&w[i]);
        errno = w[i].error;
        need_errno(w[i].result, EPIPE, "a call that was pending");
    }
    need_soon(node_opens, "fastrpc-cdsp", "the node is back");
    need_soon(node_opens, "fastrpc-cdsp-secure", "the secure node is back");
    need_is(status_number("dsp_restarts"), restarts + 1, "dsp_restarts");
    kill_until_it_vanishes(restarts + 1);
    watcher_ends = true;
    pthread_join(watcher, NULL);
    need(node_vanished, "the node never gave ENOENT");
    for (int i = 0; i < 2; i++) {
        need_errno(call0(f[i], HXT_BLOCK, 0, 0), EPIPE, "a call on an old file");
        close_file(f[i]);
    }
    f[0] = open_skel();
    need_is(call0(f[0], HXT_BLOCK, 4, 0), 4, "a call on a new file");
    close_file(f[0]);
}

/* --- 10 --------------------------------------------------------------------------------------------------------- */

/* The process of the user PD that was made last: the root PD's newest child. */
static pid_t newest_pd(void)
{
    char path[64], text[512] = "", *last, *next;
    pid_t dsp = dsp_pid(), pid = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", dsp, dsp);
    f = fopen(path, "re");
    need(f, "%s: %s", path, strerror(errno));
    if (!fgets(text, sizeof(text), f))
        text[0] = '\0';
    fclose(f);
    for (last = text; (next = strchr(last, ' ')) && atoi(next + 1); last = next + 1)
        ;
    pid = atoi(last);
    need(pid > 1, "%s: '%s'", path, text);
    return pid;
}

static void stopped_root_pd(void)
{
    int h = open_node("fastrpc-cdsp");
    long restarts = status_number("dsp_restarts");

    stop_process(dsp_pid());
    need_errno(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), EPIPE, "INIT_CREATE while the root PD does not answer");
    dev->close(h);
    need_soon(node_opens, "fastrpc-cdsp", "the node is back");
    need_is(status_number("dsp_restarts"), restarts + 1, "dsp_restarts");
}

void point_10_time_limits(void)
{
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 1 << 20};
    struct file f = open_skel(), g = open_skel();
    struct shared *gate = gate_get();
    struct waiter w;
    pid_t pd = newest_pd();
    double start = now_s(), awake = awake_s(), took;
    int rc, error;

    waiter_start(&w, f, gate, 9);
    need_inside(gate, 1);
    stop_process(pd); /* g's PD answers nothing any more */
    rc = dev->ioctl(g.h, FASTRPC_IOCTL_MMAP, &m);
    error = errno;
    took = now_s() - start;
    awake = awake_s() - awake;
    kill(pd, SIGCONT);
    errno = error;
    need_errno(rc, ETIMEDOUT, "MMAP while the PD does not answer");
    need(took > 9.5 && awake < 15, "the kernel's call timed out after %.1f s, in %.1f of which this process could run, not 10", took,
         awake);
    gate_open(gate);
    waiter_join(&w);
    need_is(w.result, 9, "a user's call that took more than 10 s");
    need_is(call0(g, HXT_BLOCK, 3, 0), 3, "a call afterwards"); /* the late answer has done no harm */
    use_up_ids(f, CONTEXTS - 1); /* MMAP has one until its file is closed */
    close_file(f);
    close_file(g);
    stopped_root_pd();
    f = open_skel();
    need_is(call0(f, HXT_BLOCK, 3, 0), 3, "a call after the restart");
    close_file(f);
}

/* --- 12 --------------------------------------------------------------------------------------------------------- */

void point_12_255_contexts_for_all_clients(void)
{
    struct file f[2] = {open_skel(), open_skel()};
    struct shared *gate = gate_get();
    static struct waiter w[CONTEXTS];
    int h = open_node("fastrpc-cdsp");

    for (int i = 0; i < CONTEXTS; i++)
        waiter_start(&w[i], f[i % 2], gate, i);
    need_inside(gate, CONTEXTS);
    for (int i = 0; i < 2; i++)
        need_errno(call0(f[i], HXT_BLOCK, 0, 0), ENOSPC, "call 256");
    need_errno(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), ENOSPC, "the kernel's own call");
    gate_open(gate);
    for (int i = 0; i < CONTEXTS; i++) {
        waiter_join(&w[i]);
        need_is(w[i].result, i, "one of the 255");
    }
    need_is(call0(f[1], HXT_BLOCK, 6, 0), 6, "a call afterwards");
    need_is(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0, "INIT_CREATE afterwards");
    dev->close(h);
    close_file(f[0]);
    close_file(f[1]);
}

/* --- 19 --------------------------------------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 40, LONGEST = 6000 };

struct talker {
    struct file f;
    unsigned seed;
    pthread_t thread;
};

static void *talk(void *p)
{
    struct talker *t = p;
    uint8_t from[LONGEST], to[LONGEST];

    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t n = 1 + (t->seed * 977 + i * 131) % (LONGEST - 1);
        int code = (int)(t->seed << 8 | i);

        for (size_t k = 0; k < n; k++)
            from[k] = (uint8_t)(t->seed * 31 + i * 7 + k);
        memset(to, 0, sizeof(to));
        need_is(echo(t->f, code, arg(from, n), arg(to, n)), code, "result among 16 threads");
        need(memcmp(from, to, n) == 0, "thread %u, call %u: another call's bytes", t->seed, i);
    }
    need_is(call0(t->f, HXT_MEET, 0, THREADS), 0, "HXT_MEET"); /* returns when all are inside */
    return NULL;
}

void point_19_threads_share_a_file(void)
{
    struct talker t[THREADS];
    struct file f = open_skel();

    for (unsigned i = 0; i < THREADS; i++) {
        t[i] = (struct talker){.f = f, .seed = i + 1};
        need(pthread_create(&t[i].thread, NULL, talk, &t[i]) == 0, "pthread_create");
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(t[i].thread, NULL);
    close_file(f);
}

/* --- 20, 21 ----------------------------------------------------------------------------------------------------- */

void point_20_close_inside_a_call(void)
{
    struct file f;
    struct shared *gate = gate_get(), *other = gate_get();
    struct waiter w;
    pid_t pid;

    need_soon(no_session_is_open, NULL, "all files closed");
    f = open_skel();
    waiter_start(&w, f, gate, 12);
    need_inside(gate, 1);
    close_file(f);
    need_is(status_number("sessions"), 1, "sessions while the call runs");
    gate_open(gate);
    waiter_join(&w);
    need_is(w.result, 12, "the call whose file was closed");
    need_soon(no_session_is_open, NULL, "the closed file is released");

    pid = fork_child();
    if (pid == 0) {
        f = open_skel();
        wait_at(f, other, 0);
        _exit(1); /* the gate is never opened */
    }
    need_inside(other, 1);
    need(kill(pid, SIGKILL) == 0, "kill: %s", strerror(errno));
    need(WIFSIGNALED(end_of(pid)), "the client was not killed inside its call");
    need_soon(no_session_is_open, NULL, "a killed client's file is released");
}

void point_21_a_fork_shares_the_file(void)
{
    struct file f = open_skel();
    struct shared *gate = gate_get();
    pid_t pid = fork_child();

    if (pid == 0) {
        char from[] = "child", to[6] = "";
        need_is(echo(f, 2, arg(from, 6), arg(to, 6)), 2, "the child's call");
        need(strcmp(to, "child") == 0, "the child's buffer was not written");
        _exit(0);
    }
    need_is(end_of(pid), 0, "the child's end");
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "the parent's call after the child has ended");

    pid = fork_child();
    if (pid == 0) {
        wait_at(f, gate, 0);
        _exit(1);
    }
    need_inside(gate, 1);
    need(kill(pid, SIGKILL) == 0, "kill: %s", strerror(errno));
    need(WIFSIGNALED(end_of(pid)), "the child was not killed inside its call");
    need_is(call0(f, HXT_BLOCK, 6, 0), 6, "the parent's call beside the dead child's");
    need(!gate_was_left(gate), "the DSP has left the dead child's call: it belongs to the file");
    gate_open(gate);
    need_left(gate, 1);
    need_is(call0(f, HXT_BLOCK, 7, 0), 7, "the parent's call afterwards");
    close_file(f);
}
