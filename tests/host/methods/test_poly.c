/* Protects: ring attention in the engine.  Its scores are the exact inner products of what was encoded, in every mode, from
 * every cache, in every batch and on any number of threads, bit for bit; what encoding costs stays below the stated limits;
 * integer softmax is what it says. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "methods/cpu/attn_flash.h"
#include "methods/ntt/attn_poly.h"
#include "golden.h"
#include "methods/ntt/kv_ntt.h"
#include "open_engine.h"
#include "ppl_window.h"
#include "engine/softmax.h"

#ifdef __SANITIZE_ADDRESS__
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif
enum { CTX = 128, WINDOWS = 24, RUN = 40 };

static uint32_t *window_ids(size_t window)
{
    uint16_t *all = hxt_read_file(GOLDEN "wikitext2-windows.u16", NULL);
    uint32_t *ids = calloc(CTX + 1, sizeof(*ids));

    assert_non_null(all);
    for (size_t i = 0; i <= CTX; i++)
        ids[i] = all[window * (CTX + 1) + i];
    free(all);
    return ids;
}

/* --- real Q and K: an attention method that keeps the worst it sees and passes everything on */

struct spy {
    struct hx_attn attn;
    struct hx_attn *inner;
    struct hx_poly ring;
    double kl_max, cosine_min;
    size_t rows;
};

static void softmax64(double *s, size_t n)
{
    double max = s[0], sum = 0;

    for (size_t i = 1; i < n; i++)
        max = s[i] > max ? s[i] : max;
    for (size_t i = 0; i < n; i++)
        sum += s[i] = exp(s[i] - max);
    for (size_t i = 0; i < n; i++)
        s[i] /= sum;
}

/* Token and head: scores of the batch's own keys, exact in fp64 and by the ring. */
static void spy_row(struct spy *s, const struct hx_attn_in *in, size_t token, size_t head)
{
    const size_t dh = in->kv->dh, kv_head = head / (in->n_head / in->kv->n_kv), n = token + 1;
    const float *q = in->q + (token * in->n_head + head) * dh;
    _Alignas(64) char query[8 * HX_POLY_N_MAX], key[8 * HX_POLY_N_MAX];
    double want[CTX], got[CTX], kl = 0, dot = 0, norm = 0, norm_got = 0;

    hx_poly_query(&s->ring, query, q);
    for (size_t p = 0; p < n; p++) {
        const float *k = in->k + (p * in->kv->n_kv + kv_head) * dh;
        int64_t c;

        want[p] = 0;
        for (size_t i = 0; i < dh; i++)
            want[p] += (double)q[i] * k[i];
        want[p] *= in->scale;
        hx_poly_key(&s->ring, key, k);
        hx_poly_scores(&s->ring, &c, query, key, 0, 1);
        got[p] = ldexp((double)c, -2 * HX_POLY_DELTA_BITS) * in->scale;
        dot += want[p] * got[p];
        norm += want[p] * want[p];
        norm_got += got[p] * got[p];
    }
    softmax64(want, n);
    softmax64(got, n);
    for (size_t p = 0; p < n; p++)
        kl += want[p] * log(want[p] / got[p]);
    s->kl_max = fmax(s->kl_max, kl);
    s->cosine_min = fmin(s->cosine_min, dot / sqrt(norm * norm_got));
    s->rows++;
}

static int spy_run(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct spy *s = (struct spy *)a;

    for (size_t i = 0; i < in->n; i++)
        for (size_t head = 0; head < in->n_head; head++)
            spy_row(s, in, i, head);
    return s->inner->ops->run(s->inner, in, out, err);
}

static void test_real_q_and_k_lose_less_than_1e_9(void **state)
{
    static const struct hx_attn_ops ops = {.name = "spy", .run = spy_run};
    const struct hx_engine_cfg cfg = {.model = MODEL_F16, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = CTX,
                                      .threads = 1};
    const struct hx_poly_cfg crt = {.mode = HX_POLY_CRT};
    struct spy s = {.attn = {.ops = &ops}, .cosine_min = 1};
    struct hx_engine *e = hxt_engine_open(&cfg);
    uint32_t *ids = window_ids(3);
    struct hx_forward *f;
    struct hx_error err;

    (void)state;
    s.inner = e->attn;
    assert_int_equal(hx_poly_open(&s.ring, &crt, e->model->dh, &err), 0);
    assert_int_equal(hx_forward_open(&f, e->model, e->kv, &s.attn, CTX, &err), 0);
    if (hx_forward_run(f, ids, CTX, 0, &err))
        fail_msg("%s", err.text);
    print_message("%zu rows: KL <= %.3g, cosine >= 1 - %.3g\n", s.rows, s.kl_max, 1 - s.cosine_min);
    assert_int_equal(s.rows, CTX * e->model->n_layer * e->model->n_head);
    assert_true(s.kl_max < 1e-9);
    assert_true(s.cosine_min > 1 - 1e-9);
    hx_forward_close(f);
    hx_engine_close(e);
    free(ids);
}

