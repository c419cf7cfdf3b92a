/* Protects: a DSP that cannot be started, or dies again and again, is tried again, `status` says what is the matter, and one user's
 * crashes in the root PD do not take it from the others. */
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "driver_client.h"

static int has_restarted(void *restarts)
{
    return own_rig_status("dsp_restarts") == *(int *)restarts && access(own_rig_path("fastrpc-cdsp"), F_OK) == 0;
}

static int status_says(void *text)
{
    char *status = hxt_read_file(own_rig_path("status"), NULL);
    int says = status && strstr(status, text);

    free(status);
    return says;
}

static void expect_work(void)
{
    uint32_t h;
    int fd = drv_connect(&h);

    assert_int_equal(drv_call0(fd, h, HXT_BLOCK, (struct hxt_in){4, 0}), 4);
    close(fd);
}

static void kill_dsp(void)
{
    int restarts = own_rig_status("dsp_restarts"), dsp = own_rig_status("dsp_pid");

    assert_true(dsp > 1);
    assert_int_equal(kill(dsp, SIGKILL), 0);
    restarts++;
    assert_true(hxt_until(has_restarted, &restarts, 30));
}

/* The rig has no descriptor left for a second and a half. */
static void test_a_start_that_failed_is_tried_again(void **state)
{
    int restarts = own_rig_status("dsp_restarts") + 1, dsp = own_rig_status("dsp_pid");
    struct rlimit before, none;

    (void)state;
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, NULL, &before), 0);
    none = (struct rlimit){4, before.rlim_max};
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, &none, NULL), 0);
    assert_true(dsp > 1);
    assert_int_equal(kill(dsp, SIGKILL), 0);
    assert_true(hxt_until(status_says, "Too many open files", 30));
    assert_true(status_says("state=dsp-down"));
    usleep(1500000);
    assert_true(status_says("state=dsp-down"));
    assert_int_equal(prlimit(own_rig_child.pid, RLIMIT_NOFILE, &before, NULL), 0);
    assert_true(hxt_until(has_restarted, &restarts, 30));
    expect_work();
}

static int attach_and_crash(void)
{
    int fd = drv_open("fastrpc-cdsp"), error = 0;

    assert_true(fd >= 0);
    if (ioctl(fd, FASTRPC_IOCTL_INIT_ATTACH))
        error = errno;
    else
        drv_call0(fd, drv_open_skel(fd), HXT_CRASH, (struct hxt_in){0, 0});
    close(fd);
    return error;
}

static void test_who_crashes_the_root_pd_three_times_attaches_no_more(void **state)
{
    int restarts = own_rig_status("dsp_restarts");

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(attach_and_crash(), 0);
        restarts++;
        assert_true(hxt_until(has_restarted, &restarts, 30));
    }
    for (int i = 0; i < 5; i++)
        assert_int_equal(attach_and_crash(), ECONNREFUSED);
    expect_work();
    kill_dsp(); /* none of that counts against the DSP */
    kill_dsp();
    kill_dsp();
    expect_work();
    usleep(2100000);
}

static int has_restarted_or_rests(void *restarts)
{
    return has_restarted(restarts) || status_says("died 5 times in a row");
}

static void test_five_quick_deaths_are_followed_by_a_rest(void **state)
{
    int restarts = 0, rests = 0;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("the plain build waits for the half minute");
#endif
    kill_dsp(); /* a slow one */
    for (int i = 0; i < 100 && !rests; i++) { /* on a machine that stands still now and then some are not quick */
        int dsp = own_rig_status("dsp_pid");

        restarts = own_rig_status("dsp_restarts") + 1;
        assert_true(dsp > 1);
        assert_int_equal(kill(dsp, SIGKILL), 0);
        assert_true(hxt_until(has_restarted_or_rests, &restarts, 30));
        rests = status_says("died 5 times in a row");
    }
    assert_true(status_says("state=dsp-down"));
    usleep(3000000);
    assert_true(status_says("state=dsp-down"));
    assert_true(hxt_until(has_restarted, &restarts, 35));
    expect_work();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_start_that_failed_is_tried_again),
        cmocka_unit_test(test_who_crashes_the_root_pd_three_times_attaches_no_more),
        cmocka_unit_test(test_five_quick_deaths_are_followed_by_a_rest),
    };

    return DRV_RUN(tests);
}
