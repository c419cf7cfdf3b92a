/* Protects attention over depth (tap attnres): both modes are what their formulas say, in double; a token's stream does not depend on the
 * batch or tree that it came in; strength 0 changes no bit, a query of zero no token; queries come from a capture of the same model; the
 * profile of the stream is that of a capture. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "golden.h"
#include "methods/attnres/attnres.h"
#include "open_engine.h"

enum { LAYERS = 7, WIDTH = 48, ROWS = 5, VOCAB = 2048, CTX = 64, N = 12 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7, 33, 900, 11, 108, 205, 302, 399};

/* --- against the formulas */

/* What layers add, made up: attention, then feed-forward, of [row][layer][WIDTH]. */
struct added {
    float embedding[ROWS][WIDTH], attn[ROWS][LAYERS][WIDTH], ffn[ROWS][LAYERS][WIDTH];
};

static void fill(struct added *a)
{
    struct hxt_rng rng;
    float *x = (float *)a;

    hxt_rng_init(&rng, 81);
    for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
        x[i] = (float)hxt_normal(&rng);
}

static double inner(const double *x, const double *y)
{
    double sum = 0;

    for (size_t i = 0; i < WIDTH; i++)
        sum += x[i] * y[i];
    return sum;
}

/* x of one row behind the block's end; b: [n][WIDTH]. */
static void blend(double *x, double b[][WIDTH], size_t n, const struct hx_attnres_cfg *cfg, const double *q)
{
    double a[LAYERS + 1], sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] = exp(q ? cfg->tau * inner(q, b[i]) / sqrt(inner(q, q) * inner(b[i], b[i])) : 0);
    for (size_t d = 0; d < WIDTH; d++) {
        double mix = 0;

        for (size_t i = 0; i < n; i++)
            mix += (cfg->summary == HX_ATTNRES_SUMS ? (double)n : 1) * a[i] / sum * b[i][d];
        x[d] = (1 - cfg->strength) * x[d] + cfg->strength * mix;
    }
}

static void want_row(const struct added *a, size_t row, const struct hx_attnres_cfg *cfg, double *x)
{
    double b[LAYERS + 1][WIDTH], before[WIDTH];
    size_t n = 1;

    for (size_t d = 0; d < WIDTH; d++)
        x[d] = before[d] = b[0][d] = a->embedding[row][d];
    for (size_t layer = 0; layer < LAYERS; layer++) {
        const double depth = cfg->mode != HX_ATTNRES_BLEND ? cfg->strength * (double)layer / (LAYERS - 1) : 0;

        for (size_t d = 0; d < WIDTH; d++)
            if (cfg->mode == HX_ATTNRES_DAMP_STREAM)
                x[d] = ((1 - 0.12 * depth) * x[d] + a->attn[row][layer][d]) * (1 - 0.18 * depth) + a->ffn[row][layer][d];
            else
                x[d] += a->attn[row][layer][d] * (1 - 0.12 * depth) + a->ffn[row][layer][d] * (1 - 0.18 * depth);
        if (cfg->mode != HX_ATTNRES_BLEND || ((layer + 1) % cfg->block && layer + 1 < LAYERS))
            continue;
        for (size_t d = 0; d < WIDTH; d++)
            b[n][d] = x[d] - (cfg->summary == HX_ATTNRES_SUMS ? before[d] : 0);
        n++;
        blend(x, b, n, cfg, cfg->query == HX_ATTNRES_STATE ? x : NULL);
        memcpy(before, x, sizeof(before));
    }
}

static void call(struct hx_tap *t, enum hx_tap_point point, size_t layer, float *rows, size_t n)
{
    static const uint32_t tokens[ROWS];
    static const size_t pos[ROWS];
    const struct hx_tap_at at = {point, layer, tokens, pos, n, WIDTH};
    struct hx_error err;

    if (t->points & 1u << point)
        assert_int_equal(t->ops->at(t, &at, rows, &err), 0);
}

/* Rows first .. first + n - 1 through all layers, in one batch. */
static void run_rows(struct hx_tap *t, const struct added *a, size_t first, size_t n, float *x)
{
    memcpy(x, a->embedding[first], n * WIDTH * sizeof(*x));
    call(t, HX_TAP_EMBEDDING, 0, x, n);
    for (size_t layer = 0; layer < LAYERS; layer++) {
        for (size_t i = 0; i < n * WIDTH; i++)
            x[i] += a->attn[first + i / WIDTH][layer][i % WIDTH];
        call(t, HX_TAP_AFTER_ATTN, layer, x, n);
        for (size_t i = 0; i < n * WIDTH; i++)
            x[i] += a->ffn[first + i / WIDTH][layer][i % WIDTH];
        call(t, HX_TAP_AFTER_FFN, layer, x, n);
    }
}

static struct hx_tap *open_tap(const struct hx_attnres_cfg *cfg)
{
    const struct hx_model m = {.n_layer = LAYERS, .width = WIDTH};
    struct hx_tap *t = NULL;
    struct hx_error err;

