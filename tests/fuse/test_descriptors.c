/* Protects a rig from what comes over its sockets beside bytes (SCM_RIGHTS): a client's end is noticed whatever it has passed,
 * descriptors that no frame announces end the connection, and the rig keeps none of them.  Raw sockets, on the socket front end
 * and beside a FUSE mount. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fastrpc_uapi.h"
#include "hx_frame.h"
#include "own_rig.h"

enum { MANY = 253, PATIENCE_S = 10 };

/* --- raw frames */

static int connect_raw(void)
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

static void take_greeting(int fd)
{
    struct hx_frame_reply r;

    assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r.result, 0);
}

static int connect_session(void)
{
    int fd = connect_raw();

    take_greeting(fd);
    return fd;
}

/* n bytes and n_fds descriptors in one message; to a connection that is over already it goes nowhere. */
static void send_with(int sock, const void *bytes, size_t n, const int *fds, size_t n_fds)
{
    static _Alignas(struct cmsghdr) char control[CMSG_SPACE(MANY * sizeof(int))];
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

/* MEM_MAP of one descriptor. */
struct map_frame {
    struct hx_frame head;
    struct fastrpc_mem_map arg;
    struct hx_frame_fd fd;
};
_Static_assert(sizeof(struct map_frame) == sizeof(struct hx_frame) + sizeof(struct fastrpc_mem_map) +
               sizeof(struct hx_frame_fd), "no holes");

static struct map_frame map_of(int fd)
{
    struct map_frame f = {.head = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1,
                                   .cmd = (uint32_t)FASTRPC_IOCTL_MEM_MAP, .arg_bytes = sizeof(f.arg),
                                   .n_fds = 1, .body_bytes = sizeof(f.arg) + sizeof(f.fd)},
                          .arg = {.fd = fd, .length = 4096},
                          .fd = {.fd = fd}};

    return f;
}

static struct hx_frame ask_status(void)
{
    return (struct hx_frame){.magic = HX_FRAME_MAGIC, .op = HX_FRAME_READ, .id = 1, .arg_bytes = 6,
                             .body_bytes = 6};
}

/* "sessions=" of the rig, asked on a connection of its own. */
static int sessions(void)
{
    struct {
        struct hx_frame head;
        char name[6];
    } q = {ask_status(), "status"};
    struct hx_frame_reply r = {0};
    char text[4096] = "", *at;
    int fd = connect_raw();

    take_greeting(fd);
    send_with(fd, &q, sizeof(q.head) + 6, NULL, 0);
    assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_true(r.body_bytes < sizeof(text));
    recv(fd, text, r.body_bytes, MSG_WAITALL);
    close(fd);
    at = strstr(text, "\nsessions=");
    return at ? atoi(at + 10) : -1;
}

static int no_session(void *unused)
{
    (void)unused;
    return sessions() == 0;
}

static int is_over(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);

    return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Descriptors of the rig. */
static int rig_fds(void)
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
    return rig_fds() <= *(int *)most;
}

static void expect_nothing_left(int fds)
{
    assert_true(hxt_until(no_session, NULL, PATIENCE_S));
    assert_true(hxt_until(rig_has_fds, &fds, PATIENCE_S));
}

static int memory(void)
{
    int fd = memfd_create("t", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    return fd;
}

/* --- a client's end */

static void test_own_end_on_half_a_head_keeps_no_session(void **state)
{
    const int before = rig_fds();

    (void)state;
    for (int i = 0; i < 20; i++) { /* more than there are sessions */
        struct map_frame f = map_of(5);
        int fd = connect_session();

        send_with(fd, &f, i + 1, &fd, 1);
        close(fd);
        assert_true(hxt_until(no_session, NULL, PATIENCE_S));
    }
    expect_nothing_left(before);
}

static void test_own_end_on_half_a_frame_keeps_no_session(void **state)
{
    const int before = rig_fds();
    struct map_frame f = map_of(5);
    int fd = connect_session(), pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    send_with(pair[0], "x", 1, &fd, 1); /* inside another socket, too */
    send_with(fd, &f, sizeof(f) - 1, &pair[1], 1);
    close(pair[0]);
    close(pair[1]);
    close(fd);
    expect_nothing_left(before);
}

static void test_a_socket_is_no_buffer_and_the_connection_goes_on(void **state)
{
    const int before = rig_fds();
    struct hx_frame_reply r;
    int fd = connect_session();

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct map_frame f = map_of(fd);

        send_with(fd, &f, sizeof(f), &fd, 1);
        assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
        assert_int_equal(r.result, -EINVAL);
        for (char byte; r.body_bytes; r.body_bytes--)
            assert_int_equal(recv(fd, &byte, 1, 0), 1);
    }
    close(fd);
    expect_nothing_left(before);
}

/* Asks until the rig takes no more because nobody reads its replies, and leaves its own end in the queue. */
static _Noreturn void ask_and_go(void)
{
    enum { BATCH = 50 };
    static char batch[BATCH * 46];
    struct hx_frame q = ask_status();
    int fd = connect_raw(), waiting = 0, still = 0;

    for (int i = 0; i < BATCH; i++) {
        memcpy(batch + i * 46, &q, sizeof(q));
        memcpy(batch + i * 46 + sizeof(q), "status", 6);
    }
    while (still < 20) {
        ioctl(fd, SIOCOUTQ, &waiting);
        if (waiting < 20000 && send(fd, batch, sizeof(batch), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(batch))
            still = 0;
        else
            still++;
        poll(NULL, 0, waiting < 20000 ? 0 : 20);
    }
    send_with(fd, "x", 1, &fd, 1);
    _exit(0);
}

static void test_own_end_behind_unread_replies_is_noticed(void **state)
{
    const int before = rig_fds();
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0)
        ask_and_go();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_nothing_left(before);
}

