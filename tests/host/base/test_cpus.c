/* Protects: which CPU a background thread gets, on machines of any shape. */
#include "base/cpus.h"
#include "hxt.h"

static void test_a_background_thread_gets_a_cpu_apart_on_the_same_node(void **state)
{
    static const struct hx_cpu one[] = {{3, 0, 1024}};
    static const struct hx_cpu smp[] = {{0, 0, 1024}, {1, 0, 1024}, {2, 0, 1024}};
    static const struct hx_cpu phone[] = {{0, 0, 250}, {1, 0, 250}, {4, 0, 700}, {7, 0, 1024}};
    static const struct hx_cpu numa[] = {{0, 0, 1024}, {1, 0, 1024}, {2, 1, 1024}, {3, 1, 1024}};

    (void)state;
    assert_int_equal(hx_cpus_choose(one, 1, 3), -1);
    assert_int_equal(hx_cpus_choose(smp, 3, 0), 2);
    assert_int_equal(hx_cpus_choose(smp, 3, 2), 1);
    assert_int_equal(hx_cpus_choose(phone, 4, 7), 1);
    assert_int_equal(hx_cpus_choose(phone, 4, 1), 0);
    assert_int_equal(hx_cpus_choose(numa, 4, 0), 1);
    assert_int_equal(hx_cpus_choose(numa, 4, 3), 2);
    assert_int_equal(hx_cpus_choose(numa, 3, 2), 1); /* alone on its node */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_background_thread_gets_a_cpu_apart_on_the_same_node),
};

int main(void)
{
    return HXT_RUN(tests);
}