/* --- perplexity */

static double perplexity(const struct hx_engine_cfg *cfg, size_t windows)
{
    struct hx_engine *e = hxt_engine_open(cfg);
    double sum = 0;
    struct hx_error err;

    for (size_t i = 0; i < windows; i++) {
        uint32_t *ids = window_ids(i * (WINDOWS / windows));

        if (hxt_ppl_window(e->model, e->forward, ids, CTX, &sum, &err))
            fail_msg("%s", err.text);
        free(ids);
    }
    hx_engine_close(e);
    return exp(sum / (double)(CTX * windows));
}

static void test_perplexity_equals_the_reference_to_6_digits(void **state)
{
    const struct hx_engine_cfg ref = {.model = MODEL_F16, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = CTX};
    const struct hx_engine_cfg poly = {
        .model = MODEL_F16, .settings = HXT_SETTINGS("kv=ntt", "attn=poly", "linear=ref"), .n_ctx = CTX};
    const size_t windows = SLOW ? 2 : WINDOWS;
    const double want = perplexity(&ref, windows), got = perplexity(&poly, windows);

    (void)state;
    print_message("%zu windows: %.9g, ring %.9g\n", windows, want, got);
    assert_true(fabs(got - want) < 5e-7 * want);
}

/* --- one and the same bits, whatever the way */

/* Logits of n positions, `batch` tokens at once. */
static float *logits_of(const struct hx_engine_cfg *cfg, const uint32_t *ids, size_t n, size_t batch)
{
    struct hx_engine *e = hxt_engine_open(cfg);
    const size_t vocab = e->model->vocab;
    float *out = calloc(n * vocab, sizeof(*out));
    struct hx_error err;

    for (size_t pos = 0; pos < n; pos += batch) {
        const size_t now = n - pos < batch ? n - pos : batch;

        if (hx_forward_run(e->forward, ids + pos, now, pos, &err) ||
            hx_forward_logits(e->forward, 0, now, out + pos * vocab, &err))
            fail_msg("%s", err.text);
    }
    hx_engine_close(e);
    return out;
}

static void test_all_ways_give_the_same_bits(void **state)
{
    static const struct way {
        const char *name, *kv;
        const char *primes; /* NULL: schoolbook */
        size_t threads, n, batch; /* CTX tokens at once are work enough for threads */
    } ways[] = {
        {"two primes, per step, one thread", "f32", "ntt-crt", 1, CTX, CTX},
        {"two primes, per step, threads", "f32", "ntt-crt", 3, CTX, CTX},
        {"60 bits, per step", "f32", "ntt", 1, CTX, CTX},
        {"schoolbook", "f32", NULL, 2, RUN, RUN},
        {"two primes, persistent", "ntt", "ntt-crt", 1, CTX, CTX},
        {"60 bits, persistent, threads", "ntt", "ntt", 3, CTX, CTX},
        {"two primes, per step, batches", "f32", "ntt-crt", 3, RUN, 7},
        {"two primes, persistent, tokens", "ntt", "ntt-crt", 2, RUN, 1},
    };
    uint32_t *ids = window_ids(7);
    float *want = NULL;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        const struct hx_engine_cfg cfg = {
            .model = MODEL_F16, .n_ctx = CTX, .threads = ways[i].threads,
            .settings = HXT_SETTINGS("linear=ref", "attn=poly", hxt_setting("kv", ways[i].kv), ways[i].primes)};
        float *got = logits_of(&cfg, ids, ways[i].n, ways[i].batch);

        if (!want)
            want = got;
        else if (memcmp(want, got, ways[i].n * 2048 * sizeof(*got)))
            fail_msg("%s differs", ways[i].name);
        if (got != want)
            free(got);
    }
    free(want);
    free(ids);
}

/* Attention alone: shapes, soft-caps and windows that the model has not. */
enum { HEADS = 4, KV_HEADS = 2, POSITIONS = 9 };

