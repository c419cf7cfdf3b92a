/* Protects: libntt_kv_skel.so and the cache `ntt` on the DSP.  Through the rig its products are the schoolbook's and its scores
 * those of this machine, bit for bit, on one context or two; the engine makes the same logits; what does not fit is refused. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "methods/ntt/attn_poly.h"
#include "golden.h"
#include "hx_rig.h"
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

static size_t all_scores; /* that same_as_here() asked for */
static const struct hx_kv_shape shape = {LAYERS, KV_HEADS, DH, POSITIONS};

struct rows {
    float k[POSITIONS * KV_HEADS * DH], v[POSITIONS * KV_HEADS * DH], q[POSITIONS * HEADS * DH];
};

/* All positions of layer 1 in two batches. */
static void put_all(struct hx_kv *kv, const struct rows *r)
{
    struct hx_error err;

    if (kv->ops->put(kv, 1, 0, 30, r->k, r->v, &err) ||
        kv->ops->put(kv, 1, 30, POSITIONS - 30, r->k + 30 * KV_HEADS * DH, r->v + 30 * KV_HEADS * DH, &err))
        fail_msg("%s", err.text);
}

/* The scores of one batch, one behind the other; returns how many. */
static size_t scores_of(struct hx_kv *kv, const struct rows *r, size_t pos, size_t n, size_t window, float *out)
{
    const struct hx_attn_in in = {.layer = 1, .pos = pos, .n = n, .q = r->q + pos * HEADS * DH, .n_head = HEADS,
                                  .scale = 0.1f, .window = window};
    struct hx_error err;

    if (kv->ops->scores(kv, &in, out, &err))
        fail_msg("%s", err.text);
    return hx_attn_scores_before(&in, n);
}

/* The same K, V and Q into a cache here and one there. */
static void same_as_here(struct hx_kv *there)
{
    static const struct {
        size_t pos, n, window;
    } batches[] = {{69, 1, 0}, {69, 1, 65}, {0, 70, 0}, {0, 70, 7}, {20, 41, 0}, {20, 41, 33}, {64, 6, 1}};
    static float want[POSITIONS * HEADS * POSITIONS], got[HXT_LEN(want)];
    static struct rows r;
    const struct hx_poly_cfg cfg = {0};
    struct hx_kv_view view[2];
    struct hx_kv *here;
    struct hxt_rng rng;
    struct hx_error err;

    all_scores = 0;
    hxt_rng_init(&rng, 2);
    fill_rows(&rng, r.k, HXT_LEN(r.k));
    fill_rows(&rng, r.v, HXT_LEN(r.v));
    fill_rows(&rng, r.q, HXT_LEN(r.q));
    if (hx_kv_ntt_open(&here, &shape, &cfg, NULL, &err))
        fail_msg("%s", err.text);
    put_all(here, &r);
    put_all(there, &r);
    for (size_t i = 0; i < HXT_LEN(batches); i++) {
        const size_t n = scores_of(here, &r, batches[i].pos, batches[i].n, batches[i].window, want);

        memset(got, HXT_POISON, sizeof(got));
        assert_int_equal(scores_of(there, &r, batches[i].pos, batches[i].n, batches[i].window, got), n);
        hxt_same_bytes(got, want, n * sizeof(*got));
        all_scores += n;
    }
    if (here->ops->rows(here, 1, POSITIONS, &view[0], &err) || there->ops->rows(there, 1, POSITIONS, &view[1], &err))
        fail_msg("%s", err.text);
    hxt_same_bytes(view[1].k, view[0].k, sizeof(r.k));
    hxt_same_bytes(view[1].v, r.v, sizeof(r.v));
    hx_kv_close(here);
}

static void test_scores_and_rows_equal_those_of_this_machine(void **state)
{
    const struct hx_poly_cfg cfg = {0};
    struct hx_error err;
    struct hx_kv *there;

    (void)state;
    if (hx_kv_ntt_dsp_open(&there, &shape, &cfg, NULL, NULL, &err))
        fail_msg("%s", err.text);
    same_as_here(there);
    hx_kv_close(there);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__) /* which have no traces */
