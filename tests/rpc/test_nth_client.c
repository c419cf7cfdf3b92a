/* Protects: whatever call of libcdsprpc.so fails, in its client's process, once or for a while, the library says an error or gets
 * over it: no crash, no wrong content, no hang.  With nothing failing any more the same process works, has its descriptors back,
 * and leaves no session.  On rigs of both front ends, and on one that the library starts.  tests/fail makes calls fail.  A sample,
 * or all with HXT_FAIL_ALL=1. */
#include "e2e.h"
#include "nth_client.h"
#include "nth_failure.h"
#include "own_rig.h"

enum { TOLD, GOT_OVER }; /* columns of the table */
enum { CLIENT_S = 20 };

static const char *name;
static int is_private;

static int start_client(struct hxt_result *res)
{
    const char *argv[] = {HXT_BUILD "/tests/test_nth_client", "client", is_private ? "2" : "0", NULL};
    const char *env[] = {"DSP_LIBRARY_PATH=" HXT_BUILD "/tests", hxt_path("XDG_RUNTIME_DIR=%s", e2e_dir()), NULL, NULL, NULL, NULL};

    nth_env(env + 2, "test_nth_client");
    return hxt_run(res, &(struct hxt_cmd){.argv = argv, .env = env, .timeout_s = CLIENT_S});
}

/* arg: NULL, or a function that says what the client left. */
static const char *check(void *arg, struct nth_row *row)
{
    const char *(*left)(void) = (const char *(*)(void))arg;
    const char *wrong = NULL;
    struct hxt_result res;

    if (start_client(&res))
        return "it could not be started";
    row->seen[TOLD] += res.exit_code == NTH_TOLD;
    row->seen[GOT_OVER] += res.exit_code == 0 && nth_state->failed;
    if (res.timed_out)
        wrong = "it hangs";
    else if (res.signal)
        wrong = "it crashes";
    else if (res.exit_code && res.exit_code != NTH_TOLD)
        wrong = "it is left in a bad state";
    else
        wrong = left();
    if (wrong || getenv("HXT_VERBOSE"))
        print_error("signal %d exit %d: %s", res.signal, res.exit_code, res.err);
    hxt_result_free(&res);
    return wrong;
}

static const char *session_left(void)
{
    return hxt_until(own_rig_idle, NULL, 30) ? NULL : "a session is left";
}

static const char *nothing(void)
{
    return NULL; /* the socket front end has no status to ask */
}

static void test_what_fails_is_told_and_got_over(void **state)
{
    const char *(*left)(void) = is_private ? e2e_left : strcmp(own_rig_front_end, "fuse") == 0 ? session_left : nothing;

    (void)state;
    nth_begin();
    nth_print_head("told", "got over");
    assert_int_equal(nth_program(name, check, (void *)left), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_fails_is_told_and_got_over),
};

static int run_own_rig(const char *front_end)
{
    static char text[40];

    own_rig_front_end = front_end;
    snprintf(text, sizeof(text), "client %s", front_end);
    name = text;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

static int run_private(const char *unused)
{
    (void)unused;
    name = "client private";
    is_private = 1;
    unsetenv("HEXRIG_DEVICE");
    return HXT_RUN(tests);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "client") == 0)
        return nth_client(atoi(argv[2]));
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the sanitizer has a malloc of its own");
#endif
    return own_rig_run_both(run_own_rig) | own_rig_run(run_private, "private");
}
