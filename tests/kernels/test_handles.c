/* Protects the table of handles that all skels share: a state lives while its handle is open or a call runs on it, no longer,
 * and numbers mean one thing for ever. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "hxt.h"
#include "skel/handles.h"

static unsigned dropped, idled;

static void drop(struct hx_handle *h)
{
    dropped++;
    free(h);
}

static void idle(void)
{
    idled++;
}

static struct hx_handles table = HX_HANDLES("test", drop, idle);

static int begin(void **state)
{
    (void)state;
    dropped = idled = 0;
    return 0;
}

static remote_handle64 open_one(void)
{
    struct hx_handle *h = calloc(1, sizeof(*h));
    remote_handle64 id = 0;

    assert_int_equal(hx_handle_open(&table, h, "file:///libtest_skel.so", &id), AEE_SUCCESS);
    return id;
}

static void test_a_handle_finds_its_state_until_it_is_closed(void **state)
{
    const remote_handle64 a = open_one(), b = open_one();
    struct hx_handle *h = hx_handle_get(&table, a);

    (void)state;
    assert_non_null(h);
    assert_int_equal(h->id, a);
    hx_handle_put(&table, h);
    assert_int_equal(hx_handle_close(&table, a), AEE_SUCCESS);
    assert_null(hx_handle_get(&table, a));
    assert_int_equal(hx_handle_close(&table, a), AEE_EINVHANDLE);
    assert_int_equal(dropped, 1);
    assert_int_equal(hx_handle_close(&table, b), AEE_SUCCESS);
    assert_int_equal(dropped, 2);
}

static void test_numbers_are_never_used_twice(void **state)
{
    const remote_handle64 a = open_one();

    (void)state;
    assert_int_equal(hx_handle_close(&table, a), AEE_SUCCESS);
    const remote_handle64 b = open_one();
    assert_true(b > a);
    assert_null(hx_handle_get(&table, 0));
    assert_null(hx_handle_get(&table, b + 1));
    assert_int_equal(hx_handle_close(&table, b), AEE_SUCCESS);
}

static void test_the_last_call_drops_a_closed_state(void **state)
{
    const remote_handle64 a = open_one();
    struct hx_handle *first = hx_handle_get(&table, a), *second = hx_handle_get(&table, a);

    (void)state;
    assert_int_equal(hx_handle_close(&table, a), AEE_SUCCESS);
    hx_handle_put(&table, first);
    assert_int_equal(dropped, 0);
    hx_handle_put(&table, second);
    assert_int_equal(dropped, 1);
}

static void test_idle_waits_for_running_calls_too(void **state)
{
    const remote_handle64 a = open_one(), b = open_one();
    struct hx_handle *running = hx_handle_get(&table, a);

    (void)state;
    assert_int_equal(hx_handle_close(&table, a), AEE_SUCCESS);
    assert_int_equal(hx_handle_close(&table, b), AEE_SUCCESS);
    assert_int_equal(idled, 0);
    hx_handle_put(&table, running);
    assert_int_equal(idled, 1);
}

static void test_handles_past_the_limit_are_refused(void **state)
{
    static remote_handle64 open[HX_HANDLES_MAX];
    struct hx_handle one_more = {.refs = 7};
    remote_handle64 id = 42;

    (void)state;
    for (size_t i = 0; i < HX_HANDLES_MAX; i++)
        open[i] = open_one();
    assert_int_equal(hx_handle_open(&table, &one_more, "file:///libtest_skel.so", &id), AEE_ENOMORE);
    assert_int_equal(id, 42);
    assert_int_equal(one_more.refs, 7); /* the caller's still */
    assert_int_equal(hx_handle_close(&table, open[5]), AEE_SUCCESS);
    open[5] = open_one();
    for (size_t i = 0; i < HX_HANDLES_MAX; i++)
        assert_int_equal(hx_handle_close(&table, open[i]), AEE_SUCCESS);
    assert_int_equal(idled, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_handle_finds_its_state_until_it_is_closed, begin),
        cmocka_unit_test_setup(test_numbers_are_never_used_twice, begin),
        cmocka_unit_test_setup(test_the_last_call_drops_a_closed_state, begin),
        cmocka_unit_test_setup(test_idle_waits_for_running_calls_too, begin),
        cmocka_unit_test_setup(test_handles_past_the_limit_are_refused, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
