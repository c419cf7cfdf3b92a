/* Protects calibration: the tables are what docs/block.md defines, K before RoPE is that, and a .cal file comes back as it
 * was or is refused. */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/arch/arch.h"
#include "methods/spinor/cal_moebius.h"
#include "methods/spinor/calibrate.h"
#include "golden.h"
#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"

enum { LAYERS = 6 };

static int holds(const uint16_t *skeleton, size_t i)
{
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        if (skeleton[j] == i)
            return 1;
    return 0;
}

/* One slot's expected skeleton and fit, straight from the definition, over n golden vectors. */
static void check_vht2(const struct hx_block_table *t, uint32_t basis, const float *x, size_t n)
{
    const uint16_t *w = &t->w[0][0];
    uint16_t rows[HX_BLOCK_PAD];
    const size_t n_rows = hx_block_predicted(hx_block_shape(HX_BLOCK_DH), basis, t->skeleton, rows);
    static double c[128][HX_BLOCK_PAD];
    double variance[HX_BLOCK_PAD], worst_in = INFINITY, best_out = -INFINITY;

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
        if (!hx_squarefree_index(i))
            continue;
        if (holds(t->skeleton, i))
            worst_in = fmin(worst_in, variance[i]);
        else
            best_out = fmax(best_out, variance[i]);
    }
    assert_int_equal(n_rows, basis == HX_BASIS_VHT2 ? 60 : 140);
    assert_true(worst_in > best_out * (1 - 1e-3)); /* golden K is fp64's, the engine's f32 */

    /* normal equations of one residual row: sum_b (StS + ridge)[a][b] w[b] = StT[a] */
    for (size_t r = 0; r < n_rows; r += 7)
        for (size_t a = 0; a < HX_BLOCK_SKEL; a++) {
            double left = 0, right = 0, scale = 0;

            for (size_t p = 0; p < n; p++) {
                double sa = (double)hx_f32_from_f16(hx_f16_from_f32((float)c[p][t->skeleton[a]]));

                right += sa * c[p][rows[r]];
                scale += fabs(sa * c[p][rows[r]]);
                for (size_t b = 0; b < HX_BLOCK_SKEL; b++) {
                    double sb = (double)hx_f32_from_f16(
                        hx_f16_from_f32((float)c[p][t->skeleton[b]]));
                    left += sa * sb * (double)hx_f32_from_f16(w[r * HX_BLOCK_SKEL + b]);
                    scale += fabs(sa * sb * (double)hx_f32_from_f16(w[r * HX_BLOCK_SKEL + b]));
                }
            }
            left += 1e-4 * (double)n * (double)hx_f32_from_f16(w[r * HX_BLOCK_SKEL + a]);
            if (!(fabs(left - right) <= 2e-3 * scale)) /* w is fp16: relative 2^-11 per term */
                fail_msg("row %zu, column %zu: %g, want %g", r, a, left, right);
        }
}

/* Mean, orthonormal directions whose variances fall, and scales that are the square root of their deviations. */
static void check_klt(const uint16_t *t, const float *x, size_t n)
{
    enum { DH = HX_BLOCK_DH, ROWS = HX_BLOCK_SKEL + HX_BLOCK_RES };
    static double b[ROWS][DH];
    double mean[DH] = {0}, last = INFINITY;

    for (size_t i = 0; i < DH; i++) {
        for (size_t p = 0; p < n; p++)
            mean[i] += (double)x[p * DH + i] / (double)n;
        assert_true(fabs((double)hx_f32_from_f16(t[i]) - mean[i]) <= 1e-3 * (1 + fabs(mean[i])));
    }
    for (size_t i = 0; i < (size_t)ROWS * DH; i++)
        b[i / DH][i % DH] = (double)hx_f32_from_f16(t[DH + HX_BLOCK_RES + i]);
    for (size_t r = 0; r < ROWS; r++) {
        double variance = 0, first = 0;

        for (size_t q = 0; q <= r; q++) {
            double dot = 0;

            for (size_t i = 0; i < DH; i++)
                dot += b[r][i] * b[q][i];
            assert_true(fabs(dot - (q == r)) < 2e-3);
        }
        for (size_t i = DH; i-- > 0;)
            first = b[r][i] != 0 ? b[r][i] : first;
        assert_true(first > 0);
        for (size_t p = 0; p < n; p++) {
            double z = 0;

            for (size_t i = 0; i < DH; i++)
                z += b[r][i] * ((double)x[p * DH + i] - mean[i]);
            variance += z * z / (double)n;
        }
        assert_true(variance <= last * 1.01 + 1e-6);
        last = variance;
        if (r >= HX_BLOCK_SKEL) {
            const double scale = (double)hx_f32_from_f16(t[DH + r - HX_BLOCK_SKEL]);

            assert_true(fabs(scale - sqrt(sqrt(variance))) < 1e-2 * scale);
        }
    }
}

