/* Protects the others from descriptors whose close() waits: a TCP socket that lingers over data that nobody reads, passed to the rig in
 * whatever way and deep inside other sockets, as its last owner; and files whose server does not answer.  The rig's loop closes
 * none of them, lingering is interrupted, and one user's hanging threads cost only that user the rig's patience. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "driver_client.h"
#include "hx_reach.h"
#include "mute_file.h"
#include "raw_frames.h"

enum { NOBODY = 65534, STRANGER = 65533, OF_USER = 8, FLOOD = 12 };

/* --- sockets that linger */

struct lingering {
    int fd;
    int listener, peer; /* open, and not read from */
};

static struct lingering lingering(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char bytes[1 << 16];
    const struct linger an_hour = {1, 3600};
    socklen_t n = sizeof(sa);
    struct lingering l = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                          .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};

    assert_int_equal(bind(l.listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(l.listener, 1), 0);
    assert_int_equal(getsockname(l.listener, (struct sockaddr *)&sa, &n), 0);
    assert_int_equal(connect(l.fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    l.peer = accept4(l.listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(l.peer >= 0);
    while (send(l.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
    assert_int_equal(setsockopt(l.fd, SOL_SOCKET, SO_LINGER, &an_hour, sizeof(an_hour)), 0);
    return l;
}

static void end(struct lingering *l)
{
    close(l->peer);
    close(l->listener);
}

/* One half of a pair in whose queue fd lies, which is the caller's no more. */
static int wrapped(int fd)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    raw_send(pair[0], "x", 1, &fd, 1);
    close(pair[0]);
    close(fd);
    return pair[1];
}

static void expect_answers(void)
{
    for (int i = 0; i < 20; i++)
        assert_true(raw_sessions() >= 0); /* which waits for a minute, a socket for an hour */
}

static void announced(int sock, int fd)
{
    struct raw_map_frame f = raw_map_of(fd);

    raw_send(sock, &f, sizeof(f.head), &fd, 1);
    close(fd); /* the rig's is the last one */
    raw_send(sock, (char *)&f + sizeof(f.head), sizeof(f) - sizeof(f.head), NULL, 0);
}

static void behind_the_head(int sock, int fd)
{
    struct raw_map_frame f = raw_map_of(fd);

    f.head.n_fds = 0;
    f.head.body_bytes = sizeof(f.arg);
    raw_send(sock, &f, sizeof(f.head), NULL, 0);
    raw_send(sock, &f.arg, sizeof(f.arg), &fd, 1);
    close(fd);
}

static void unread(int sock, int fd)
{
    static const char junk[sizeof(struct hx_frame)] = "this is no frame at all";

    raw_send(sock, junk, sizeof(junk), NULL, 0);
    raw_send(sock, junk, sizeof(junk), &fd, 1);
    close(fd);
}

static void test_lingering_sockets_hold_nobody_up(void **state)
{
    static void (*const pass[])(int sock, int fd) = {announced, behind_the_head, unread};
    const int before = raw_rig_fds();

    (void)state;
    for (size_t i = 0; i < HXT_LEN(pass); i++)
        for (int depth = 0; depth < 3; depth++) {
            struct lingering l = lingering();
            int sock = raw_connect_session(), fd = l.fd;

            for (int d = 0; d < depth; d++)
                fd = wrapped(fd);
            hxt_stop(own_rig_child.pid); /* so that it closes nothing before this process has closed its own */
            pass[i](sock, fd);
            kill(own_rig_child.pid, SIGCONT);
            expect_answers();
            close(sock);
            raw_expect_nothing_left(before);
            end(&l);
        }
}

/* More at a time than there are threads for them: they wait their turn, and end all the same. */
static void test_many_lingering_sockets(void **state)
{
    struct lingering l[3 * OF_USER];
    const int before = raw_rig_fds();
    int sock = raw_connect_session();

    (void)state;
    for (size_t i = 0; i < HXT_LEN(l); i++) {
        l[i] = lingering();
        hxt_stop(own_rig_child.pid);
        announced(sock, l[i].fd);
        kill(own_rig_child.pid, SIGCONT);
    }
    expect_answers();
    close(sock);
    raw_expect_nothing_left(before);
    for (size_t i = 0; i < HXT_LEN(l); i++)
        end(&l[i]);
}

/* --- files whose server hangs */

static int map(int node, int fd)
{
    struct fastrpc_mem_map m = {.fd = fd, .length = 4096};

    return ioctl(node, FASTRPC_IOCTL_MEM_MAP, &m);
}

/* Another user's, who uses up the threads. */
static void leave_hanging_files(int ready)
{
    int node, file = open(hxt_path("%s/mute/x", hxt_tmpdir()), O_RDWR | O_CLOEXEC);

    if (file < 0 || chdir(own_rig_path("")) || setresuid(NOBODY, NOBODY, NOBODY))
        return;
    node = open("fastrpc-cdsp", O_RDWR | O_CLOEXEC);
    if (node < 0 || drv_create(node, FASTRPC_MODE_UNSIGNED_MODULE, 0))
        return;
    for (int i = 0; i < 2 * OF_USER; i++)
        if (map(node, file) != -1 || errno != EINVAL)
            return;
    usleep(1500000);
    if (map(node, file) != -1 || errno != EINVAL || write(ready, "", 1) != 1)
        return;
    pause();
}

static void test_another_users_hanging_files_cost_nobody_his_buffers(void **state)
{
    const int before = raw_rig_fds();
    pid_t server, client;
    int node, memory = raw_memory();
    uint32_t handle;

    (void)state;
    if (geteuid())
        hxt_skip_test("only root can be another user");
    assert_int_equal(mkdir(hxt_path("%s/mute", hxt_tmpdir()), 0700), 0);
    server = drv_fork(mute_file_serve);
    client = drv_fork(leave_hanging_files);
    node = drv_connect(&handle);
    assert_int_equal(map(node, memory), 0);
    assert_in_range(raw_rig_fds(), 0, before + 60); /* sixteen of the files, two sessions */
    close(node);
    close(memory);
    mute_file_end(server);
    assert_int_equal(kill(client, SIGKILL), 0);
    assert_int_equal(waitpid(client, NULL, 0), client);
    raw_expect_nothing_left(before);
    rmdir(hxt_path("%s/mute", hxt_tmpdir()));
}

static int connect_here(void)
{
    const struct sockaddr_un sa = {AF_UNIX, "fastrpc-cdsp"};
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(sock, (const struct sockaddr *)&sa, sizeof(sa)), 0);
    raw_take_greeting(sock);
    return sock;
}

/* The same in frames, each with as many as one takes. */
static void send_hanging_files(int ready)
{
    int file = open(hxt_path("%s/mute/x", hxt_tmpdir()), O_RDWR | O_CLOEXEC), fds[RAW_FDS_MAX];
    struct raw_map_frame f = raw_map_of(file);

    if (file < 0 || chdir(hxt_path("%s/rig.socket", hxt_tmpdir())) || setresuid(NOBODY, NOBODY, NOBODY))
        return;
    for (int i = 0; i < RAW_FDS_MAX; i++)
        fds[i] = file;
    f.head.n_fds = RAW_FDS_MAX;
    for (int i = 0; i < FLOOD; i++)
        raw_send(connect_here(), &f, sizeof(f.head), fds, RAW_FDS_MAX);
    if (write(ready, "", 1) == 1)
        pause();
}

static void test_another_users_hanging_files_cost_the_rig_few_descriptors(void **state)
{
    const int before = raw_rig_fds();
    pid_t server, client;
    int node, memory = raw_memory();
    uint32_t handle;

    (void)state;
    if (geteuid())
        hxt_skip_test("only root can be another user");
    assert_int_equal(mkdir(hxt_path("%s/mute", hxt_tmpdir()), 0700), 0);
    server = drv_fork(mute_file_serve);
    client = drv_fork(send_hanging_files);
    for (int i = 0; i < 50; i++) {
        assert_true(raw_sessions() >= 0);
        assert_in_range(raw_rig_fds(), 0, before + 3 * RAW_FDS_MAX);
    }
    node = drv_connect(&handle);
    assert_int_equal(map(node, memory), 0);
    close(node);
    close(memory);
    mute_file_end(server); /* from here on the rest is read, too */
    assert_int_equal(kill(client, SIGKILL), 0);
    assert_int_equal(waitpid(client, NULL, 0), client);
    raw_expect_nothing_left(before);
    rmdir(hxt_path("%s/mute", hxt_tmpdir()));
}

/* --- who may pass any */

static int ask_as_stranger(void)
{
    struct hx_reach r = {.addr = (uintptr_t)&r, .fd = 0};
    int status;

    if (chdir(own_rig_path("")) || setresgid(STRANGER, STRANGER, STRANGER) || setresuid(STRANGER, STRANGER, STRANGER))
        return 1;
    status = open("status", O_RDONLY | O_CLOEXEC);
    if (status < 0)
        return 2;
    return ioctl(status, HX_IOCTL_REACH, &r) == -1 && errno == EACCES ? 0 : 3;
}

static void test_who_may_not_open_the_devices_passes_nothing(void **state)
{
    int rc;
    pid_t pid;

    (void)state;
    if (geteuid())
        hxt_skip_test("only root can be another user");
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        _exit(ask_as_stranger());
    assert_int_equal(waitpid(pid, &rc, 0), pid);
    assert_int_equal(rc, 0);
}

static int start_for_all(void **state)
{
    own_rig_mode = "0666";
    return own_rig_start(state);
}

static int start_for_owner(void **state)
{
    own_rig_mode = "0600";
    return own_rig_start(state);
}

int main(void)
{
    const struct CMUnitTest on_both[] = {
        cmocka_unit_test(test_lingering_sockets_hold_nobody_up),
        cmocka_unit_test(test_many_lingering_sockets),
        cmocka_unit_test(test_another_users_hanging_files_cost_nobody_his_buffers),
        cmocka_unit_test(test_another_users_hanging_files_cost_the_rig_few_descriptors),
    };
    const struct CMUnitTest on_closed[] = {
        cmocka_unit_test(test_who_may_not_open_the_devices_passes_nothing),
    };

    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_all("/dev/fuse: %s", strerror(errno));
    return hxt_run_group("open to all", on_both, HXT_LEN(on_both), start_for_all, own_rig_stop) |
           hxt_run_group("its owner's", on_closed, HXT_LEN(on_closed), start_for_owner, own_rig_stop);
}
