/* Protects: the spinor cache's calls to the DSP (marshalling, counts, errors), the rule that density and batch change no
 * bit, the quality of each basis, and which calibration is used.  test_calibrate.c has how one is made. */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "hxt_each.h"
#include "methods/spinor/cal_file.h"
#include "dsp/dsp_error.h"
#include "engine/engine.h"
#include "fake_dsp.h"
#include "golden.h"
#include "open_engine.h"
#include "ppl_window.h"

enum { VOCAB = 2048, LAYERS = 6, CTX = 64 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};

static int fresh(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static struct hx_engine *open_engine(const char *kv, const char *density, size_t max_batch)
{
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0,
                                .settings = HXT_SETTINGS(HXT_REF, hxt_setting("kv", kv),
                                                         hxt_setting("density", density)),
                                .share = HXT_SRC "/host/data", .n_ctx = CTX,
                                .max_batch = max_batch};

    return hxt_engine_open(&cfg);
}

static void logits_of_prompt(const char *kv, const char *density, size_t max_batch, float *logits)
{
    struct hx_engine *e = open_engine(kv, density, max_batch);

    run(e, prompt, HXT_LEN(prompt), 0);
    assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
    hx_engine_close(e);
}

static void test_density_and_batch_change_no_bit(void **state)
{
    static const size_t batches[] = {1, 2, 3, 7, CTX};
    float want[VOCAB], got[VOCAB];

    (void)state;
    logits_of_prompt("spinor", "per-vector", CTX, want);
    for (size_t i = 0; i < HXT_LEN(batches); i++) {
        logits_of_prompt("spinor", "batched", batches[i], got);
        hxt_same_bytes(got, want, sizeof(want));
    }
    logits_of_prompt("f32", NULL, CTX, got);
    assert_true(memcmp(got, want, sizeof(want)) != 0); /* the text really comes through blocks */
}

static void test_a_position_sees_itself_in_f32(void **state)
{
    float want[VOCAB], got[VOCAB];
    struct hx_engine *e = open_engine("f32", NULL, 1);

    (void)state;
    run(e, prompt, 1, 0);
    assert_int_equal(hx_engine_logits(e, want, NULL), 0);
    hx_engine_close(e);
    e = open_engine("spinor", "batched", 1);
    run(e, prompt, 1, 0); /* no past: nothing decoded takes part */
    assert_int_equal(hx_engine_logits(e, got, NULL), 0);
    hx_engine_close(e);
    hxt_same_bytes(got, want, sizeof(want));
}

static void test_per_vector_makes_one_call_per_vector(void **state)
{
    struct hx_engine *e = open_engine("spinor", "per-vector", CTX);
    size_t decodes = 0;

    (void)state;
    assert_int_equal(fake.calls[sp_hex_METHOD_calibrate], 1);
    run(e, prompt, 5, 0); /* prefill too goes token by token */
    for (size_t p = 0; p < 5; p++)
        decodes += 2 * LAYERS * p;
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_f32], 5 * 2 * LAYERS);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_decode_f32], decodes);
    run(e, prompt + 5, 1, 5);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_f32], 6 * 2 * LAYERS);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_decode_f32], decodes + 2 * LAYERS * 5);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_batch_f32], 0);
    hx_engine_close(e);
}

static void test_batched_makes_two_calls_per_layer(void **state)
{
    struct hx_engine *e = open_engine("spinor", "batched", CTX);

    (void)state;
    run(e, prompt, 1, 0); /* nothing to decode at position 0 */
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_batch_f32], LAYERS);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_decode_batch_f32], 0);
    run(e, prompt, 8, 1);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_batch_f32], 2 * LAYERS);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_decode_batch_f32], LAYERS);
    run(e, prompt, 1, 9);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_batch_f32], 3 * LAYERS);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_decode_batch_f32], 2 * LAYERS);
    assert_int_equal(fake.calls[sp_hex_METHOD_hier_encode_f32], 0);
    hx_engine_close(e);
}