/* Variance about the mean of one slot's vectors. */
static double variance_of(const float *x, size_t n)
{
    double all = 0;

    for (size_t i = 0; i < HX_BLOCK_DH; i++) {
        double sum = 0, square = 0;

        for (size_t p = 0; p < n; p++) {
            sum += (double)x[p * HX_BLOCK_DH + i];
            square += (double)x[p * HX_BLOCK_DH + i] * (double)x[p * HX_BLOCK_DH + i];
        }
        all += square / (double)n - sum / (double)n * (sum / (double)n);
    }
    return all;
}

/* What is said about the vectors; of klt the share by the definition, from the tables' directions. */
static void check_seen(const struct hx_cal_seen *seen, const struct hx_cal *cal, const float *kv, size_t positions)
{
    enum { DH = HX_BLOCK_DH, ROWS = HX_BLOCK_SKEL + HX_BLOCK_RES };
    double sum = 0, least = INFINITY;

    assert_true(seen->k.retained_min > 0.3 && seen->k.retained_min <= seen->k.retained && seen->k.retained <= 1);
    if (cal->format.basis != HX_BASIS_KLT) {
        assert_true(seen->k.rank_min == 0 && seen->v.rank_min == 0);
        return;
    }
    assert_true(seen->k.rank_min > ROWS && seen->k.rank_min < HX_CAL_CTX);
    for (size_t slot = 0; slot < cal->n_slots; slot += 2) { /* K: one head */
        const uint16_t *rows = (const uint16_t *)hx_cal_table(cal, slot) + DH + HX_BLOCK_RES;
        const float *x = kv + slot * positions * DH;
        double held = 0, share;

        for (size_t r = 0; r < ROWS; r++) {
            double z1 = 0, z2 = 0;

            for (size_t p = 0; p < HX_CAL_CTX; p++) {
                double z = 0;

                for (size_t i = 0; i < DH; i++)
                    z += (double)hx_f32_from_f16(rows[r * DH + i]) * (double)x[p * DH + i];
                z1 += z;
                z2 += z * z;
            }
            held += z2 / HX_CAL_CTX - z1 / HX_CAL_CTX * (z1 / HX_CAL_CTX);
        }
        share = held / variance_of(x, HX_CAL_CTX);
        sum += share / LAYERS;
        least = fmin(least, share);
    }
    assert_true(fabs(seen->k.retained - sum) < 2e-3 && fabs(seen->k.retained_min - least) < 2e-3);
}

/* K of the golden file is after RoPE, as this takes it. */
static void check_calibration(const struct hx_model *m, const float *kv, const uint32_t *ids,
                              size_t n, uint32_t basis)
{
    enum { POSITIONS = 160 };
    const struct hx_cal_cfg cfg = {.basis = basis, .k_after_rope = 1};
    struct hx_cal *cal, *again;
    struct hx_error err;

    int rc = hx_calibrate(&cal, m, &cfg, ids, n, &err); /* one window: the first 128 */

    if (rc == -ELIBACC)
        hxt_skip_test("%s", err.text);
    assert_int_equal(rc, 0);
    assert_int_equal(hx_calibrate(&again, m, &cfg, ids, n, &err), 0);
    assert_int_equal(cal->n_slots, 2 * LAYERS);
    assert_true(cal->fingerprint == m->fingerprint);
    assert_int_equal(cal->format.basis, basis);
    assert_int_equal(cal->k_after_rope, 1);
    assert_true(cal->seen.windows == 1 && cal->seen.vectors == HX_CAL_CTX);
    check_seen(&cal->seen, cal, kv, POSITIONS);
    hxt_same_bytes(again->tables, cal->tables, cal->n_slots * cal->table_bytes);
    for (size_t slot = 0; slot < 2 * LAYERS; slot++) {
        const float *x = kv + slot * POSITIONS * HX_BLOCK_DH;

        if (basis == HX_BASIS_KLT)
            check_klt(hx_cal_table(cal, slot), x, HX_CAL_CTX);
        else
            check_vht2(hx_cal_table(cal, slot), basis, x, HX_CAL_CTX);
    }
    hx_cal_free(cal);
    hx_cal_free(again);
}

