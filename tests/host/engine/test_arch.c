/* Protects: the forward pass of every architecture: logits against an fp64 reference on tiny random models, batches that
 * change no bit, windows, scalings, and the refusals of files that are not what they say. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "methods/spinor/calibrate.h"
#include "methods/cpu/isa/isa.h"
#include "engine/forward.h"
#include "gen_model.h"
#include "hxt.h"
#include "model/model.h"
#include "ref64.h"

enum { N = 24 };

/* Of the largest logit: f32 sums of some thousand products against fp64. */
#define TOLERANCE 1e-5

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

static void open_engine(struct engine *e, const struct gen_model *g)
{
    struct hx_error err;

    *e = (struct engine){0};
    if (open_model(&e->m, g, &err) ||
        hx_kv_f32_open(&e->kv, e->m->n_layer, e->m->n_kv, e->m->dh, e->m->n_ctx, &err) ||
        hx_attn_ref_open(&e->attn, e->m->n_ctx, &err) ||
        hx_forward_open(&e->f, e->m, e->kv, e->attn, N, &err))
        fail_msg("%s", err.text);
}

static void close_engine(struct engine *e)
{
    hx_forward_close(e->f);
    hx_attn_close(e->attn);
    hx_kv_close(e->kv);
    hx_model_close(e->m);
}

/* Logits of all N positions, run in batches of `batch`, norms and activations by isa on some threads. */
static float *logits_by(const struct gen_model *g, const uint32_t *ids, size_t batch,
                        const struct hx_cpu_kernels *isa, size_t threads)
{
    float *out = malloc(N * GEN_VOCAB * sizeof(*out));
    struct hx_pool *pool;
    struct engine e;
    struct hx_error err;

    open_engine(&e, g);
    assert_int_equal(hx_pool_open(&pool, threads, &err), 0);
    assert_int_equal(hx_forward_use(e.f, &(struct hx_forward_parts){.kernels = isa, .pool = pool}, &err), 0);
    for (size_t pos = 0; pos < N; pos += batch) {
        const size_t now = N - pos < batch ? N - pos : batch;

        if (hx_forward_run(e.f, ids + pos, now, pos, &err) ||
            hx_forward_logits(e.f, 0, now, out + pos * GEN_VOCAB, &err))
            fail_msg("%s: %s", g->arch, err.text);
    }
    close_engine(&e);
    hx_pool_close(pool);
    return out;
}

static float *logits(const struct gen_model *g, const uint32_t *ids, size_t batch)
{
    return logits_by(g, ids, batch, NULL, 1);
}

static void fill_ids(uint32_t *ids)
{
    for (size_t i = 0; i < N; i++)
        ids[i] = (uint32_t)(i * i * 37 + i * 11 + 5) % GEN_VOCAB;
}

/* Largest difference over largest value. */
static double distance(const float *got, const double *want, size_t n)
{
    double worst = 0, top = 0;

    for (size_t i = 0; i < n; i++) {
        const double d = fabs(got[i] - want[i]);

        worst = d > worst || isnan(d) ? d : worst;
        top = fmax(top, fabs(want[i]));
    }
    return worst / top;
}

/* The built model against the reference; frees it. */
static void check(struct gen_model *g, const char *what)
{
    uint32_t ids[N];
    double *want, off;
    float *got;

    fill_ids(ids);
    gen_build(g);
    want = ref64_logits(g, ids, N);
    got = logits(g, ids, N);
    off = distance(got, want, N * GEN_VOCAB);
    if (!(off < TOLERANCE))
        fail_msg("%s, %s: logits are %g off, %g is allowed", g->arch, what, off, TOLERANCE);
    free(got);
    free(want);
    gen_free(g);
}

static void test_logits_equal_the_reference(void **state)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {{"F32", HX_QUANT_F32}, {"F16", HX_QUANT_F16}, {"Q8_0", HX_QUANT_Q8_0}};

    (void)state;
    for (size_t i = 0; gen_archs[i]; i++)
        for (size_t t = 0; t < HXT_LEN(types); t++) {
            struct gen_model g;

            gen_init(&g, gen_archs[i]);
            g.type = types[t].type;
            g.seed = i * 10 + t;
            check(&g, types[t].name);
        }
}

