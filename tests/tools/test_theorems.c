/* Protects hexrig theorems: the lines and the summary that people read, that every line was computed, and that the parts
 * which theorems are made of find what is wrong (a curve without the endomorphism, vectors that LLL cannot reduce). */
#include <unistd.h>

#include "e2e.h"
#include "methods/capture/capture.h"
#include "theorems/lll.h"
#include "theorems/modular.h"
#include "theorems/theorem.h"

enum { THEOREMS = 19 };

static const char *const pending[] = {"T1", "E10"}, *const expected_fail[] = {"T2b"};

static int is_one_of(const char *id, const char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(ids[i], id) == 0)
            return 1;
    return 0;
}

static const char *wanted(const char *id)
{
    if (is_one_of(id, pending, HXT_LEN(pending)))
        return "PENDING";
    return is_one_of(id, expected_fail, HXT_LEN(expected_fail)) ? "EXPECTED-FAIL" : "VERIFIED";
}

static int has_clang(void)
{
    return access(HXT_BUILD "/libexec/hexrig/crt-digest", X_OK) == 0;
}

static void test_every_line_is_as_it_should_be(void **state)
{
    json_t *all = e2e_json("theorems --json"), *rows = json_object_get(all, "theorems"), *row;
    size_t i;

    (void)state;
    assert_int_equal(json_array_size(rows), THEOREMS);
    json_array_foreach(rows, i, row) {
        const char *id = e2e_text(row, "id"), *status = e2e_text(row, "status");
        const char *want = !has_clang() && strcmp(id, "T6b") == 0 ? "SKIPPED" : wanted(id);

        if (strcmp(status, want) != 0)
            fail_msg("%s is %s, not %s", id, status, want);
        assert_true(json_array_size(json_object_get(row, "witnesses")) > 0);
    }
    assert_true(e2e_number(all, "pending") == 2 && e2e_number(all, "expected_fail") == 1);
    json_decref(all);
}

static void test_the_text_is_lines_and_a_summary(void **state)
{
    struct hxt_result r;

    (void)state;
    e2e_run(&r, "theorems");
    assert_int_equal(r.exit_code, 0);
    assert_non_null(strstr(r.out, "\nT2b EXPECTED-FAIL\nT3 VERIFIED\n"));
    assert_non_null(strstr(r.out, has_clang() ? "\nverified=16 pending=2 expected_fail=1\n"
                                              : "\nverified=15 pending=2 expected_fail=1 skipped=1\n"));
    hxt_result_free(&r);
    e2e_run(&r, "theorems --verbose");
    assert_int_equal(r.exit_code, 0);
    assert_non_null(strstr(r.out, "667 primes from 3 to 5000 but 163: a_p = 0 for 351 of them"));
    hxt_result_free(&r);
    e2e_refused("theorems T1", 2, "unexpected argument 'T1'");
}

/* A missing model or calibration is a failure of what needs it, not a line that turns green. */
static void test_without_data_it_fails(void **state)
{
    static const char *const need_data[] = {"T2", "T2b", "T4b", "E9.5", "E10"};
    struct hx_theorem_run run = {.share = "/nonexistent", .libexec = "/nonexistent"};

    (void)state;
    for (size_t i = 0; hx_theorems[i].id; i++)
        if (is_one_of(hx_theorems[i].id, need_data, HXT_LEN(need_data)))
            assert_int_equal(hx_theorem_check(i, &run), HX_FAILED);
        else if (strcmp(hx_theorems[i].id, "T6b") == 0)
            assert_int_equal(hx_theorem_check(i, &run), HX_SKIPPED);
}

/* --- E10 */

enum { LAYERS = 6, POSITIONS = 128 };

/* What E10 says of a layer must be what a capture of the same text has. */
static void captured_log_rms(double log_rms[LAYERS])
{
    struct hx_capture_reader *reader = NULL;
    struct hx_capture_record record;
    const uint32_t *tokens, *positions;
    struct hx_error err;
    struct hxt_result res;
    const float *rows;
    char words[512], path[300];

    snprintf(path, sizeof(path), "%s/states.hxc", e2e_dir());
    snprintf(words, sizeof(words), "model capture -f %s/share/hexrig/books-holdout.txt -o %s --points after_ffn -n %d "
             "--linear ref --attn ref", HXT_BUILD, path, POSITIONS);
    e2e_run(&res, words);
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    assert_int_equal(hx_capture_read(&reader, path, &err), 0);
    while (hx_capture_next(reader, &record, &tokens, &positions, &rows, &err) == 1)
        for (size_t i = 0; i < record.n; i++) {
            double square = 0;

            for (size_t j = 0; j < record.row; j++)
                square += pow(rows[i * record.row + j], 2);
            log_rms[record.layer] += log(sqrt(square / record.row)) / POSITIONS;
        }
    hx_capture_read_close(reader);
    unlink(path);
}

