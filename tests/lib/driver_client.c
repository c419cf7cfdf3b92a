/* A client of the driver by raw ioctls, see driver_client.h. */
#include "driver_client.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>

int drv_open(const char *node)
{
    return open(own_rig_path(node), O_RDWR | O_CLOEXEC);
}

int drv_create(int fd, uint32_t attrs, uint32_t filelen)
{
    struct fastrpc_init_create c = {.filelen = filelen, .filefd = -1, .attrs = attrs};

    return ioctl(fd, FASTRPC_IOCTL_INIT_CREATE, &c);
}

struct fastrpc_invoke_args drv_arg(void *p, size_t n)
{
    return (struct fastrpc_invoke_args){(uintptr_t)p, n, -1, 0};
}

int drv_invoke(int fd, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args)
{
    struct fastrpc_invoke inv = {handle, sc, (uintptr_t)args};

    return ioctl(fd, FASTRPC_IOCTL_INVOKE, &inv);
}

/* open1 of remotectl1 */
uint32_t drv_open_skel(int fd)
{
    static char uri[] = HXT_SKEL_URI;
    uint32_t in[2] = {sizeof(uri), 256};
    struct {
        uint32_t handle;
        int32_t error;
    } out = {0, -1};
    char dlerr[256];
    struct fastrpc_invoke_args a[4] = {drv_arg(in, sizeof(in)), drv_arg(uri, sizeof(uri)),
                                       drv_arg(&out, sizeof(out)), drv_arg(dlerr, sizeof(dlerr))};

    assert_int_equal(drv_invoke(fd, FASTRPC_HANDLE_REMOTECTL1, 0x02020200, a), 0);
    if (out.error)
        print_error("open: 0x%x %s\n", (unsigned)out.error, dlerr);
    assert_int_equal(out.error, 0);
    return out.handle;
}

int drv_connect(uint32_t *handle)
{
    int fd = drv_open("fastrpc-cdsp");

    assert_true(fd >= 0);
    assert_int_equal(drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0);
    *handle = drv_open_skel(fd);
    return fd;
}

int drv_call0(int fd, uint32_t handle, enum hxt_method m, struct hxt_in in)
{
    struct fastrpc_invoke_args a[1] = {drv_arg(&in, sizeof(in))};

    return drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(m, 1, 0), a);
}

int drv_call1(int fd, uint32_t handle, enum hxt_method m, struct hxt_in in, void *out, size_t n)
{
    struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg(out, n)};

    return drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(m, 1, 1), a);
}

struct hx_session_stats drv_stats(int fd)
{
    struct hx_session_stats s;

    assert_int_equal(ioctl(fd, HX_IOCTL_SESSION_STATS, &s), 0);
    return s;
}

int drv_call_is_under_way(void *fd)
{
    return drv_stats(*(int *)fd).invokes >= 2;
}

void *drv_run_caller(void *caller)
{
    struct drv_caller *c = caller;

    c->result = drv_call0(c->fd, c->handle, c->method, c->in);
    c->error = errno;
    return NULL;
}

pid_t drv_fork(void (*client)(int ready))
{
    int go[2];
    pid_t pid;
    char c;

    assert_int_equal(pipe(go), 0);
    pid = fork();
    if (pid == 0) {
        client(go[1]);
        _exit(1);
    }
    assert_true(pid > 1);
    close(go[1]);
    assert_int_equal(read(go[0], &c, 1), 1);
    close(go[0]);
    return pid;
}

double drv_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int drv_run_group(const char *name, const struct CMUnitTest *tests, size_t n)
{
    if (access("/dev/fuse", R_OK | W_OK))
        hxt_skip_all("/dev/fuse: %s", strerror(errno));
    return hxt_run_group(name, tests, n, own_rig_start, own_rig_stop);
}