static void test_a_damaged_reply_changes_the_result(void **state)
{
    float want[VOCAB], got[VOCAB];

    (void)state;
    logits_of_prompt("spinor", "batched", 1, want);
    fresh(NULL);
    fake.damage_decode = 20;
    logits_of_prompt("spinor", "batched", 1, got);
    assert_true(memcmp(got, want, sizeof(want)) != 0);
}

/* What the fake rig answers; the real calls would find a rig that runs on this machine. */
static const char *rig_status, *rig_device;

const char *hx_rig_device(void)
{
    return rig_device;
}

int hx_rig_read(const char *mount, const char *node, char **text)
{
    assert_null(mount);
    assert_string_equal(node, "status");
    *text = rig_status ? strdup(rig_status) : NULL;
    return *text ? 0 : -ENOENT;
}

static void check_failure(const char *density, uint32_t method, size_t call, int code,
                          const char *message)
{
    struct hx_engine *e;
    struct hx_error err = {""};

    fresh(NULL);
    fake.fail_method = method;
    fake.fail_call = call;
    fake.fail_code = code;
    e = open_engine("spinor", density, CTX);
    assert_int_equal(hx_engine_run(e, prompt, HXT_LEN(prompt), 0, &err), -EIO);
    assert_string_equal(err.text, message);
    hx_engine_close(e);
}

static void test_a_dsp_error_names_method_layer_position_and_code(void **state)
{
    (void)state;
    rig_status = "state=up\nsessions=14\nsessions_max=14\n";
    rig_device = "/rig/fastrpc-cdsp";
    check_failure("batched", sp_hex_METHOD_hier_encode_batch_f32, 3, AEE_ECONNRESET,
                  "kv spinor: hier_encode_batch_f32 failed at layer 2, positions 0..9: "
                  "AEE_ECONNRESET (0x68), device /rig/fastrpc-cdsp: the DSP died or the rig went "
                  "away");
    check_failure("batched", sp_hex_METHOD_hier_decode_batch_f32, 1, AEE_EEXPIRED,
                  "kv spinor: hier_decode_batch_f32 failed at layer 0, positions 0..8: "
                  "AEE_EEXPIRED (0xc), device /rig/fastrpc-cdsp: the DSP did not answer in time");
    check_failure("per-vector", sp_hex_METHOD_hier_encode_f32, 15, AEE_ERPC,
                  "kv spinor: hier_encode_f32 failed at layer 1, positions 1..1: AEE_ERPC (0x200), "
                  "device /rig/fastrpc-cdsp: the rig went away, or its driver refused the call");
    check_failure("per-vector", sp_hex_METHOD_hier_decode_f32, 2 * LAYERS + 3, 0x12345,
                  "kv spinor: hier_decode_f32 failed at layer 0, positions 1..1: error 0x12345, "
                  "device /rig/fastrpc-cdsp");
}

/* device: of the connected rig, or NULL */
static void check_open_failure(const char *device, const char *status, const char *tail)
{
    char node[64];
    struct hx_error err;

    rig_device = device;
    rig_status = status;
    hx_dsp_node(node, sizeof(node));
    assert_int_equal(hx_dsp_error(&err, HX_DSP_OPEN, node, AEE_ERPC, "open %d", 1), -EIO);
    assert_string_equal(err.text, hxt_path("open 1: AEE_ERPC (0x200), device %s", tail));
}

static void test_an_open_that_fails_names_device_and_limit(void **state)
{
    static const char full[] = "sessions=14\nsessions_max=14\n", node[] = "/rig/fastrpc-cdsp";
    static const char vague[] = "no fastrpc device, or all of its sessions are taken";

    (void)state;
    check_open_failure(node, full, "/rig/fastrpc-cdsp: all of its 14 sessions are taken");
    check_open_failure(node, "sessions=1\nsessions_max=14\n", hxt_path("%s: %s", node, vague));
    check_open_failure(NULL, NULL, hxt_path("?: %s", vague));
}

