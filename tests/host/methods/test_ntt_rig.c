/* Protects: libntt_kv_skel.so and the cache `ntt` on the DSP.  Through the rig its products are the schoolbook's and its scores
 * those of this machine, bit for bit, on one context or two; the engine makes the same logits; what does not fit is refused. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "methods/ntt/attn_poly.h"
#include "golden.h"
#include "methods/ntt/kv_ntt.h"
#include "methods/ntt/ring/ntt.h"
#include "ntt_kv.h"
#include "open_engine.h"
#include "own_rig.h"
#include "remote.h"

enum { LAYERS = 2, POSITIONS = 70, KV_HEADS = 2, HEADS = 4, DH = 80 };

static remote_handle64 skel;

static void fill(struct hxt_rng *rng, int32_t *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = (int32_t)hxt_below(rng, 1 << 24) - (1 << 23);
}

static void test_products_equal_schoolbook(void **state)
{
    static const int sizes[] = {64, 128, 256, 512};
    int32_t a[HX_POLY_N_MAX], b[HX_POLY_N_MAX];
    uint32_t c[2 * HX_POLY_N_MAX];
    int64_t want[HX_POLY_N_MAX];
    ntt_kv_cycles t;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (int threads = 1; threads <= 2; threads++) {
            const int n = sizes[s];

            fill(&rng, a, (size_t)n);
            fill(&rng, b, (size_t)n);
            memset(c, HXT_POISON, sizeof(c));
            assert_int_equal(ntt_kv_product(skel, threads, a, n, b, n, c, 2 * n, &t), AEE_SUCCESS);
            hx_poly_mul_ref(want, a, b, (size_t)n);
            for (int i = 0; i < n; i++)
                assert_true(hx_crt_garner(c[i], c[n + i]) == want[i]);
            assert_true(t.handler > 0 && t.total >= t.handler);
            assert_true((t.worker > 0) == (threads == 2));
        }
}

static void fill_rows(struct hxt_rng *rng, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)hxt_normal(rng);
}

/* The same K, V and Q into a cache here and one there. */
static void test_scores_and_rows_equal_those_of_this_machine(void **state)
{
    static const struct hx_kv_shape shape = {LAYERS, KV_HEADS, DH, POSITIONS};
    static float k[POSITIONS * KV_HEADS * DH], v[POSITIONS * KV_HEADS * DH], q[HEADS * DH];
    const struct hx_poly_cfg cfg = {0};
    float scores[2][HEADS * POSITIONS];
    struct hx_kv *kv[2];
    struct hx_kv_view view[2];
    struct hxt_rng rng;
    struct hx_error err;

    (void)state;
    hxt_rng_init(&rng, 2);
    fill_rows(&rng, k, HXT_LEN(k));
    fill_rows(&rng, v, HXT_LEN(v));
    fill_rows(&rng, q, HXT_LEN(q));
    if (hx_kv_ntt_open(&kv[0], &shape, &cfg, NULL, &err) ||
        hx_kv_ntt_dsp_open(&kv[1], &shape, &cfg, NULL, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 2; i++) {
        const struct hx_kv_ops *ops = kv[i]->ops;

        if (ops->put(kv[i], 1, 0, 30, k, v, &err) ||
            ops->put(kv[i], 1, 30, POSITIONS - 30, k + 30 * KV_HEADS * DH, v + 30 * KV_HEADS * DH,
                     &err) ||
            ops->scores(kv[i], 1, q, HEADS, 0.1f, 5, POSITIONS - 5, scores[i], &err) ||
            ops->rows(kv[i], 1, POSITIONS, &view[i], &err))
            fail_msg("%s", err.text);
    }
    hxt_same_bytes(scores[1], scores[0], HEADS * (POSITIONS - 5) * sizeof(float));
    hxt_same_bytes(view[1].k, view[0].k, sizeof(k));
    hxt_same_bytes(view[1].v, v, sizeof(v));
    hx_kv_close(kv[0]);
    hx_kv_close(kv[1]);
}

/* As a cache of both primes has them: of its two halves, this prime's. */
static void test_one_prime_gives_its_half(void **state)
{
    enum { N = 128, COUNT = 9, KEYS = COUNT * KV_HEADS };
    static int32_t k[KEYS * N], q[HEADS * N];
    static uint32_t sums[2 * HEADS * COUNT], past[KEYS * 2 * N], half[KEYS * N];
    ntt_kv_cycles t;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    fill(&rng, k, HXT_LEN(k));
    fill(&rng, q, HXT_LEN(q));
    assert_int_equal(ntt_kv_cache(skel, N, 1, COUNT, KV_HEADS), AEE_SUCCESS);
    assert_int_equal(ntt_kv_put(skel, 2, 0, 0, k, KEYS * N, &t), AEE_SUCCESS);
    assert_int_equal(ntt_kv_scores(skel, 2, 0, 0, COUNT, q, HEADS * N, sums, 2 * HEADS * COUNT, &t),
                     AEE_SUCCESS);
    assert_int_equal(ntt_kv_past(skel, 2, 0, COUNT, past, KEYS * 2 * N, &t), 0);
    for (int i = 0; i < 4; i++) {
        const int prime = i / 2, threads = 1 + i % 2;

        assert_int_equal(ntt_kv_cache_one(skel, (unsigned)prime, N, 1, COUNT, KV_HEADS), 0);
        assert_int_equal(ntt_kv_put(skel, threads, 0, 0, k, KEYS * N, &t), AEE_SUCCESS);
        memset(half, HXT_POISON, sizeof(half));
        assert_int_equal(ntt_kv_scores(skel, threads, 0, 0, COUNT, q, HEADS * N, half,
                                       HEADS * COUNT, &t), AEE_SUCCESS);
        hxt_same_bytes(half, sums + prime * HEADS * COUNT, HEADS * COUNT * sizeof(*half));
        assert_int_equal(ntt_kv_past(skel, threads, 0, COUNT, half, KEYS * N, &t), AEE_SUCCESS);
        for (int b = 0; b < KEYS; b++)
            hxt_same_bytes(half + b * N, past + (2 * b + prime) * N, N * sizeof(*half));
    }
}

static float *logits(const char *offload, const char *attn)
{
    enum { RUN = 12, BATCH = 5 };
    const struct hx_engine_cfg cfg = {.model = MODEL_F16, .n_ctx = RUN, .max_batch = BATCH,
                                      .settings = HXT_SETTINGS("kv=ntt", "linear=ref", hxt_setting("attn", attn),
                                                               hxt_setting("offload", offload))};
    struct hx_engine *e = hxt_engine_open(&cfg);
    float *out = calloc(e->model->vocab, sizeof(*out));
    uint32_t ids[RUN];
    struct hx_error err;

    for (uint32_t i = 0; i < RUN; i++)
        ids[i] = 11 + 97 * i;
    run(e, ids, RUN, 0);
    if (hx_engine_logits(e, out, &err))
        fail_msg("%s", err.text);
    hx_engine_close(e);
    return out;
}

static void test_engine_makes_the_same_logits_with_keys_on_the_dsp(void **state)
{
    static const char *const attns[] = {"poly", "ref"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(attns); i++) {
        float *here = logits(NULL, attns[i]), *there = logits("kv", attns[i]);

        hxt_same_bytes(there, here, 2048 * sizeof(*here));
        free(here);
        free(there);
    }
}

static int dsp(int rc)
{
    return AEE_DSP(rc);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    int32_t a[512] = {0};
    uint32_t c[1024];
    ntt_kv_cycles t;

    (void)state;
    assert_int_equal(ntt_kv_cache(skel, 0, 0, 0, 0), AEE_SUCCESS);
    assert_int_equal(ntt_kv_put(skel, 2, 0, 0, a, 64, &t), dsp(AEE_EBADSTATE));
    assert_int_equal(ntt_kv_cache(skel, 96, 1, 1, 1), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_cache(skel, 64, 1, 0, 1), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_cache(skel, 64, 1u << 31, 1u << 31, 1u << 31), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_cache(skel, 64, 2, 3, 2), AEE_SUCCESS);
    assert_int_equal(ntt_kv_put(skel, 2, 2, 0, a, 128, &t), dsp(AEE_EBADPARM)); /* layer */
    assert_int_equal(ntt_kv_put(skel, 2, 1, 3, a, 128, &t), dsp(AEE_EBADPARM)); /* position */
    assert_int_equal(ntt_kv_put(skel, 2, 1, 0, a, 130, &t), dsp(AEE_EBADPARM)); /* length */
    assert_int_equal(ntt_kv_put(skel, 3, 1, 0, a, 128, &t), dsp(AEE_EBADPARM)); /* threads */
    assert_int_equal(ntt_kv_put(skel, 2, 1, 2, a, 128, &t), AEE_SUCCESS);
    assert_int_equal(ntt_kv_scores(skel, 2, 1, 0, 4, a, 128, c, 16, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_scores(skel, 2, 1, 0, 3, a, 64, c, 6, &t), dsp(AEE_EBADPARM)); /* heads */
    assert_int_equal(ntt_kv_scores(skel, 2, 1, 0, 3, a, 128, c, 11, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_scores(skel, 2, 1, 0, 3, a, 128, c, 12, &t), AEE_SUCCESS);
    assert_int_equal(ntt_kv_past(skel, 2, 1, 3, c, 767, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_past(skel, 2, 1, 3, c, 768, &t), AEE_SUCCESS);
    assert_int_equal(ntt_kv_product(skel, 2, a, 128, a, 128, c, 256, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_cache_one(skel, 2, 64, 1, 1, 1), dsp(AEE_EBADPARM)); /* a third prime */
    assert_int_equal(ntt_kv_cache_one(skel, 1, 64, 2, 3, 2), AEE_SUCCESS);
    assert_int_equal(ntt_kv_scores(skel, 2, 1, 0, 3, a, 128, c, 12, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_past(skel, 2, 1, 3, c, 768, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_cache(skel, 0, 0, 0, 0), AEE_SUCCESS);
    assert_int_equal(ntt_kv_product(skel, 2, a, 128, a, 64, c, 256, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_product(skel, 2, a, 96, a, 96, c, 192, &t), dsp(AEE_EBADPARM));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_products_equal_schoolbook),
    cmocka_unit_test(test_scores_and_rows_equal_those_of_this_machine),
    cmocka_unit_test(test_one_prime_gives_its_half),
    cmocka_unit_test(test_engine_makes_the_same_logits_with_keys_on_the_dsp),
    cmocka_unit_test(test_what_does_not_fit_is_refused),
};

static int start(void **state)
{
    return own_rig_start(state) || ntt_kv_open(ntt_kv_URI "&_dom=cdsp", &skel);
}

static int stop(void **state)
{
    const int rc = ntt_kv_close(skel);

    return own_rig_stop(state) || rc;
}

static int run_on(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, start, stop);
}

int main(void)
{
    return own_rig_run_both(run_on);
}