/* Each of them with something that its files may have. */
static void test_variants_equal_the_reference(void **state)
{
    struct gen_model g;

    (void)state;
    gen_init(&g, "llama");
    g.biases = g.own_output = 1;
    check(&g, "biases and an output matrix");
    gen_init(&g, "llama");
    g.factors = 1;
    check(&g, "rope_freqs");
    gen_init(&g, "llama");
    g.llama3_keys = 1;
    check(&g, "llama3 scaling by keys");
    gen_init(&g, "llama");
    g.n_kv = 4;
    g.rot = 8;
    check(&g, "a half of each head turned, no shared KV heads");
    gen_init(&g, "qwen2");
    g.linear_factor = 4;
    check(&g, "linear scaling");
    gen_init(&g, "gemma3");
    g.linear_factor = 8;
    g.logit_cap = 4;
    check(&g, "linear scaling of global layers, capped logits");
    gen_init(&g, "gemma3");
    g.window = g.period = 0;
    check(&g, "no window");
    gen_init(&g, "gemma3");
    g.local_keys = 1;
    g.period = 3;
    g.local_base = 300;
    check(&g, "its own pattern and local base");
    gen_init(&g, "llama");
    g.linear_factor = 3;
    g.old_linear = 1;
    check(&g, "linear scaling by the older key");
    gen_init(&g, "gemma2");
    g.n_layer = 46;
    check(&g, "as many layers as the 27B model");
    gen_init(&g, "gemma3");
    g.n_layer = 62;
    check(&g, "as many layers as the 27B model");
}

/* The parts that a test above could miss without being wrong: each changes the logits. */
static void test_every_setting_matters(void **state)
{
    struct gen_model g[2];
    uint32_t ids[N];
    double *a, *b;
    static const struct {
        const char *arch;
        size_t window;
        float local_base, attn_cap, logit_cap;
    } other[] = {{"gemma2", 6, 50000, 2, 3},
                 {"gemma2", 5, 50000, 2.5f, 3},
                 {"gemma2", 5, 50000, 2, 4},
                 {"gemma3", 5, 20000, 0, 0}};

    (void)state;
    fill_ids(ids);
    for (size_t i = 0; i < HXT_LEN(other); i++) {
        float *as_f32 = malloc(N * GEN_VOCAB * sizeof(*as_f32));

        gen_init(&g[0], other[i].arch);
        gen_init(&g[1], other[i].arch);
        g[1].window = other[i].window;
        g[1].local_base = other[i].local_base;
        g[1].attn_cap = other[i].attn_cap;
        g[1].logit_cap = other[i].logit_cap;
        gen_build(&g[0]);
        gen_build(&g[1]);
        a = ref64_logits(&g[0], ids, N);
        b = ref64_logits(&g[1], ids, N);
        for (size_t k = 0; k < N * GEN_VOCAB; k++)
            as_f32[k] = (float)b[k];
        if (distance(as_f32, a, N * GEN_VOCAB) < 30 * TOLERANCE)
            fail_msg("setting %zu of %s changes the logits by less than the tests see", i,
                     other[i].arch);
        free(as_f32);
        free(a);
        free(b);
        gen_free(&g[0]);
        gen_free(&g[1]);
    }
}

static void test_batches_change_no_bit(void **state)
{
    static const size_t batches[] = {1, 5, 7};
    uint32_t ids[N];

    (void)state;
    fill_ids(ids);
    for (size_t i = 0; gen_archs[i]; i++) {
        struct gen_model g;
        float *want;

        gen_init(&g, gen_archs[i]);
        gen_build(&g);
        want = logits(&g, ids, N);
        for (size_t b = 0; b < HXT_LEN(batches); b++) {
            float *got = logits(&g, ids, batches[b]);

            hxt_same_bytes(got, want, N * GEN_VOCAB * sizeof(*got));
            free(got);
        }
        free(want);
        gen_free(&g);
    }
}

static void test_every_instruction_set_equals_the_reference(void **state)
{
    uint32_t ids[N];

    (void)state;
    fill_ids(ids);
    for (size_t i = 0; gen_archs[i]; i++) {
        struct gen_model g;
        double *want;

        gen_init(&g, gen_archs[i]);
        gen_build(&g);
        want = ref64_logits(&g, ids, N);
        for (enum hx_isa which = 0; which < HX_ISAS; which++) {
            const struct hx_cpu_kernels *isa = hx_isa(which);
            float *one, *three;
            double off;

            if (!isa)
                continue;
            one = logits_by(&g, ids, 1, isa, 1);
            three = logits_by(&g, ids, 7, isa, 3);
            off = distance(one, want, N * GEN_VOCAB);
            if (!(off < TOLERANCE))
                fail_msg("%s on %s: logits are %g off", g.arch, isa->name, off);
            hxt_same_bytes(three, one, N * GEN_VOCAB * sizeof(*one));
            free(one);
            free(three);
        }
        free(want);
        gen_free(&g);
    }
}

