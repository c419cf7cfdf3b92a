/* The floor of a call: a file system that is one file, whose ioctls do no more than any driver like ours must.
 *
 *   ECHO_BARE  answered at once: a bare FUSE ioctl
 *   ECHO_HOP   the number in `handle` says which of BENCH_HOPS processes is asked first, by futex; meanwhile the server serves others,
 *              looks for answers in memory, and is woken by an eventfd when it sleeps.  Those are the processes, the order and the
 *              count of system calls of an INVOKE without arguments. */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include "bench_rig.h"
#include "fastrpc_uapi.h"

enum { BENCH_HOPS = 14 };
#define ECHO_BARE FASTRPC_IOCTL_INVOKE
#define ECHO_HOP _IOWR('h', 1, struct fastrpc_invoke)

struct bench_hop {
    _Alignas(64) int word; /* 1: asked */
    _Atomic int *dozes;
    int bell;
    pid_t pid;
    fuse_req_t req; /* the server's; NULL: nobody waits */
};

struct bench_echo {
    char path[96];
    pid_t pid;
    struct bench_hop *hop;
    _Atomic int *dozes; /* the server sleeps, or is about to */
    int bell;
};

static struct bench_echo bench_echo;

static inline void bench_echo_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct stat st = {.st_ino = ino, .st_mode = S_IFREG | 0666, .st_nlink = 1};

    (void)fi;
    fuse_reply_attr(req, &st, 1e9);
}

static inline void bench_echo_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    fuse_reply_open(req, fi);
}

static inline void bench_echo_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg, struct fuse_file_info *fi,
                                    unsigned flags, const void *in, size_t in_bytes, size_t out_bytes)
{
    const struct fastrpc_invoke *inv = in;
    struct bench_hop *h = &bench_echo.hop[inv->handle % BENCH_HOPS];

    (void)ino, (void)arg, (void)fi, (void)flags, (void)out_bytes, (void)in_bytes;
    if (cmd == ECHO_BARE) {
        fuse_reply_ioctl(req, 0, NULL, 0);
        return;
    }
    h->req = req;
    bench_futex_set(&h->word, 1);
}

/* Answers whom a hop has answered.  Returns how many still wait. */
static inline int bench_echo_answers(void)
{
    int waiting = 0;

    for (int i = 0; i < BENCH_HOPS; i++) {
        struct bench_hop *h = &bench_echo.hop[i];

        if (h->req && __atomic_load_n(&h->word, __ATOMIC_ACQUIRE) == 0) {
            fuse_reply_ioctl(h->req, 0, NULL, 0);
            h->req = NULL;
        }
        waiting += h->req != NULL;
    }
    return waiting;
}

static inline int bench_echo_has_answers(void)
{
    for (int i = 0; i < BENCH_HOPS; i++)
        if (bench_echo.hop[i].req && __atomic_load_n(&bench_echo.hop[i].word, __ATOMIC_ACQUIRE) == 0)
            return 1;
    return 0;
}

static inline void bench_echo_loop(struct fuse_session *se)
{
    struct epoll_event e = {.events = EPOLLIN}, on_bell = {.events = EPOLLIN | EPOLLET, .data.u32 = 1};
    struct fuse_buf buf = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    epoll_ctl(epoll, EPOLL_CTL_ADD, fuse_session_fd(se), &e);
    epoll_ctl(epoll, EPOLL_CTL_ADD, bench_echo.bell, &on_bell);
    while (!fuse_session_exited(se)) {
        int n;

        bench_echo_answers();
        atomic_store(bench_echo.dozes, 1);
        n = epoll_wait(epoll, &e, 1, bench_echo_has_answers() ? 0 : -1);
        atomic_store(bench_echo.dozes, 0);
        if (n != 1 || e.data.u32 == 1)
            continue;
        n = fuse_session_receive_buf(se, &buf);
        if (n <= 0 && n != -EINTR)
            break;
        if (n > 0)
            fuse_session_process_buf(se, &buf);
    }
    free(buf.mem);
    close(epoll);
}

static inline int bench_echo_serve(void)
{
    static const struct fuse_lowlevel_ops ops = {
        .getattr = bench_echo_getattr, .open = bench_echo_open, .ioctl = bench_echo_ioctl};
    char *argv[] = {"bench-echo", "-o", "fsname=hexrig-bench"};
    struct fuse_args args = FUSE_ARGS_INIT(3, argv);
    struct fuse_session *se = fuse_session_new(&args, &ops, sizeof(ops), NULL);

    if (!se || fuse_set_signal_handlers(se) || fuse_session_mount(se, bench_echo.path))
        return 1;
    bench_echo_loop(se);
    fuse_session_unmount(se);
    return 0;
}

static inline _Noreturn void bench_hop_run(struct bench_hop *h)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        bench_futex_wait(&h->word, 0);
        __atomic_store_n(&h->word, 0, __ATOMIC_SEQ_CST);
        if (atomic_exchange(h->dozes, 0))
            (void)!write(h->bell, &(uint64_t){1}, sizeof(uint64_t));
    }
}

/* Until the server has mounted over its file: before, an ioctl reaches the file below. */
static inline int bench_echo_await(void)
{
    struct fastrpc_invoke inv = {0};
    int served = 0;

    for (int i = 0; i < 500 && !served; i++) {
        int fd = open(bench_echo.path, O_RDWR | O_CLOEXEC);

        served = fd >= 0 && ioctl(fd, ECHO_BARE, &inv) == 0;
        if (fd >= 0)
            close(fd);
        if (!served)
            usleep(10000);
    }
    return served;
}

static inline void bench_echo_stop(void)
{
    bench_end(bench_echo.pid);
    for (int i = 0; bench_echo.hop && i < BENCH_HOPS; i++)
        bench_end(bench_echo.hop[i].pid);
    unlink(bench_echo.path);
}

/* In the rig's folder; 0, or -1 and errno. */
static inline int bench_echo_start(void)
{
    struct bench_echo *b = &bench_echo;
    int fd;

    snprintf(b->path, sizeof(b->path), "%.60s/echo", bench_rig.dir);
    fd = open(b->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    close(fd);
    b->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    b->hop = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    b->dozes = (_Atomic int *)((char *)b->hop + 4096);
    for (int i = 0; i < BENCH_HOPS; i++) {
        b->hop[i] = (struct bench_hop){.dozes = b->dozes, .bell = b->bell};
        const pid_t pid = fork();

        if (pid == 0)
            bench_hop_run(&b->hop[i]);
        b->hop[i].pid = pid; /* the memory is the child's, too */
    }
    b->pid = fork();
    if (b->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        _exit(bench_echo_serve());
    }
    return bench_echo_await() ? 0 : -1;
}

/* The server and the hops to one core, or to all (-1). */
static inline void bench_echo_move(int core)
{
    bench_pin(bench_echo.pid, core);
    for (int i = 0; i < BENCH_HOPS; i++)
        bench_pin(bench_echo.hop[i].pid, core);
}

#endif