static void follows_the_definition(uint32_t basis)
{
    enum { POSITIONS = 160, DH = 128 };
    float *kv = golden_f32(GOLDEN "kv-f16.f32", LAYERS * 2 * POSITIONS * DH);
    json_t *tokens = golden_json(GOLDEN "kv-f16.tokens.json");
    struct hx_model *m;
    struct hx_error err;
    size_t n;
    uint32_t *ids = golden_ids(tokens, &n);

    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    check_calibration(m, kv, ids, n, basis);
    hx_model_close(m);
    free(ids);
    free(kv);
    json_decref(tokens);
}

static void test_vht2_follows_its_definition(void **state)
{
    (void)state;
    follows_the_definition(HX_BASIS_VHT2);
}

static void test_vht2w_follows_its_definition(void **state)
{
    (void)state;
    follows_the_definition(HX_BASIS_VHT2W);
}

static void test_klt_follows_its_definition(void **state)
{
    (void)state;
    follows_the_definition(HX_BASIS_KLT);
}

static void test_a_short_text_is_refused(void **state)
{
    const struct hx_cal_cfg cfg = {.basis = HX_BASIS_VHT2};
    const uint32_t ids[HX_CAL_MIN_VECTORS] = {1, 2, 3};
    struct hx_model *m;
    struct hx_cal *none;
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    assert_int_equal(hx_calibrate(&none, m, &cfg, ids, HX_CAL_MIN_VECTORS - 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "has 23 tokens; at least 24"));
    hx_model_close(m);
}

/* 74 vectors vary in 73 directions; the 75th makes the last one. */
static void test_klt_wants_more_vectors_than_directions(void **state)
{
    const struct hx_cal_cfg klt = {.basis = HX_BASIS_KLT}, narrow = {.basis = HX_BASIS_KLT, .n_skel = 10, .n_res = 40};
    uint32_t ids[75];
    struct hx_model *m;
    struct hx_cal *cal;
    struct hx_error err;
    int rc;

    (void)state;
    for (uint32_t i = 0; i < HXT_LEN(ids); i++)
        ids[i] = 7 * i + 3;
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    assert_int_equal(hx_calibrate(&cal, m, &klt, ids, 74, &err), -EINVAL);
    assert_non_null(strstr(err.text, "has 74 tokens, 1 window of 74: 74 vectors per slot; klt has 74 directions at head dimension 128"));
    assert_int_equal(hx_calibrate(&cal, m, &narrow, ids, 50, &err), -EINVAL);
    assert_non_null(strstr(err.text, "klt has 50 directions"));
    rc = hx_calibrate(&cal, m, &klt, ids, 75, &err);
    if (rc == -ELIBACC)
        hxt_skip_test("%s", err.text);
    assert_int_equal(rc, 0);
    assert_true(cal->seen.windows == 1 && cal->seen.ctx == 75 && cal->seen.vectors == 75);
    assert_true(cal->seen.k.rank_min > 0 && cal->seen.k.rank_min <= 74 && cal->seen.v.rank_min <= 74);
    assert_true(cal->seen.k.retained_min > 1 - 1e-9 && cal->seen.v.retained_min > 1 - 1e-9); /* all directions that there are */
    hx_cal_free(cal);
    hx_model_close(m);
}

