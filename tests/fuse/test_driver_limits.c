/* Protects a rig from a client that takes more than its share: descriptors, memory, lines of the log.  And that the driver
 * looks at a call's arguments before it asks whether there is a PD.  Raw ioctls, and frames on the sockets beside. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/buffer.h"
#include "driver_client.h"
#include "hx_frame.h"
#include "base/log.h"

/* --- buffers ----------------------------------------------------------------------------------------------------- */

/* *mem stays open: its number has to stay its own. */
static int map_new_memory(int fd, int *mem)
{
    struct fastrpc_mem_map m = {.length = 4096};

    *mem = m.fd = memfd_create("t", MFD_CLOEXEC);
    assert_true(m.fd >= 0);
    assert_int_equal(ftruncate(m.fd, 4096), 0);
    return ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &m);
}

static void test_a_session_has_1024_buffers(void **state)
{
    uint32_t h, other_h;
    int fd = drv_connect(&h), other = drv_connect(&other_h), mem[1026], n = 0;

    (void)state;
    while (n <= 1024 && map_new_memory(fd, &mem[n]) == 0)
        n++;
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(n, 1024);
    assert_int_equal(map_new_memory(other, &mem[n + 1]), 0);
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
    for (int i = 0; i <= n + 1; i++)
        close(mem[i]);
    close(other);
    close(fd);
}

static void test_the_share_of_a_session_follows_the_limit_of_descriptors(void **state)
{
    (void)state;
    assert_int_equal(hx_buffer_share(1 << 20, 14), 1024);
    assert_int_equal(hx_buffer_share(4096, 14), (4096 - 512) / 14);
    assert_int_equal(hx_buffer_share(256, 14), 16);
    assert_int_equal(hx_buffer_share(UINT64_MAX, 1), 1024); /* RLIM_INFINITY */
}

static void test_the_rig_raises_its_soft_limit(void **state)
{
    struct rlimit r;

    (void)state;
    assert_true(own_rig_child.pid > 1);
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, NULL, &r), 0);
    assert_true(r.rlim_cur == r.rlim_max);
}

/* --- arguments before state -------------------------------------------------------------------------------------- */

static void test_arguments_are_checked_when_the_pd_is_gone(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h), mem = memfd_create("t", MFD_CLOEXEC);
    struct fastrpc_req_mmap mmap = {.flags = 0x1001, .size = 4096};
    struct fastrpc_req_munmap munmap = {.vaddrout = 4096, .size = 4096};
    struct fastrpc_mem_map map = {.fd = 999, .length = 4096};
    struct fastrpc_mem_unmap unmap = {.fd = 999, .vaddr = 4096, .length = 4096};

    (void)state;
    assert_int_equal(ftruncate(mem, 4096), 0);
    assert_int_equal((unsigned)drv_call0(fd, h, HXT_CRASH, (struct hxt_in){0, 0}), 0x80000430);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MMAP, &mmap), -1);
    assert_int_equal(errno, EINVAL);
    mmap = (struct fastrpc_req_mmap){.flags = 0x1000, .size = 4096, .vaddrin = 1};
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MMAP, &mmap), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MUNMAP, &munmap), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_UNMAP, &unmap), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &map), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(drv_invoke(fd, 1, 0, NULL), -1);
    assert_int_equal(errno, EPERM);
    mmap.vaddrin = 0; /* and what is right asks the DSP */
    map.fd = mem;
    assert_int_equal((unsigned)ioctl(fd, FASTRPC_IOCTL_MMAP, &mmap), 0x80000430);
    assert_int_equal((unsigned)ioctl(fd, FASTRPC_IOCTL_MEM_MAP, &map), 0x80000430);
    close(mem);
    close(fd);
}

static int create(int filefd, uint32_t filelen, void *file)
{
    struct fastrpc_init_create c = {.filelen = filelen, .filefd = filefd, .file = (uintptr_t)file,
                                    .attrs = FASTRPC_MODE_UNSIGNED_MODULE};
    int fd = drv_open("fastrpc-cdsp"), rc = ioctl(fd, FASTRPC_IOCTL_INIT_CREATE, &c), error = errno;

    close(fd);
    return rc ? -error : 0;
}

