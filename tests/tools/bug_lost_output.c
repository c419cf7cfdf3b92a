/* Protects: results that could not be written are a failure (exit 1, one line), a reader that goes away is none to talk
 * about, and what a closed stdout left free is not written into. */
#include "e2e.h"

/* sh -c SCRIPT, where $H is hexrig and $S its share folder. */
static void shell(struct hxt_result *res, const char *script)
{
    const char *argv[] = {"bash", "-c", script, NULL};
    const char *env[] = {hxt_path("XDG_RUNTIME_DIR=%s", e2e_dir()), "HEXRIG_DEVICE",
                         hxt_path("H=%s/bin/hexrig", HXT_BUILD),
                         hxt_path("S=%s/share/hexrig", HXT_BUILD), NULL};

    assert_int_equal(hxt_run(res, &(struct hxt_cmd){.argv = argv, .env = env,
                                                    .timeout_s = E2E_TIMEOUT_S}), 0);
}

static void loses_output(const char *script)
{
    struct hxt_result res;

    shell(&res, script);
    if (res.exit_code != 1 || !e2e_one_line(res.err) || !strstr(res.err, "cannot write the output"))
        fail_msg("%s: exit %d, err '%s'", script, res.exit_code, res.err);
    hxt_result_free(&res);
}

/* A stdout that is open for reading only fails like a full disk, and exists everywhere. */
static void test_a_write_error_is_exit_1(void **state)
{
    (void)state;
    loses_output("$H --help 1</dev/null");
    loses_output("$H --version 1</dev/null");
    loses_output("$H run --help 1</dev/null");
    loses_output("$H run -p x -n 1 --kv f32 1</dev/null");
    loses_output("$H run -p x -n 1 --json 1</dev/null");
    loses_output("$H ppl -f $S/books-holdout.txt --ctx 2 --chunks 1 --kv f32 --json 1</dev/null");
    loses_output("$H demo -n 1 1</dev/null");
    loses_output("$H up 1</dev/null; a=$?; $H status 1</dev/null 2>&-; b=$?; $H down || exit 9;"
                 " exit $((a & b))");
    e2e_clean();
}

static void test_a_closed_stdout_is_exit_1(void **state)
{
    (void)state;
    loses_output("$H --help >&-");
    loses_output("$H run -p x -n 1 --json >&-"); /* 1 must not become the rig's device */
    loses_output("$H run -p x -n 1 --kv f32 <&- >&-");
    e2e_clean();
}

static void test_no_output_is_no_failure(void **state)
{
    struct hxt_result res;

    (void)state;
    shell(&res, "$H up >/dev/null && $H down <&- >&- 2>&-");
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    e2e_clean();
}

/* A pipe that nobody reads ends hexrig by SIGPIPE, or with exit 1 where that is ignored: both without a word. */
static void test_a_closed_pipe_ends_quietly(void **state)
{
    struct hxt_result res;

    (void)state;
    shell(&res, "$H run -p x -n 1 --json | true; exit ${PIPESTATUS[0]}");
    assert_int_equal(res.exit_code, 128 + SIGPIPE);
    assert_string_equal(res.err, "");
    hxt_result_free(&res);
    shell(&res, "trap '' PIPE; $H run -p x -n 1 --json | true; exit ${PIPESTATUS[0]}");
    assert_int_equal(res.exit_code, 1);
    assert_string_equal(res.err, "");
    hxt_result_free(&res);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_write_error_is_exit_1),
    cmocka_unit_test(test_a_closed_stdout_is_exit_1),
    cmocka_unit_test(test_no_output_is_no_failure),
    cmocka_unit_test(test_a_closed_pipe_ends_quietly),
};

int main(void)
{
    return HXT_RUN(tests);
}
