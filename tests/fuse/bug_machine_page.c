/* Protects: what a skel writes into the memory that all PDs share (locks, VTCM, HVX contexts) neither hangs nor kills the root PD, and
 * keeps nobody else from working. */
#include "driver_client.h"
#include "hxt_each.h"

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
    struct hxt_damage d = {.variable = variable, .offset = offset, .bytes = bytes, .fill = fill};
    struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg(&d, sizeof(d))};

    assert_int_equal(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_DAMAGE, 2, 0), a), 0);
}

/* VTCM and an HVX context are to be had. */
static void expect_machine(void)
{
    struct hxt_vtcm v = {0};
    int32_t hvx[4] = {-1, -1, -1, -1};
    uint32_t h;
    int fd = drv_connect(&h);

    assert_int_equal(drv_call1(fd, h, HXT_VTCM, (struct hxt_in){0, 1 << 20}, &v, sizeof(v)), 0);
    assert_int_not_equal(v.address, 0);
    assert_int_equal(drv_call1(fd, h, HXT_HVX_TWICE, (struct hxt_in){0, 0}, hvx, sizeof(hvx)), 0);
    assert_int_equal(hvx[0], 0);
    close(fd);
    assert_true(hxt_until(own_rig_idle, NULL, 30));
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
        assert_true(hxt_until(own_rig_idle, NULL, 30));
        expect_machine();
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

        damage(fd, h, kinds[i].offset, kinds[i].bytes, kinds[i].fill);
        assert_int_equal(drv_call1(other, h2, HXT_VTCM, (struct hxt_in){0, 1 << 20}, &v, sizeof(v)), 0);
        assert_int_not_equal(v.address, 0);
        close(other);
        close(fd);
        assert_true(hxt_until(own_rig_idle, NULL, 30));
        assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    }
}

/* A client, as PD 1, whose skel writes a word of the shared memory as fast as it can, until the client is killed. */
static pid_t start_writer(uint8_t fill, uint32_t step)
{
    const struct hxt_damage d = {.variable = variable, .bytes = 4, .fill = fill, .ms = 600000, .step = step};
    int ready[2];
    pid_t pid;
    char c;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct hxt_in in = {0, 0};
        struct fastrpc_invoke_args a[2] = {drv_arg(&in, sizeof(in)), drv_arg((void *)(uintptr_t)&d, sizeof(d))};
        uint32_t h;
        int fd = drv_connect(&h);

        (void)!write(ready[1], "", 1);
        _exit(drv_invoke(fd, h, REMOTE_SCALARS_MAKE(HXT_DAMAGE, 2, 0), a));
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end_writer(pid_t pid)
{
    int status;

    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status)); /* it wrote to the end */
}

/* First byte: a PD that is not there, the root PD (127), the PD that wants the lock; step: a word that changes, or comes back. */
static const struct {
    uint8_t fill;
    uint32_t step;
} words[] = {{9, 1}, {127, 0}, {2, 1}};

static int has_been_taken_over(void *unused)
{
    char *log = hxt_read_file(own_rig_log, NULL);
    int yes = log && strstr(log, "taken over");

    (void)unused;
    free(log);
    return yes;
}

/* What it costs others is bounded, at one lock and in all. */
static void test_a_lock_that_is_spoiled_without_end_costs_some_seconds_once(void **state)
{
    enum { CALLS = 50 };
    int restarts = own_rig_status("dsp_restarts");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i += HXT_EACH) {
        const pid_t writer = start_writer(words[i].fill, words[i].step);
        double start = drv_now();
        uint32_t h;
        int fd = drv_connect(&h); /* PD 2 */

        assert_int_equal(truncate(own_rig_log, 0), 0);
        for (int call = 0; call < CALLS; call++) {
            struct hxt_vtcm v = {0};

            assert_int_equal(drv_call1(fd, h, HXT_VTCM, (struct hxt_in){0, 1 << 20}, &v, sizeof(v)), 0);
            assert_int_not_equal(v.address, 0);
        }
        assert_true(hxt_until(has_been_taken_over, NULL, 30)); /* it was spoiled indeed */
        print_message("word %u, step %u: %.1f s\n", words[i].fill, words[i].step, drv_now() - start);
        assert_true(drv_now() - start < 2 * CALLS - 10); /* each of them would lose 2 s */
        close(fd); /* the root PD reaps it beside the writer */
        fd = drv_connect(&h);
        close(fd);
        end_writer(writer);
        assert_true(hxt_until(own_rig_idle, NULL, 30));
        expect_machine();
        assert_int_equal(own_rig_status("dsp_restarts"), restarts);
    }
}

/* All sessions that there are take and give back the lock without a pause: nobody loses patience with them. */
static void test_a_lock_that_many_want_is_never_taken_over(void **state)
{
    enum { CALLS = 300 };
    const int pds = own_rig_status("sessions_max");
    pid_t pid[64];
    char *log;

    (void)state;
    assert_true(pds >= 2 && pds <= 64);
    assert_int_equal(truncate(own_rig_log, 0), 0); /* the driver appends */
    for (int i = 0; i < pds; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0) {
            int32_t hvx[4];
            uint32_t h;
            int fd = drv_connect(&h);

            for (int call = 0; call < CALLS; call++)
                if (drv_call1(fd, h, HXT_HVX_TWICE, (struct hxt_in){0, 0}, hvx, sizeof(hvx)))
                    _exit(1);
            _exit(0);
        }
    }
    for (int i = 0; i < pds; i++) {
        int status;

        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_true(hxt_until(own_rig_idle, NULL, 30));
    log = hxt_read_file(own_rig_log, NULL);
    assert_non_null(log);
    assert_null(strstr(log, "taken over"));
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_ends_with_who_made_it),
        cmocka_unit_test(test_a_lock_that_is_held_for_ever_is_taken_over),
        cmocka_unit_test(test_a_lock_that_is_spoiled_without_end_costs_some_seconds_once),
        cmocka_unit_test(test_a_lock_that_many_want_is_never_taken_over),
    };

    find_variable();
    own_rig_seconds = 120;
    own_rig_log = strdup(hxt_path("%s/the.log", hxt_tmpdir()));
    return DRV_RUN(tests);
}
