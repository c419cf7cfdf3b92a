/* Protects: what a skel writes into the memory that all PDs share (locks, VTCM, HVX contexts) neither hangs nor kills the root PD, and
 * keeps nobody else from working. */
#include "driver_client.h"

static uint64_t variable; /* address in hexrig-dsp of a pointer to the shared memory */

/* Its name is hexrig-dsp's own, so the symbol table has it, which the linker puts first. */
static void find_variable(void)
{
    const char *libexec = getenv("HEXRIG_LIBEXEC");
    const char *argv[] = {"nm", hxt_path("%s/hexrig-dsp", libexec ? libexec : HXT_BUILD "/libexec/hexrig"), NULL};
    struct hxt_cmd cmd = {.argv = argv};
    struct hxt_result r;
    char *at;

    if (hxt_run(&r, &cmd) || r.exit_code)
        hxt_skip_all("nm is not there");
    at = strstr(r.out, " hx_machine_shared\n");
    if (!at)
        at = strstr(r.out, " hx_machine\n");
    while (at && at > r.out && at[-1] != '\n')
        at--;
    variable = at ? strtoull(at, NULL, 16) : 0;
    hxt_result_free(&r);
    if (!variable)
        hxt_skip_all("hexrig-dsp has no symbols");
}

static void damage(int fd, uint32_t h, uint32_t offset, uint32_t bytes, uint8_t fill)
{
    struct hxt_in in = {0, 0};
    struct hxt_damage d = {variable, offset, bytes, fill, 0};
    struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg(&d, sizeof(d))};

    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_DAMAGE, 2, 0), a), 0);
}

/* VTCM and an HVX context are to be had, within `s` seconds. */
static void expect_machine(double s)
{
    double start = drv_now();
    struct hxt_vtcm v = {0};
    int32_t hvx[4] = {-1, -1, -1, -1};
    uint32_t h;
    int fd = drv_connect(&h);

    assert_int_equal(drv_call1(fd, h, HXT_VTCM, (struct hxt_in){0, 1 << 20}, &v, sizeof(v)), 0);
    assert_int_not_equal(v.address, 0);
    assert_int_equal(drv_call1(fd, h, HXT_HVX_TWICE, (struct hxt_in){0, 0}, hvx, sizeof(hvx)), 0);
    assert_int_equal(hvx[0], 0);
    close(fd);
    assert_true(drv_now() - start < s);
    assert_true(hxt_until(own_rig_idle, NULL, 4));
}

/* offset, bytes, fill: the lock's first byte (__lock of a mutex), its client, all of the lock, all of the memory. */
static const struct {
    uint32_t offset, bytes;
    uint8_t fill;
} kinds[] = {{0, 1, 1}, {3, 1, 1}, {3, 1, 2}, {0, 4, 0xff}, {0, 40, 0x41}, {0, 1024, 0x41}, {0, 4096, 0x41}, {0, 4096, 0xff}};

static void test_damage_ends_with_who_made_it(void **state)
{
    int restarts = own_rig_status("dsp_restarts");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kinds); i++) {
        uint32_t h;
        int fd = drv_connect(&h);

        damage(fd, h, kinds[i].offset, kinds[i].bytes, kinds[i].fill);
        close(fd);
        assert_true(hxt_until(own_rig_idle, NULL, 4));
        expect_machine(4);
        assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    }
}

/* Who made it lives on: waiting for the lock ends after 2 s. */
static void test_a_lock_that_is_held_for_ever_is_taken_over(void **state)
{
    int restarts = own_rig_status("dsp_restarts");

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint32_t h, h2;
        int fd = drv_connect(&h), other = drv_connect(&h2);
        struct hxt_vtcm v = {0};
        double start = drv_now();

        damage(fd, h, kinds[i].offset, kinds[i].bytes, kinds[i].fill);
        assert_int_equal(drv_call1(other, h2, HXT_VTCM, (struct hxt_in){0, 1 << 20}, &v, sizeof(v)), 0);
        assert_int_not_equal(v.address, 0);
        assert_true(drv_now() - start < 8);
        close(other);
        close(fd);
        assert_true(hxt_until(own_rig_idle, NULL, 4));
        assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_ends_with_who_made_it),
        cmocka_unit_test(test_a_lock_that_is_held_for_ever_is_taken_over),
    };

    find_variable();
    own_rig_seconds = 120;
    return DRV_RUN(tests);
}
