/* Protects: a text node (`status`, `stats`, ...) is served whole or not at all, however long it is and whichever allocation fails. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver.h"
#include "hxt.h"
#include "hxt_proc.h"
#include "nth_failure.h"

#define SELF "test_node_text"

static struct hx_driver driver; /* that serves nobody */

/* The path of `mount` is what makes it long. */
static char *status_of(size_t bytes)
{
    static char mount[256 << 10];

    memset(mount, 'm', bytes);
    mount[bytes] = '\0';
    driver.front_end = "socket";
    driver.mount = mount;
    return hx_driver_node_text(&driver, "status");
}

static void test_a_text_is_whole_or_none(void **state)
{
    static const size_t whole[] = {0, 100, 5000, 8192, 20000, 100000}, too_long[] = {128 << 10, 200 << 10};
    char *none;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(whole); i++) {
        char *text = status_of(whole[i]);

        assert_non_null(text);
        assert_int_equal(strncmp(text, "state=", 6), 0);
        assert_int_equal(strspn(strstr(text, "mount=") + 6, "m"), whole[i]);
        assert_non_null(strstr(text, "\nversion="));
        assert_int_equal(text[strlen(text) - 1], '\n');
        free(text);
    }
    for (size_t i = 0; i < HXT_LEN(too_long); i++)
        assert_null(status_of(too_long[i]));
    assert_null(hx_driver_node_text(&driver, "no such node"));
    free(status_of(100));
    none = hx_driver_node_text(&driver, "methods");
    assert_string_equal(none, ""); /* nothing of the one before */
    free(none);
}

/* In a process of its own, with tests/fail: 0, or the number of what failed when a text was cut. */
static int fail_each(int all)
{
    char *want = status_of(20000);
    int cut = 0;

    for (uint32_t function = HXT_FAIL_malloc; function <= HXT_FAIL_realloc; function++)
        for (uint32_t n = 1; n < 20 && !cut; n++) {
            char *got;

            atomic_store(&nth_state->function, function);
            atomic_store(&nth_state->nth, n);
            atomic_store(&nth_state->all, (uint32_t)all);
            atomic_store(&nth_state->calls[function], 0);
            nth_rearm();
            got = status_of(20000);
            nth_disarm();
            if (got && strcmp(got, want) != 0)
                cut = (int)(100 * function + n);
            free(got);
        }
    if (!atomic_load(&nth_state->failed))
        cut = -1; /* nothing was tried */
    free(want);
    return cut;
}

static int child(void)
{
    nth_join();
    for (int all = 0; all < 2; all++) {
        int cut = fail_each(all);

        if (cut) {
            fprintf(stderr, "function %d, all %d\n", cut, all);
            return 1;
        }
    }
    return 0;
}

static void test_no_allocation_that_fails_cuts_it(void **state)
{
    const char *argv[] = {HXT_BUILD "/tests/" SELF, "fail", NULL}, *env[4] = {NULL};
    struct hxt_cmd cmd = {.argv = argv, .env = env};
    struct hxt_result r;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    hxt_skip_test("the sanitizer has a malloc of its own");
#endif
    nth_begin();
    nth_env(env, SELF);
    assert_int_equal(hxt_run(&r, &cmd), 0);
    if (r.exit_code)
        print_error("%s\n", r.err);
    assert_int_equal(r.exit_code, 0);
    hxt_result_free(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_is_whole_or_none),
        cmocka_unit_test(test_no_allocation_that_fails_cuts_it),
    };

    (void)argv;
    return argc > 1 ? child() : HXT_RUN(tests);
}
