/* Protects the plan (host/engine/plan.h): which methods come of which options, and what a plan tells of itself. */
#include <stdlib.h>

#include "golden.h"
#include "open_engine.h"
#include "plan_of_words.h"

/* --- what comes of what */

static void test_methods_come_of_options(void **state)
{
    static const struct {
        const char *words, *linear, *kv, *attn;
        int rig;
    } cases[] = {
        {"", "cpu", "spinor", "flash", 1},
        {"kv=f32", "cpu", "f32", "flash", 0},
        {"kv=ntt", "cpu", "ntt", "poly", 0}, /* it makes most of what the cache gives */
        {"kv=ntt attn=ref", "cpu", "ntt", "ref", 0},
        {"kv=f32 kv=ntt", "cpu", "ntt", "poly", 0}, /* the later one */
        {"kv=spinor-attn", "cpu", "spinor-attn", "dsp", 1},
        {"kv=f32 linear=ref attn=ref", "ref", "f32", "ref", 0},
        {"kv=f32 native-ok", "ok", "f32", "flash", 0},
        {"kv=f32 frobenius-quant linear=ok", "ok", "f32", "flash", 0},
        {"kv=f32 poly-attn", "cpu", "f32", "poly", 0},
        {"kv=f32 poly-attn attn=poly", "cpu", "f32", "poly", 0},
        {"kv=f32 softmax=fp32", "cpu", "f32", "flash", 0},
        {"kv=f32 softmax=int", "cpu", "f32", "ref", 0},
        {"kv=ntt softmax=int", "cpu", "ntt", "poly", 0},
        {"softmax=int", "cpu", "spinor", "ref", 1},
        {"kv=f32 softmax=int attn=poly", "cpu", "f32", "poly", 0},
        {"offload=kv", "cpu", "spinor", "flash", 1},
        {"kv=ntt offload=kv", "cpu", "ntt", "poly", 1},
        {"offload=attn", "cpu", "spinor-attn", "dsp", 1},
        {"offload=attn kv=spinor", "cpu", "spinor-attn", "dsp", 1},
        {"offload=attn kv=spinor-attn attn=dsp", "cpu", "spinor-attn", "dsp", 1},
        {"kv=f32 offload=linear", "cpu", "f32", "flash", 1},
        {"kv=f32 linear=dsp", "dsp", "f32", "flash", 1},
        {"kv=f32 linear=cpu,wq@2=dsp", "cpu", "f32", "flash", 1},
        {"kv=f32 linear=cpu,wq@0-5=dsp,wq@0=ref", "cpu", "f32", "flash", 1}, /* hidden in its first layer only */
        {"kv=f32 linear=dsp,all=ref,cpu", "cpu", "f32", "flash", 0},         /* hidden everywhere */
        {"kv=f32 linear=ffn=ref", "cpu", "f32", "flash", 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_plan *p = plan_of(cases[i].words);
        const char *const got[] = {hx_plan_method(p, HX_SEAM_LINEAR)->name, hx_plan_method(p, HX_SEAM_KV)->name,
                                   hx_plan_method(p, HX_SEAM_ATTN)->name};

        if (strcmp(got[0], cases[i].linear) || strcmp(got[1], cases[i].kv) || strcmp(got[2], cases[i].attn) ||
            hx_plan_rig(p) != cases[i].rig)
            fail_msg("%s: %s, %s, %s, rig %d", cases[i].words, got[0], got[1], got[2], hx_plan_rig(p));
        assert_string_equal(hx_plan_method(p, HX_SEAM_DRAFT)->name, "none");
        assert_null(hx_plan_tap(p, 0));
        assert_null(hx_plan_note(p));
        hx_plan_close(p);
    }
}

static void test_matrices_follow_the_map_and_the_offload(void **state)
{
    static const struct {
        const char *words;
        size_t layer;
        enum hx_matrix which;
        const char *method, *arg;
        int on_dsp;
    } cases[] = {
        {"", 3, HX_WQ, "cpu", NULL, 0},
        {"", 0, HX_OUT, "cpu", NULL, 0},
        {"linear=ref,ffn=ok", 0, HX_GATE, "ok", NULL, 0},
        {"linear=ref,ffn=ok", 0, HX_WO, "ref", NULL, 0},
        {"linear=ref,attn=ok,wk=cpu", 5, HX_WK, "cpu", NULL, 0},
        {"linear=ref,attn=ok,wk=cpu", 5, HX_WV, "ok", NULL, 0},
        {"linear=ref,wk=cpu,attn=ok", 5, HX_WK, "ok", NULL, 0}, /* the later item wins */
        {"linear=ref,wk=ok,cpu", 5, HX_WK, "cpu", NULL, 0},
        {"linear=ref,ffn_down@2-5=ok", 1, HX_DOWN, "ref", NULL, 0},
        {"linear=ref,ffn_down@2-5=ok", 2, HX_DOWN, "ok", NULL, 0},
        {"linear=ref,ffn_down@2-5=ok", 5, HX_DOWN, "ok", NULL, 0},
        {"linear=ref,ffn_down@2-5=ok", 6, HX_DOWN, "ref", NULL, 0},
        {"linear=ref,attn_q@4=ok", 4, HX_WQ, "ok", NULL, 0},
        {"linear=ref,attn_q@4=ok", 3, HX_WQ, "ref", NULL, 0},
        {"linear=ref,all=cpu", 0, HX_OUT, "cpu", NULL, 0},
        {"linear=ref,all@0-9=cpu", 0, HX_OUT, "ref", NULL, 0}, /* the output matrix is of no layer */
        {"linear=ref,all@0-9=cpu", 0, HX_UP, "cpu", NULL, 0},
        {"linear=ref,output=cpu", 0, HX_OUT, "cpu", NULL, 0},
        {"linear=ref,output=cpu", 0, HX_WQ, "ref", NULL, 0},
        {"linear=ref,wq=dsp:vtcm,wk=dsp", 0, HX_WQ, "dsp", "vtcm", 0},
        {"linear=ref,wq=dsp:vtcm,wk=dsp", 0, HX_WK, "dsp", NULL, 0},
        {"native-ok linear=wq=cpu", 0, HX_WQ, "cpu", NULL, 0},
        {"native-ok linear=cpu,ffn=ok", 0, HX_WQ, "cpu", NULL, 0},
        {"native-ok linear=cpu,ffn=ok", 0, HX_UP, "ok", NULL, 0},
        {"frobenius-quant shim-p=43 linear=cpu,ffn@1-2=ok", 2, HX_DOWN, "ok", NULL, 0},
        {"frobenius-quant linear=cpu,ffn@1-2=ok", 3, HX_DOWN, "cpu", NULL, 0},
        {"native-ok linear=wq=cpu", 0, HX_WK, "ok", NULL, 0},
        {"offload=linear", 0, HX_OUT, "dsp", NULL, 1},
        {"offload=linear linear=ref", 2, HX_UP, "dsp", NULL, 1},
        {"offload=linear=wq,up", 2, HX_UP, "dsp", NULL, 1},
        {"offload=linear=wq,up", 2, HX_DOWN, "cpu", NULL, 0},
        {"offload=argmax", 0, HX_OUT, "dsp", NULL, 1},
        {"offload=argmax", 0, HX_WQ, "cpu", NULL, 0},
        {"offload=kv", 0, HX_WQ, "cpu", NULL, 0},
        {"native-ok offload=linear", 0, HX_WQ, "ok", NULL, 1}, /* sees to it by itself */
        {"native-ok offload=linear=wk", 0, HX_WQ, "ok", NULL, 0},
        {"offload=linear linear=cpu,wq=ok", 0, HX_WQ, "ok", NULL, 1},
        {"offload=linear linear=cpu,wq=ok", 0, HX_WK, "dsp", NULL, 1},
        {"offload=linear=wk linear=dsp", 0, HX_WK, "dsp", NULL, 1},
        {"offload=linear=wk linear=dsp:ddr", 0, HX_WQ, "dsp", "ddr", 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_plan *p = plan_of(cases[i].words);
        const struct hx_plan_linear l = hx_plan_linear(p, cases[i].layer, cases[i].which);

        if (strcmp(l.method->name, cases[i].method) || l.on_dsp != cases[i].on_dsp || !l.arg != !cases[i].arg ||
            (l.arg && strcmp(l.arg, cases[i].arg)))
            fail_msg("%s: %s of layer %zu: %s:%s, on the DSP %d", cases[i].words, hx_matrix_names[cases[i].which],
                     cases[i].layer, l.method->name, l.arg ? l.arg : "", l.on_dsp);
        hx_plan_close(p);
    }
}

static void test_offload_is_a_set_of_bits(void **state)
{
    static const struct {
        const char *words;
        uint32_t bits;
    } cases[] = {
        {"", 0},
        {"offload=linear", HX_OFFLOAD_LINEAR},
        {"offload=linear=wq,down", HX_OFFLOAD_WQ | HX_OFFLOAD_DOWN},
        {"offload=argmax", HX_OFFLOAD_ARGMAX | HX_OFFLOAD_OUT},
        {"offload=kv,linear=wv", HX_OFFLOAD_KV | HX_OFFLOAD_WV},
        {"offload=attn", HX_OFFLOAD_ATTN | HX_OFFLOAD_KV},
        {"offload=kv offload=linear=wv", HX_OFFLOAD_KV | HX_OFFLOAD_WV}, /* they add up */
        {"offload=linear,argmax,kv,attn", HX_OFFLOAD_LINEAR | HX_OFFLOAD_ARGMAX | HX_OFFLOAD_KV | HX_OFFLOAD_ATTN},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_plan *p = plan_of(cases[i].words);

        assert_int_equal(hx_plan_offload(p), cases[i].bits);
        hx_plan_close(p);
    }
}

static void test_offload_is_known_before_the_plan_is_resolved(void **state)
{
    struct hx_plan *p = NULL, *copy = NULL;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_plan_open(&p, "--", 0, &err), 0);
    assert_int_equal(hx_plan_set(p, "offload", "attn", &err), 0);
    assert_int_equal(hx_plan_set(p, "offload", "linear,gpu", &err), -EINVAL);
    assert_int_equal(hx_plan_offload(p), HX_OFFLOAD_ATTN | HX_OFFLOAD_KV);
    assert_int_equal(hx_plan_copy(&copy, p, &err), 0);
    assert_int_equal(hx_plan_set(copy, "offload", "linear=wq", &err), 0);
    assert_int_equal(hx_plan_offload(copy), HX_OFFLOAD_ATTN | HX_OFFLOAD_KV | HX_OFFLOAD_WQ);
    assert_int_equal(hx_plan_offload(p), HX_OFFLOAD_ATTN | HX_OFFLOAD_KV);
    hx_plan_close(copy);
    hx_plan_close(p);
}

static void test_taps_stand_in_the_order_of_their_names_each_once(void **state)
{
    struct hx_plan *p = plan_of("kv=f32 capture-points=k tap=capture capture=x tap=capture");

    (void)state;
    assert_string_equal(hx_plan_tap(p, 0)->name, "capture");
    assert_null(hx_plan_tap(p, 1));
    assert_string_equal(hx_plan_text(p, "capture"), "x");
    hx_plan_close(p);
}

static void test_values_are_what_was_given_or_the_default(void **state)
{
    struct hx_plan *p = plan_of("kv=f32 frobenius-quant shim-p=43 shim-k=3 shim-k=5 shim-config=E");

    (void)state;
    assert_int_equal(hx_plan_number(p, "shim-p"), 43);
    assert_int_equal(hx_plan_number(p, "shim-k"), 5);
    assert_int_equal(hx_plan_number(p, "q-max"), 9); /* the default */
    assert_int_equal(hx_plan_number(p, "x-bits"), 0); /* it has none */
    assert_int_equal(hx_plan_index(p, "shim-config"), 1);
    assert_string_equal(hx_plan_text(p, "shim-config"), "E");
    assert_int_equal(hx_plan_index(p, "placement"), 2);
    assert_string_equal(hx_plan_text(p, "softmax"), "fp32");
    assert_null(hx_plan_text(p, "ok-kernel"));
    assert_true(hx_plan_given(p, "frobenius-quant"));
    assert_true(hx_plan_given(p, "shim-k"));
    assert_false(hx_plan_given(p, "q-max"));
    assert_false(hx_plan_given(p, "native-ok"));
    assert_true(hx_plan_uses_option(p, "q-max"));
    assert_true(hx_plan_uses_option(p, "shim-k"));
    assert_false(hx_plan_uses_option(p, "placement")); /* nothing is on the DSP */
    assert_false(hx_plan_uses_option(p, "density"));
    assert_string_equal(hx_plan_spell(p, "kv"), "kv");
    hx_plan_close(p);
}

static void test_older_spellings_are_the_newer_options(void **state)
{
    static const struct {
        const char *words;
        size_t k;
    } cases[] = {{"k=before", 0}, {"k=after", 1}, {"k-rope=post k=before", 0}, {"k=before k-rope=post", 1}};
    struct hx_plan *p = plan_of("calib=text.txt");

    (void)state;
    assert_string_equal(hx_plan_text(p, "calibrate-on"), "text.txt");
    hx_plan_close(p);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        p = plan_of(cases[i].words);
        assert_true(hx_plan_given(p, "k-rope"));
        assert_int_equal(hx_plan_index(p, "k-rope"), cases[i].k);
        hx_plan_close(p);
    }
}