static void fill_rows(struct hxt_rng *rng, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)hxt_normal(rng);
}

struct rows {
    float q[POSITIONS * HEADS * 80], k[POSITIONS * KV_HEADS * 80], v[POSITIONS * KV_HEADS * 80];
};

static void attend(struct hx_attn *a, struct hx_kv *kv, const struct rows *r, float softcap,
                   size_t window, size_t batch, float *out)
{
    struct hx_error err;

    for (size_t pos = 0; pos < POSITIONS; pos += batch) {
        const struct hx_attn_in in = {
            .pos = pos, .n = batch, .q = r->q + pos * HEADS * kv->dh,
            .k = r->k + pos * KV_HEADS * kv->dh, .v = r->v + pos * KV_HEADS * kv->dh, .kv = kv,
            .n_head = HEADS, .scale = 0.1f, .softcap = softcap, .window = window};

        if (kv->ops->put(kv, 0, pos, batch, in.k, in.v, &err) ||
            a->ops->run(a, &in, out + pos * HEADS * kv->dh, &err))
            fail_msg("%s", err.text);
    }
}

static void test_shapes_caps_and_windows_follow_the_reference(void **state)
{
    static const struct {
        size_t dh, window, batch;
        float softcap;
    } cases[] = {{80, 0, 9, 0}, {64, 4, 3, 0}, {48, 3, 1, 2}, {80, 0, 3, 1}};
    const struct hx_poly_cfg cfg = {0};
    struct rows *r = malloc(sizeof(*r));
    float want[POSITIONS * HEADS * 80], step[HXT_LEN(want)], kept[HXT_LEN(want)];
    struct hx_attn *ref, *poly;
    struct hx_kv *f32, *ntt;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const struct hx_kv_shape shape = {1, KV_HEADS, cases[i].dh, POSITIONS};
        const size_t n = POSITIONS * HEADS * shape.dh;

        fill_rows(&rng, r->q, HXT_LEN(r->q));
        fill_rows(&rng, r->k, HXT_LEN(r->k));
        fill_rows(&rng, r->v, HXT_LEN(r->v));
        assert_int_equal(hx_attn_ref_open(&ref, POSITIONS, NULL), 0);
        assert_int_equal(hx_attn_poly_open(&poly, &cfg, shape.dh, NULL, NULL), 0);
        assert_int_equal(hx_kv_f32_open(&f32, 1, KV_HEADS, shape.dh, POSITIONS, NULL), 0);
        assert_int_equal(hx_kv_ntt_open(&ntt, &shape, &cfg, NULL, NULL), 0);
        attend(ref, f32, r, cases[i].softcap, cases[i].window, cases[i].batch, want);
        attend(poly, f32, r, cases[i].softcap, cases[i].window, cases[i].batch, step);
        attend(poly, ntt, r, cases[i].softcap, cases[i].window, cases[i].batch, kept);
        assert_memory_equal(step, kept, n * sizeof(*step));
        for (size_t j = 0; j < n; j++)
            assert_true(fabsf(step[j] - want[j]) < 1e-4f);
        hx_attn_close(ref);
        hx_attn_close(poly);
        hx_kv_close(f32);
        hx_kv_close(ntt);
    }
    free(r);
}

/* --- the cache */

static void open_cache(struct hx_kv **kv, size_t dh, enum hx_poly_mode mode)
{
    const struct hx_kv_shape shape = {2, KV_HEADS, dh, POSITIONS};
    const struct hx_poly_cfg cfg = {.mode = mode};
    struct hx_error err;

    if (hx_kv_ntt_open(kv, &shape, &cfg, NULL, &err))
        fail_msg("%s", err.text);
}

