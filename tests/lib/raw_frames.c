/* Bytes and descriptors to a rig's sockets, see raw_frames.h. */
#include "raw_frames.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "own_rig.h"

enum { PATIENCE_S = 60 };

int raw_connect(void)
{
    const char *folder = strcmp(own_rig_front_end, "socket") == 0 ? "rig" : "rig.socket";
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct timeval patience = {PATIENCE_S, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s/fastrpc-cdsp", hxt_tmpdir(), folder);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

void raw_take_greeting(int fd)
{
    struct hx_frame_reply r;

    assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r.result, 0);
}

int raw_connect_session(void)
{
    int fd = raw_connect();

    raw_take_greeting(fd);
    return fd;
}

/* n bytes and n_fds descriptors in one message; to a connection that is over already it goes nowhere. */
void raw_send(int sock, const void *bytes, size_t n, const int *fds, size_t n_fds)
{
    static _Alignas(struct cmsghdr) char control[CMSG_SPACE(RAW_FDS_MAX * sizeof(int))];
    struct iovec iov = {(void *)bytes, n};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    if (n_fds) {
        struct cmsghdr *c = (void *)control;

        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        *c = (struct cmsghdr){CMSG_LEN(n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    if (sendmsg(sock, &m, MSG_NOSIGNAL) != (ssize_t)n)
        assert_true(errno == EPIPE || errno == ECONNRESET);
}

struct raw_map_frame raw_map_of(int fd)
{
    struct raw_map_frame f = {.head = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1,
                                   .cmd = (uint32_t)FASTRPC_IOCTL_MEM_MAP, .arg_bytes = sizeof(f.arg),
                                   .n_fds = 1, .body_bytes = sizeof(f.arg) + sizeof(f.fd)},
                          .arg = {.fd = fd, .length = 4096},
                          .fd = {.fd = fd}};

    return f;
}

struct hx_frame raw_ask_status(void)
{
    return (struct hx_frame){.magic = HX_FRAME_MAGIC, .op = HX_FRAME_READ, .id = 1, .arg_bytes = 6,
                             .body_bytes = 6};
}

/* "sessions=" of the rig, asked on a connection of its own. */
int raw_sessions(void)
{
    struct {
        struct hx_frame head;
        char name[6];
    } q = {raw_ask_status(), "status"};
    struct hx_frame_reply r = {0};
    char text[4096] = "", *at;
    int fd = raw_connect();

    raw_take_greeting(fd);
    raw_send(fd, &q, sizeof(q.head) + 6, NULL, 0);
    assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_true(r.body_bytes < sizeof(text));
    recv(fd, text, r.body_bytes, MSG_WAITALL);
    close(fd);
    at = strstr(text, "\nsessions=");
    return at ? atoi(at + 10) : -1;
}

int raw_no_session(void *unused)
{
    (void)unused;
    return raw_sessions() == 0;
}

int raw_is_over(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);

    return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Descriptors of the rig. */
int raw_rig_fds(void)
{
    DIR *d = opendir(hxt_path("/proc/%d/fd", own_rig_child.pid));
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int rig_has_fds(void *most)
{
    return raw_rig_fds() <= *(int *)most;
}

void raw_expect_nothing_left(int fds)
{
    assert_true(hxt_until(raw_no_session, NULL, PATIENCE_S));
    assert_true(hxt_until(rig_has_fds, &fds, PATIENCE_S));
}

int raw_memory(void)
{
    int fd = memfd_create("t", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    return fd;
}