static void test_options_that_change_nothing_are_noted(void **state)
{
    static const char *const cases[][2] = {
        {"kv=f32 density=queue", "without kv spinor or kv spinor-attn, density changes nothing"},
        {"kv=f32 density=queue k=after",
         "without kv spinor or kv spinor-attn or kv spinor-cpu or axex-kv, density, k-rope change nothing"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_plan *p = plan_of(cases[i][0]);

        assert_non_null(hx_plan_note(p));
        if (strcmp(hx_plan_note(p), cases[i][1]) != 0)
            fail_msg("%s: '%s'", cases[i][0], hx_plan_note(p));
        hx_plan_close(p);
    }
}

/* --- forks, copies, reports, calls */

static void test_a_process_becomes_two_only_where_it_may(void **state)
{
    struct hx_plan *p = NULL;
    struct hx_error err = {""};

    (void)state;
    check_refused("kv=ntt crt-shard", 0, "crt-shard makes two processes, which only hexrig run, ppl and perplexity-sp can be");
    assert_int_equal(make(&p, "kv=ntt crt-shard", "--", HX_PLAN_MAY_FORK, &err), 0);
    assert_true(hx_plan_given(p, "crt-shard"));
    assert_null(hx_plan_shard(p));
    hx_plan_share(p, (struct hx_shard *)&err);
    assert_ptr_equal(hx_plan_shard(p), &err);
    hx_plan_close(p);
    check_refused("kv=f32 crt-shard", HX_PLAN_MAY_FORK, "crt-shard needs poly-attn or kv ntt");
}

static void test_a_copy_goes_its_own_way(void **state)
{
    struct hx_plan *p = NULL, *copy = NULL;
    struct hx_error err = {""};
    struct settings s;

    (void)state;
    assert_int_equal(hx_plan_open(&p, "--", HX_PLAN_MAY_FORK, &err), 0);
    assert_int_equal(hx_plan_set_list(p, split(&s, "kv=f32 k=after tap=capture tap=capture native-ok"), &err), 0);
    assert_int_equal(hx_plan_copy(&copy, p, &err), 0);
    assert_int_equal(hx_plan_set_list(copy, split(&s, "kv=ntt capture=x crt-shard q-max=15"), &err), 0);
    if (hx_plan_resolve(copy, &err))
        fail_msg("%s", err.text);
    assert_string_equal(hx_plan_method(copy, HX_SEAM_KV)->name, "ntt");
    assert_string_equal(hx_plan_method(copy, HX_SEAM_LINEAR)->name, "ok");
    assert_int_equal(hx_plan_index(copy, "k-rope"), 1);
    assert_string_equal(hx_plan_prefix(copy), "--");
    assert_false(hx_plan_given(p, "q-max"));
    assert_int_equal(hx_plan_set(p, "capture", "y", &err), 0);
    hx_plan_close(copy); /* the original has its own texts */
    assert_int_equal(hx_plan_resolve(p, &err), 0);
    assert_string_equal(hx_plan_method(p, HX_SEAM_KV)->name, "f32");
    assert_string_equal(hx_plan_text(p, "capture"), "y");
    hx_plan_close(p);
    hx_plan_close(NULL);
}

/* Options of drafters go to those that have them, and all of them go without a drafter. */
static void test_one_plan_becomes_a_plan_of_each_drafter(void **state)
{
    struct hx_plan *all, *table, *text, *none, *wrong;
    struct hx_error err = {""};
    struct settings s;

    (void)state;
    assert_int_equal(hx_plan_open(&all, "--", 0, &err), 0);
    assert_int_equal(hx_plan_set_list(all, split(&s, "draft=perfect kv=f32 ott-tokens=64 draft-text=x.txt spec-thresh=0"), &err), 0);
    assert_int_equal(hx_plan_drafted(&table, all, "swarm:4", &err), 0);
    assert_int_equal(hx_plan_drafted(&text, all, "lookup", &err), 0);
    assert_int_equal(hx_plan_drafted(&none, all, NULL, &err), 0);
    assert_int_equal(hx_plan_drafted(&wrong, all, "zork", &err), -EINVAL);
    assert_null(wrong);
    if (hx_plan_resolve(table, &err) || hx_plan_resolve(text, &err) || hx_plan_resolve(none, &err))
        fail_msg("%s", err.text);
    assert_string_equal(hx_plan_method(table, HX_SEAM_DRAFT)->name, "swarm");
    assert_string_equal(hx_plan_draft_arg(table), "4");
    assert_int_equal(hx_plan_number(table, "ott-tokens"), 64);
    assert_string_equal(hx_plan_text(table, "draft-text"), "x.txt");
    assert_string_equal(hx_plan_method(text, HX_SEAM_DRAFT)->name, "lookup");
    assert_int_equal(hx_plan_given(text, "draft-text"), 0);
    assert_int_equal(hx_plan_given(text, "spec-thresh"), 1);
    assert_int_equal(hx_plan_guesses(none), 0);
    assert_int_equal(hx_plan_given(none, "spec-thresh"), 0);
    assert_string_equal(hx_plan_method(none, HX_SEAM_KV)->name, "f32");
    hx_plan_close(none);
    hx_plan_close(text);
    hx_plan_close(table);
    hx_plan_close(all);
}

/* An option that a drafter shares with a linear method stays where that is asked for. */
static void test_options_of_matrices_stay_whoever_guesses(void **state)
{
    static const char *const cases[][2] = {{"linear=grc:96 axex-thermal", "1"}, {"axex-compress axex-thermal", "1"},
                                           {"draft=gp:64 axex-thermal", "0"}};
    struct hx_error err;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_plan *all, *text;
        struct settings s;

        assert_int_equal(hx_plan_open(&all, "--", 0, &err), 0);
        assert_int_equal(hx_plan_set_list(all, split(&s, cases[i][0]), &err), 0);
        assert_int_equal(hx_plan_drafted(&text, all, "lookup", &err), 0);
        if (hx_plan_resolve(text, &err))
            fail_msg("%s: %s", cases[i][0], err.text);
        assert_int_equal(hx_plan_given(text, "axex-thermal"), *cases[i][1] == '1');
        hx_plan_close(text);
        hx_plan_close(all);
    }
}