static void check_cache(size_t dh, enum hx_poly_mode mode)
{
    const float scale = 0.3f;
    const size_t row = KV_HEADS * dh;
    struct rows *r = malloc(sizeof(*r));
    float scores[HEADS * POSITIONS];
    struct hx_attn_in last = {.layer = 1, .pos = POSITIONS - 1, .n = 1, .q = r->q, .n_head = HEADS, .scale = scale,
                              .window = POSITIONS - 2};
    struct hx_kv_view view;
    struct hx_kv *kv;
    struct hxt_rng rng;

    hxt_rng_init(&rng, dh);
    fill_rows(&rng, r->q, HXT_LEN(r->q));
    fill_rows(&rng, r->k, HXT_LEN(r->k));
    fill_rows(&rng, r->v, HXT_LEN(r->v));
    r->k[5] = 12345.678f; /* of which Delta k has more than 24 bits */
    open_cache(&kv, dh, mode);
    assert_int_equal(kv->ops->put(kv, 1, 0, 4, r->k, r->v, NULL), 0);
    assert_int_equal(kv->ops->put(kv, 1, 4, POSITIONS - 4, r->k + 4 * row, r->v + 4 * row, NULL),
                     0);
    assert_int_equal(kv->ops->rows(kv, 1, POSITIONS, &view, NULL), 0);
    for (size_t i = 0; i < POSITIONS * row; i++) {
        int32_t before, after;

        hx_poly_encode(&before, 1, &r->k[i], 1, HX_POLY_DELTA_BITS);
        hx_poly_encode(&after, 1, &view.k[i], 1, HX_POLY_DELTA_BITS);
        assert_int_equal(before, after);
        assert_true(fabsf(view.k[i] - r->k[i]) <= 0.5f / 65536);
        assert_true(view.v[i] == r->v[i]);
    }
    assert_int_equal(kv->ops->scores(kv, &last, scores, NULL), 0);
    for (size_t h = 0; h < HEADS; h++)
        for (size_t p = 2; p < POSITIONS; p++) {
            int32_t q[HX_POLY_N_MAX], k[HX_POLY_N_MAX];

            hx_poly_encode(q, HX_POLY_N_MAX, r->q + h * dh, dh, HX_POLY_DELTA_BITS);
            hx_poly_encode(k, HX_POLY_N_MAX, r->k + (p * KV_HEADS + h / 2) * dh, dh,
                           HX_POLY_DELTA_BITS);
            assert_true(scores[h * (POSITIONS - 2) + p - 2] ==
                        hx_poly_score(hx_poly_dot_ref(q, k, HX_POLY_N_MAX), HX_POLY_DELTA_BITS,
                                      scale));
        }
    hx_kv_close(kv);
    free(r);
}

static void test_cache_gives_exact_scores_and_encodable_rows(void **state)
{
    (void)state;
    check_cache(64, HX_POLY_CRT);
    check_cache(80, HX_POLY_CRT);
    check_cache(48, HX_POLY_60);
}

/* Of all blocks of n positions. */
static size_t cache_bytes(const struct hx_kv *kv, size_t n)
{
    return kv->n_layer * n * kv->n_kv * hx_kv_ntt_ring(kv)->block_bytes;
}

static void test_a_block_is_8_n_bytes(void **state)
{
    const struct hx_kv_shape shape = {26, 1, 256, 4096};
    const struct hx_poly_cfg crt = {0}, one = {.mode = HX_POLY_60};
    struct hx_kv_keys keys;
    struct hx_kv *kv;

    (void)state;
    assert_int_equal(hx_kv_ntt_open(&kv, &shape, &crt, NULL, NULL), 0);
    assert_int_equal(cache_bytes(kv, 1), 26 * 2048);
    assert_int_equal(cache_bytes(kv, 4096), 208 << 20); /* the paper prints 13 MB */
    kv->ops->keys(kv, 3, &keys);
    assert_int_equal((uintptr_t)keys.blocks % 64, 0);
    hx_kv_close(kv);
    assert_int_equal(hx_kv_ntt_open(&kv, &shape, &one, NULL, NULL), 0);
    assert_int_equal(cache_bytes(kv, 1), 26 * 2048);
    hx_kv_close(kv);
}

/* --- what it counts */

/* Kept keys are transformed once; of a cache of rows a step transforms all of them again. */
static void test_transforms_per_token_depend_on_the_position_without_kept_keys_only(void **state)
{
    enum { FIRST = 3 };
    static const char *const caches[] = {"kv=ntt", "kv=f32"};
    uint32_t *ids = window_ids(2);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(caches); i++) {
        const struct hx_engine_cfg cfg = {.model = MODEL_F16, .n_ctx = RUN, .threads = 3,
                                          .settings = HXT_SETTINGS(caches[i], "linear=ref", "attn=poly", "ntt-crt")};
        struct hx_engine *e = hxt_engine_open(&cfg);
        const double layers = (double)e->model->n_layer, heads = (double)e->model->n_head, kv = (double)e->model->n_kv;
        double before;

        run(e, ids, FIRST, 0);
        assert_true(hxt_reported(e, "poly", "tokens") == FIRST);
        assert_true(hxt_reported(e, "poly", "q_ntt") == FIRST * layers * heads);
        if (i == 0)
            assert_true(hxt_reported(e, "poly", "ntt_fwd_per_token") == layers * (heads + kv));
        before = hxt_reported(e, "poly", "ntt_fwd");
        for (size_t pos = FIRST; pos < RUN; pos++)
            run(e, ids + pos, 1, pos);
        assert_true(hxt_reported(e, "poly", "q_ntt_per_token") == layers * heads);
        if (i == 0)
            assert_true(hxt_reported(e, "poly", "ntt_fwd_per_token") == layers * (heads + kv));
        else /* step `pos` transforms pos + 1 keys */
            assert_true(hxt_reported(e, "poly", "ntt_fwd") - before ==
                        layers * ((RUN - FIRST) * heads + kv * (RUN * (RUN + 1) - FIRST * (FIRST + 1)) / 2));
        hx_engine_close(e);
    }
    free(ids);
}

