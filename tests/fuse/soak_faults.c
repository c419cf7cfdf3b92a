/* Protects clients and driver from every fault that the `error` filter can inject: each ioctl fails with each code, the
 * client sees exactly that, and the same session and a new one work when the fault is gone. */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "driver_client.h"

static int do_create(int fd, uint32_t h)
{
    (void)h;
    return drv_create(fd, FASTRPC_MODE_UNSIGNED_MODULE, 0);
}

static int do_attach(int fd, uint32_t h)
{
    (void)h;
    return ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH);
}

static int do_invoke(int fd, uint32_t h)
{
    return drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){0, 0});
}

static int do_info(int fd, uint32_t h)
{
    struct fastrpc_ioctl_capability c = {.domain = 3, .attribute_id = FASTRPC_ATTR_ARCH_VER};

    (void)h;
    return ioctl(fd, FASTRPC_IOCTL_GET_DSP_INFO, &c);
}

static int do_map(int fd, uint32_t h)
{
    struct fastrpc_req_mmap m = {.flags = ADSP_MMAP_ADD_PAGES, .size = 4096};

    (void)h;
    return ioctl(fd, FASTRPC_IOCTL_MMAP, &m);
}

static const struct {
    const char *name;
    int (*run)(int fd, uint32_t handle);
    int fresh; /* on a file without a PD */
} ops[] = {{"CREATE", do_create, 1}, {"ATTACH", do_attach, 1}, {"INFO", do_info, 1},
           {"INVOKE", do_invoke, 0}, {"MAP", do_map, 0}};

static const struct {
    const char *text;
    int rc, error; /* what the client sees; error 0: errno stays */
} codes[] = {{"EPIPE", -1, EPIPE}, {"EINVAL", -1, EINVAL}, {"ENOMEM", -1, ENOMEM},
             {"EIO", -1, EIO}, {"EPERM", -1, EPERM}, {"ENOSPC", -1, ENOSPC},
             {"EFAULT", -1, EFAULT}, {"ETIMEDOUT", -1, ETIMEDOUT}, {"EBUSY", -1, EBUSY},
             {"ECONNREFUSED", -1, ECONNREFUSED}, {"0x8000040e", (int)0x8000040e, 0}, {"77", 77, 0}};

static void fault(size_t op, size_t code)
{
    uint32_t h = 0;
    int fd = ops[op].fresh ? drv_open("fastrpc-cdsp") : drv_connect(&h), rc;

    assert_true(fd >= 0);
    assert_int_equal(own_rig_control(hxt_path("filter +error:ops=%s,code=%s,nth=1", ops[op].name, codes[code].text)), 0);
    errno = 0;
    rc = ops[op].run(fd, h);
    if (rc != codes[code].rc || errno != codes[code].error)
        fail_msg("%s with %s: %d (errno %d)", ops[op].name, codes[code].text, rc, errno);
    assert_int_equal(ops[op].run(fd, h), 0); /* only the first was to fail */
    assert_int_equal(own_rig_control("filter -error"), 0);
    close(fd);
}

static void test_every_code_at_every_ioctl_is_seen_once_and_got_over(void **state)
{
    (void)state;
    for (size_t op = 0; op < HXT_LEN(ops); op++)
        for (size_t code = 0; code < HXT_LEN(codes); code++)
            fault(op, code);
    assert_true(hxt_until(own_rig_idle, NULL, 10));
}

/* Every call of many fails by chance: the session lives, and what did not fail is right. */
static void test_calls_that_fail_by_chance_leave_the_others_right(void **state)
{
    uint32_t h;
    int fd = drv_connect(&h), failed = 0;

    (void)state;
    assert_int_equal(own_rig_control("filter +error:method=3,code=EIO,rate=30%"), 0); /* HXT_RIPPLE */
    for (int i = 0; i < 500; i++) {
        struct hxt_in in = {0, 0};
        uint8_t from[64], to[64];
        struct fastrpc_invoke_args a[3] = {drv_arg(&in, sizeof(in)), drv_arg(from, sizeof(from)),
                                           drv_arg(to, sizeof(to))};

        memset(from, i, sizeof(from));
        memset(to, 0, sizeof(to));
        if (drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), a)) {
            assert_int_equal(errno, EIO);
            failed++;
        }
        assert_int_equal(to[63], (uint8_t)(i + 1)); /* outputs come back even with an error */
    }
    assert_true(failed > 100 && failed < 200);
    assert_int_equal(own_rig_control("filter -error"), 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_at_every_ioctl_is_seen_once_and_got_over),
        cmocka_unit_test(test_calls_that_fail_by_chance_leave_the_others_right),
    };

    return DRV_RUN(tests);
}