static void test_reports_say_what_the_plan_is(void **state)
{
    enum { LAYERS = 6 };
    static const char *const cases[][2] = {
        {"", "{'linear': 'cpu', 'kv': 'spinor', 'attn': 'flash', 'draft': 'none', 'taps': [], 'offload': 'none', "
             "'placement': 'none', 'density': 'batched', 'options': {}}"},
        {"kv=f32 linear=ref,ffn=ok q-max=15 offload=linear=up softmax=int",
         "{'linear': 'ref,ffn=ok', 'kv': 'f32', 'attn': 'ref', 'draft': 'none', 'taps': [], 'offload': 'linear=up', "
         "'placement': 'dma', 'density': 'none', 'options': {'q-max': '15', 'softmax': 'int'}}"},
        {"k=after density=batched frobenius-quant shim-k=8 capture=x offload=attn",
         "{'linear': 'ok', 'kv': 'spinor-attn', 'attn': 'dsp', 'draft': 'none', 'taps': ['capture'], "
         "'offload': 'kv,attn', 'placement': 'none', 'density': 'batched', "
         "'options': {'k-rope': 'post', 'frobenius-quant': true, 'capture': 'x'}}"},
        {"kv=f32 capture=n\xff.hxc", /* a file may be called anything, JSON is UTF-8 */
         "{'linear': 'cpu', 'kv': 'f32', 'attn': 'flash', 'draft': 'none', 'taps': ['capture'], 'offload': 'none', "
         "'placement': 'none', 'density': 'none', 'options': {'capture': 'n\xef\xbf\xbd.hxc'}}"},
        /* placements of maps */
        {"kv=f32 linear=dsp:vtcm",
         "{'linear': 'dsp:vtcm', 'kv': 'f32', 'attn': 'flash', 'draft': 'none', 'taps': [], 'offload': 'none', "
         "'placement': 'vtcm', 'density': 'none', 'options': {}}"},
        {"kv=f32 linear=cpu,attn=dsp:vtcm,ffn@2=dsp:ddr",
         "{'linear': 'cpu,attn=dsp:vtcm,ffn@2=dsp:ddr', 'kv': 'f32', 'attn': 'flash', 'draft': 'none', 'taps': [], "
         "'offload': 'none', 'placement': 'ddr,vtcm', 'density': 'none', 'options': {}}"},
        {"kv=f32 linear=cpu,ffn=dsp:ddr,ffn@0-5=dsp:vtcm",
         "{'linear': 'cpu,ffn=dsp:ddr,ffn@0-5=dsp:vtcm', 'kv': 'f32', 'attn': 'flash', 'draft': 'none', 'taps': [], "
         "'offload': 'none', 'placement': 'vtcm', 'density': 'none', 'options': {}}"},
        {"kv=f32 linear=cpu,wq=dsp:ddr offload=linear=wk placement=vtcm",
         "{'linear': 'cpu,wq=dsp:ddr', 'kv': 'f32', 'attn': 'flash', 'draft': 'none', 'taps': [], "
         "'offload': 'linear=wk', 'placement': 'ddr,vtcm', 'density': 'none', 'options': {'placement': 'vtcm'}}"},
        /* drafters */
        {"kv=f32 draft=model:n\xff.gguf spec-batch=8 spec-thresh=0.45 no-verifier",
         "{'linear': 'cpu', 'kv': 'f32', 'attn': 'flash', 'draft': 'model:n\xef\xbf\xbd.gguf', 'taps': [], 'offload': 'none', "
         "'placement': 'none', 'density': 'none', 'options': {'spec-batch': '8', 'no-verifier': true}}"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        json_t *got = json_object(), *want;
        char text[600];
        struct hx_plan *p;

        p = plan_of(cases[i][0]);
        snprintf(text, sizeof(text), "%s", cases[i][1]);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        want = json_loads(text, 0, NULL);
        assert_non_null(want);
        assert_int_equal(hx_plan_report(p, LAYERS, got), 0);
        if (!json_equal(got, want))
            fail_msg("%s: %s", cases[i][0], json_dumps(got, 0));
        json_decref(got);
        json_decref(want);
        hx_plan_close(p);
    }
}

static void test_calls_are_those_of_the_methods_together(void **state)
{
    static const struct hx_shape shape = {.n_layer = 6, .n_head = 2, .n_kv = 1, .dh = 128, .width = 256, .ffn = 512,
                                          .vocab = 2048};
    static const struct {
        const char *words;
        size_t pos;
        double invokes, packets;
    } cases[] = {
        {"kv=f32", 5, 0, 0},
        {"", 5, 12, 0},
        {"", 0, 6, 0},
        {"density=queue", 5, 0, 1},
        {"kv=f32 offload=linear", 5, 25, 0},
        {"kv=f32 offload=linear,argmax", 5, 25, 0},
        {"kv=f32 linear=dsp", 5, 25, 0},
        {"offload=linear", 5, 37, 0},
        {"kv=f32 offload=linear=wq,wk,wv", 5, 6, 0},
        {"kv=f32 offload=linear=gate,down", 5, 12, 0},
        {"kv=f32 linear=cpu,wq@2-3=dsp", 5, 2, 0},
        {"kv=f32 native-ok offload=linear", 5, 24, 0},
        {"kv=ntt offload=kv", 5, 12, 0},
        {"kv=ntt offload=kv,linear=out", 5, 13, 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_plan *p = plan_of(cases[i].words);
        const struct hx_calls c = hx_plan_calls(p, &shape, cases[i].pos);

        if (c.invokes != cases[i].invokes || c.packets != cases[i].packets)
            fail_msg("%s: %g calls, %g packets", cases[i].words, c.invokes, c.packets);
        hx_plan_close(p);
    }
}

/* --- the tables */

static int legal_value(const struct hx_option *o, const char *text)
{
    if (o->max)
        return strtoull(text, NULL, 10) >= o->min && strtoull(text, NULL, 10) <= o->max;
    for (size_t i = 0; o->names && o->names[i]; i++)
        if (strcmp(o->names[i], text) == 0)
            return 1;
    return !o->names;
}

static const struct hx_option *own_option(const struct hx_method *m, const char *name)
{
    for (const struct hx_option *o = m->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

/* An option is told about with one of the methods that have it. */
static int is_told(const char *name)
{
    for (size_t i = 0; hx_methods[i]; i++)
        if (own_option(hx_methods[i], name) && own_option(hx_methods[i], name)->help)
            return 1;
    return 0;
}

static void check_option(const struct hx_method *m, const struct hx_option *o)
{
    assert_true(is_told(o->name));
    assert_true(o->arg || (!o->def && !o->names && !o->max)); /* a flag has no value */
    assert_true(!o->def || legal_value(o, o->def));
    assert_true(!o->of || own_option(m, o->of));
    if (o->means) {
        const struct hx_option *now = own_option(m, o->means);
        size_t n = 0;

        assert_non_null(now);
        assert_null(now->means);
        assert_int_equal(!o->names, !now->names);
        for (; o->names && o->names[n]; n++)
            assert_non_null(now->names[n]);
        assert_true(!o->names || !now->names[n]);
    }
    for (size_t i = 0; hx_methods[i]; i++) { /* the same name means the same everywhere */
        const struct hx_option *other = own_option(hx_methods[i], o->name);

        if (other) {
            assert_int_equal(other->flags, o->flags);
            assert_int_equal(!other->arg, !o->arg);
            assert_true(!o->def || strcmp(other->def, o->def) == 0);
        }
    }
}

static void test_the_tables_of_methods_are_sound(void **state)
{
    const struct hx_method *owner;
    const struct hx_option *a, *b;

    (void)state;
    for (size_t i = 0; hx_methods[i]; i++) {
        const struct hx_method *m = hx_methods[i];

        assert_true(m->name && m->about && m->seam < HX_SEAMS);
        assert_ptr_equal(hx_method_find(hx_methods, m->seam, m->name, strlen(m->name)), m);
        assert_non_null(m->open.linear);
        assert_true(!m->report == !m->reports);
        assert_true(!m->offloaded || m->offloaded->seam == m->seam);
        for (const struct hx_option *o = m->options; o && o->name; o++)
            check_option(m, o);
    }
    for (size_t i = 0; (a = hx_plan_option(i, &owner)); i++)
        for (size_t k = 0; k < i; k++) {
            b = hx_plan_option(k, &owner);
            assert_string_not_equal(a->name, b->name);
        }
    for (int i = 0; i < HX_SEAMS; i++)
        assert_string_equal(hx_plan_options[i].name, hx_seam_names[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_methods_come_of_options),
    cmocka_unit_test(test_matrices_follow_the_map_and_the_offload),
    cmocka_unit_test(test_offload_is_a_set_of_bits),
    cmocka_unit_test(test_offload_is_known_before_the_plan_is_resolved),
    cmocka_unit_test(test_taps_stand_in_the_order_of_their_names_each_once),
    cmocka_unit_test(test_values_are_what_was_given_or_the_default),
    cmocka_unit_test(test_older_spellings_are_the_newer_options),
    cmocka_unit_test(test_options_that_change_nothing_are_noted),
    cmocka_unit_test(test_a_process_becomes_two_only_where_it_may),
    cmocka_unit_test(test_a_copy_goes_its_own_way),
    cmocka_unit_test(test_one_plan_becomes_a_plan_of_each_drafter),
    cmocka_unit_test(test_options_of_matrices_stay_whoever_guesses),
        cmocka_unit_test(test_reports_say_what_the_plan_is),
    cmocka_unit_test(test_calls_are_those_of_the_methods_together),
    cmocka_unit_test(test_the_tables_of_methods_are_sound),
};

int main(void)
{
    return HXT_RUN(tests);
}
