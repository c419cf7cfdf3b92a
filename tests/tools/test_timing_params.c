/* Protects: where the values of the shipped profiles come from: every one says so in a way that programs read, its range
 * contains it, and what was fitted names a row. */
#include "report/timing_params.h"

#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "report/timing.h"

static const char *const shipped[] = {"s22u-sync", "s22u-577", "s22u-qos", "dspqueue"};

static int is_row(const char *id)
{
    for (size_t i = 0; i < hx_timing_n_rows; i++)
        if (strcmp(hx_timing_rows[i].id, id) == 0)
            return 1;
    return 0;
}

static void fitted_names_rows(const struct hx_timing_param *p)
{
    char ids[16][4];
    const size_t n = hx_timing_note_rows(p->note, ids, HXT_LEN(ids));
    int known = 0;

    for (size_t i = 0; i < n; i++)
        known += is_row(ids[i]);
    if (!known && !strstr(p->note, "as in s22u-sync"))
        fail_msg("%s was fitted, but to which row of the report? '%s'", p->name, p->note);
}

static void test_every_value_of_the_shipped_profiles_says_where_it_is_from(void **state)
{
    struct hx_timing_params params;
    char why[600];

    (void)state;
    for (size_t s = 0; s < HXT_LEN(shipped); s++) {
        if (hx_timing_params_read(&params, shipped[s], why, sizeof(why)))
            fail_msg("%s", why);
        assert_int_equal(params.n, hx_profile_n_keys());
        for (size_t k = 0; k < params.n; k++) {
            const struct hx_timing_param *p = &params.of[k];

            if (p->origin == HX_TIMING_UNTOLD)
                fail_msg("%s: %s: '%s' says neither fitted nor assumed nor published", shipped[s], p->name, p->note);
            assert_int_equal(p->varies, k < params.n_varying);
            if (p->varies)
                assert_true(p->low > 0 && p->low <= p->value && p->value <= p->high);
            if (p->origin == HX_TIMING_FITTED)
                fitted_names_rows(p);
        }
        hx_timing_params_free(&params);
    }
}

static const struct hx_timing_param *find(const struct hx_timing_params *params, const char *name)
{
    for (size_t k = 0; k < params->n; k++)
        if (strcmp(params->of[k].name, name) == 0)
            return &params->of[k];
    fail_msg("no key %s", name);
    return NULL;
}

/* s22u-sync with more lines behind; NULL: why is returned. */
static const char *read_with(struct hx_timing_params *params, const char *lines)
{
    static char why[600];
    const char *path = hxt_path("%s/notes.conf", hxt_tmpdir());
    size_t bytes;
    char *text = hxt_read_file(HXT_SRC "/dsp/profiles/s22u-sync.conf", &bytes);

    text = realloc(text, bytes + strlen(lines) + 1);
    assert_non_null(text);
    memcpy(text + bytes, lines, strlen(lines) + 1);
    hxt_write_file(path, text, bytes + strlen(lines));
    free(text);
    return hx_timing_params_read(params, path, why, sizeof(why)) ? why : NULL;
}

static void test_notes_are_read_as_documented(void **state)
{
    static const char lines[] = "\nhvx_pcycles = 3 # fitted: K05's quantiser, K10; not H10x\n"
                                "ddr_pcycles = 100 # assumed 50..400.5, no row\n"
                                "l2_pcycles = 20 # published 10..30\n"
                                "load_pcycles = 3 # fitted\n"
                                "mpy_pcycles = 3 # fittedly 1..4\n"
                                "handoff_pcycles = 0 # fitted: K06\n"
                                "dma_setup_pcycles = 7 # assumed\n";
    struct hx_timing_params params;
    const struct hx_timing_param *p;
    char ids[4][4];

    (void)state;
    assert_null(read_with(&params, lines));
    p = find(&params, "hvx_pcycles");
    assert_true(p->varies && p->origin == HX_TIMING_FITTED && p->low == 1 && p->high == 9);
    assert_int_equal(hx_timing_note_rows(p->note, ids, 4), 2);
    assert_string_equal(ids[0], "K05");
    assert_string_equal(ids[1], "K10");
    p = find(&params, "ddr_pcycles");
    assert_true(p->varies && p->origin == HX_TIMING_ASSUMED && p->low == 50 && p->high == 400.5);
    p = find(&params, "l2_pcycles");
    assert_true(p->varies && p->origin == HX_TIMING_PUBLISHED && p->low == 10 && p->high == 30);
    assert_true(find(&params, "load_pcycles")->varies);
    assert_true(find(&params, "mpy_pcycles")->origin == HX_TIMING_UNTOLD);
    assert_false(find(&params, "handoff_pcycles")->varies); /* 0 has no logarithm */
    assert_false(find(&params, "dma_setup_pcycles")->varies);
    hx_timing_params_free(&params);
}

static void test_ranges_that_cannot_be_meant_are_refused(void **state)
{
    static const char *const bad[] = {"\nhvx_pcycles = 3 # fitted 4..9\n", "\nhvx_pcycles = 3 # assumed 0..9\n",
                                      "\nhvx_pcycles = 3 # fitted 3..3\n", "\nhvx_pcycles = 10 # fitted 1..9\n"};
    struct hx_timing_params params;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        const char *why = read_with(&params, bad[i]);

        assert_non_null(why);
        assert_non_null(strstr(why, "hvx_pcycles"));
        hx_timing_params_free(&params);
    }
}

static void test_fitted_values_move_by_a_step_and_others_over_their_range(void **state)
{
    static const char lines[] = "\nhvx_pcycles = 3 # fitted 1..8: K05\nddr_pcycles = 100 # assumed 50..400: no row\n"
                                "handoff_pcycles = 900 # assumed 100..1000: no row\n"
                                "hvx_contexts = 2 # fitted 1..4: K05\n";
    struct hx_timing_params params;
    struct hx_profile moved;

    (void)state;
    assert_null(read_with(&params, lines));
    for (size_t k = 0; k < params.n_varying; k++) {
        const struct hx_timing_param *p = &params.of[k];
        const double to = hx_timing_moved(&params, k, &moved);

        assert_true(hx_profile_get(&moved, p->key) == to && to != p->value && to >= p->low && to <= p->high);
        if (strcmp(p->name, "hvx_pcycles") == 0)
            assert_true(fabs(to - 3.15) < 1e-9);
        if (strcmp(p->name, "ddr_pcycles") == 0)
            assert_true(to == 400);
        if (strcmp(p->name, "handoff_pcycles") == 0)
            assert_true(to == 100);
        if (strcmp(p->name, "hvx_contexts") == 0)
            assert_true(to == 3);
    }
    hx_timing_params_free(&params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_of_the_shipped_profiles_says_where_it_is_from),
        cmocka_unit_test(test_notes_are_read_as_documented),
        cmocka_unit_test(test_ranges_that_cannot_be_meant_are_refused),
        cmocka_unit_test(test_fitted_values_move_by_a_step_and_others_over_their_range),
    };

    return HXT_RUN(tests);
}