static void test_tables_damaged_on_their_way_are_noticed(void **state)
{
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .share = HXT_SRC "/host/data"};
    struct hx_engine *e;
    struct hx_error err;

    (void)state;
    fake.damage_tables = 1;
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -EIO);
    assert_non_null(strstr(err.text, "calibration damaged on its way to the DSP"));
}

/* Over every third of the windows in wikitext2-windows.u16. */
static double perplexity(const char *kv, const char *basis, const char *k, const uint16_t *windows)
{
    enum { WINDOW = 128, CHUNKS = 8 };
    struct hx_engine_cfg cfg = {.model = MODEL_F16,
                                .settings = HXT_SETTINGS(HXT_REF, hxt_setting("kv", kv), hxt_setting("basis", basis),
                                                         hxt_setting("k", k)),
                                .share = HXT_SRC "/host/data", .n_ctx = WINDOW};
    struct hx_engine *e;
    struct hx_error err;
    double sum = 0;

    if (hx_engine_open(&e, &cfg, &err))
        fail_msg("%s", err.text);
    for (size_t w = 0; w < CHUNKS; w++) {
        uint32_t ids[WINDOW + 1];

        for (size_t t = 0; t <= WINDOW; t++)
            ids[t] = windows[3 * w * (WINDOW + 1) + t];
        assert_int_equal(hxt_ppl_window(e->model, e->forward, ids, WINDOW, &sum, &err), 0);
    }
    hx_engine_close(e);
    return exp(sum / (WINDOW * CHUNKS));
}

static void test_perplexity_is_what_each_basis_gives(void **state)
{
    static const struct {
        const char *basis, *k;
        double low, high; /* times that of f32 */
    } cases[] = {
        {NULL, NULL, 0.98, 1.02}, /* klt before: what issue 6 promises */
        {"klt", "after", 0.98, 1.04},
        {"vht2", "before", 2, 4},
        {"vht2", "after", 2, 4},
        {"vht2w", "before", 1.1, 1.5},
        {"vht2w", "after", 1.2, 2},
    };
    uint16_t *windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", NULL);
    double f32;

    (void)state;
    assert_non_null(windows);
    f32 = perplexity("f32", NULL, NULL, windows);
    print_message("perplexity of 8 windows: f32 %.2f\n", f32);
    for (size_t i = 0; i < HXT_LEN(cases); i += HXT_EACH) {
        const double ppl = perplexity("spinor", cases[i].basis, cases[i].k, windows);

        print_message("  %s, K %s RoPE: %.2f (%+.1f %%)\n", cases[i].basis ? cases[i].basis : "klt",
                      cases[i].k ? cases[i].k : "before", ppl, 100 * (ppl / f32 - 1));
        if (!(ppl >= cases[i].low * f32 && ppl <= cases[i].high * f32))
            fail_msg("%g times f32 is outside %g..%g", ppl / f32, cases[i].low, cases[i].high);
    }
    free(windows);
}

/* --- which calibration */

/* A .cal file of another model at `path`. */
static void write_foreign(const char *path)
{
    struct hx_cal *cal;
    struct hx_error err;

    assert_int_equal(hx_cal_read(&cal, SHIPPED_CAL, &err), 0);
    cal->fingerprint ^= 1;
    assert_int_equal(hx_cal_write(cal, path, &err), 0);
    hx_cal_free(cal);
}

static void test_a_calibration_of_another_model_is_refused(void **state)
{
    const char *path = hxt_path("%s/foreign.cal", hxt_tmpdir());
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .settings = HXT_SETTINGS(hxt_setting("cal", path))};
    struct hx_engine *e;
    struct hx_error err;

    (void)state;
    write_foreign(path);
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
    assert_non_null(strstr(err.text, "foreign.cal: calibration of another model"));
    assert_int_equal(fake.opens, 0); /* before any DSP was asked */
}

