/* Protects whole layers on the DSP (--offload layer, host/methods/layer, kernels/layer): logits of every architecture that they can do
 * are those of an fp64 reference, whatever the batch and wherever weights lie; 20 prompts go on with the tokens of the fp32 reference,
 * at one call for a layer; what cannot work is said. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "engine/arch/arch.h"
#include "gen_model.h"
#include "golden.h"
#include "hex_layer.h"
#include "hx_rig.h"
#include "methods/layer/kv_layer.h"
#include "open_engine.h"
#include "own_rig.h"
#include "ref64.h"

enum { N = 24, LAYERS = 6, HEADS = 2, IDS = 20 };
enum { DDR, VTCM, DMA, RESIDENT }; /* in hx_placements */

/* --- architectures */

struct engine {
    struct hx_model *m;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
};

static int open_model(struct hx_model **m, const struct gen_model *g, struct hx_error *err)
{
    struct hx_gguf *file;
    int rc = hx_gguf_open_bytes(&file, g->arch, g->file, g->n_file, err);

    return rc ? rc : hx_model_from_gguf(m, file, hx_archs, err);
}

static void open_layers(struct engine *e, const struct gen_model *g, uint32_t placement, int softmax_int)
{
    struct hx_error err;

    *e = (struct engine){0};
    if (open_model(&e->m, g, &err) || hx_kv_layer_open(&e->kv, e->m, e->m->n_ctx, placement, softmax_int, 0, &err) ||
        hx_attn_ref_open(&e->attn, e->m->n_ctx, &err) || hx_forward_open(&e->f, e->m, e->kv, e->attn, N, &err))
        fail_msg("%s: %s", g->arch, err.text);
}

static void close_layers(struct engine *e)
{
    hx_forward_close(e->f);
    hx_attn_close(e->attn);
    hx_kv_close(e->kv);
    hx_model_close(e->m);
}

static void fill_ids(uint32_t *some)
{
    for (size_t i = 0; i < N; i++)
        some[i] = (uint32_t)(i * i * 37 + i * 11 + 5) % GEN_VOCAB;
}

/* Of all N positions, in batches. */
static void logits_by(const struct gen_model *g, uint32_t placement, int softmax_int, size_t batch, float *out)
{
    struct hx_error err;
    struct engine e;
    uint32_t some[N];

    fill_ids(some);
    open_layers(&e, g, placement, softmax_int);
    for (size_t pos = 0; pos < N; pos += batch) {
        const size_t now = N - pos < batch ? N - pos : batch;

        if (hx_forward_run(e.f, some + pos, now, pos, &err) || hx_forward_logits(e.f, 0, now, out + pos * GEN_VOCAB, &err))
            fail_msg("%s: %s", g->arch, err.text);
    }
    close_layers(&e);
}

static void check_logits(struct gen_model *g, int softmax_int, double allowed)
{
    static float got[N * GEN_VOCAB];
    double *want, worst = 0, top = 0;
    uint32_t some[N];

    fill_ids(some);
    gen_build(g);
    want = ref64_logits(g, some, N);
    logits_by(g, DMA, softmax_int, N / 2, got);
    for (size_t i = 0; i < N * GEN_VOCAB; i++) {
        worst = isnan(got[i]) ? INFINITY : fmax(worst, fabs(got[i] - want[i]));
        top = fmax(top, fabs(want[i]));
    }
    if (!(worst <= allowed * top))
        fail_msg("%s, type %u: logits are %g off, %g is allowed", g->arch, g->type, worst / top, allowed);
    free(want);
    gen_free(g);
}

static void wide_heads(struct gen_model *g, const char *arch)
{
    gen_init(g, arch);
    g->dh = g->rot = 64;
    g->n_layer = g->period ? g->period + 1 : 2;
    g->type = HX_QUANT_Q8_0;
}

static const char *const archs[] = {"llama", "qwen2", "qwen3", "gemma3"};

static void test_logits_are_those_of_the_reference(void **state)
{
    struct gen_model g;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(archs); i++) {
        wide_heads(&g, archs[i]);
        check_logits(&g, 0, 2e-4); /* activations of 16 bits */
    }
    wide_heads(&g, "llama");
    g.biases = 1;
    check_logits(&g, 0, 2e-4);
    wide_heads(&g, "qwen3");
    check_logits(&g, 1, 2e-4);
    g.type = HX_QUANT_F16;
    check_logits(&g, 0, 0.05); /* weights of 8 */
}

