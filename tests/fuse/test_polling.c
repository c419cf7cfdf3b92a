/* Protects: the driver looks for the next call for a moment before it sleeps, and for a moment only: behind the last call
 * it takes no processor. */
#include <poll.h>
#include <stdio.h>

#include "driver_client.h"

/* Processor time of the driver so far, in clock ticks. */
static long ticks(void)
{
    char path[64], text[1024] = "";
    long user = -1, system = 0;
    const char *at;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)own_rig_child.pid);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    at = strrchr(text, ')');
    assert_non_null(at);
    assert_int_equal(sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system), 2);
    return user + system;
}

static void test_behind_the_last_call_the_driver_sleeps(void **state)
{
    uint32_t handle;
    int fd = drv_connect(&handle);
    long before;

    (void)state;
    for (int i = 0; i < 2000; i++) /* polling has paid */
        assert_int_equal(drv_invoke(fd, handle, REMOTE_SCALARS_MAKE(1, 0, 0), NULL), 0);
    before = ticks();
    poll(NULL, 0, 1000);
    assert_in_range(ticks() - before, 0, sysconf(_SC_CLK_TCK) / 20);
    close(fd);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_behind_the_last_call_the_driver_sleeps),
    };

    return DRV_RUN(tests);
}