/* --- what cannot be */

static void test_products_beyond_the_moduli_are_refused_by_name(void **state)
{
    static const float large[] = {20000, 1e9f};
    const struct hx_poly_cfg cfg = {0};
    const struct hx_kv_shape shape = {1, KV_HEADS, 64, POSITIONS};
    struct rows *r = malloc(sizeof(*r));
    float out[HEADS * 64];
    struct hx_attn *poly;

    (void)state;
    assert_int_equal(hx_attn_poly_open(&poly, &cfg, 64, NULL, NULL), 0);
    for (size_t i = 0; i < 2 * HXT_LEN(large); i++) {
        struct hx_attn_in in = {.n = 1, .q = r->q, .k = r->k, .v = r->v, .n_head = HEADS,
                                .scale = 1};
        struct hx_error err = {""};

        memset(r, 0, sizeof(*r));
        r->q[3 * 64] = r->k[64] = large[i / 2];
        assert_int_equal(i % 2 ? hx_kv_ntt_open(&in.kv, &shape, &cfg, NULL, NULL)
                               : hx_kv_f32_open(&in.kv, 1, KV_HEADS, 64, POSITIONS, NULL), 0);
        assert_int_equal(in.kv->ops->put(in.kv, 0, 0, 1, in.k, in.v, NULL), 0);
        assert_int_equal(poly->ops->run(poly, &in, out, &err), -ERANGE);
        assert_non_null(strstr(err.text, "layer 0, position 0"));
        assert_non_null(strstr(err.text, i / 2 ? "2^31 / Delta = 32768" : "2.88e+17"));
        if (i % 2) { /* nor can rows come back that had to be clamped */
            struct hx_kv_view view;

            assert_int_equal(in.kv->ops->rows(in.kv, 0, 1, &view, &err), i / 2 ? -ERANGE : 0);
        }
        if (i % 2)
            assert_int_equal(in.kv->ops->scores(in.kv, &in, out, &err), -ERANGE);
        r->q[3 * 64] = 1; /* 20000 by itself is no problem, what had to be clamped is */
        assert_int_equal(poly->ops->run(poly, &in, out, &err), i / 2 ? -ERANGE : 0);
        hx_kv_close(in.kv);
    }
    hx_attn_close(poly);
    free(r);
}

static void test_wrong_configurations_are_refused(void **state)
{
    const struct hx_kv_shape shape = {1, 1, 64, 4};
    const struct hx_poly_cfg school = {.mode = HX_POLY_SCHOOL}, coarse = {.delta_bits = 9};
    const struct hx_poly_cfg crt = {0};
    struct hx_poly ring;
    struct hx_error err = {""};
    struct hx_kv *kv;

    (void)state;
    assert_int_equal(hx_kv_ntt_open(&kv, &shape, &school, NULL, &err), -EINVAL);
    assert_int_equal(hx_poly_open(&ring, &coarse, 64, &err), -EINVAL);
    assert_non_null(strstr(err.text, "2^9"));
    assert_int_equal(hx_poly_open(&ring, &crt, 513, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "513"));
}

/* --- softmax by integers */

