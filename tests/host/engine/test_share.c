/* Protects sharing (host/engine/core.h): methods and their reference work side by side on one loaded model, which none of them
 * changes; engines of one core take turns; each gets what it would get alone. */
#include <errno.h>

#include "engine/arch/arch.h"
#include "engine/linear.h"
#include "golden.h"
#include "open_engine.h"

enum { N = 9, VOCAB = 2048, CTX = 32 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7, 33, 900, 2, 77};

static const struct way {
    const char *linear, *attn, *kv;
} ways[] = {
    {"linear=ref", "attn=ref", "kv=f32"},
    {"linear=cpu", "attn=flash", "kv=f32"},
    {"linear=ok", "attn=poly", "kv=ntt"},
    {"linear=cpu,ffn_down@2-5=ok,wq=ref", "attn=flash", "kv=f32"},
};

static void logits_of(struct hx_engine *e, float *out)
{
    struct hx_error err;

    run(e, ids, N, 0);
    if (hx_engine_logits(e, out, &err))
        fail_msg("%s", err.text);
}

/* Of an engine that has loaded the model by itself. */
static void logits_alone(const struct way *w, float *out)
{
    struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_F16, .settings = HXT_SETTINGS(w->linear, w->attn, w->kv), .n_ctx = CTX, .threads = 2});

    logits_of(e, out);
    hx_engine_close(e);
}

static struct hx_plan *plan_of(const struct way *w)
{
    struct hx_plan *p = NULL;
    struct hx_error err;

    if (hx_plan_open(&p, "", 0, &err) || hx_plan_set_list(p, HXT_SETTINGS(w->linear, w->attn, w->kv), &err) ||
        hx_plan_resolve(p, &err))
        fail_msg("%s", err.text);
    return p;
}

/* An engine over a core of its own over somebody else's model. */
struct guest {
    struct hx_plan *plan;
    struct hx_core *core;
    struct hx_engine *e;
};

static void open_guest(struct guest *g, const struct way *w, const struct hx_model *m)
{
    struct hx_error err;

    g->plan = plan_of(w);
    if (hx_core_open(&g->core, &(struct hx_core_cfg){.model = m, .threads = 2}, g->plan, &err))
        fail_msg("%s", err.text);
    g->e = hxt_engine_open(&(struct hx_engine_cfg){.plan = g->plan, .core = g->core, .n_ctx = CTX});
    assert_ptr_equal(g->e->model, m);
    assert_ptr_equal(g->e->core, g->core);
}

static void close_guest(struct guest *g)
{
    hx_engine_close(g->e);
    hx_core_close(g->core);
    hx_plan_close(g->plan);
}

static struct hx_model *open_model(void)
{
    struct hx_model *m = NULL;
    struct hx_error err;

    if (hx_model_open(&m, MODEL_F16, hx_archs, &err))
        fail_msg("%s", err.text);
    return m;
}

static void check_untouched(struct hx_model *m)
{
    for (size_t layer = 0; layer < m->n_layer; layer++)
        for (int w = 0; w < HX_PER_LAYER; w++) {
            const struct hx_linear *l = hx_layer_matrix(&m->layers[layer], (enum hx_matrix)w);

            assert_ptr_equal(l->ops, &hx_linear_ref);
            assert_null(l->state);
        }
    assert_ptr_equal(m->out.ops, &hx_linear_ref);
    assert_null(m->out.state);
}

static void test_methods_share_one_model_and_get_their_own_logits(void **state)
{
    static float want[HXT_LEN(ways)][VOCAB], got[VOCAB];
    struct hx_model *m = open_model();
    struct guest g[HXT_LEN(ways)];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(ways); i++)
        logits_alone(&ways[i], want[i]);
    for (size_t i = 1; i < HXT_LEN(ways); i++)
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(want[i], want[k], sizeof(want[i]));
    for (size_t i = 0; i < HXT_LEN(ways); i++)
        open_guest(&g[i], &ways[i], m);
    check_untouched(m);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = HXT_LEN(ways); i-- > 0;) {
            logits_of(g[i].e, got);
            hxt_same_bytes(got, want[i], sizeof(got));
        }
    check_untouched(m);
    for (size_t i = 0; i < HXT_LEN(ways); i += 2) /* those that stay do not notice */
        close_guest(&g[i]);
    for (size_t i = 1; i < HXT_LEN(ways); i += 2) {
        logits_of(g[i].e, got);
        hxt_same_bytes(got, want[i], sizeof(got));
        close_guest(&g[i]);
    }
    check_untouched(m);
    hx_model_close(m);
}

