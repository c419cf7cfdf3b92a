/* The socket front end's client, see access.h.
 *
 * Each waiting thread peeks at the next reply's header and takes it when it is its own, so no thread reads for another one
 * and a child process can share the connection.  That is slow with many callers, and simple. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "hx_frame_io.h"
#include "hx_frame_pack.h"
#include "hx_rpcmem.h"
#include "hx_transport.h"

enum { CONNS_MAX = 1024, RESTART = -512 };

/* What the processes that share a connection must agree on. */
struct common {
    pthread_mutex_t send, recv; /* held for one frame, one reply */
    _Atomic uint64_t last_id;
};

static struct conn {
    struct common *common; /* NULL = not open */
    int calls;             /* of this process, under way */
    bool closing;
} conns[CONNS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects conns[] */

/* The library's registry is empty: the kernel is asked where a buffer lies. */
int hx_rpcmem_locate(int fd, const void *va, uint64_t *offset)
{
    (void)fd;
    (void)va;
    (void)offset;
    return -1;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* A process that was killed may have held it: its frame is in the DSP before it has come back from sending it. */
static void take(pthread_mutex_t *m)
{
    if (pthread_mutex_lock(m) == EOWNERDEAD)
        pthread_mutex_consistent(m);
}

static int open_socket(const char *node)
{
    char path[128];
    struct common *c;
    pthread_mutexattr_t attr;
    int fd, rc;

    snprintf(path, sizeof(path), "%s/%s", mount_dir, node);
    rc = hx_frame_connect(path, &fd);
    if (rc)
        return fail(-rc);
    c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd >= CONNS_MAX || c == MAP_FAILED) {
        close(fd);
        return fail(ENOMEM);
    }
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&c->send, &attr);
    pthread_mutex_init(&c->recv, &attr);
    conns[fd] = (struct conn){.common = c};
    return fd;
}

static void close_now(int fd)
{
    munmap(conns[fd].common, sizeof(struct common));
    conns[fd] = (struct conn){0};
    close(fd);
}

/* A call under way keeps the file open, as the kernel does. */
static int close_socket(int fd)
{
    int rc = 0;

    pthread_mutex_lock(&lock);
    if (fd < 0 || fd >= CONNS_MAX || !conns[fd].common || conns[fd].closing)
        rc = fail(EBADF);
    else if (conns[fd].calls)
        conns[fd].closing = true;
    else
        close_now(fd);
    pthread_mutex_unlock(&lock);
    return rc;
}

static struct common *enter(int fd)
{
    struct common *c = NULL;

    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < CONNS_MAX && !conns[fd].closing)
        c = conns[fd].common;
    if (c)
        conns[fd].calls++;
    pthread_mutex_unlock(&lock);
    return c;
}

static void leave(int fd)
{
    pthread_mutex_lock(&lock);
    if (--conns[fd].calls == 0 && conns[fd].closing)
        close_now(fd);
    pthread_mutex_unlock(&lock);
}

/* What is no descriptor cannot be sent: the driver finds it missing and says so. */
static void drop_dead_fds(struct hx_frame_out *f)
{
    uint32_t n = 0;
    uint64_t dropped;

    for (uint32_t i = 0; i < f->head.n_fds; i++)
        if (fcntl(f->fds[i].fd, F_GETFD) >= 0)
            f->fds[n++] = f->fds[i];
    dropped = (f->head.n_fds - n) * sizeof(f->fds[0]);
    f->head.n_fds = n;
    f->head.body_bytes -= dropped;
    for (size_t i = 0; i < f->n_iov; i++)
        if (f->iov[i].iov_base == f->fds)
            f->iov[i].iov_len -= dropped;
}

static int send_frame(int fd, struct common *c, struct iovec *iov, size_t n_iov,
                      const struct hx_frame_fd *fds, size_t n_fds)
{
    int rc;

    take(&c->send);
    rc = hx_frame_send(fd, iov, n_iov, fds, n_fds);
    pthread_mutex_unlock(&c->send);
    return rc;
}

static void send_interrupt(int fd, struct common *c, uint64_t id)
{
    struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_INTERRUPT, .id = id};
    struct iovec iov = {&f, sizeof(f)};

    send_frame(fd, c, &iov, 1, NULL, 0);
}