/* Of layer 1, as put_all() wrote them. */
static uint64_t written(const struct hx_ntt_held *held, enum hx_ntt_place place)
{
    return held->positions[place] * KV_HEADS * 8 * 128;
}

/* What the rig's figures say was moved of keys is what was put and what the cache counted as read. */
static void same_as_the_rig(const struct hx_session_stats *before, const struct hx_ntt_held *held)
{
    struct hx_session_stats now;
    const uint64_t *kv = now.traffic.bytes[HX_PURPOSE_KV], *was = before->traffic.bytes[HX_PURPOSE_KV];

    assert_int_equal(hx_rig_session_stats(&now), 0);
    assert_int_equal(kv[HX_PLACE_VTCM] - was[HX_PLACE_VTCM], held->read_bytes[HX_NTT_VTCM] + written(held, HX_NTT_VTCM));
    assert_int_equal(kv[HX_PLACE_DDR] + kv[HX_PLACE_L2] - was[HX_PLACE_DDR] - was[HX_PLACE_L2],
                     held->read_bytes[HX_NTT_DDR] + written(held, HX_NTT_DDR));
}
#else
static void same_as_the_rig(const struct hx_session_stats *before, const struct hx_ntt_held *held)
{
    (void)before, (void)held;
}
#endif

/* With room for a part of the positions the first ones are in VTCM, the next ones in the heap and the others here. */
static void test_what_does_not_fit_spills_and_has_the_same_bits(void **state)
{
    enum { EACH = LAYERS * KV_HEADS * 8 * 128 }; /* bytes of a position, N = 128 */
    static const struct {
        size_t vtcm, heap, positions[HX_NTT_PLACES];
    } cases[] = {{9 * EACH + 5, 30 * EACH, {9, 30, 31}}, {POSITIONS * EACH, 1, {POSITIONS, 0, 0}}, {0, 30 * EACH, {0, 30, 40}},
                 {EACH - 1, 0, {0, POSITIONS, 0}}, {EACH - 1, EACH - 1, {0, 0, POSITIONS}}, {0, 69 * EACH, {0, 69, 1}}};
    const struct hx_poly_cfg cfg = {0};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const struct hx_kv_ntt_limits limits = {.vtcm_bytes = cases[i].vtcm, .heap_bytes = cases[i].heap};
        struct hx_session_stats before;
        struct hx_poly_seen seen;
        struct hx_ntt_held held;
        struct hx_error err;
        struct hx_kv *there;

        if (hx_kv_ntt_dsp_open(&there, &shape, &cfg, &limits, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(hx_rig_session_stats(&before), 0);
        same_as_here(there);
        if (hx_kv_ntt_seen(there, &seen, &held, &err))
            fail_msg("%s", err.text);
        for (size_t p = 0; p < HX_NTT_PLACES; p++) {
            assert_int_equal(held.positions[p], cases[i].positions[p]);
            assert_int_equal(held.read_bytes[p] > 0, cases[i].positions[p] > 0);
        }
        assert_int_equal(held.read_bytes[HX_NTT_VTCM] + held.read_bytes[HX_NTT_DDR] + held.read_bytes[HX_NTT_HOST],
                         all_scores * 8 * 128);
        same_as_the_rig(&before, &held);
        hx_kv_close(there);
    }
}

/* One token at a time on this machine, where nothing is batched. */
static void test_scores_of_a_batch_are_those_of_its_tokens(void **state)
{
    enum { POS = 40, N = 9 };
    static struct rows r;
    static float batch[N * HEADS * POSITIONS], one[HEADS * POSITIONS];
    const struct hx_poly_cfg cfg = {0};
    struct hx_kv *kv[2];
    struct hx_error err;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 4);
    fill_rows(&rng, r.k, HXT_LEN(r.k));
    fill_rows(&rng, r.q, HXT_LEN(r.q));
    if (hx_kv_ntt_open(&kv[0], &shape, &cfg, NULL, &err) || hx_kv_ntt_dsp_open(&kv[1], &shape, &cfg, NULL, NULL, &err))
        fail_msg("%s", err.text);
    put_all(kv[0], &r);
    put_all(kv[1], &r);
    for (size_t window = 0; window <= POS + 4; window += POS + 4) {
        const float *at = batch;

        scores_of(kv[1], &r, POS, N, window, batch);
        for (size_t t = 0; t < N; t++) {
            const size_t n = scores_of(kv[0], &r, POS + t, 1, window, one);

            hxt_same_bytes(at, one, n * sizeof(*one));
            at += n;
        }
    }
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

static uint64_t invokes(void)
{
    struct hx_session_stats now;

    assert_int_equal(hx_rig_session_stats(&now), 0);
    return now.invokes;
}

/* 2 calls per layer, and none that depends on how many tokens there are. */
static void test_a_prefill_makes_as_many_calls_as_a_token(void **state)
{
    enum { PROMPT = 136 };
    const struct hx_engine_cfg cfg = {.model = MODEL_F16, .n_ctx = PROMPT + 1,
                                      .settings = HXT_SETTINGS("kv=ntt", "linear=ref", "offload=kv")};
    struct hx_engine *e = hxt_engine_open(&cfg);
    const struct hx_shape model = hx_shape_of(e->model);
    uint32_t ids[PROMPT + 1];
    uint64_t before;

    (void)state;
    for (uint32_t i = 0; i <= PROMPT; i++)
        ids[i] = 11 + 7 * i;
    before = invokes();
    run(e, ids, PROMPT, 0);
    assert_int_equal(invokes() - before, 12);
    assert_true((double)(invokes() - before) == hx_plan_calls(e->plan, &model, PROMPT - 1).invokes);
    before = invokes();
    run(e, ids + PROMPT, 1, PROMPT);
    assert_int_equal(invokes() - before, 12);
    assert_true(hxt_reported(e, "poly", "tokens") == PROMPT + 1);
    assert_true(hxt_reported(e, "poly", "q_ntt_per_token") == (double)(model.n_layer * model.n_head));
    assert_true(hxt_reported(e, "poly", "ntt_fwd_per_token") == (double)(model.n_layer * (model.n_head + model.n_kv)));
    hx_engine_close(e);
}

static int dsp(int rc)
{
    return AEE_DSP(rc);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    int32_t a[512] = {0};
    uint32_t c[1024];
    const uint32_t spans[] = {1, 2, 0, 3, 0, 4};
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
    assert_int_equal(ntt_kv_batch_scores(skel, 2, 1, spans, 4, a, 256, c, 20, &t), AEE_SUCCESS); /* of 2 + 3 positions */
    assert_int_equal(ntt_kv_batch_scores(skel, 2, 1, spans, 4, a, 256, c, 19, &t), dsp(AEE_EBADPARM));
    assert_int_equal(ntt_kv_batch_scores(skel, 2, 1, spans, 3, a, 256, c, 20, &t), dsp(AEE_EBADPARM)); /* no pairs */
    assert_int_equal(ntt_kv_batch_scores(skel, 2, 1, spans, 0, a, 0, c, 0, &t), dsp(AEE_EBADPARM)); /* no tokens */
    assert_int_equal(ntt_kv_batch_scores(skel, 2, 1, spans, 4, a, 192, c, 20, &t), dsp(AEE_EBADPARM)); /* 3 queries */
    assert_int_equal(ntt_kv_batch_scores(skel, 2, 1, spans + 2, 4, a, 256, c, 28, &t), dsp(AEE_EBADPARM)); /* 4 positions */
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
    cmocka_unit_test(test_what_does_not_fit_spills_and_has_the_same_bits),
    cmocka_unit_test(test_scores_of_a_batch_are_those_of_its_tokens),
    cmocka_unit_test(test_one_prime_gives_its_half),
    cmocka_unit_test(test_engine_makes_the_same_logits_with_keys_on_the_dsp),
    cmocka_unit_test(test_a_prefill_makes_as_many_calls_as_a_token),
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
