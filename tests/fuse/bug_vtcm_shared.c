/* VTCM was one memory of all PDs, and nothing was cleared: a session read all 8 MiB that another one had left or was using, and
 * wrote there without a grant. */
#include "driver_client.h"

enum { ALL = 8 << 20 };

/* Bytes of VTCM that another client sees. */
static uint32_t seen(int fd, uint32_t h, enum hxt_vtcm_way way)
{
    uint32_t n = UINT32_MAX;

    assert_int_equal(drv_call1(fd, h, HXT_VTCM_LOOK, (struct hxt_in){0, way}, &n, sizeof(n)), 0);
    return n;
}

/* Fills all of it with 0x5a; keeps the grant when asked. */
static void fill(int fd, uint32_t h, int keep)
{
    struct hxt_vtcm v;

    assert_int_equal(drv_call1(fd, h, HXT_VTCM, (struct hxt_in){keep, ALL}, &v, sizeof(v)), 0);
    assert_true(v.address != 0);
}

static void test_nobody_sees_what_another_pd_left(void **state)
{
    uint32_t h, h2;
    int fd = drv_connect(&h), fd2 = drv_connect(&h2);

    (void)state;
    fill(fd, h, 0);
    assert_int_equal(seen(fd2, h2, HXT_BY_GRANT), 0);
    assert_int_equal(seen(fd2, h2, HXT_BY_FORCE), 0);
    assert_int_equal(seen(fd, h, HXT_BY_GRANT), 0); /* another one has held it since */
    close(fd);
    close(fd2);
}

static void test_nobody_sees_what_another_pd_holds(void **state)
{
    uint32_t h, h2;
    int fd = drv_connect(&h), fd2 = drv_connect(&h2);

    (void)state;
    fill(fd, h, 1);
    assert_int_equal(seen(fd2, h2, HXT_BY_FORCE), 0);
    close(fd);
    close(fd2);
}

static void test_a_pd_that_reads_without_a_grant_ends(void **state)
{
    uint32_t h, h2, n;
    int fd = drv_connect(&h), fd2 = drv_connect(&h2);

    (void)state;
    assert_int_equal((unsigned)drv_call1(fd, h, HXT_VTCM_LOOK, (struct hxt_in){0, HXT_WITHOUT_GRANT}, &n, sizeof(n)),
                     0x80000430);
    assert_int_equal(seen(fd2, h2, HXT_BY_GRANT), 0); /* it alone */
    close(fd);
    close(fd2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_sees_what_another_pd_left),
        cmocka_unit_test(test_nobody_sees_what_another_pd_holds),
        cmocka_unit_test(test_a_pd_that_reads_without_a_grant_ends),
    };

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("VTCM lies elsewhere beside a sanitizer");
#endif
    return DRV_RUN(tests);
}