static void test_logits_depend_neither_on_batches_nor_on_where_weights_lie(void **state)
{
    static float want[N * GEN_VOCAB], got[N * GEN_VOCAB];
    struct gen_model g;

    (void)state;
    wide_heads(&g, "qwen3");
    gen_build(&g);
    logits_by(&g, DMA, 0, N, want);
    for (uint32_t p = DDR; p <= RESIDENT; p++) {
        logits_by(&g, p, 0, 1 + 5 * p, got);
        hxt_same_bytes(got, want, sizeof(want));
    }
    gen_free(&g);
}

static void check_refusal(struct gen_model *g, const char *why)
{
    struct hx_error err = {""};
    struct hx_kv *kv = NULL;
    struct hx_model *m;

    gen_build(g);
    assert_int_equal(open_model(&m, g, &err), 0);
    assert_int_equal(hx_kv_layer_open(&kv, m, m->n_ctx, DMA, 0, 0, &err), -ENOTSUP);
    assert_null(kv);
    assert_non_null(strstr(err.text, why));
    hx_model_close(m);
    gen_free(g);
}

static void test_what_layers_have_not_is_said(void **state)
{
    struct gen_model g;

    (void)state;
    gen_init(&g, "gpt2");
    check_refusal(&g, "layers that are not made of RMS norms");
    gen_init(&g, "gemma2");
    check_refusal(&g, "soft-caps");
    gen_init(&g, "llama");
    check_refusal(&g, "no multiple of 64");
}

/* --- the engine */

static struct hx_engine *open_shipped(const struct hx_engine *with, const char *const *settings)
{
    const struct hx_engine_cfg cfg = {.model = with ? NULL : MODEL_Q8_0, .share_with = with, .n_ctx = 16,
                                      .settings = settings, .share = HXT_SRC "/host/data"};

    return hxt_engine_open(&cfg);
}

static const uint32_t ids[IDS] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273,
                                  505,  1560, 351, 258, 270, 271, 361, 810, 273, 260};

enum { VOCAB = 2048 };

static uint32_t best(struct hx_engine *e)
{
    static float logits[VOCAB];
    uint32_t id = 0;

    assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
    for (uint32_t i = 1; i < VOCAB; i++)
        id = logits[i] > logits[id] ? i : id;
    return id;
}

/* Greedy tokens behind three of a prompt; the cache is written over. */
static void go_on(struct hx_engine *e, const uint32_t *prompt, uint32_t *tokens, size_t n)
{
    run(e, prompt, 3, 0);
    for (size_t i = 0; i < n; i++) {
        tokens[i] = best(e);
        if (i + 1 < n)
            run(e, &tokens[i], 1, 3 + i);
    }
}

static uint64_t calls(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return s.invokes;
}

/* Of IDs that follow each other and some that do not. */
static void test_twenty_prompts_go_on_as_on_the_host(void **state)
{
    enum { PROMPTS = 20, TOKENS = 6 };
    struct hx_engine *host = open_shipped(NULL, HXT_SETTINGS("linear=ref", "kv=f32"));
    struct hx_engine *dsp = open_shipped(host, HXT_SETTINGS("linear=ref", "offload=layer"));

    (void)state;
    for (size_t p = 0; p < PROMPTS; p++) {
        const uint32_t prompt[3] = {ids[p], ids[(p * 3 + 1) % IDS], ids[(p + 1) % IDS]};
        uint32_t want[TOKENS], got[TOKENS];
        const uint64_t before = calls();

        go_on(dsp, prompt, got, TOKENS);
        assert_int_equal(calls() - before, TOKENS * LAYERS); /* the prompt's batch, and a token each */
        go_on(host, prompt, want, TOKENS);
        for (size_t i = 0; i < TOKENS; i++)
            if (got[i] != want[i])
                fail_msg("prompt %zu: token %zu is %u, not %u", p, i, got[i], want[i]);
    }
    hx_engine_close(dsp);
    hx_engine_close(host);
}