    if (hx_attnres_open(&t, cfg, &m, &err))
        fail_msg("%s", err.text);
    return t;
}

static const struct hx_attnres_cfg cfgs[] = {
    {.mode = HX_ATTNRES_BLEND, .strength = 0.35, .block = 2, .tau = 1},
    {.mode = HX_ATTNRES_BLEND, .strength = 1, .block = 3, .tau = 20},
    {.mode = HX_ATTNRES_BLEND, .strength = 0.5, .block = 1, .tau = 4},
    {.mode = HX_ATTNRES_BLEND, .strength = 0.5, .block = 7, .tau = 4, .query = HX_ATTNRES_ZERO},
    {.mode = HX_ATTNRES_BLEND, .strength = 0.5, .block = 2, .tau = 4, .summary = HX_ATTNRES_STATES},
    {.mode = HX_ATTNRES_DAMP, .strength = 0.35},
    {.mode = HX_ATTNRES_DAMP, .strength = 1},
    {.mode = HX_ATTNRES_DAMP_STREAM, .strength = 0.35},
};

static void test_streams_are_what_the_formulas_say(void **state)
{
    static struct added a;
    float x[ROWS * WIDTH];
    double want[WIDTH];

    (void)state;
    fill(&a);
    for (size_t c = 0; c < HXT_LEN(cfgs); c++) {
        struct hx_tap *t = open_tap(&cfgs[c]);

        run_rows(t, &a, 0, ROWS, x);
        for (size_t row = 0; row < ROWS; row++) {
            want_row(&a, row, &cfgs[c], want);
            for (size_t d = 0; d < WIDTH; d++)
                if (!(fabs(x[row * WIDTH + d] - want[d]) < 1e-4 * sqrt(inner(want, want))))
                    fail_msg("case %zu, row %zu: [%zu] is %g, not %g", c, row, d, (double)x[row * WIDTH + d], want[d]);
        }
        assert_int_equal(hx_tap_close(t, NULL), 0);
    }
}

static void test_a_row_does_not_depend_on_its_batch(void **state)
{
    static struct added a;
    float together[ROWS * WIDTH], alone[ROWS * WIDTH];

    (void)state;
    fill(&a);
    for (size_t c = 0; c < HXT_LEN(cfgs); c++) {
        struct hx_tap *t = open_tap(&cfgs[c]);

        for (size_t row = 0; row < ROWS; row++) /* memory grows in between */
            run_rows(t, &a, row, 1, alone + row * WIDTH);
        run_rows(t, &a, 0, ROWS, together);
        hxt_same_bytes(together, alone, sizeof(alone));
        run_rows(t, &a, 1, 3, together);
        hxt_same_bytes(together, alone + WIDTH, 3 * WIDTH * sizeof(*alone));
        assert_int_equal(hx_tap_close(t, NULL), 0);
    }
}

/* --- in an engine */

static struct hx_engine *open_engine(const char *kv, const char *a, const char *b, const char *c)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .n_ctx = CTX, .max_batch = CTX, .threads = 2,
                                                   .settings = HXT_SETTINGS(HXT_REF, hxt_setting("kv", kv), a, b, c)});
}

static void logits_of(struct hx_engine *e, float *out)
{
    struct hx_error err;

    run(e, ids, N, 0);
    if (hx_forward_logits(e->forward, 0, N, out, &err))
        fail_msg("%s", err.text);
}

static void logits_with(const char *a, const char *b, const char *c, float *out)
{
    struct hx_engine *e = open_engine("f32", a, b, c);

    logits_of(e, out);
    hx_engine_close(e);
}

