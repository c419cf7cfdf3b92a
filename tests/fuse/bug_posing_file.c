/* Protects the rig from files that are called like a dma-buf.  The kernel tells the path of a file in a mount that was detached from
 * the root of that mount on: /dmabuf:x.  Taken for memory, it would be looked at and closed by the rig's loop, and its server need not
 * answer. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "driver_client.h"
#include "mute_file.h"
#include "raw_frames.h"

static pid_t server;

/* Detaches the mount as soon as something can be read from go[0].  A process of its own from before the file is open: a later one would
 * have to close that, too, and nobody answers. */
static pid_t unmounter(const int go[2])
{
    const char *folder = hxt_path("%s/mute", hxt_tmpdir());
    pid_t pid = fork();
    char byte;

    if (pid == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) == 1)
            execlp("fusermount3", "fusermount3", "-u", "-z", folder, (char *)NULL);
        _exit(1);
    }
    return pid;
}

static int posing_file(void)
{
    char name[16] = "";
    int go[2], fd, rc;
    pid_t pid;

    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_test("/dev/fuse cannot be opened");
    assert_int_equal(mkdir(hxt_path("%s/mute", hxt_tmpdir()), 0700), 0);
    server = drv_fork(mute_file_serve);
    assert_int_equal(pipe(go), 0);
    pid = unmounter(go);
    fd = open(hxt_path("%s/mute/dmabuf:x", hxt_tmpdir()), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && write(go[1], "", 1) == 1);
    assert_int_equal(waitpid(pid, &rc, 0), pid);
    assert_int_equal(rc, 0);
    close(go[0]);
    close(go[1]);
    rmdir(hxt_path("%s/mute", hxt_tmpdir()));
    assert_true(readlink(hxt_path("/proc/self/fd/%d", fd), name, sizeof(name) - 1) > 0);
    assert_string_equal(name, "/dmabuf:x");
    return fd;
}

/* After a failure, too: else this process would wait for ever when its end closes the file. */
static int end_server(void **state)
{
    (void)state;
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    server = 0;
    return 0;
}

static void expect_refused_by_ioctl(int fd)
{
    struct fastrpc_mem_map m = {.fd = fd, .length = 4096};
    uint32_t handle;
    int node = drv_connect(&handle);

    assert_int_equal(ioctl(node, FASTRPC_IOCTL_MEM_MAP, &m), -1);
    assert_int_equal(errno, EINVAL);
    close(node);
}

static void expect_refused_in_a_frame(int fd)
{
    int sock = raw_connect_session();
    struct raw_map_frame f = raw_map_of(fd);
    struct hx_frame_reply r;

    raw_send(sock, &f, sizeof(f), &fd, 1);
    assert_int_equal(recv(sock, &r, sizeof(r), MSG_WAITALL), sizeof(r));
    assert_int_equal(r.result, -EINVAL);
    close(sock);
}

static void test_a_file_with_the_name_of_a_dma_buf_is_no_memory(void **state)
{
    const int before = raw_rig_fds(), fd = posing_file();

    (void)state;
    if (strcmp(own_rig_front_end, "fuse") == 0)
        expect_refused_by_ioctl(fd);
    expect_refused_in_a_frame(fd);
    assert_true(hxt_until(raw_no_session, NULL, 20));
    end_server(NULL);
    close(fd);
    raw_expect_nothing_left(before);
}

static int on_front_end(const char *front_end)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_a_file_with_the_name_of_a_dma_buf_is_no_memory, end_server),
    };

    own_rig_front_end = front_end;
    own_rig_seconds = 60; /* who waits for a rig that hangs goes on then */
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(on_front_end);
}
