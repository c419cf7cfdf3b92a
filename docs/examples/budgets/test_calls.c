/* Budgets in a cmocka program: what FastRPC calls of one's own code may be, counted in this process; and what a token may cost.
 *
 *     cc test_calls.c $(pkg-config --cflags --libs hexrig-rpc) -lcmocka -o test_calls && ./test_calls
 *
 * hexrig has to be in PATH, density.budget in the current folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hx_rig.h"
#include "remote.h"

/* The code under test. */
static remote_handle64 open_codec(void)
{
    remote_handle64 h = 0;

    assert_int_equal(remote_handle64_open("file:///libsp_hex_skel.so?sp_hex_skel_handle_invoke&_modver=1.0&_dom=cdsp", &h), 0);
    return h;
}

static void test_opening_the_codec_is_at_most_two_calls(void **state)
{
    struct hx_session_stats stats;
    remote_handle64 h = open_codec();

    (void)state;
    assert_int_equal(hx_rig_session_stats(&stats), 0);
    assert_in_range(stats.invokes, 1, 2);
    assert_int_equal(stats.errors, 0);
    assert_in_range(stats.dispatch_ns + stats.exec_ns, 0, 10000000); /* modelled, so the same on every machine */
    remote_handle64_close(h);
}

static void test_a_token_keeps_to_its_budget(void **state)
{
    (void)state; /* what is not within it stands on stderr */
    assert_int_equal(system("hexrig density --geometry smollm2-135m --density batched,queue --pos 16 "
                            "--budget density.budget >/dev/null"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening_the_codec_is_at_most_two_calls),
        cmocka_unit_test(test_a_token_keeps_to_its_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