static void test_the_shell_is_a_buffer_or_readable(void **state)
{
    int mem = memfd_create("shell", MFD_CLOEXEC), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char shell[5000] = "";

    (void)state;
    assert_int_equal(ftruncate(mem, 8192), 0);
    assert_int_equal(create(-1, 100, (void *)8), -EBADF);
    assert_int_equal(create(999, 100, shell), -EBADF);
    assert_int_equal(create(mem, 8193, shell), -EINVAL); /* longer than it is */
    assert_int_equal(create(file, 100, shell), -EINVAL); /* no memory */
    assert_int_equal(create(0, 100, (void *)8), -EFAULT);
    assert_int_equal(create(0, sizeof(shell), shell), 0);
    assert_int_equal(create(mem, 8192, shell), 0);
    assert_int_equal(create(-1, 0, (void *)8), 0);
    close(file);
    close(mem);
}

/* --- sockets ----------------------------------------------------------------------------------------------------- */

static int connect_raw(void)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct timeval patience = {60, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/rig.socket/fastrpc-cdsp", hxt_tmpdir());
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

/* 1 and a reply without its body, which is skipped; 0 when the rig has closed; -1 after a minute. */
static int next_reply(int fd, struct hx_frame_reply *r)
{
    char body[4096];
    ssize_t n = recv(fd, r, sizeof(*r), MSG_WAITALL);

    if (n != (ssize_t)sizeof(*r))
        return n == 0 || (n < 0 && errno == ECONNRESET) ? 0 : -1;
    assert_true(r->magic == HX_FRAME_MAGIC && r->body_bytes <= sizeof(body));
    return !r->body_bytes || recv(fd, body, r->body_bytes, MSG_WAITALL) == (ssize_t)r->body_bytes;
}

struct request {
    struct hx_frame head;
    char name[8];
};

static struct request ask_status(uint64_t id)
{
    return (struct request){{.magic = HX_FRAME_MAGIC, .op = HX_FRAME_READ, .id = id, .arg_bytes = 7,
                             .body_bytes = 8}, "status"};
}

static void test_who_does_not_read_is_not_served(void **state)
{
    enum { MANY = 200000, FEW = 40000 };
    struct hx_frame_reply r;
    struct request q = ask_status(1);
    int fd = connect_raw();
    unsigned sent = 0;
    double last = drv_now();

    (void)state;
    q.head.arg_bytes = 8; /* the name's end is part of it */
    assert_int_equal(next_reply(fd, &r), 1);
    while (sent < MANY && (sent <= 100 || drv_now() - last < 1)) {
        ssize_t n = send(fd, &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0) {
            usleep(10000);
            continue;
        }
        assert_int_equal(n, sizeof(q));
        last = drv_now();
        q.head.id = ++sent + 1;
    }
    assert_true(sent > 100 && sent < FEW);
    for (unsigned i = 1; i <= sent; i++) { /* and goes on when it reads again */
        assert_int_equal(next_reply(fd, &r), 1);
        assert_int_equal(r.id, i);
    }
    close(fd);
}

/* The rig closes, 0, or waits for the body, -1, for so many seconds at least. */
static int next_after_head(uint64_t body_bytes, int seconds)
{
    struct hx_frame h = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1, .arg_bytes = 16,
                         .cmd = FASTRPC_IOCTL_INVOKE, .body_bytes = body_bytes};
    struct hx_frame_reply r;
    int fd = connect_raw(), rc;
    struct timeval patience = {seconds, 0};

    assert_int_equal(next_reply(fd, &r), 1);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(send(fd, &h, sizeof(h), MSG_NOSIGNAL), sizeof(h));
    rc = next_reply(fd, &r);
    close(fd);
    return rc;
}

static void test_a_large_body_needs_a_pd(void **state)
{
    int fds[64], n = 0;

    (void)state;
    assert_int_equal(next_after_head(3 << 20, 60), 0);
    assert_int_equal(next_after_head(2 << 20, 1), -1); /* waits for it: a shell may be so large */
    assert_true(hxt_until(own_rig_idle, NULL, 10));
    while ((fds[n] = drv_open("fastrpc-cdsp")) >= 0)
        n++;
    assert_int_equal(next_after_head(100000, 60), 0); /* all sessions are taken */
    assert_int_equal(next_after_head(60000, 1), -1);
    while (n)
        close(fds[--n]);
}

