/* Fuzz target: frames of the socket front end, as a hostile client sends them, with descriptors of memory, of a socket and of a
 * pipe on their first byte.  None of them may stay open. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front/socket_conn.h"

/* volatile: the reads are the test */
static volatile uint8_t read_byte;

int hxt_fuzz_one(const uint8_t *data, size_t n);

static int kinds[3]; /* what is sent: memory, a socket, a pipe */
static int lowest;   /* descriptor that is free between two inputs */

static int lowest_free(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

static void set_up(void)
{
    int pipe_fds[2];

    if (lowest)
        return;
    if (pipe(pipe_fds))
        abort();
    kinds[0] = memfd_create("fuzz", MFD_CLOEXEC);
    kinds[1] = socket(AF_UNIX, SOCK_STREAM, 0);
    kinds[2] = pipe_fds[0];
    lowest = lowest_free();
}

/* All of it in one message.  The last byte says how many descriptors come with it, most often none or as many as fit. */
static void send_input(int sock, const uint8_t *data, size_t n)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(HX_FRAME_MAX_FDS * sizeof(int))] = "";
    struct iovec iov = {(void *)(uintptr_t)data, n};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    const size_t last = n ? data[n - 1] : 0, n_fds = last < HX_FRAME_MAX_FDS ? last : 0;
    struct cmsghdr *c = (void *)control;

    if (n_fds) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        *c = (struct cmsghdr){CMSG_LEN(n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        for (size_t i = 0; i < n_fds; i++)
            memcpy(CMSG_DATA(c) + i * sizeof(int), &kinds[i % 3], sizeof(int));
    }
    if (sendmsg(sock, &m, 0) != (ssize_t)n)
        abort();
}

/* Threads of their own close (base/closer.h), so that may take a moment. */
static void expect_closed(void)
{
    const uint64_t until = hx_now_ms() + 10000;

    while (lowest_free() != lowest) {
        if (hx_now_ms() > until)
            abort();
        sched_yield();
    }
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    struct hx_loop loop;
    struct hx_conn conn = {.loop = &loop, .fds_max = HX_FRAME_MAX_FDS};
    struct hx_socket_frame *f;
    const char *err;
    int pair[2], rc;

    set_up();
    if (n > 60000 || hx_loop_init(&loop) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 0;
    conn.watch.fd = pair[0];
    hx_loop_add(&loop, &conn.watch);
    send_input(pair[1], data, n);
    close(pair[1]);
    while ((rc = hx_conn_read(&conn, &f, &err)) == 1) {
        uint64_t sum = 0;
        /* every part that the parser promises has to be there */
        for (unsigned i = 0; i < f->head.n_segs; i++)
            sum += f->segs[i].flags & HX_SEG_IN ? f->segs[i].len : 0;
        for (uint64_t i = 0; i < sum; i++)
            read_byte = f->data[i];
        if (conn.n_fds != f->head.n_fds)
            abort();
        hx_conn_close_fds(&conn);
        hx_frame_free(f);
    }
    hx_conn_close(&conn);
    hx_loop_close(&loop);
    expect_closed();
    return 0;
}
