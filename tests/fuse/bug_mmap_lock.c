/* Protects: a client one of whose threads keeps its mmap_lock for ever (mmap() of a FUSE file whose server does not answer) holds
 * nobody up when the driver reads its command line or asks what is mapped where.  /proc waits for that lock, too. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "driver_client.h"
#include "mute_file.h"

enum { PAGE = MUTE_FILE_BYTES };

static char folder[512];

static int open_half_mute(int flags)
{
    return open(hxt_path("%s/y", folder), flags | O_CLOEXEC);
}

static _Atomic pid_t holder;
static atomic_bool may_take_it;
static int holders_state; /* its /proc/self/task/TID/stat */

/* Does not return. */
static void *hold_the_lock(void *file)
{
    holder = gettid();
    while (!may_take_it)
        sched_yield();
    mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, *(int *)file, 0);
    return NULL;
}

static int is_there(void *unused)
{
    (void)unused;
    return holder != 0;
}

/* The holder sleeps: inside mmap(), with the lock, until the server answers. */
static int is_held(void *unused)
{
    char text[128] = "", *name_end;

    (void)unused;
    if (pread(holders_state, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    name_end = strrchr(text, ')');
    return name_end && name_end[1] && strchr("SD", name_end[2]);
}

/* Everything that is used after the lock is taken is used once before, for the same reason as in prepare(). */
static bool take_the_lock(int *file)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, hold_the_lock, file) || !hxt_until(is_there, NULL, 10))
        return false;
    holders_state = open(hxt_path("/proc/self/task/%d/stat", holder), O_RDONLY | O_CLOEXEC);
    if (holders_state < 0 || is_held(NULL))
        return false;
    may_take_it = true;
    return hxt_until(is_held, NULL, 10);
}

struct client {
    int ready, node;
    struct fastrpc_invoke_args a[3];
    uint32_t handle;
};

/* Everything that the call needs is there before the lock is taken: from then on this process maps nothing and faults on nothing new. */
static void prepare(struct client *c, bool with_pd)
{
    static struct hxt_in in;
    static uint8_t to[64];
    int file = memfd_create("buffer", MFD_CLOEXEC);
    void *buffer;

    if (ftruncate(file, PAGE))
        _exit(1);
    buffer = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    memset(buffer, 1, PAGE);
    memset(to, 1, sizeof(to));
    c->node = with_pd ? drv_connect(&c->handle) : drv_open("fastrpc-cdsp");
    c->a[0] = drv_arg(&in, sizeof(in));
    c->a[1] = (struct fastrpc_invoke_args){.ptr = (uintptr_t)buffer, .length = sizeof(to), .fd = file};
    c->a[2] = drv_arg(to, sizeof(to));
}

static void be_stuck(struct client *c, bool with_pd)
{
    static struct fastrpc_init_create create = {.attrs = FASTRPC_MODE_UNSIGNED_MODULE};
    int first = open_half_mute(O_RDWR), second = open_half_mute(O_RDONLY | O_SYNC), rc;
    uint8_t *dirty = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, first, 0);

    prepare(c, with_pd);
    if (dirty == MAP_FAILED || second < 0)
        _exit(2);
    *dirty = 1;
    if (!take_the_lock(&second))
        _exit(3);
    if (write(c->ready, "", 1) != 1)
        _exit(4);
    rc = with_pd ? drv_invoke(c->node, c->handle, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), c->a)
                 : ioctl(c->node, FASTRPC_IOCTL_INIT_CREATE, &create);
    _exit(rc == -1 && errno == EFAULT ? 0 : 5);
}

static void invoke_stuck(int ready)
{
    be_stuck(&(struct client){.ready = ready}, true);
}

static void create_stuck(int ready)
{
    be_stuck(&(struct client){.ready = ready}, false);
}

static int is_unmounted(void *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

static void others_go_on(void (*stuck)(int ready))
{
    pid_t server, client;
    uint32_t handle;
    int fd, status, dsp = own_rig_dsp();

    snprintf(folder, sizeof(folder), "%s/mute", hxt_tmpdir());
    assert_int_equal(mkdir(folder, 0700), 0);
    server = drv_fork(mute_file_serve);
    client = drv_fork(stuck);
    fd = drv_connect(&handle);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(drv_call0(fd, handle, HXT_BLOCK, (struct hxt_in){5, 0}), 5);
        usleep(100000);
    }
    mute_file_end(server); /* the client goes on, and ends */
    assert_int_equal(waitpid(client, &status, 0), client);
    assert_int_equal(status, 0);
    close(fd);
    assert_int_equal(own_rig_dsp(), dsp);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
    assert_true(hxt_until(is_unmounted, (void *)hxt_path("%s/y", folder), 10));
    rmdir(folder);
}

static void test_its_command_line(void **state)
{
    (void)state;
    others_go_on(create_stuck);
}

static void test_where_its_buffer_is(void **state)
{
    (void)state;
    others_go_on(invoke_stuck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_its_command_line),
        cmocka_unit_test(test_where_its_buffer_is),
    };

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the leak checker waits for a thread that does not come back");
#endif
    return DRV_RUN(tests);
}