static size_t top(const float *logits)
{
    size_t best = 0;

    for (size_t i = 1; i < VOCAB; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

static float plain[N * VOCAB], got[N * VOCAB];

static void test_strength_0_changes_no_bit_and_a_zero_query_no_token(void **state)
{
    (void)state;
    logits_with(NULL, NULL, NULL, plain);
    logits_with("tap=attnres", "attnres-strength=0", NULL, got);
    hxt_same_bytes(got, plain, sizeof(plain));
    logits_with("tap=attnres", "attnres-strength=0", "attnres-mode=damp", got);
    hxt_same_bytes(got, plain, sizeof(plain));
    logits_with("attnres", "attnres-query=zero", "attnres-strength=1", got);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(top(got + i * VOCAB), top(plain + i * VOCAB));
        assert_true(fabs(got[i * VOCAB] - plain[i * VOCAB]) < 1e-3);
    }
    logits_with("attnres", "attnres-strength=1", NULL, got);
    assert_true(memcmp(got, plain, sizeof(plain)) != 0);
    logits_with("attnres", "attnres-mode=damp", NULL, got);
    assert_true(memcmp(got, plain, sizeof(plain)) != 0);
}

/* One token at a time, and as a tree whose paths are texts. */
static void test_batches_and_trees_have_the_bits_of_single_tokens(void **state)
{
    static const char *const modes[] = {"attnres-mode=blend", "attnres-mode=damp", "attnres-mode=damp-stream"};
    static const int parent[4] = {-1, 0, 0, 2};
    static float alone[VOCAB];
    struct hx_error err;

    (void)state;
    for (size_t m = 0; m < HXT_LEN(modes); m++) {
        struct hx_engine *e = open_engine("f32", "attnres", modes[m], NULL);
        const struct hx_forward_parts parts = {.matrices = &e->core->matrices, .taps = e->taps, .trees = 1};

        logits_of(e, plain);
        for (size_t i = 0; i < N; i++) {
            run(e, ids + i, 1, i);
            assert_int_equal(hx_engine_logits(e, alone, &err), 0);
            hxt_same_bytes(alone, plain + i * VOCAB, sizeof(alone));
        }
        assert_int_equal(hx_forward_use(e->forward, &parts, &err), 0);
        run(e, ids, 4, 0);
        assert_int_equal(hx_forward_run_tree(e->forward, (const uint32_t[]){ids[4], 900, ids[5], ids[6]}, parent, 4, 4, &err), 0);
        assert_int_equal(hx_forward_logits(e->forward, 3, 1, alone, &err), 0);
        hxt_same_bytes(alone, plain + 6 * VOCAB, sizeof(alone)); /* the path 4, 5, 6 */
        hx_engine_close(e);
    }
}

/* --- the report */

static void test_the_profile_is_that_of_the_stream(void **state)
{
    struct hx_engine *e = open_engine("f32", "tap=attnres", "attnres-strength=0", NULL);
    double x = 0, y = 0, xx = 0, xy = 0;
    json_t *j = json_object(), *rms;
    const size_t layers = e->model->n_layer;

    (void)state;
    run(e, ids, N, 0);
    assert_int_equal(hx_engine_report(e, j), 0);
    rms = json_object_get(json_object_get(j, "attnres"), "rms");
    assert_int_equal(json_array_size(rms), layers);
    for (size_t i = 0; i < layers; i++) {
        const double u = log((double)i + 1), v = log(json_number_value(json_array_get(rms, i)));

        x += u, y += v, xx += u * u, xy += u * v;
    }
    assert_true(fabs(hxt_reported(e, "attnres", "exponent") - ((double)layers * xy - x * y) / ((double)layers * xx - x * x)) < 1e-9);
    assert_true(hxt_reported(e, "attnres", "rows") == N);
    json_decref(j);
    hx_engine_close(e);
}

/* --- queries of a file */

static void test_queries_are_mean_rows_of_a_capture(void **state)
{
    const char *file = hxt_path("%s/queries.hxc", hxt_tmpdir());
    struct hx_engine *e = open_engine("f32", hxt_setting("capture", file), "capture-points=after_ffn", NULL);
    struct hx_error err;

    (void)state;
    run(e, ids, N, 0);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hx_engine_close(e);
    logits_with("attnres-query=file", hxt_setting("attnres-file", file), "tap=attnres", got);
    logits_with("attnres", NULL, NULL, plain);
    assert_true(memcmp(got, plain, sizeof(plain)) != 0);
    for (size_t i = 0; i < N * VOCAB; i++)
        assert_true(isfinite(got[i]));
}

static void refused(const char *path, const struct hx_model *m, size_t block, int want, const char *part)
{
    const struct hx_attnres_cfg cfg = {.mode = HX_ATTNRES_BLEND, .strength = 1, .tau = 1, .block = block, .query = HX_ATTNRES_FILE,
                                       .file = path};
    struct hx_tap *t = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_attnres_open(&t, &cfg, m, &err), want);
    assert_null(t);
    if (!strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
}

static void test_files_that_cannot_be_queries_are_refused(void **state)
{
    const char *file = hxt_path("%s/few.hxc", hxt_tmpdir()), *text = hxt_path("%s/text", hxt_tmpdir());
    struct hx_engine *e = open_engine("f32", hxt_setting("capture", file), "capture-points=after_ffn", "capture-layers=0-3");
    struct hx_model other;
    struct hx_error err;

    (void)state;
    run(e, ids, N, 0);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    hxt_write_file(text, "no capture", 10);
    refused(text, e->model, 0, -EINVAL, "text");
    refused(hxt_path("%s/none", hxt_tmpdir()), e->model, 0, -ENOENT, "none");
    refused(file, e->model, 0, -EINVAL, "has no point after_ffn of layer 5");
    refused(file, e->model, 9, -EINVAL, "blocks of 9 layers; the model has 6");
    other = *e->model;
    other.fingerprint++;
    refused(file, &other, 0, -EINVAL, "queries of another model");
    hx_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_what_the_formulas_say),
        cmocka_unit_test(test_a_row_does_not_depend_on_its_batch),
        cmocka_unit_test(test_strength_0_changes_no_bit_and_a_zero_query_no_token),
        cmocka_unit_test(test_batches_and_trees_have_the_bits_of_single_tokens),
        cmocka_unit_test(test_the_profile_is_that_of_the_stream),
        cmocka_unit_test(test_queries_are_mean_rows_of_a_capture),
        cmocka_unit_test(test_files_that_cannot_be_queries_are_refused),
    };

    return HXT_RUN(tests);
}
