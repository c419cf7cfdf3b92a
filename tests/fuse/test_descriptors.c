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
#include "raw_frames.h"

enum { MANY = RAW_FDS_MAX };

/* --- a client's end */

static void test_own_end_on_half_a_head_keeps_no_session(void **state)
{
    const int before = raw_rig_fds();

    (void)state;
    for (int i = 0; i < 20; i++) { /* more than there are sessions */
        struct raw_map_frame f = raw_map_of(5);
        int fd = raw_connect_session();

        raw_send(fd, &f, i + 1, &fd, 1);
        close(fd);
        assert_true(hxt_until(raw_no_session, NULL, 10));
    }
    raw_expect_nothing_left(before);
}

static void test_own_end_on_half_a_frame_keeps_no_session(void **state)
{
    const int before = raw_rig_fds();
    struct raw_map_frame f = raw_map_of(5);
    int fd = raw_connect_session(), pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    raw_send(pair[0], "x", 1, &fd, 1); /* inside another socket, too */
    raw_send(fd, &f, sizeof(f) - 1, &pair[1], 1);
    close(pair[0]);
    close(pair[1]);
    close(fd);
    raw_expect_nothing_left(before);
}

static void test_a_socket_is_no_buffer_and_the_connection_goes_on(void **state)
{
    const int before = raw_rig_fds();
    struct hx_frame_reply r;
    int fd = raw_connect_session();

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct raw_map_frame f = raw_map_of(fd);

        raw_send(fd, &f, sizeof(f), &fd, 1);
        assert_int_equal(recv(fd, &r, sizeof(r), MSG_WAITALL), sizeof(r));
        assert_int_equal(r.result, -EINVAL);
        for (char byte; r.body_bytes; r.body_bytes--)
            assert_int_equal(recv(fd, &byte, 1, 0), 1);
    }
    close(fd);
    raw_expect_nothing_left(before);
}

/* Asks until the rig takes no more because nobody reads its replies, and leaves its own end in the queue. */
static _Noreturn void ask_and_go(void)
{
    enum { BATCH = 50 };
    static char batch[BATCH * 46];
    struct hx_frame q = raw_ask_status();
    int fd = raw_connect(), waiting = 0, still = 0;

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
    raw_send(fd, "x", 1, &fd, 1);
    _exit(0);
}

static void test_own_end_behind_unread_replies_is_noticed(void **state)
{
    const int before = raw_rig_fds();
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0)
        ask_and_go();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    raw_expect_nothing_left(before);
}

/* --- only what is announced */

static void test_descriptors_have_to_be_announced(void **state)
{
    static const struct {
        unsigned announced, sent, at; /* at: bytes before those that they come with */
    } cases[] = {{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}, {1, 1, 40}, {0, 1, 40}, {0, 1, 60}, {253, 1, 0}};
    const int before = raw_rig_fds(), fds[2] = {raw_memory(), raw_memory()};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct raw_map_frame f = raw_map_of(fds[0]);
        int fd = raw_connect_session();

        f.head.n_fds = cases[i].announced;
        if (cases[i].at)
            raw_send(fd, &f, cases[i].at, NULL, 0);
        raw_send(fd, (char *)&f + cases[i].at, sizeof(f) - cases[i].at, fds, cases[i].sent);
        if (!raw_is_over(fd))
            fail_msg("case %zu: the connection goes on", i);
        close(fd);
    }
    close(fds[0]);
    close(fds[1]);
    raw_expect_nothing_left(before);
}

static void test_other_frames_than_ioctls_have_none(void **state)
{
    const int before = raw_rig_fds(), mem = raw_memory();

    (void)state;
    for (unsigned op = HX_FRAME_READ; op <= HX_FRAME_WRITE; op++) {
        struct raw_map_frame f = raw_map_of(mem);
        int fd = raw_connect_session();

        f.head.op = op;
        raw_send(fd, &f, sizeof(f), &mem, 1);
        if (!raw_is_over(fd))
            fail_msg("op %u: the connection goes on", op);
        close(fd);
    }
    close(mem);
    raw_expect_nothing_left(before);
}

static void test_half_frames_hold_few_and_leave_none(void **state)
{
    enum { CONNECTIONS = 10 };
    const int before = raw_rig_fds();
    int mem[MANY], fd[CONNECTIONS];

    (void)state;
    for (int i = 0; i < MANY; i++)
        mem[i] = raw_memory();
    for (int i = 0; i < CONNECTIONS; i++) {
        struct raw_map_frame f = raw_map_of(mem[0]);

        f.head.n_fds = MANY;
        f.head.body_bytes = sizeof(f.arg) + MANY * sizeof(f.fd);
        fd[i] = raw_connect_session();
        raw_send(fd[i], &f, i % 2 ? 1 : sizeof(f), mem, MANY); /* half a head, half a body */
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        if (i % 2)
            assert_true(raw_is_over(fd[i]));
        else /* a byte that has not come with descriptors of its own brings none later either */
            raw_send(fd[i], "\0", 1, mem, 1);
        if (i % 2 == 0)
            assert_true(raw_is_over(fd[i]));
        close(fd[i]);
    }
    for (int i = 0; i < MANY; i++)
        close(mem[i]);
    raw_expect_nothing_left(before);
}

/* Half frames of many: the rig holds 256 of their descriptors at a time, who brings most is dropped, and a client with a few goes
 * on as if nobody else were there. */
static void test_half_frames_of_all_clients_share_a_limit(void **state)
{
    enum { SESSIONS = 10, EACH = 60, LIMIT = 256, OWN = SESSIONS + 8 };
    const int before = raw_rig_fds();
    int mem[EACH], fd[SESSIONS], polite, over = 0;
    struct hx_frame_reply r;
    struct raw_map_frame few, f;

    (void)state;
    for (int i = 0; i < EACH; i++)
        mem[i] = raw_memory();
    few = raw_map_of(mem[0]);
    polite = raw_connect_session();
    raw_send(polite, &few, sizeof(few) - 1, mem, 1);
    f = raw_map_of(mem[0]);
    f.head.n_fds = EACH;
    f.head.body_bytes = sizeof(f.arg) + EACH * sizeof(f.fd);
    for (int i = 0; i < SESSIONS; i++) {
        fd[i] = raw_connect_session();
        raw_send(fd[i], &f, sizeof(f), mem, EACH);
        raw_sessions(); /* answered by the same loop: what was sent before has been read */
        assert_in_range(raw_rig_fds(), 0, before + LIMIT + OWN);
    }
    for (int i = 0; i < SESSIONS; i++) {
        char byte;

        over += recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0;
    }
    assert_int_equal(over, SESSIONS - (LIMIT - 1) / EACH);
    raw_send(polite, (char *)&few + sizeof(few) - 1, 1, NULL, 0);
    assert_int_equal(recv(polite, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r.id, 1);
    for (int i = 0; i < SESSIONS; i++)
        close(fd[i]);
    for (int i = 0; i < EACH; i++)
        close(mem[i]);
    close(polite);
    raw_expect_nothing_left(before);
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
