/* What the benchmarks of the rig share: a rig of their own, where it runs, and the ping-pongs that they compare with. */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct bench_rig {
    pid_t pid;
    char dir[64], mount[72], device[96];
};

static struct bench_rig bench_rig;

static inline void bench_end(pid_t pid)
{
    if (pid > 1) {
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
    }
}

static inline void bench_rig_stop(void)
{
    bench_end(bench_rig.pid);
    bench_rig.pid = 0;
    rmdir(bench_rig.mount);
    rmdir(bench_rig.dir);
}

/* Says what failed, takes the rig away, and ends. */
static inline _Noreturn void bench_fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    bench_rig_stop();
    exit(1);
}

/* A rig in a folder of its own below /tmp; ends the program when there can be none. */
static inline void bench_rig_start(void)
{
    struct bench_rig *r = &bench_rig;

    if (access("/dev/fuse", R_OK | W_OK)) {
        printf("skip: /dev/fuse: %s\n", strerror(errno));
        exit(77);
    }
    snprintf(r->dir, sizeof(r->dir), "/tmp/hexrig-bench-XXXXXX");
    if (!mkdtemp(r->dir))
        bench_fail(r->dir);
    snprintf(r->mount, sizeof(r->mount), "%.60s/rig", r->dir);
    snprintf(r->device, sizeof(r->device), "%.70s/fastrpc-cdsp", r->mount);
    if (mkdir(r->mount, 0700))
        bench_fail(r->mount);
    setvbuf(stdout, NULL, _IOLBF, 0);
    r->pid = fork();
    if (r->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        setenv("DSP_LIBRARY_PATH", HXT_BUILD "/tests", 1);
        execl(HXT_BUILD "/libexec/hexrig/hexrig-fuse", "hexrig-fuse", "--mount", r->mount, "--front-end", "fuse",
              (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 500 && access(r->device, F_OK); i++)
        usleep(10000);
    if (access(r->device, F_OK))
        bench_fail(r->device);
}

/* Until no session is open, so that the PDs of what was measured have gone. */
static inline void bench_rig_await_idle(void)
{
    char path[96], text[4096];
    size_t n;

    snprintf(path, sizeof(path), "%.70s/status", bench_rig.mount);
    for (int i = 0; i < 1000; i++) {
        FILE *f = fopen(path, "r");

        n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
        if (f)
            fclose(f);
        text[n] = '\0';
        if (strstr(text, "\nsessions=0\n"))
            return;
        poll(NULL, 0, 10);
    }
    bench_fail(path);
}

/* All threads of a process, and of the processes that they have started. */
static inline void bench_pin_tree(pid_t pid, int core)
{
    char path[64];
    struct dirent *e;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && (e = readdir(tasks))) {
        int tid = atoi(e->d_name), child;
        FILE *f;

        if (tid <= 0)
            continue;
        bench_pin(tid, core);
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
        f = fopen(path, "r");
        while (f && fscanf(f, "%d", &child) == 1)
            bench_pin_tree(child, core);
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
}

/* The rig with its DSP to one core, or to all (-1). */
static inline void bench_rig_move(int core)
{
    bench_pin_tree(bench_rig.pid, core);
}

/* --- two processes that pass a word to and fro ----------------------------------------------------------------------- */

static inline void bench_futex_wait(int *word, int value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
        syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static inline void bench_futex_set(int *word, int value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static inline void bench_poll_wait(int *word, int value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
        ;
}

static inline void bench_poll_set(int *word, int value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

struct bench_pong {
    void (*wait)(int *word, int value);
    void (*set)(int *word, int value);
    int *word;
    pid_t pid;
};

static inline void bench_pong(void *arg)
{
    struct bench_pong *p = arg;

    p->set(p->word, 1);
    p->wait(p->word, 1);
}

/* The other process; runs on `core`. */
static inline void bench_pong_start(struct bench_pong *p, int core)
{
    p->word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    p->pid = fork();
    if (p->pid)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench_pin(0, core);
    for (;;) {
        p->wait(p->word, 0);
        p->set(p->word, 0);
    }
}

static const struct bench_pong bench_futex = {bench_futex_wait, bench_futex_set, NULL, 0};
static const struct bench_pong bench_poll = {bench_poll_wait, bench_poll_set, NULL, 0};

/* As bench_more(), with a process that waits and answers as `how` does, on `core`. */
static inline void bench_more_pongs(struct bench_times *t, const struct bench_pong *how, int core, int n)
{
    struct bench_pong p = *how;

    bench_pong_start(&p, core);
    bench_more(t, bench_pong, &p, n);
    kill(p.pid, SIGKILL);
    waitpid(p.pid, NULL, 0);
    munmap(p.word, 4096);
}

#endif