/* Token by token, one engine after the other. */
static void test_runs_that_take_turns_do_not_meet(void **state)
{
    static float want[2][VOCAB], got[VOCAB];
    struct hx_model *m = open_model();
    struct guest g[2];
    struct hx_error err;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        logits_alone(&ways[i], want[i]);
        open_guest(&g[i], &ways[i], m);
    }
    for (size_t t = 0; t < N; t++)
        for (size_t i = 0; i < 2; i++)
            run(g[i].e, &ids[t], 1, t);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(hx_engine_logits(g[i].e, got, &err), 0);
        hxt_same_bytes(got, want[i], sizeof(got));
        close_guest(&g[i]);
    }
    hx_model_close(m);
}

/* Matrices that a map leaves to the reference are the reference's; the others have a method each. */
static void test_a_map_gives_each_matrix_its_method(void **state)
{
    struct hx_model *m = open_model();
    struct guest g;

    (void)state;
    open_guest(&g, &ways[3], m);
    for (size_t layer = 0; layer < m->n_layer; layer++)
        for (int w = 0; w < HX_PER_LAYER; w++) {
            const char *want = w == HX_WQ ? "ref" : w == HX_DOWN && layer >= 2 ? "ok" : "cpu";
            const struct hx_linear *l = hx_matrices_at(&g.core->matrices, layer, (enum hx_matrix)w);

            if (strcmp(l->ops->name, want) != 0)
                fail_msg("%s of layer %zu is of %s, not %s", hx_matrix_names[w], layer, l->ops->name, want);
        }
    assert_string_equal(g.core->matrices.out.ops->name, "cpu");
    close_guest(&g);
    hx_model_close(m);
}

static void test_engines_of_one_core_have_caches_of_their_own(void **state)
{
    static float want[VOCAB], got[VOCAB];
    const struct hx_engine_cfg cfg = {.model = MODEL_F16, .n_ctx = CTX, .threads = 2,
                                      .settings = HXT_SETTINGS("linear=ok", "attn=flash", "kv=f32")};
    struct hx_engine *first = hxt_engine_open(&cfg), *second;
    const uint32_t other = 1000;
    struct hx_error err;

    (void)state;
    second = hxt_engine_open(&(struct hx_engine_cfg){
        .share_with = first, .n_ctx = CTX, .settings = HXT_SETTINGS("linear=ok", "attn=poly", "kv=ntt")});
    assert_ptr_equal(second->core, first->core);
    assert_null(second->own_core);
    logits_of(first, want);
    run(first, ids, N - 1, 0);
    run(second, &other, 1, 0); /* does not disturb what the first holds */
    run(first, &ids[N - 1], 1, N - 1);
    assert_int_equal(hx_engine_logits(first, got, &err), 0);
    hxt_same_bytes(got, want, sizeof(got));
    logits_alone(&ways[2], want);
    logits_of(second, got);
    hxt_same_bytes(got, want, sizeof(got));
    hx_engine_close(second);
    hx_engine_close(first);
}

static void test_a_layer_that_the_model_lacks_is_refused(void **state)
{
    static const struct {
        const char *map, *says;
    } bad[] = {
        {"linear=cpu,wq@6=ref", "linear: wq@6=ref: layer 6; the model has 6, from 0"},
        {"linear=cpu,wq@3-6=ref", "linear: wq@3-6=ref: layer 6; the model has 6, from 0"},
        {"linear=cpu,wq@3-18446744073709551615=ref", "layers are FROM or FROM-TO, from 0"},
        {"linear=cpu,wq@3-18446744073709551616=ref", "layers are FROM or FROM-TO, from 0"},
    };
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        const struct hx_engine_cfg cfg = {.model = MODEL_F16, .settings = HXT_SETTINGS("kv=f32", bad[i].map)};

        assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
        if (!strstr(err.text, bad[i].says))
            fail_msg("%s: '%s' does not say '%s'", bad[i].map, err.text, bad[i].says);
    }
}

static void test_a_plan_of_other_matrices_is_refused(void **state)
{
    struct hx_engine *first = hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .settings = HXT_SETTINGS("kv=f32", "linear=cpu"), .n_ctx = CTX});
    struct hx_engine *second = NULL;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_engine_open(&second, &(struct hx_engine_cfg){.share_with = first, .n_ctx = CTX,
                                    .settings = HXT_SETTINGS("kv=f32", "linear=ref")}, &err), -EINVAL);
    assert_null(second);
    assert_non_null(strstr(err.text, "linear ref: the engine that this one shares matrices with has linear cpu"));
    hx_engine_close(first);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_methods_share_one_model_and_get_their_own_logits),
    cmocka_unit_test(test_runs_that_take_turns_do_not_meet),
    cmocka_unit_test(test_a_map_gives_each_matrix_its_method),
    cmocka_unit_test(test_engines_of_one_core_have_caches_of_their_own),
    cmocka_unit_test(test_a_layer_that_the_model_lacks_is_refused),
    cmocka_unit_test(test_a_plan_of_other_matrices_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