struct stream {
    double log_rms[LAYERS], slope;
    int layers, slopes; /* lines */
};

static void read_stream(void *arg, const char *line)
{
    struct stream *s = arg;
    double value;
    int layer;

    if (sscanf(line, "layer %d: log rms of the residual stream %lf", &layer, &value) == 2) {
        assert_true(layer == s->layers && layer < LAYERS);
        s->log_rms[s->layers++] = value;
    } else if (sscanf(line, "slope %lf per layer", &value) == 1) {
        s->slope = value;
        s->slopes++;
    }
}

static void test_e10_fits_the_residual_stream(void **state)
{
    struct hx_theorem_run run = {.share = HXT_BUILD "/share/hexrig", .libexec = "", .witness = read_stream};
    double captured[LAYERS] = {0}, slope = 0;
    struct stream said = {.layers = 0};
    size_t i = 0;

    (void)state;
    run.arg = &said;
    while (strcmp(hx_theorems[i].id, "E10") != 0)
        i++;
    assert_int_equal(hx_theorem_check(i, &run), HX_PENDING);
    assert_int_equal(said.layers, LAYERS);
    assert_int_equal(said.slopes, 1);
    captured_log_rms(captured);
    for (int layer = 0; layer < LAYERS; layer++) {
        assert_true(fabs(said.log_rms[layer] - captured[layer]) < 1e-3);
        slope += (layer - 2.5) * captured[layer] / 17.5; /* 17.5: sum of (layer - 2.5)^2 */
    }
    assert_true(fabs(said.slope - slope) < 1e-3);
    assert_true(slope > 0.1); /* a stream that norms have flattened has none */
}

/* --- parts */

static void test_points_form_a_group(void **state)
{
    struct hx_theorem_run r = {.random = 7};
    const struct hx_curve e = hx_cm_curve(1013, 1);
    const uint64_t n = hx_curve_count(&e);

    (void)state;
    for (int i = 0; i < 50; i++) {
        const struct hx_point s = hx_point_random(&e, &r), t = hx_point_random(&e, &r);

        assert_true(hx_point_times(&e, s, (int64_t)n).infinite);
        assert_true(hx_point_equal(hx_point_add(&e, s, t), hx_point_add(&e, t, s)));
        assert_true(hx_point_equal(hx_point_times(&e, s, 5),
                                   hx_point_add(&e, hx_point_times(&e, s, 7), hx_point_times(&e, s, -2))));
    }
}

static void test_square_roots_and_splitting(void **state)
{
    int64_t u, v;

    (void)state;
    for (uint64_t p = 3; p < 2000; p++)
        if (hx_is_prime(p))
            for (uint64_t a = 0; a < 40 && a < p; a++) {
                const uint64_t root = hx_mod_sqrt(a, p);

                assert_true(hx_legendre(a, p) == -1 ? root == p : root * root % p == a);
            }
    assert_true(hx_splits(41, &u, &v) && u == 1 && v == 1);
    assert_true(hx_splits(47, &u, &v) && u * u + 163 * v * v == 4 * 47);
    assert_false(hx_splits(37, &u, &v));
}

static void test_lll_finds_the_short_basis(void **state)
{
    int64_t b[] = {1, 1, 1, -1, 0, 2, 3, 5, 6}, dependent[] = {1, 2, 3, 2, 4, 6};

    (void)state;
    assert_true(hx_lll(b, 3, 3) >= 0);
    assert_memory_equal(b, ((int64_t[]){0, 1, 0, 1, 0, 1}), 6 * sizeof(*b));
    assert_int_equal(b[6] * b[6] + b[7] * b[7] + b[8] * b[8], 5); /* (-1, 0, 2) or (-2, 0, 1) */
    assert_int_equal(hx_lll(dependent, 2, 3), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_line_is_as_it_should_be),
    cmocka_unit_test(test_the_text_is_lines_and_a_summary),
    cmocka_unit_test(test_without_data_it_fails),
    cmocka_unit_test(test_e10_fits_the_residual_stream),
    cmocka_unit_test(test_points_form_a_group),
    cmocka_unit_test(test_square_roots_and_splitting),
    cmocka_unit_test(test_lll_finds_the_short_basis),
};

int main(void)
{
    return HXT_RUN(tests);
}