static int descriptors_of_the_rig(void)
{
    int n = 0;

    for (int i = 0; i < 4096; i++)
        n += faccessat(AT_FDCWD, hxt_path("/proc/%d/fd/%d", own_rig_child.pid, i), F_OK,
                       AT_SYMLINK_NOFOLLOW) == 0;
    return n;
}

static int rig_has_at_most(void *descriptors)
{
    return descriptors_of_the_rig() <= *(int *)descriptors;
}

static void test_connections_without_a_session_are_few(void **state)
{
    enum { N = 300 };
    int before = descriptors_of_the_rig(), fds[N], sessions = own_rig_status("sessions_max"), most;
    struct request q = ask_status(1);
    struct hx_frame_reply r;

    (void)state;
    for (int i = 0; i < N; i++) {
        fds[i] = connect_raw();
        assert_int_equal(next_reply(fds[i], &r), 1);
        assert_int_equal(r.result, i < sessions ? 0 : -EBUSY);
    }
    most = before + sessions + 64;
    if (!hxt_until(rig_has_at_most, &most, 10)) /* connections are closed by threads of their own */
        fail_msg("the rig has %d descriptors, %d before", descriptors_of_the_rig(), before);
    q.head.arg_bytes = 8;
    assert_int_equal(send(fds[N - 1], &q, sizeof(q), MSG_NOSIGNAL), sizeof(q));
    assert_int_equal(next_reply(fds[N - 1], &r), 1); /* the newest are served */
    assert_int_equal(r.result, 0);
    for (int i = 0; i < N; i++)
        close(fds[i]);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
}

static double cpu_seconds_of_the_rig(void)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/stat", own_rig_child.pid), NULL);
    unsigned long user = 0, system = 0;

    assert_non_null(text);
    sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
           &system);
    free(text);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void test_without_descriptors_the_rig_waits_and_goes_on(void **state)
{
    struct rlimit old, none;
    struct hx_frame_reply r;
    uint32_t h;
    int fd = drv_connect(&h), waits;
    double spent;

    (void)state;
    assert_true(own_rig_child.pid > 1);
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, NULL, &old), 0);
    none = (struct rlimit){4, old.rlim_max};
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, &none, NULL), 0);
    waits = connect_raw();
    spent = cpu_seconds_of_the_rig();
    sleep(2);
    spent = cpu_seconds_of_the_rig() - spent;
    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, &old, NULL), 0);
    assert_int_equal(next_reply(waits, &r), 1);
    assert_int_equal(r.result, 0);
    assert_true(spent < 0.5);
    close(waits);
    close(fd);
}

/* --- the log ----------------------------------------------------------------------------------------------------- */

static void test_lines_that_a_client_repeats_are_few(void **state)
{
    const char *path = hxt_path("%s/log", hxt_tmpdir());
    int keep = dup(2), log = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), lines = 0;
    char *text;

    (void)state;
    fflush(stderr);
    dup2(log, 2);
    for (int i = 0; i < 1000; i++) {
        hx_log_client("of one kind: %d", i);
        if (i < 5)
            hx_log_client("of another kind: %d", i);
    }
    hx_log("not counted");
    fflush(stderr);
    dup2(keep, 2);
    close(keep);
    close(log);
    text = hxt_read_file(path, NULL);
    assert_non_null(text);
    for (char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 10 + 5 + 1);
    assert_non_null(strstr(text, "of one kind: 9\n"));
    assert_non_null(strstr(text, "of another kind: 4\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_session_has_1024_buffers),
        cmocka_unit_test(test_the_share_of_a_session_follows_the_limit_of_descriptors),
        cmocka_unit_test(test_the_rig_raises_its_soft_limit),
        cmocka_unit_test(test_arguments_are_checked_when_the_pd_is_gone),
        cmocka_unit_test(test_the_shell_is_a_buffer_or_readable),
        cmocka_unit_test(test_who_does_not_read_is_not_served),
        cmocka_unit_test(test_a_large_body_needs_a_pd),
        cmocka_unit_test(test_connections_without_a_session_are_few),
        cmocka_unit_test(test_without_descriptors_the_rig_waits_and_goes_on),
        cmocka_unit_test(test_lines_that_a_client_repeats_are_few),
    };

    return DRV_RUN(tests);
}