static void test_integer_softmax_is_close_and_knows_how_close(void **state)
{
    enum { N = 300 };
    float s[N], want[N], work[N];
    double worst = 0;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (int i = 0; i < 200; i++) {
        const size_t n = 1 + hxt_below(&rng, N);
        double kl, sum = 0;

        for (size_t j = 0; j < n; j++)
            want[j] = s[j] = (float)(hxt_normal(&rng) * (i % 10));
        hx_softmax_f32(want, n);
        kl = hx_softmax_int(s, work, n);
        for (size_t j = 0; j < n; j++) {
            assert_true(fabsf(s[j] - want[j]) < 3e-6f * want[j] + 1e-13f);
            sum += s[j];
        }
        assert_true(fabs(sum - 1) < 1e-6);
        worst = fmax(worst, kl);
    }
    print_message("KL(fp32 || integers) <= %.3g\n", worst);
    assert_true(worst > 0 && worst < 1e-11);
}

static void test_integer_softmax_does_not_depend_on_the_order(void **state)
{
    enum { N = 97 };
    float s[N], turned[N], work[N];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (size_t j = 0; j < N; j++)
        s[j] = (float)hxt_normal(&rng) * 5;
    for (size_t j = 0; j < N; j++)
        turned[j] = s[(j * 31 + 5) % N];
    hx_softmax_int(s, work, N);
    hx_softmax_int(turned, work, N);
    for (size_t j = 0; j < N; j++)
        assert_true(turned[j] == s[(j * 31 + 5) % N]);
}

static void test_integer_softmax_at_the_ends(void **state)
{
    float one[] = {-3}, equal[] = {7, 7, 7, 7}, far[] = {0, -1e30f, 3e38f, -3e38f}, work[4];

    (void)state;
    assert_true(hx_softmax_int(one, work, 1) == 0);
    assert_true(one[0] == 1);
    assert_true(hx_softmax_int(equal, work, 4) == 0);
    assert_true(equal[0] == 0.25f && equal[3] == 0.25f);
    hx_softmax_int(far, work, 4);
    assert_true(far[0] == 0 && far[1] == 0 && far[2] == 1 && far[3] == 0);
}

static void test_integer_softmax_reports_what_it_did(void **state)
{
    static const char *const attns[] = {"ref", "poly"};
    uint32_t *ids = window_ids(1);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(attns); i++) {
        const struct hx_engine_cfg cfg = {.model = MODEL_F16, .n_ctx = RUN,
                                          .settings = HXT_SETTINGS("kv=f32", "linear=ref", "softmax=int",
                                                                   hxt_setting("attn", attns[i]))};
        struct hx_engine *e = hxt_engine_open(&cfg);

        run(e, ids, RUN, 0);
        assert_int_equal(e->attn->seen.rows, RUN * e->model->n_layer * e->model->n_head);
        assert_true(e->attn->seen.kl_max > 0 && e->attn->seen.kl_max < 1e-11);
        assert_true(e->attn->seen.kl_sum <= e->attn->seen.kl_max * (double)e->attn->seen.rows);
        hx_engine_close(e);
    }
    free(ids);
}

static void test_methods_without_integer_softmax_say_so(void **state)
{
    const struct hx_engine_cfg cfg = {.model = MODEL_F16, .n_ctx = RUN,
                                      .settings = HXT_SETTINGS("kv=f32", "attn=flash", "softmax=int")};
    struct hx_engine *e = NULL;
    struct hx_attn *flash;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
    assert_string_equal(err.text, "softmax int and attn flash exclude each other");
    assert_int_equal(hx_attn_flash_open(&flash, NULL, NULL, &err), 0);
    assert_int_equal(hx_attn_softmax_int(flash, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "flash"));
    hx_attn_close(flash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_q_and_k_lose_less_than_1e_9),
        cmocka_unit_test(test_perplexity_equals_the_reference_to_6_digits),
        cmocka_unit_test(test_all_ways_give_the_same_bits),
        cmocka_unit_test(test_shapes_caps_and_windows_follow_the_reference),
        cmocka_unit_test(test_cache_gives_exact_scores_and_encodable_rows),
        cmocka_unit_test(test_a_block_is_8_n_bytes),
        cmocka_unit_test(test_transforms_per_token_depend_on_the_position_without_kept_keys_only),
        cmocka_unit_test(test_products_beyond_the_moduli_are_refused_by_name),
        cmocka_unit_test(test_wrong_configurations_are_refused),
        cmocka_unit_test(test_integer_softmax_is_close_and_knows_how_close),
        cmocka_unit_test(test_integer_softmax_does_not_depend_on_the_order),
        cmocka_unit_test(test_integer_softmax_at_the_ends),
        cmocka_unit_test(test_integer_softmax_reports_what_it_did),
        cmocka_unit_test(test_methods_without_integer_softmax_say_so),
    };

    return HXT_RUN(tests);
}