/* The rest of a reply whose header is read: the ioctl's struct, then the written pieces of memory. */
static int take_body(int fd, const struct hx_frame_out *out, const struct hx_frame_reply *r, void *arg)
{
    struct hx_frame_seg seg[HX_FRAME_MAX_SEGS];
    int rc = 0;

    if (r->arg_bytes > out->head.arg_bytes)
        return -EPROTO;
    if (r->arg_bytes)
        rc = hx_frame_recv(fd, arg, r->arg_bytes, NULL);
    if (!rc)
        rc = hx_frame_recv(fd, seg, r->n_segs * sizeof(seg[0]), NULL);
    for (uint32_t i = 0; i < r->n_segs && !rc; i++) {
        if (!hx_frame_may_write(out, seg[i].addr, seg[i].len))
            return -EPROTO;
        rc = hx_frame_recv(fd, (void *)(uintptr_t)seg[i].addr, seg[i].len, NULL);
    }
    return rc;
}

/* Ids name the process, so that replies for one that has died can be told. */
static uint64_t new_id(struct common *c)
{
    return (uint64_t)getpid() << 32 | (uint32_t)(atomic_fetch_add(&c->last_id, 1) + 1);
}

static bool owner_has_died(uint64_t id)
{
    pid_t pid = (pid_t)(id >> 32);

    return pid > 1 && kill(pid, 0) < 0 && errno == ESRCH;
}

static int drop_reply(int fd, const struct hx_frame_reply *r)
{
    char sink[4096];
    uint64_t left = sizeof(*r) + r->body_bytes;
    int rc = 0;

    while (left && !rc) {
        size_t n = left < sizeof(sink) ? left : sizeof(sink);

        rc = hx_frame_recv(fd, sink, n, NULL);
        left -= n;
    }
    return rc;
}

/* 1: the reply was ours and is in *r, with its body where it belongs; 0: not ours, or none yet; or negative errno. */
static int try_take(int fd, struct common *c, const struct hx_frame_out *out,
                    struct hx_frame_reply *r, void *arg)
{
    size_t got = 0;
    ssize_t n;
    int rc = 0;

    take(&c->recv);
    n = recv(fd, r, sizeof(*r), MSG_PEEK | MSG_DONTWAIT);
    if (n == 0) {
        rc = -ECONNRESET;
    } else if (n == (ssize_t)sizeof(*r) && r->id == out->head.id) {
        rc = hx_frame_recv_head(fd, r, &got);
        if (!rc)
            rc = take_body(fd, out, r, arg);
        rc = rc ? rc : 1;
    } else if (n == (ssize_t)sizeof(*r) && owner_has_died(r->id)) {
        rc = drop_reply(fd, r);
    }
    pthread_mutex_unlock(&c->recv);
    return rc;
}

static int wait_reply(int fd, struct common *c, const struct hx_frame_out *out, void *arg)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct hx_frame_reply r;
    bool told = false;
    int rc = 0;

    while (rc == 0) {
        bool signalled = poll(&p, 1, -1) < 0;

        if (!signalled)
            rc = try_take(fd, c, out, &r, arg);
        if (!signalled && rc == 0)
            signalled = nanosleep(&pause, NULL) < 0; /* somebody else's */
        if (signalled && !told) {
            told = true;
            send_interrupt(fd, c, out->head.id);
        }
    }
    if (rc < 0)
        return fail(-rc);
    if (r.result == RESTART)
        return fail(EINTR);
    return r.result < 0 && r.result >= -4095 ? fail(-r.result) : r.result;
}

static int socket_ioctl(int fd, unsigned long cmd, void *arg)
{
    struct common *c = enter(fd);
    struct hx_frame_out *out;
    int rc;

    if (!c)
        return fail(EBADF);
    out = malloc(sizeof(*out));
    rc = out ? hx_frame_pack(out, new_id(c), cmd, arg) : -ENOMEM;
    if (!rc) {
        drop_dead_fds(out);
        rc = send_frame(fd, c, out->iov, out->n_iov, out->fds, out->head.n_fds);
    }
    rc = rc ? fail(-rc) : wait_reply(fd, c, out, arg);
    int error = errno;
    free(out);
    leave(fd);
    errno = error;
    return rc;
}

char *access_text_by_socket(const char *node)
{
    char path[128], *text = NULL;

    snprintf(path, sizeof(path), "%s/fastrpc-cdsp", mount_dir);
    return hx_transport_socket_read(path, node, &text) ? NULL : text;
}

const struct access access_socket = {"socket", false, open_socket, socket_ioctl, close_socket,
                                     access_text_by_socket};