/* What the shipped files say of themselves, and that their model is the shipped one. */
static void test_the_shipped_files_are_what_their_names_say(void **state)
{
    static const struct {
        const char *name;
        uint32_t basis;
        int k_after_rope;
    } files[] = {
        {"", HX_BASIS_KLT, 0},
        {"-klt-after", HX_BASIS_KLT, 1},
        {"-vht2-before", HX_BASIS_VHT2, 0},
        {"-vht2-after", HX_BASIS_VHT2, 1},
        {"-vht2w-before", HX_BASIS_VHT2W, 0},
        {"-vht2w-after", HX_BASIS_VHT2W, 1},
    };
    struct hx_model *m;
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    for (size_t i = 0; i < HXT_LEN(files); i++) {
        struct hx_cal *cal;

        assert_int_equal(hx_cal_read(&cal, hxt_path(HXT_SRC "/host/data/hexrig-tiny%s.cal",
                                                    files[i].name), &err), 0);
        assert_int_equal(cal->format.basis, files[i].basis);
        assert_int_equal(cal->format.code, HX_CODE_SIGN);
        assert_int_equal(cal->k_after_rope, files[i].k_after_rope);
        assert_true(cal->fingerprint == m->fingerprint);
        hx_cal_free(cal);
    }
    hx_model_close(m);
}

struct layer0 {
    size_t n;
    double k_norm, v_norm;
    float k[2][HX_BLOCK_DH]; /* of the first and of the last position */
};

static void add_layer0(void *arg, size_t slot, const float *x)
{
    struct layer0 *l = arg;

    if (slot > 1)
        return;
    for (size_t i = 0; i < HX_BLOCK_DH; i++)
        *(slot ? &l->v_norm : &l->k_norm) += (double)x[i] * (double)x[i];
    if (slot == 0)
        memcpy(l->k[l->n++ > 0], x, sizeof(l->k[0]));
}

/* The same token at positions 0 and 23: in layer 0 its K differs only by RoPE, which is a rotation. */
static void test_k_before_rope_does_not_depend_on_the_position(void **state)
{
    const uint32_t ids[24] = {17, [23] = 17};
    struct layer0 at[2];
    struct hx_model *m;
    struct hx_error err;
    size_t n;

    (void)state;
    memset(at, 0, sizeof(at));
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    for (int after = 0; after < 2; after++) {
        assert_int_equal(hx_cal_visit(m, after, ids, 24, add_layer0, &at[after], &n, &err), 0);
        assert_int_equal(n, 24);
        assert_int_equal(at[after].n, 24);
    }
    hxt_near_f32_abs(at[0].k[1], at[0].k[0], HX_BLOCK_DH, 0, 1e-4);
    hxt_near_f32_abs(at[1].k[0], at[0].k[0], HX_BLOCK_DH, 0, 1e-4); /* position 0 turns nothing */
    assert_true(fabsf(at[1].k[1][0] - at[1].k[0][0]) > 1e-2f);
    assert_true(fabs(at[0].k_norm - at[1].k_norm) < 1e-5 * at[0].k_norm);
    assert_true(at[0].v_norm == at[1].v_norm);
    hx_model_close(m);
}

static void test_a_calibration_file_comes_back(void **state)
{
    const char *path = hxt_path("%s/a.cal", hxt_tmpdir());
    struct hx_cal *cal, *back;
    struct hx_error err;
    size_t n_want, n_got;
    char *want, *got;

    (void)state;
    assert_int_equal(hx_cal_read(&cal, SHIPPED_CAL, &err), 0);
    assert_int_equal(cal->n_slots, 2 * LAYERS);
    assert_int_equal(hx_cal_write(cal, path, &err), 0);
    assert_int_equal(hx_cal_read(&back, path, &err), 0);
    want = hxt_read_file(SHIPPED_CAL, &n_want);
    got = hxt_read_file(path, &n_got);
    assert_int_equal(n_got, n_want);
    hxt_same_bytes(got, want, n_want);
    hx_cal_free(cal);
    hx_cal_free(back);
    free(want);
    free(got);
}

