/* Protects: the spinor cache's calls to the DSP (marshalling, counts, errors), the rule that density and batch change no
 * bit, and calibration with its file. */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "calibrate.h"
#include "dsp_why.h"
#include "engine.h"
#include "fake_dsp.h"
#include "golden.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "open_engine.h"
#include "ppl.h"

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
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .kv = kv, .density = density,
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
    struct hx_why why = {""};

    fresh(NULL);
    fake.fail_method = method;
    fake.fail_call = call;
    fake.fail_code = code;
    e = open_engine("spinor", density, CTX);
    assert_int_equal(hx_engine_run(e, prompt, HXT_LEN(prompt), 0, &why), -EIO);
    assert_string_equal(why.text, message);
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
    struct hx_why why;

    rig_device = device;
    rig_status = status;
    hx_dsp_node(node, sizeof(node));
    assert_int_equal(hx_dsp_why(&why, HX_DSP_OPEN, node, AEE_ERPC, "open %d", 1), -EIO);
    assert_string_equal(why.text, hxt_path("open 1: AEE_ERPC (0x200), device %s", tail));
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
    struct hx_why why;

    (void)state;
    fake.damage_tables = 1;
    assert_int_equal(hx_engine_open(&e, &cfg, &why), -EIO);
    assert_non_null(strstr(why.text, "calibration damaged on its way to the DSP"));
}

static void test_spinor_perplexity_is_what_the_basis_gives(void **state)
{
    enum { WINDOW = 128, CHUNKS = 8 };
    struct hx_engine_cfg cfg = {.model = MODEL_F16, .cal = SHIPPED_CAL, .n_ctx = WINDOW};
    float *logits = malloc(HX_PPL_ROWS * VOCAB * sizeof(*logits));
    uint16_t *windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", NULL);
    struct hx_engine *e;
    struct hx_why why;
    double sum = 0, ppl;

    (void)state;
    assert_non_null(windows);
    assert_int_equal(hx_engine_open(&e, &cfg, &why), 0);
    for (size_t w = 0; w < CHUNKS; w++) {
        uint32_t ids[WINDOW + 1];

        for (size_t t = 0; t <= WINDOW; t++)
            ids[t] = windows[3 * w * (WINDOW + 1) + t];
        assert_int_equal(hx_ppl_score(e->model, e->forward, ids, WINDOW, logits, &sum, &why), 0);
    }
    ppl = exp(sum / (WINDOW * CHUNKS));
    print_message("perplexity of %d windows through blocks: %.1f\n", CHUNKS, ppl);
    /* f32: 28.  With own K and V decoded as well, which the rule forbids, it would be 215. */
    assert_true(ppl > 50 && ppl < 100);
    hx_engine_close(e);
    free(logits);
    free(windows);
}

/* --- calibration */

/* One slot's expected skeleton and fit, straight from the definition, over n golden vectors. */
static void check_slot(const struct hx_block_table *t, const float *x, size_t n)
{
    static double c[128][HX_BLOCK_PAD];
    double variance[HX_BLOCK_PAD], worst_in = INFINITY, best_out = -INFINITY;
    size_t rows[HX_BLOCK_RES], n_rows = 0;

    for (size_t p = 0; p < n; p++) {
        double mean = 0;

        for (size_t i = 0; i < HX_BLOCK_DH; i++)
            mean += (double)(c[p][i] = (double)x[p * HX_BLOCK_DH + i]) / HX_BLOCK_DH;
        for (size_t i = HX_BLOCK_DH; i < HX_BLOCK_PAD; i++)
            c[p][i] = mean;
        assert_int_equal(hx_vht2_f64(c[p], HX_BLOCK_PAD), 0);
    }
    for (size_t i = 0; i < HX_BLOCK_PAD; i++) {
        double sum = 0, square = 0;

        for (size_t p = 0; p < n; p++) {
            sum += c[p][i];
            square += c[p][i] * c[p][i];
        }
        variance[i] = square / (double)n - sum / (double)n * (sum / (double)n);
        if (!hx_squarefree_index(i)) {
            rows[n_rows++] = i;
            continue;
        }
        if (memchr(t->skeleton, (int)i, HX_BLOCK_SKEL))
            worst_in = fmin(worst_in, variance[i]);
        else
            best_out = fmax(best_out, variance[i]);
    }
    assert_int_equal(n_rows, HX_BLOCK_RES);
    assert_true(worst_in > best_out * (1 - 1e-3)); /* golden K is fp64's, the engine's f32 */

    /* normal equations of one residual row: sum_b (StS + ridge)[a][b] w[b] = StT[a] */
    for (size_t r = 0; r < HX_BLOCK_RES; r += 7)
        for (size_t a = 0; a < HX_BLOCK_SKEL; a++) {
            double left = 0, right = 0, scale = 0;

            for (size_t p = 0; p < n; p++) {
                double sa = (double)hx_f32_from_f16(hx_f16_from_f32((float)c[p][t->skeleton[a]]));

                right += sa * c[p][rows[r]];
                scale += fabs(sa * c[p][rows[r]]);
                for (size_t b = 0; b < HX_BLOCK_SKEL; b++) {
                    double sb = (double)hx_f32_from_f16(
                        hx_f16_from_f32((float)c[p][t->skeleton[b]]));
                    left += sa * sb * (double)hx_f32_from_f16(t->w[r][b]);
                    scale += fabs(sa * sb * (double)hx_f32_from_f16(t->w[r][b]));
                }
            }
            left += 1e-4 * (double)n * (double)hx_f32_from_f16(t->w[r][a]);
            if (!(fabs(left - right) <= 2e-3 * scale)) /* w is fp16: relative 2^-11 per term */
                fail_msg("row %zu, column %zu: %g, want %g", r, a, left, right);
        }
}