/* --- only what is announced */

static void test_descriptors_have_to_be_announced(void **state)
{
    static const struct {
        unsigned announced, sent, at; /* at: bytes before those that they come with */
    } cases[] = {{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}, {1, 1, 40}, {0, 1, 40}, {0, 1, 60}, {253, 1, 0}};
    const int before = rig_fds(), fds[2] = {memory(), memory()};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct map_frame f = map_of(fds[0]);
        int fd = connect_session();

        f.head.n_fds = cases[i].announced;
        if (cases[i].at)
            send_with(fd, &f, cases[i].at, NULL, 0);
        send_with(fd, (char *)&f + cases[i].at, sizeof(f) - cases[i].at, fds, cases[i].sent);
        if (!is_over(fd))
            fail_msg("case %zu: the connection goes on", i);
        close(fd);
    }
    close(fds[0]);
    close(fds[1]);
    expect_nothing_left(before);
}

static void test_other_frames_than_ioctls_have_none(void **state)
{
    const int before = rig_fds(), mem = memory();

    (void)state;
    for (unsigned op = HX_FRAME_READ; op <= HX_FRAME_WRITE; op++) {
        struct map_frame f = map_of(mem);
        int fd = connect_session();

        f.head.op = op;
        send_with(fd, &f, sizeof(f), &mem, 1);
        if (!is_over(fd))
            fail_msg("op %u: the connection goes on", op);
        close(fd);
    }
    close(mem);
    expect_nothing_left(before);
}

static void test_half_frames_hold_few_and_leave_none(void **state)
{
    enum { CONNECTIONS = 10 };
    const int before = rig_fds();
    int mem[MANY], fd[CONNECTIONS];

    (void)state;
    for (int i = 0; i < MANY; i++)
        mem[i] = memory();
    for (int i = 0; i < CONNECTIONS; i++) {
        struct map_frame f = map_of(mem[0]);

        f.head.n_fds = MANY;
        f.head.body_bytes = sizeof(f.arg) + MANY * sizeof(f.fd);
        fd[i] = connect_session();
        send_with(fd[i], &f, i % 2 ? 1 : sizeof(f), mem, MANY); /* half a head, half a body */
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        if (i % 2)
            assert_true(is_over(fd[i]));
        else /* a byte that has not come with descriptors of its own brings none later either */
            send_with(fd[i], "\0", 1, mem, 1);
        if (i % 2 == 0)
            assert_true(is_over(fd[i]));
        close(fd[i]);
    }
    for (int i = 0; i < MANY; i++)
        close(mem[i]);
    expect_nothing_left(before);
}

/* Half frames of many: the rig holds 256 of their descriptors at a time, who brings most is dropped, and a client with a few goes
 * on as if nobody else were there. */
static void test_half_frames_of_all_clients_share_a_limit(void **state)
{
    enum { SESSIONS = 10, EACH = 60, LIMIT = 256, OWN = SESSIONS + 8 };
    const int before = rig_fds();
    int mem[EACH], fd[SESSIONS], polite, over = 0;
    struct hx_frame_reply r;
    struct map_frame few, f;

    (void)state;
    for (int i = 0; i < EACH; i++)
        mem[i] = memory();
    few = map_of(mem[0]);
    polite = connect_session();
    send_with(polite, &few, sizeof(few) - 1, mem, 1);
    f = map_of(mem[0]);
    f.head.n_fds = EACH;
    f.head.body_bytes = sizeof(f.arg) + EACH * sizeof(f.fd);
    for (int i = 0; i < SESSIONS; i++) {
        fd[i] = connect_session();
        send_with(fd[i], &f, sizeof(f), mem, EACH);
        sessions(); /* answered by the same loop: what was sent before has been read */
        assert_in_range(rig_fds(), 0, before + LIMIT + OWN);
    }
    for (int i = 0; i < SESSIONS; i++) {
        char byte;

        over += recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0;
    }
    assert_int_equal(over, SESSIONS - (LIMIT - 1) / EACH);
    send_with(polite, (char *)&few + sizeof(few) - 1, 1, NULL, 0);
    assert_int_equal(recv(polite, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r.id, 1);
    for (int i = 0; i < SESSIONS; i++)
        close(fd[i]);
    for (int i = 0; i < EACH; i++)
        close(mem[i]);
    close(polite);
    expect_nothing_left(before);
}

static int on_front_end(const char *front_end)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_end_on_half_a_head_keeps_no_session),
        cmocka_unit_test(test_own_end_on_half_a_frame_keeps_no_session),
        cmocka_unit_test(test_a_socket_is_no_buffer_and_the_connection_goes_on),
        cmocka_unit_test(test_own_end_behind_unread_replies_is_noticed),
        cmocka_unit_test(test_descriptors_have_to_be_announced),
        cmocka_unit_test(test_other_frames_than_ioctls_have_none),
        cmocka_unit_test(test_half_frames_hold_few_and_leave_none),
        cmocka_unit_test(test_half_frames_of_all_clients_share_a_limit),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(on_front_end);
}
