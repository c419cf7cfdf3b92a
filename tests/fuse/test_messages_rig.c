/* Protects: a program without a library has the DSP's messages by static handle 5: it lends memory when the DSP asks for it, reads there
 * what the DSP has to say, and its wait ends with its goodbye; calls of another shape are refused. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "driver_client.h"
#include "hx_reverse.h"

enum {
    INIT2 = 2,
    DEINIT,
    INIT3,
    WAIT,
    EXIT = 2,
    APPS_MEM = 9,
    MAP64 = 2,
    ROOM = 512,
    BYTES = 8192,
    ALL = 0x1f
};

struct host {
    int fd;
    char *memory;
    pthread_t listener;
};

/* The DSP's memory: at its address there. */
static uint64_t lend(struct host *h)
{
    const int fd = memfd_create("messages", MFD_CLOEXEC);
    struct fastrpc_mem_map map = {.fd = fd, .length = BYTES};

    if (ftruncate(fd, BYTES))
        abort();
    h->memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    map.vaddrin = (uintptr_t)h->memory;
    if (h->memory == MAP_FAILED || ioctl(h->fd, FASTRPC_IOCTL_MEM_MAP, &map))
        abort();
    close(fd);
    return map.vaddrout;
}

static void serve(struct host *h, const struct hx_next_out *call, remote_arg *pra)
{
    const uint32_t opened[2] = {APPS_MEM, 0};
    uint64_t at[2];

    if (call->handle == HX_HOST_REMOTECTL) {
        memcpy(pra[2].buf.pv, opened, sizeof(opened));
    } else if (REMOTE_SCALARS_METHOD(call->sc) == MAP64) {
        at[1] = lend(h);
        at[0] = (uintptr_t)h->memory;
        memcpy(pra[1].buf.pv, at, sizeof(at));
    }
}

static void *listen_to_dsp(void *arg)
{
    struct host *h = arg;
    struct hx_next_in in = {.room = ROOM};
    uint8_t answer[ROOM] = {0}, request[ROOM];
    struct hx_next_out call;
    size_t bytes;

    for (;;) {
        struct fastrpc_invoke_args a[4] = {drv_arg(&in, sizeof(in)),
                                           drv_arg(answer, in.answer_bytes),
                                           drv_arg(&call, sizeof(call)), drv_arg(request, ROOM)};
        remote_arg pra[8] = {{{0}}};

        if (drv_invoke(h->fd, FASTRPC_HANDLE_LISTENER1,
                       REMOTE_SCALARS_MAKE(HX_LISTENER1_NEXT2, 2, 2), a))
            return NULL;
        if (hx_reverse_unpack(request, call.request_bytes, call.sc, pra, &bytes) || bytes > ROOM)
            abort();
        memset(answer, 0, sizeof(answer));
        hx_reverse_place(answer, call.sc, pra);
        serve(h, &call, pra);
        in = (struct hx_next_in){call.ctx, 0, (uint32_t)bytes, ROOM};
    }
}

static struct host connect_host(void)
{
    struct host h = {.fd = drv_open("fastrpc-cdsp")};

    assert_int_equal(drv_create(h.fd, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0);
    return h;
}

static int init3(int fd, uint64_t bytes, uint64_t *at)
{
    struct {
        int32_t heap;
        uint32_t flags, filter, pad;
        uint64_t bytes;
    } in = {.filter = ALL, .bytes = bytes};
    struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg(at, sizeof(*at))};

    return drv_invoke(fd, FASTRPC_HANDLE_ADSPMSGD1, REMOTE_SCALARS_MAKE(INIT3, 1, 1), a);
}

static int wait_for(int fd, uint64_t *bytes)
{
    struct fastrpc_invoke_args a[1] = {drv_arg(bytes, sizeof(*bytes))};

    return drv_invoke(fd, FASTRPC_HANDLE_ADSPMSGD1, REMOTE_SCALARS_MAKE(WAIT, 0, 1), a);
}

static int without_arguments(int fd, uint32_t handle, unsigned method)
{
    return drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(method, 0, 0), NULL);
}

/* Opens a skel that there is none of: the DSP has something to say. */
static void make_it_talk(int fd)
{
    static char uri[] = "file:///libnowhere_skel.so?nowhere_skel_invoke";
    uint32_t in[2] = {sizeof(uri), 64}, out[2];
    char why[64];
    struct fastrpc_invoke_args a[4] = {drv_arg(in, sizeof(in)), drv_arg(uri, sizeof(uri)),
                                       drv_arg(out, sizeof(out)), drv_arg(why, sizeof(why))};

    assert_int_equal(drv_invoke(fd, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(2, 2, 2), a), 0);
    assert_true(out[1] != 0);
}