static void test_calibration_follows_the_definition(void **state)
{
    enum { POSITIONS = 160, DH = 128 };
    float *kv = golden_f32(GOLDEN "kv-f16.f32", LAYERS * 2 * POSITIONS * DH);
    json_t *tokens = golden_json(GOLDEN "kv-f16.tokens.json");
    struct hx_model *m;
    struct hx_cal *cal, *again, *none;
    struct hx_why why;
    size_t n;
    uint32_t *ids = golden_ids(tokens, &n);

    (void)state;
    assert_int_equal(hx_model_open(&m, MODEL_F16, &why), 0);
    assert_int_equal(hx_calibrate(&cal, m, ids, n, &why), 0); /* one window: the first 128 */
    assert_int_equal(hx_calibrate(&again, m, ids, n, &why), 0);
    assert_int_equal(cal->n_slots, 2 * LAYERS);
    assert_true(cal->fingerprint == m->fingerprint);
    hxt_same_bytes(again->tables, cal->tables, cal->n_slots * sizeof(*cal->tables));
    for (size_t slot = 0; slot < 2 * LAYERS; slot++)
        check_slot(&cal->tables[slot], kv + slot * POSITIONS * DH, HX_CAL_CTX);
    assert_int_equal(hx_calibrate(&none, m, ids, HX_CAL_MIN_VECTORS - 1, &why), -EINVAL);
    assert_non_null(strstr(why.text, "has 23 tokens; at least 24"));
    hx_cal_free(cal);
    hx_cal_free(again);
    hx_model_close(m);
    free(ids);
    free(kv);
    json_decref(tokens);
}

static void test_a_calibration_file_comes_back(void **state)
{
    const char *path = hxt_path("%s/a.cal", hxt_tmpdir());
    struct hx_cal *cal, *back;
    struct hx_why why;
    size_t n_want, n_got;
    char *want, *got;

    (void)state;
    assert_int_equal(hx_cal_read(&cal, SHIPPED_CAL, &why), 0);
    assert_int_equal(cal->n_slots, 2 * LAYERS);
    assert_int_equal(hx_cal_write(cal, path, &why), 0);
    assert_int_equal(hx_cal_read(&back, path, &why), 0);
    want = hxt_read_file(SHIPPED_CAL, &n_want);
    got = hxt_read_file(path, &n_got);
    assert_int_equal(n_got, n_want);
    hxt_same_bytes(got, want, n_want);
    hx_cal_free(cal);
    hx_cal_free(back);
    free(want);
    free(got);
}

/* Damage whose CRC-32 was repaired: the content itself must be judged. */
static int parse_with_byte(const uint8_t *good, size_t n, size_t at, uint8_t value,
                           struct hx_why *why)
{
    uint8_t *bad = malloc(n);
    struct hx_cal *cal = NULL;
    uint32_t crc;
    int rc;

    memcpy(bad, good, n);
    bad[at] = value;
    crc = hx_crc32(0, bad, n - 4);
    memcpy(bad + n - 4, &crc, 4);
    rc = hx_cal_parse(&cal, "bad.cal", bad, n, why);
    hx_cal_free(cal);
    free(bad);
    return rc;
}

static void test_a_damaged_calibration_file_is_refused(void **state)
{
    enum { HEADER = 40 };
    size_t n;
    uint8_t *good = hxt_read_file(SHIPPED_CAL, &n);
    struct hx_cal *cal;
    struct hx_why why;
    struct hxt_rng rng;

    (void)state;
    assert_non_null(good);
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < 400; i++) {
        size_t at = i < HEADER ? i : hxt_below(&rng, n);

        good[at] ^= 0x10;
        assert_int_equal(hx_cal_parse(&cal, "bad.cal", good, n, &why), -EINVAL);
        good[at] ^= 0x10;
    }
    for (size_t i = 0; i < 60; i++)
        assert_int_equal(hx_cal_parse(&cal, "bad.cal", good,
                                      i < HEADER + 5 ? i : hxt_below(&rng, n), &why), -EINVAL);
    assert_int_equal(parse_with_byte(good, n, HEADER, good[HEADER], &why), 0);
    assert_int_equal(parse_with_byte(good, n, HEADER, 200, &why), -EINVAL);   /* >= 154 */
    assert_int_equal(parse_with_byte(good, n, HEADER + 1, 3, &why), -EINVAL); /* 4 = 2 * 2 */
    assert_int_equal(parse_with_byte(good, n, HEADER + 1, good[HEADER], &why), -EINVAL);
    assert_int_equal(parse_with_byte(good, n, HEADER + 14, 1, &why), -EINVAL);    /* reserved */
    assert_int_equal(parse_with_byte(good, n, HEADER + 17, 0x7c, &why), -EINVAL); /* infinity */
    assert_int_equal(parse_with_byte(good, n, 8, 2, &why), -EINVAL);
    assert_non_null(strstr(why.text, "bad.cal: calibration file version 2"));
    free(good);
}