static void test_the_calibration_beside_the_model_wins(void **state)
{
    const char *dir = hxt_tmpdir(), *model = hxt_path("%s/m.gguf", dir);
    struct hx_engine_cfg cfg = {.model = model, .n_ctx = 8, .share = HXT_SRC "/host/data"};
    struct hx_engine *e;
    struct hx_error err;

    (void)state;
    assert_int_equal(symlink(MODEL_Q8_0, model), 0);
    assert_int_equal(hx_engine_open(&e, &cfg, &err), 0); /* none there: the shipped one */
    hx_engine_close(e);
    write_foreign(hxt_path("%s/m.cal", dir));
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
    assert_non_null(strstr(err.text, "m.cal: calibration of another model"));
}

static void test_basis_and_k_must_be_the_files(void **state)
{
    static const struct {
        const char *basis, *k, *says;
    } bad[] = {
        {"basis=vht2", NULL, "hexrig-tiny.cal: calibration for basis klt, not vht2"},
        {"basis=klt", "k=after", "calibration for K before RoPE, not after it"},
        {"basis=klt", "k-rope=post", "calibration for K before RoPE, not after it"},
        {"basis=klt", "k=sideways", "k: unknown value 'sideways'; legal: before, after"},
        {"basis=klt", "k-rope=before", "k-rope: unknown value 'before'; legal: pre, post"},
        {"basis=dct", NULL, "basis: unknown value 'dct'; legal: vht2, vht2w, klt"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        const struct hx_engine_cfg cfg = {
            .model = MODEL_Q8_0, .settings = HXT_SETTINGS("cal=" SHIPPED_CAL, bad[i].basis, bad[i].k)};
        struct hx_engine *e;
        struct hx_error err;

        assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
    }
    assert_int_equal(fake.opens, 0);
}

static void test_without_a_calibration_the_message_says_what_to_do(void **state)
{
    const char *dir = hxt_tmpdir();
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0};
    struct hx_engine *e;
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -ENOENT);
    assert_non_null(strstr(err.text, "; use cal FILE, or calibrate-on TEXT, or make a file with `hexrig block "
                                     "calibrate`, or kv f32"));
    write_foreign(hxt_path("%s/hexrig-tiny.cal", dir)); /* the shipped one is of another model */
    cfg.share = dir;
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -ENOENT);
    assert_non_null(strstr(err.text, "no calibration for this model"));
}

static void test_calib_text_calibrates_at_start(void **state)
{
    const char *text = hxt_path("%s/calib.txt", hxt_tmpdir());
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .n_ctx = 16,
                                .settings = HXT_SETTINGS(hxt_setting("calibrate-on", text), "basis=vht2w")};
    struct hx_engine *e;
    struct hx_error err;
    size_t n;
    char *all = hxt_read_file(HOLDOUT, &n);

    (void)state;
    assert_non_null(all);
    hxt_write_file(text, all, 2000);
    assert_int_equal(hx_engine_open(&e, &cfg, &err), 0);
    assert_int_equal(fake.calls[sp_hex_METHOD_calibrate], 1);
    run(e, prompt, HXT_LEN(prompt), 0);
    hx_engine_close(e);
    free(all);
}

#define WITH_DSP(f) cmocka_unit_test_setup_teardown(f, fresh, fresh)
static const struct CMUnitTest tests[] = {
    WITH_DSP(test_density_and_batch_change_no_bit),
    WITH_DSP(test_a_position_sees_itself_in_f32),
    WITH_DSP(test_per_vector_makes_one_call_per_vector),
    WITH_DSP(test_batched_makes_two_calls_per_layer),
    WITH_DSP(test_a_damaged_reply_changes_the_result),
    cmocka_unit_test(test_an_open_that_fails_names_device_and_limit),
    WITH_DSP(test_a_dsp_error_names_method_layer_position_and_code),
    WITH_DSP(test_tables_damaged_on_their_way_are_noticed),
    WITH_DSP(test_perplexity_is_what_each_basis_gives),
    WITH_DSP(test_a_calibration_of_another_model_is_refused),
    WITH_DSP(test_the_calibration_beside_the_model_wins),
    WITH_DSP(test_basis_and_k_must_be_the_files),
    WITH_DSP(test_without_a_calibration_the_message_says_what_to_do),
    WITH_DSP(test_calib_text_calibrates_at_start),
};

int main(void)
{
    return HXT_RUN(tests);
}