static void test_turning_back_gives_what_was_turned(void **state)
{
    static const enum hx_rope_pairs pairs[] = {HX_ROPE_HALVES, HX_ROPE_NEIGHBOURS};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(pairs); i++) {
        const struct hx_rope_plan plan = {.global = {pairs[i], 12, 10000, 0.5f, NULL},
                                          .local = {pairs[i], 12, 100, 1, NULL}, .period = 3};
        struct hx_ropes r;
        float x[16], y[16], z[16];
        struct hxt_rng rng;

        hxt_rng_init(&rng, i);
        hxt_fill_f32(&rng, x, 16, HXT_NORMAL);
        assert_int_equal(hx_ropes_init(&r, &plan, 9), 0);
        assert_ptr_equal(hx_ropes_of(&r, 1), &r.local);
        assert_ptr_equal(hx_ropes_of(&r, 2), &r.global);
        memcpy(y, x, sizeof(x));
        memcpy(z, x, sizeof(x));
        hx_rope_apply(hx_ropes_of(&r, 1), y, 8);
        hx_rope_apply(hx_ropes_of(&r, 2), z, 8);
        assert_memory_not_equal(y, x, 12 * sizeof(*x));
        assert_memory_not_equal(y, z, 12 * sizeof(*x));
        assert_memory_equal(y + 12, x + 12, 4 * sizeof(*x));
        hx_rope_undo(hx_ropes_of(&r, 1), y, 8);
        hxt_near_f32_abs(y, x, 16, 4, 1e-6);
        hx_ropes_free(&r);
    }
}

enum { DH = 64, SLOTS = 32 };

/* K of the first position of each slot, and how far those of the other positions are from it. */
struct spread {
    float first[SLOTS][DH];
    size_t n[SLOTS];
    double most;
};

static void add_spread(void *arg, size_t slot, const float *x)
{
    struct spread *s = arg;

    if (!s->n[slot]++)
        memcpy(s->first[slot], x, sizeof(s->first[slot]));
    for (size_t i = 0; i < DH; i++)
        s->most = fmax(s->most, fabsf(x[i] - s->first[slot][i]));
}

/* One token again and again: all its K before RoPE are the same in every layer, as V are, so attention changes nothing. */
static void test_k_before_rope_is_the_same_at_every_position(void **state)
{
    static const char *const turned[] = {"llama", "qwen2", "qwen3", "gemma2", "gemma3", "gptj"};
    uint32_t ids[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        ids[i] = 17;
    for (size_t i = 0; i < HXT_LEN(turned); i++) {
        struct spread before = {.most = 0}, after = {.most = 0};
        struct hx_model *m = NULL;
        struct gen_model g;
        struct hx_error err;
        size_t n;

        gen_init(&g, turned[i]);
        g.rot = g.rot == g.dh ? DH : 24;
        g.dh = DH;
        gen_build(&g);
        assert_int_equal(open_model(&m, &g, &err), 0);
        assert_true(m->n_layer * 2 * m->n_kv <= SLOTS);
        assert_int_equal(hx_cal_visit(m, 0, ids, N, add_spread, &before, &n, &err), 0);
        assert_int_equal(hx_cal_visit(m, 1, ids, N, add_spread, &after, &n, &err), 0);
        if (before.most > 1e-4 || after.most < 0.1)
            fail_msg("%s: K is spread by %g before RoPE, %g after it", g.arch, before.most,
                     after.most);
        hx_model_close(m);
        gen_free(&g);
    }
}

/* --- refusals */

static void refused(struct gen_model *g, int rc, const char *part)
{
    struct hx_model *m = NULL;
    struct hx_error err = {""};
    int got;

    gen_build(g);
    got = open_model(&m, g, &err);
    if (got != rc || !strstr(err.text, part) || strchr(err.text, '\n'))
        fail_msg("rc %d (want %d), message '%s' (want '%s')", got, rc, err.text, part);
    hx_model_close(m);
    gen_free(g);
}

/* Every key that a file must have, every tensor that it has. */
static void test_missing_keys_and_tensors_are_named(void **state)
{
    static const char *const needed[] = {"block_count", "context_length", "embedding_length",
                                         "feed_forward_length", "attention.head_count"};

    (void)state;
    for (size_t i = 0; gen_archs[i]; i++) {
        struct gen_model g, whole;

        for (size_t k = 0; k < HXT_LEN(needed); k++) {
            char key[64];

            snprintf(key, sizeof(key), "%s.%s", gen_archs[i], needed[k]);
            gen_init(&g, gen_archs[i]);
            g.drop_key = key;
            refused(&g, -ENOENT, key);
        }
        gen_init(&whole, gen_archs[i]);
        gen_build(&whole);
        for (size_t t = 0; t < whole.n_tensors; t++) {
            gen_init(&g, gen_archs[i]);
            g.drop_tensor = whole.tensors[t].name;
            refused(&g, -ENOENT, whole.tensors[t].name);
        }
        gen_free(&whole);
    }
}

static void test_wrong_shapes_and_types_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; gen_archs[i]; i++) {
        struct gen_model g, whole;

        gen_init(&whole, gen_archs[i]);
        gen_build(&whole);
        for (size_t t = 0; t < whole.n_tensors; t++) {
            const struct gen_tensor *tensor = &whole.tensors[t];

            if (tensor->cols > 32) {
                gen_init(&g, gen_archs[i]);
                g.narrow_tensor = tensor->name;
                refused(&g, -EINVAL, tensor->name);
            }
            if (tensor->rows == 1) {
                gen_init(&g, gen_archs[i]);
                g.type_tensor = tensor->name;
                refused(&g, -EINVAL, "is F16; F32 is needed");
            }
        }
        gen_free(&whole);
    }
}