/* A full disk as a device: /dev/full under a name of ours, so that only that can get lost. */
static void test_a_failed_write_removes_no_device(void **state)
{
    const char *path = hxt_path("%s/full", hxt_tmpdir());
    struct hx_cal *cal;
    struct hx_why why;
    struct stat st;

    (void)state;
    if (mknod(path, S_IFCHR | 0600, makedev(1, 7)))
        hxt_skip_test("cannot make a device node: %s", strerror(errno));
    assert_int_equal(hx_cal_read(&cal, SHIPPED_CAL, &why), 0);
    assert_int_equal(hx_cal_write(cal, path, &why), -EIO);
    assert_non_null(strstr(why.text, "full: cannot write: No space left on device"));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(unlink(path), 0);
    hx_cal_free(cal);
}

/* A .cal file of another model at `path`. */
static void write_foreign(const char *path)
{
    struct hx_cal *cal;
    struct hx_why why;

    assert_int_equal(hx_cal_read(&cal, SHIPPED_CAL, &why), 0);
    cal->fingerprint ^= 1;
    assert_int_equal(hx_cal_write(cal, path, &why), 0);
    hx_cal_free(cal);
}

static void test_a_calibration_of_another_model_is_refused(void **state)
{
    const char *path = hxt_path("%s/foreign.cal", hxt_tmpdir());
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .cal = path};
    struct hx_engine *e;
    struct hx_why why;

    (void)state;
    write_foreign(path);
    assert_int_equal(hx_engine_open(&e, &cfg, &why), -EINVAL);
    assert_non_null(strstr(why.text, "foreign.cal: calibration of another model"));
    assert_int_equal(fake.opens, 0); /* before any DSP was asked */
}

static void test_the_calibration_beside_the_model_wins(void **state)
{
    const char *dir = hxt_tmpdir(), *model = hxt_path("%s/m.gguf", dir);
    struct hx_engine_cfg cfg = {.model = model, .n_ctx = 8, .share = HXT_SRC "/host/data"};
    struct hx_engine *e;
    struct hx_why why;

    (void)state;
    assert_int_equal(symlink(MODEL_Q8_0, model), 0);
    assert_int_equal(hx_engine_open(&e, &cfg, &why), 0); /* none there: the shipped one */
    hx_engine_close(e);
    write_foreign(hxt_path("%s/m.cal", dir));
    assert_int_equal(hx_engine_open(&e, &cfg, &why), -EINVAL);
    assert_non_null(strstr(why.text, "m.cal: calibration of another model"));
}

static void test_without_a_calibration_the_message_says_what_to_do(void **state)
{
    const char *dir = hxt_tmpdir();
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0};
    struct hx_engine *e;
    struct hx_why why;

    (void)state;
    assert_int_equal(hx_engine_open(&e, &cfg, &why), -ENOENT);
    assert_non_null(strstr(why.text, "--calib TEXT"));
    write_foreign(hxt_path("%s/hexrig-tiny.cal", dir)); /* the shipped one is of another model */
    cfg.share = dir;
    assert_int_equal(hx_engine_open(&e, &cfg, &why), -ENOENT);
    assert_non_null(strstr(why.text, "no calibration for this model"));
}

static void test_calib_text_calibrates_at_start(void **state)
{
    const char *text = hxt_path("%s/calib.txt", hxt_tmpdir());
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .calib = text, .n_ctx = 16};
    struct hx_engine *e;
    struct hx_why why;
    size_t n;
    char *all = hxt_read_file(HOLDOUT, &n);

    (void)state;
    assert_non_null(all);
    hxt_write_file(text, all, 2000);
    assert_int_equal(hx_engine_open(&e, &cfg, &why), 0);
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
    cmocka_unit_test(test_a_failed_write_removes_no_device),
    WITH_DSP(test_a_dsp_error_names_method_layer_position_and_code),
    WITH_DSP(test_tables_damaged_on_their_way_are_noticed),
    WITH_DSP(test_spinor_perplexity_is_what_the_basis_gives),
    WITH_DSP(test_calibration_follows_the_definition),
    WITH_DSP(test_a_calibration_file_comes_back),
    WITH_DSP(test_a_damaged_calibration_file_is_refused),
    WITH_DSP(test_a_calibration_of_another_model_is_refused),
    WITH_DSP(test_the_calibration_beside_the_model_wins),
    WITH_DSP(test_without_a_calibration_the_message_says_what_to_do),
    WITH_DSP(test_calib_text_calibrates_at_start),
};

int main(void)
{
    return HXT_RUN(tests);
}
