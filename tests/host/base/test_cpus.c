/* Protects: which CPU a background thread gets, on machines of any shape; lists of CPUs. */
#include <errno.h>
#include <string.h>

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

/* The set of those among 0..9 whose digit is in `ids`. */
static cpu_set_t set_of(const char *ids)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (; *ids; ids++)
        CPU_SET((unsigned)(*ids - '0'), &set);
    return set;
}

static const char *text_of(const char *ids)
{
    static char text[64];
    const cpu_set_t set = set_of(ids);

    return hx_cpus_text(&set, text, sizeof(text));
}

static void test_a_set_is_written_as_a_list_of_ranges(void **state)
{
    const cpu_set_t set = set_of("0123");
    char cut[3];

    (void)state;
    assert_string_equal(text_of(""), "none");
    assert_string_equal(text_of("0"), "0");
    assert_string_equal(text_of("0236"), "0,2-3,6");
    assert_string_equal(text_of("4567"), "4-7");
    assert_string_equal(hx_cpus_text(&set, cut, sizeof(cut)), "0-");
}

static void test_a_list_is_read_back_and_nonsense_is_refused(void **state)
{
    static const char *const nonsense[] = {"", "x", "0,", ",0", "1-", "-1", "2-1", "0 1", "0;1", "0-1-2"};
    char all[512], again[512];
    struct hx_error err = {""};
    cpu_set_t mine, read;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    hx_cpus_text(&mine, all, sizeof(all));
    assert_int_equal(hx_cpus_parse(&read, all, &err), 0);
    assert_string_equal(hx_cpus_text(&read, again, sizeof(again)), all);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        assert_int_equal(hx_cpus_parse(&read, nonsense[i], &err), -EINVAL);
        assert_non_null(strstr(err.text, "is no list of CPUs"));
    }
    assert_int_equal(hx_cpus_parse(&read, "1024", &err), -EINVAL);
    assert_string_equal(err.text, "CPU 1024 is not among those that this process may use");
    assert_int_equal(hx_cpus_parse(&read, "99999999999999999999", &err), -EINVAL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_set_is_written_as_a_list_of_ranges),
    cmocka_unit_test(test_a_list_is_read_back_and_nonsense_is_refused),
    cmocka_unit_test(test_a_background_thread_gets_a_cpu_apart_on_the_same_node),
};

int main(void)
{
    return HXT_RUN(tests);
}