static void goodbye(struct host *h)
{
    assert_int_equal(without_arguments(h->fd, FASTRPC_HANDLE_CURRENT_PROCESS, EXIT), 0);
    pthread_join(h->listener, NULL);
    close(h->fd);
    munmap(h->memory, BYTES);
}

/* The thread works on *h. */
static void begin(struct host *h)
{
    uint64_t at = 0;

    *h = connect_host();
    assert_int_equal(pthread_create(&h->listener, NULL, listen_to_dsp, h), 0);
    assert_int_equal(init3(h->fd, BYTES, &at), 0);
    assert_int_equal(at, (uintptr_t)h->memory);
}

static void test_what_the_dsp_says_is_in_the_clients_memory(void **state)
{
    struct host h;
    uint64_t bytes = 0;
    uint32_t next;

    (void)state;
    begin(&h);
    make_it_talk(h.fd);
    assert_int_equal(wait_for(h.fd, &bytes), 0);
    next = atomic_load((_Atomic uint32_t *)(h.memory + BYTES - 4));
    assert_int_equal(bytes, next);
    assert_int_equal(strlen(h.memory) + 1, next);
    assert_memory_equal(h.memory, "services.c:", 11);
    assert_non_null(strstr(h.memory, "libnowhere_skel.so"));
    goodbye(&h);
}

static void test_deinit_ends_the_messages(void **state)
{
    struct host h;
    uint64_t bytes;

    (void)state;
    begin(&h);
    assert_int_equal(without_arguments(h.fd, FASTRPC_HANDLE_ADSPMSGD1, DEINIT), 0);
    make_it_talk(h.fd);
    assert_int_equal(h.memory[0], 0);
    assert_int_equal((unsigned)wait_for(h.fd, &bytes), 0x8000040d);
    goodbye(&h);
}

static void *wait_in_thread(void *arg)
{
    const struct host *h = arg;
    uint64_t bytes;
    int rc;

    do /* each ends after a second */
        rc = wait_for(h->fd, &bytes);
    while (!rc);
    return (void *)(intptr_t)rc;
}

struct call_count {
    int fd;
    uint64_t before;
};

static int has_called(void *arg)
{
    const struct call_count *c = arg;

    return drv_stats(c->fd).invokes > c->before;
}

static void test_a_goodbye_ends_a_wait(void **state)
{
    struct call_count waits;
    struct host h;
    pthread_t waiter;
    void *rc;

    (void)state;
    begin(&h);
    waits = (struct call_count){h.fd, drv_stats(h.fd).invokes};
    assert_int_equal(pthread_create(&waiter, NULL, wait_in_thread, &h), 0);
    assert_true(hxt_until(has_called, &waits, 10));
    assert_int_equal(without_arguments(h.fd, FASTRPC_HANDLE_CURRENT_PROCESS, EXIT), 0);
    pthread_join(waiter, &rc);
    assert_int_equal((unsigned)(intptr_t)rc, 0x8000040d);
    goodbye(&h);
}

static void test_other_shapes_and_methods_are_refused(void **state)
{
    struct host h = connect_host();
    char some[8];
    struct fastrpc_invoke_args few[2] = {drv_arg(some, sizeof(some)), drv_arg(some, sizeof(some))};
    uint64_t at;

    (void)state;
    assert_int_equal((unsigned)init3(h.fd, BYTES + 2, &at), 0x8000040e);
    assert_int_equal((unsigned)without_arguments(h.fd, FASTRPC_HANDLE_ADSPMSGD1, INIT3),
                     0x8000040e);
    assert_int_equal((unsigned)without_arguments(h.fd, FASTRPC_HANDLE_ADSPMSGD1, WAIT), 0x8000040e);
    assert_int_equal(
        (unsigned)drv_invoke(h.fd, FASTRPC_HANDLE_ADSPMSGD1, REMOTE_SCALARS_MAKE(INIT3, 1, 1), few),
        0x8000040e);
    assert_int_equal((unsigned)without_arguments(h.fd, FASTRPC_HANDLE_ADSPMSGD1, INIT2),
                     0x80000414);
    assert_int_equal((unsigned)wait_for(h.fd, &at), 0x8000040d);
    close(h.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_dsp_says_is_in_the_clients_memory),
        cmocka_unit_test(test_deinit_ends_the_messages),
        cmocka_unit_test(test_a_goodbye_ends_a_wait),
        cmocka_unit_test(test_other_shapes_and_methods_are_refused),
    };

    return DRV_RUN(tests);
}
