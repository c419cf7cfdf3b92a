/* Protects: what `hexrig demo` claims is checked (tokens of the densities, whether the texts differ), and when the demo
 * is ended, its runs and rigs end too. */
#include "e2e.h"

static void test_the_demo_checks_the_tokens(void **state)
{
    struct hxt_result res;

    (void)state;
    e2e_run(&res, "demo -p PROMPT -n 12");
    assert_int_equal(res.exit_code, 0);
    assert_non_null(strstr(res.out, "tokens identical: yes"));
    hxt_result_free(&res);
    /* one damaged reply in the batched run only */
    e2e_run(&res, "demo -p PROMPT -n 12 --filter error:method=6,nth=20,corrupt=all");
    if (res.exit_code != 1 || !strstr(res.out, "tokens identical: no") ||
        !strstr(res.err, "hexrig demo: the densities made different tokens"))
        fail_msg("exit %d, out '%s', err '%s'", res.exit_code, res.out, res.err);
    hxt_result_free(&res);
    e2e_clean();
}

static void test_the_demo_says_whether_the_texts_differ(void **state)
{
    struct hxt_result res;

    (void)state;
    e2e_run(&res, "demo -p PROMPT -n 32");
    assert_int_equal(res.exit_code, 0);
    assert_null(strstr(res.out, "these two texts are the same"));
    hxt_result_free(&res);
    e2e_run(&res, "demo -p x -n 1"); /* position 0 has no past, so blocks take no part */
    assert_int_equal(res.exit_code, 0);
    assert_non_null(strstr(res.out, "these two texts are the same"));
    hxt_result_free(&res);
    e2e_clean();
}

static int pd_is_there(void *arg)
{
    (void)arg;
    return e2e_find("hexrig-pd") > 0;
}

/* The signal goes to the demo alone, not to its process group. */
static void test_an_ended_demo_leaves_no_run_and_no_rig(void **state)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(signals); i++) {
        struct hxt_child c;
        struct hxt_result res;
        struct e2e_run r;

        e2e_command(&r, "demo -p PROMPT -n 250"); /* its second run lasts much longer than e2e_clean() waits */
        assert_int_equal(hxt_start(&c, &r.cmd), 0);
        assert_true(hxt_until(pd_is_there, NULL, 60));
        assert_int_equal(hxt_signal(&c, signals[i]), 0);
        assert_int_equal(hxt_wait(&c, &res), 0);
        assert_int_equal(res.signal, signals[i]);
        hxt_result_free(&res);
        e2e_clean();
    }
}

static void test_a_killed_run_is_named(void **state)
{
    struct hxt_child c;
    struct hxt_result res;
    struct e2e_run r;
    char *children;
    pid_t pid;

    (void)state;
    e2e_command(&r, "demo -p PROMPT -n 250");
    assert_int_equal(hxt_start(&c, &r.cmd), 0);
    assert_true(hxt_until(pd_is_there, NULL, 60));
    children = hxt_read_file(hxt_path("/proc/%d/task/%d/children", (int)c.pid, (int)c.pid), NULL);
    pid = children ? (pid_t)atoi(children) : 0; /* the run is older than what it leaves to the demo */
    free(children);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(hxt_wait(&c, &res), 0);
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "hexrig demo: hexrig run: Killed"));
    hxt_result_free(&res);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_demo_checks_the_tokens),
    cmocka_unit_test(test_the_demo_says_whether_the_texts_differ),
    cmocka_unit_test(test_an_ended_demo_leaves_no_run_and_no_rig),
    cmocka_unit_test(test_a_killed_run_is_named),
};

int main(void)
{
    return HXT_RUN(tests);
}