/* Tables of other lanes are made, written and read as such; lanes that there are not are refused by the maker and by the reader. */
static void test_lanes_are_configured_and_kept_in_the_file(void **state)
{
    const struct hx_cal_cfg cfg = {.basis = HX_BASIS_VHT2W, .n_skel = 9, .n_res = 33}, bad = {.n_res = 61};
    const char *path = hxt_path("%s/lanes.cal", hxt_tmpdir());
    uint32_t ids[64], crc;
    struct hx_cal *cal, *back;
    struct hx_model *m;
    struct hx_error err;
    uint8_t *bytes;
    size_t n;

    (void)state;
    for (uint32_t i = 0; i < HXT_LEN(ids); i++)
        ids[i] = 7 * i + 3;
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    assert_int_equal(hx_calibrate(&cal, m, &bad, ids, HXT_LEN(ids), &err), -EINVAL);
    assert_non_null(strstr(err.text, "14 skeleton and 61 residual lanes; legal: up to 32, up to 60"));
    assert_int_equal(hx_calibrate(&cal, m, &cfg, ids, HXT_LEN(ids), &err), 0);
    assert_int_equal(cal->format.shape->n_skel, 9);
    assert_int_equal(cal->format.shape->n_res, 33);
    assert_int_equal(hx_cal_write(cal, path, &err), 0);
    assert_int_equal(hx_cal_read(&back, path, &err), 0);
    assert_ptr_equal(back->format.shape, cal->format.shape);
    hxt_same_bytes(back->tables, cal->tables, cal->n_slots * cal->table_bytes);

    bytes = hxt_read_file(path, &n);
    bytes[40] = 33; /* skeleton lanes */
    crc = hx_crc32(0, bytes, n - 4);
    memcpy(bytes + n - 4, &crc, 4);
    assert_int_equal(hx_cal_parse(&(struct hx_cal *){NULL}, "bad.cal", bytes, n, &err), -EINVAL);
    assert_non_null(strstr(err.text, "33 skeleton and 33 residual lanes"));
    for (size_t cut = 0; cut < 60; cut++) /* no part of the head is read that is not there */
        assert_int_equal(hx_cal_parse(&(struct hx_cal *){NULL}, "bad.cal", bytes, cut, &err), -EINVAL);
    free(bytes);
    hx_cal_free(cal);
    hx_cal_free(back);
    hx_model_close(m);
}

/* By numbers from 1: 4 = 2 * 2, of which mu is -1 of 2 and the skeleton has the other 2; 12 is predicted from 6 and from 2. */
static void test_the_uncalibrated_table_is_the_moebius_sum(void **state)
{
    static const uint16_t numbers[HX_BLOCK_SKEL] = {1, 2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 17, 19, 21};
    uint16_t rows[HX_BLOCK_MAX_PAD];
    struct hx_block_table t;
    struct hx_codec_format f;

    (void)state;
    assert_int_equal(hx_codec_format(&f, HX_BLOCK_DH, HX_BASIS_VHT2, HX_CODE_SIGN), 0);
    hx_moebius_table(&f, &t);
    assert_int_equal(hx_codec_check_table(&f, &t), 0);
    hx_block_residual_rows(f.shape, rows);
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        assert_int_equal(t.skeleton[j] + 1, numbers[j]);
    for (size_t i = 0; i < HX_BLOCK_RES; i++)
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
            static const signed char mu[] = {0, 1, -1, -1, 0, -1, 1, -1, 0, 0, 1, -1, 0, -1, 1, 1, 0, -1, 0, -1, 0, 1};
            const size_t n = rows[i] + 1u, d = n % numbers[j] ? 0 : n / numbers[j];

            if (d < HXT_LEN(mu))
                assert_true(hx_f32_from_f16(t.w[i][j]) == (float)mu[d]);
        }
    assert_true(rows[0] == 3 && hx_f32_from_f16(t.w[0][1]) == -1);
    assert_true(rows[3] == 11 && hx_f32_from_f16(t.w[3][4]) == -1 && hx_f32_from_f16(t.w[3][1]) == 1);
}

/* Damage whose CRC-32 was repaired: the content itself must be judged. */
static int parse_with_byte(const uint8_t *good, size_t n, size_t at, uint8_t value,
                           struct hx_error *err)
{
    uint8_t *bad = malloc(n);
    struct hx_cal *cal = NULL;
    uint32_t crc;
    int rc;