/* Rows of softmax that the DSP did are counted; their divergence is not known, and no 0 stands for it. */
static void test_integer_softmax_within_layers_is_counted(void **state)
{
    struct hx_engine *e = open_shipped(NULL, HXT_SETTINGS("offload=layer", "softmax=int"));
    json_t *report = json_object();
    const json_t *softmax;

    (void)state;
    run(e, ids, 3, 0);
    run(e, ids, 1, 3);
    assert_int_equal(hx_engine_report(e, report), 0);
    softmax = json_object_get(report, "softmax");
    assert_int_equal(json_integer_value(json_object_get(softmax, "rows")), 4 * HEADS * LAYERS);
    assert_null(json_object_get(softmax, "kl_mean"));
    assert_null(json_object_get(softmax, "kl_max"));
    json_decref(report);
    hx_engine_close(e);
}

static void test_a_core_without_the_matrices_of_layers_is_for_whole_layers(void **state)
{
    struct hx_engine *dsp = open_shipped(NULL, HXT_SETTINGS("linear=ref", "offload=layer")), *other = NULL;
    const struct hx_engine_cfg cfg = {.share_with = dsp, .n_ctx = 8, .settings = HXT_SETTINGS("linear=ref", "kv=f32")};
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_engine_open(&other, &cfg, &err), -EINVAL);
    hx_engine_close(dsp);
}

/* A row of no numbers stays one, and the others do not know. */
static void test_what_is_not_finite_comes_back_so(void **state)
{
    enum { WIDTH = 64 };
    float x[2][WIDTH], y[2][WIDTH];
    struct gen_model g;
    struct hx_error err;
    struct engine e;

    (void)state;
    wide_heads(&g, "qwen3");
    gen_build(&g);
    open_layers(&e, &g, DMA, 0);
    for (size_t i = 0; i < WIDTH; i++)
        x[0][i] = x[1][i] = (float)i / WIDTH - 0.4f;
    memcpy(y, x, sizeof(x));
    assert_int_equal(e.kv->ops->layer(e.kv, 1, 0, 2, x[0], &err), 0);
    y[1][5] = INFINITY;
    assert_int_equal(e.kv->ops->layer(e.kv, 1, 0, 2, y[0], &err), 0);
    hxt_same_bytes(y[0], x[0], sizeof(x[0]));
    for (size_t i = 0; i < WIDTH; i++)
        assert_true(isfinite(x[1][i]) && isnan(y[1][i]));
    close_layers(&e);
    gen_free(&g);
}

/* --- the interface */

static void test_calls_out_of_order_are_refused(void **state)
{
    static const hex_layer_shape none;
    static const hex_layer_matrix m[HEX_LAYER_MATRICES];
    static const hex_layer_vectors v;
    static float x[32] __attribute__((aligned(128))), y[32] __attribute__((aligned(128)));
    const hex_layer_how how = {0, 1};
    hex_layer_residence r[1];
    hex_layer_cycles took;
    uint64_t slots, tables;
    remote_handle64 h;

    (void)state;
    assert_int_equal(hex_layer_open(hex_layer_URI "&_dom=cdsp", &h), 0);
    assert_int_equal(hex_layer_run(h, &how, 0, 0, 1, x, 32, y, 32, &took), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(hex_layer_cache(h, -1, 0), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(hex_layer_where(h, r, 1, &slots, &tables), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(hex_layer_load(h, -1, 4096, &none, m, HEX_LAYER_MATRICES, &v, 1), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_layer_load(h, -1, 0, &none, m, 0, &v, 0), 0);
    hex_layer_close(h);
}

static const struct CMUnitTest on_rig[] = {
    cmocka_unit_test(test_logits_are_those_of_the_reference),
    cmocka_unit_test(test_logits_depend_neither_on_batches_nor_on_where_weights_lie),
    cmocka_unit_test(test_what_layers_have_not_is_said),
    cmocka_unit_test(test_what_is_not_finite_comes_back_so),
    cmocka_unit_test(test_calls_out_of_order_are_refused),
};

static const struct CMUnitTest shipped[] = {
    cmocka_unit_test(test_twenty_prompts_go_on_as_on_the_host),
    cmocka_unit_test(test_integer_softmax_within_layers_is_counted),
    cmocka_unit_test(test_a_core_without_the_matrices_of_layers_is_for_whole_layers),
};

static int with_own_rig(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(on_rig, own_rig_start, own_rig_stop);
}

static int with_shipped(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(shipped, own_rig_start, own_rig_stop);
}

int main(void)
{
    int rc = own_rig_run_both(with_own_rig);

    return rc | own_rig_run(with_shipped, "socket");
}