static void test_tensors_without_a_place_are_refused(void **state)
{
    struct gen_model g;

    (void)state;
    gen_init(&g, "llama");
    g.more_tensor = "blk.1.attn_q_norm.weight";
    refused(&g, -EINVAL, "tensor 'blk.1.attn_q_norm.weight'");
    gen_init(&g, "qwen3");
    g.factors = 1;
    refused(&g, -EINVAL, "tensor 'rope_freqs.weight'");
}

static void test_unknown_architecture_lists_the_known_ones(void **state)
{
    struct hx_model *m = NULL;
    struct hx_error err = {""};
    struct gen_model g;

    (void)state;
    gen_init(&g, "llama");
    g.drop_key = "general.architecture";
    refused(&g, -ENOENT, "general.architecture");
    gen_init(&g, "llama");
    gen_build(&g);
    memcpy(memmem(g.file, g.n_file, "llama", 5), "llamb", 5); /* the first: the value of general.architecture */
    assert_int_equal(open_model(&m, &g, &err), -EINVAL);
    assert_non_null(strstr(err.text, "architecture 'llamb' is not supported; supported: llama, "
                                     "qwen2, qwen3, gemma2, gemma3, gpt2, opt, gptj"));
    gen_free(&g);
}

static void test_what_would_change_the_result_is_refused(void **state)
{
    static const struct {
        const char *arch, *key, *text;
        uint32_t number;
        const char *part;
    } all[] = {
        {"llama", "llama.rope.scaling.type", "yarn", 0, "rope.scaling.type 'yarn' is not"},
        {"qwen2", "qwen2.rope.scaling.type", "longrope", 0, "supported: linear, none, llama3"},
        {"llama", "llama.expert_count", NULL, 8, "llama.expert_count is 8"},
        {"llama", "llama.attention.key_length", NULL, 14, "key length 14, value length 16"},
        {"gemma3", "gemma3.attention.sliding_window_pattern", NULL, 0, "window_pattern is 0"},
        {"gemma3", "gemma3.attention.sliding_window_pattern", "x", 0, "window_pattern"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(all); i++) {
        struct gen_model g;

        gen_init(&g, all[i].arch);
        g.set[0].key = all[i].key;
        g.set[0].text = all[i].text;
        g.set[0].number = all[i].number;
        refused(&g, -EINVAL, all[i].part);
    }
}

static void test_context_beyond_learned_positions_is_refused(void **state)
{
    struct hx_forward *f = NULL;
    struct gen_model g;
    struct hx_error err;
    struct hx_kv *kv;
    struct engine e;

    (void)state;
    gen_init(&g, "opt");
    gen_build(&g);
    open_engine(&e, &g);
    assert_int_equal(hx_kv_f32_open(&kv, 2, e.m->n_kv, e.m->dh, e.m->n_ctx + 1, &err), 0);
    assert_int_equal(hx_forward_open(&f, e.m, kv, e.attn, 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "has learned 32 positions"));
    hx_kv_close(kv);
    close_engine(&e);
    gen_free(&g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_logits_equal_the_reference),
    cmocka_unit_test(test_variants_equal_the_reference),
    cmocka_unit_test(test_every_setting_matters),
    cmocka_unit_test(test_batches_change_no_bit),
    cmocka_unit_test(test_every_instruction_set_equals_the_reference),
    cmocka_unit_test(test_turning_back_gives_what_was_turned),
    cmocka_unit_test(test_k_before_rope_is_the_same_at_every_position),
    cmocka_unit_test(test_missing_keys_and_tensors_are_named),
    cmocka_unit_test(test_wrong_shapes_and_types_are_named),
    cmocka_unit_test(test_tensors_without_a_place_are_refused),
    cmocka_unit_test(test_unknown_architecture_lists_the_known_ones),
    cmocka_unit_test(test_what_would_change_the_result_is_refused),
    cmocka_unit_test(test_context_beyond_learned_positions_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