    memcpy(bad, good, n);
    bad[at] = value;
    crc = hx_crc32(0, bad, n - 4);
    memcpy(bad + n - 4, &crc, 4);
    rc = hx_cal_parse(&cal, "bad.cal", bad, n, err);
    hx_cal_free(cal);
    free(bad);
    return rc;
}

static void test_a_damaged_calibration_file_is_refused(void **state)
{
    enum { HEADER = 40 };
    size_t n;
    uint8_t *good = hxt_read_file(HXT_SRC "/host/data/hexrig-tiny-vht2-after.cal", &n);
    struct hx_cal *cal;
    struct hx_error err;
    struct hxt_rng rng;

    (void)state;
    assert_non_null(good);
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < 400; i++) {
        size_t at = i < HEADER ? i : hxt_below(&rng, n);

        good[at] ^= 0x10;
        assert_int_equal(hx_cal_parse(&cal, "bad.cal", good, n, &err), -EINVAL);
        good[at] ^= 0x10;
    }
    for (size_t i = 0; i < 60; i++)
        assert_int_equal(hx_cal_parse(&cal, "bad.cal", good,
                                      i < HEADER + 5 ? i : hxt_below(&rng, n), &err), -EINVAL);
    assert_int_equal(parse_with_byte(good, n, HEADER, good[HEADER], &err), 0);
    assert_int_equal(parse_with_byte(good, n, HEADER, 200, &err), -EINVAL);   /* >= 154 */
    assert_int_equal(parse_with_byte(good, n, HEADER + 2, 3, &err), -EINVAL); /* 4 = 2 * 2 */
    assert_int_equal(parse_with_byte(good, n, HEADER + 2, good[HEADER], &err), -EINVAL);
    assert_int_equal(parse_with_byte(good, n, HEADER + 28, 1, &err), -EINVAL);    /* reserved */
    assert_int_equal(parse_with_byte(good, n, HEADER + 33, 0x7c, &err), -EINVAL); /* infinity */
    assert_int_equal(parse_with_byte(good, n, 12, 96, &err), -EINVAL);            /* dh */
    assert_int_equal(parse_with_byte(good, n, 16, HX_BASES, &err), -EINVAL);
    assert_int_equal(parse_with_byte(good, n, 16, HX_BASIS_KLT, &err), -EINVAL); /* other sizes */
    assert_int_equal(parse_with_byte(good, n, 20, 0x80, &err), -EINVAL);         /* flags */
    assert_int_equal(parse_with_byte(good, n, 8, 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "bad.cal: calibration file version 1 is not supported"));
    assert_non_null(strstr(err.text, "hexrig block calibrate"));
    free(good);
}

/* A full disk as a device: /dev/full under a name of ours, so that only that can get lost. */
static void test_a_failed_write_removes_no_device(void **state)
{
    const char *path = hxt_path("%s/full", hxt_tmpdir());
    struct hx_cal *cal;
    struct hx_error err;
    struct stat st;

    (void)state;
    if (mknod(path, S_IFCHR | 0600, makedev(1, 7)))
        hxt_skip_test("cannot make a device node: %s", strerror(errno));
    assert_int_equal(hx_cal_read(&cal, SHIPPED_CAL, &err), 0);
    assert_int_equal(hx_cal_write(cal, path, &err), -EIO);
    assert_non_null(strstr(err.text, "full: cannot write: No space left on device"));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(unlink(path), 0);
    hx_cal_free(cal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vht2_follows_its_definition),
        cmocka_unit_test(test_vht2w_follows_its_definition),
        cmocka_unit_test(test_klt_follows_its_definition),
        cmocka_unit_test(test_a_short_text_is_refused),
    cmocka_unit_test(test_klt_wants_more_vectors_than_directions),
        cmocka_unit_test(test_the_shipped_files_are_what_their_names_say),
        cmocka_unit_test(test_k_before_rope_does_not_depend_on_the_position),
        cmocka_unit_test(test_a_calibration_file_comes_back),
        cmocka_unit_test(test_lanes_are_configured_and_kept_in_the_file),
        cmocka_unit_test(test_the_uncalibrated_table_is_the_moebius_sum),
        cmocka_unit_test(test_a_damaged_calibration_file_is_refused),
        cmocka_unit_test(test_a_failed_write_removes_no_device),
    };

    return HXT_RUN(tests);
}
