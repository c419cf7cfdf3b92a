/* Protects the plan (host/engine/plan.h): what is refused and with which words, and that the commands, the C API and the engine refuse
 * the same. */
#include <stdlib.h>

#include "api/hexrig.h"
#include "golden.h"
#include "hxt_each.h"
#include "open_engine.h"
#include "plan_of_words.h"

/* What is refused is refused before a model is opened. */
#define NO_MODEL "/nonexistent/model.gguf"

/* `~` stands for what is in front of an option's name. */
static const char *spelled(const char *says, const char *prefix)
{
    static char text[600];
    size_t n = 0;

    for (; *says && n + 3 < sizeof(text); says++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s", *says == '~' ? 2 : 1, *says == '~' ? prefix : says);
    return text;
}

#define BOTH 0
#define NO_COMMAND 1 /* getopt has its own words for it */

static const struct {
    const char *words, *says;
    int where;
} bad[] = {
    /* values */
    {"kv=q4", "~kv: unknown value 'q4'; legal: spinor, spinor-attn, spinor-cpu, f32, ntt, banded, proj, proj-attn, layer", BOTH},
    {"attn=q4", "~attn: unknown value 'q4'; legal: flash, ref, poly, dsp, layer", BOTH},
    {"draft=q4", "~draft: unknown value 'q4'; legal: none, lookup, bigram, model, gp, perfect, onedecode, swarm, gtc", BOTH},
    {"draft=lookup:8", "~draft: lookup:8: this method takes nothing behind its name", BOTH},
    {"draft=model", "~draft: model: FILE is missing: model:FILE", BOTH},
    {"draft=model:", "~draft: model:: FILE is missing: model:FILE", BOTH},
    {"kv=f32:8", "~kv: unknown value 'f32:8'; legal: spinor, spinor-attn, spinor-cpu, f32, ntt, banded, proj, proj-attn, layer", BOTH},
    {"tap=q4", "~tap: unknown value 'q4'; legal: capture, attnres, guard", BOTH},
    {"linear=q4", "~linear: unknown value 'q4'; legal: cpu, ref, ok, dsp, lowrank, native, gsi", BOTH},
    {"softmax=q4", "~softmax: unknown value 'q4'; legal: fp32, int", BOTH},
    {"density=q4", "~density: unknown value 'q4'; legal: per-vector, per-layer, batched, per-token, queue", BOTH},
    {"k=q4", "~k: unknown value 'q4'; legal: before, after", BOTH},
    {"q-max=0", "~q-max: unknown value '0'; legal: integers from 1 to 20", BOTH},
    {"q-max=21", "~q-max: unknown value '21'; legal: integers from 1 to 20", BOTH},
    {"q-max=9x", "~q-max: unknown value '9x'; legal: integers from 1 to 20", BOTH},
    {"q-max=-1", "~q-max: unknown value '-1'; legal: integers from 1 to 20", BOTH},
    {"q-max=99999999999999999999", "~q-max: unknown value '99999999999999999999'; legal: integers from 1 to 20", BOTH},
    {"native-ok=1", "~native-ok takes no value, and '1' is one", NO_COMMAND},
    {"density", "~density needs a value: D", NO_COMMAND},
    {"zork=1", "~zork: there is no such option", NO_COMMAND},
    {"offload=gpu", "~offload: unknown value 'gpu'; legal: kv, attn, layer, linear, linear=NAME,... of wq, wk, wv, wo, gate, up, "
     "down, out; "
     "argmax",
     BOTH},
    /* maps */
    {"linear=cpu,", "~linear: unknown value ''; legal: cpu, ref, ok, dsp, lowrank, native, gsi", BOTH},
    {"linear=cpu:8", "~linear: cpu:8: this method takes nothing behind its name", BOTH},
    {"linear=dsp:bogus", "~linear: dsp:bogus: unknown placement; legal: ddr, vtcm, dma, resident, auto", BOTH},
    {"linear=cpu,wq=dsp:", "~linear: dsp:: unknown placement; legal: ddr, vtcm, dma, resident, auto", BOTH},
    {"linear=cpu,wz=ref", "~linear: wz: no such matrices; legal: wq wk wv wo gate up down out (or their tensors' names), attn, "
                          "ffn, all", BOTH},
    {"linear=cpu,wq@=ref", "~linear: wq@: layers are FROM or FROM-TO, from 0", BOTH},
    {"linear=cpu,wq@3-1=ref", "~linear: wq@3-1: layers are FROM or FROM-TO, from 0", BOTH},
    {"linear=cpu,out@1=ref", "~linear: out@1: the output matrix is of no layer", BOTH},
    {"linear=cpu,wq=dsp:l2", "~linear: dsp:l2: unknown placement; legal: ddr, vtcm, dma, resident, auto", BOTH},
    /* methods that exclude each other */
    {"native-ok linear=ref", "~native-ok and ~linear ref exclude each other", BOTH},
    {"native-ok linear=cpu,ffn=ref", "~native-ok and ~linear cpu,ffn=ref exclude each other", BOTH},
    {"frobenius-quant linear=cpu,ffn=ok,ffn=ref", "~frobenius-quant and ~linear cpu,ffn=ok,ffn=ref exclude each other", BOTH},
    {"linear=cpu,ffn=ok native-ok frobenius-quant", "~frobenius-quant and ~native-ok exclude each other", BOTH},
    {"native-ok frobenius-quant", "~frobenius-quant and ~native-ok exclude each other", BOTH},
    {"poly-attn attn=ref", "~poly-attn and ~attn ref exclude each other", BOTH},
    {"poly-attn ntt ntt-crt", "~ntt and ~ntt-crt exclude each other", BOTH},
    {"softmax=int attn=flash", "~softmax int and ~attn flash exclude each other", BOTH},
    {"softmax=int offload=attn", "~offload attn and ~softmax int exclude each other", BOTH},
    {"softmax=int kv=spinor-attn", "no attention method can use ~kv spinor-attn with softmax by integers", BOTH},
    {"offload=attn attn=ref", "~offload attn and ~attn ref exclude each other", BOTH},
    {"cal=a calibrate-on=b", "a is a calibration, another would be made on b: they exclude each other", BOTH},
    /* caches and attention */
    {"kv=spinor-attn attn=flash", "~attn flash needs rows of the cache; ~kv spinor-attn has no such thing", BOTH},
    {"kv=spinor-attn poly-attn", "~attn poly needs rows of the cache; ~kv spinor-attn has no such thing", BOTH},
    {"kv=f32 attn=dsp", "~attn dsp needs attend of the cache; ~kv f32 has no such thing", BOTH},
    {"attn=dsp", "~attn dsp needs attend of the cache; ~kv spinor has no such thing", BOTH},
    {"kv=f32 offload=kv",
     "~offload kv: the cache f32 cannot be on the DSP; legal with ~kv spinor, spinor-attn, ntt, banded, proj-attn, layer", BOTH},
    {"kv=f32 offload=attn",
     "~offload attn: the cache f32 cannot do attention on the DSP; legal with ~kv spinor, spinor-attn, proj, proj-attn", BOTH},
    {"kv=ntt offload=attn",
     "~offload attn: the cache ntt cannot do attention on the DSP; legal with ~kv spinor, spinor-attn, proj, proj-attn", BOTH},
    {"offload=attn density=queue", "attention on the DSP needs a call per layer at least; ~density queue makes less", BOTH},
    {"kv=spinor-attn density=per-token", "attention on the DSP needs a call per layer at least; ~density per-token makes less",
     BOTH},
    {"offload=attn k=before", "attention on the DSP needs blocks of K after RoPE; ~k-rope pre cannot be scored without decoding",
     BOTH},
    {"kv=ntt offload=kv ntt", "~ntt and ~offload kv exclude each other: the DSP has the two 30-bit primes", BOTH},
    /* matrices on the DSP */
    {"linear=ok offload=argmax", "~offload argmax: exact arithmetic leaves the output matrix as it is, here", BOTH},
    {"native-ok offload=linear,argmax", "~offload argmax: exact arithmetic leaves the output matrix as it is, here", BOTH},
    {"native-ok offload=linear=wq,out", "~offload linear=out: exact arithmetic leaves the output matrix as it is, here", BOTH},
    {"native-ok offload=linear placement=ddr", "~placement ddr: exact weights stream through VTCM; legal: dma", BOTH},
    {"kv=f32 linear=dsp:vtcm placement=ddr", "~placement ddr and ~linear dsp:vtcm exclude each other: all that is on the DSP "
     "has its own there", BOTH},
    {"kv=f32 linear=cpu,wq=dsp:vtcm,wo@1=dsp:ddr placement=ddr", "~placement ddr and ~linear cpu,wq=dsp:vtcm,wo@1=dsp:ddr "
     "exclude each other: all that is on the DSP has its own there", BOTH},
    /* speculation */
    {"draft=lookup spec-batch=0", "~spec-batch: unknown value '0'; legal: integers from 1 to 63", BOTH},
    {"draft=lookup spec-batch=64", "~spec-batch: unknown value '64'; legal: integers from 1 to 63", BOTH},
    {"draft=lookup spec-thresh=1.01", "~spec-thresh: unknown value '1.01'; legal: numbers from 0 to 1", BOTH},
    {"draft=lookup spec-thresh=nan", "~spec-thresh: unknown value 'nan'; legal: numbers from 0 to 1", BOTH},
    {"draft=lookup spec-thresh=.5x", "~spec-thresh: unknown value '.5x'; legal: numbers from 0 to 1", BOTH},
    {"draft=lookup spec-adapt=yes", "~spec-adapt: unknown value 'yes'; legal: on, off", BOTH},
    {"spec-batch=4", "~spec-batch needs ~draft and a method that guesses", BOTH},
    {"draft=none no-verifier", "~no-verifier needs ~draft and a method that guesses", BOTH},
    {"draft=lookup draft-text=x", "~draft-text needs ~draft bigram or ~draft onedecode or ~draft swarm", BOTH},
    {"draft=lookup eos-guard no-verifier", "~eos-guard and ~no-verifier exclude each other: the model's choices are guarded", BOTH},
    {"kv=f32 offload=argmax eos-guard", "~eos-guard needs the logits here, and ~offload argmax leaves them on the DSP", BOTH},
    {"kv=f32 page-kib=64", "~page-kib needs ~page-weights", BOTH},
    /* options whose method is not there */
    {"kv=f32 linear=cpu placement=ddr", "~placement needs ~offload linear or ~linear dsp or ~kv layer", BOTH},
    {"placement=dma", "~placement needs ~offload linear or ~linear dsp or ~kv layer", BOTH},
    {"native-ok placement=dma", "~placement needs ~offload linear or ~linear dsp or ~kv layer", BOTH},
    {"kv=f32 q-max=9", "~q-max needs ~native-ok or ~frobenius-quant", BOTH},
    {"kv=f32 linear=cpu,ok,ref q-max=9", "~q-max needs ~native-ok or ~frobenius-quant", BOTH},
    {"native-ok shim-p=41", "~shim-p needs ~frobenius-quant", BOTH},
    {"frobenius-quant shim-p=39", "~shim-p: p = 39; prime numbers from 2 to 1000 are legal", BOTH},
    {"kv=f32 ntt", "~ntt needs ~poly-attn or ~kv ntt", BOTH},
    {"kv=f32 poly-delta=16", "~poly-delta needs ~poly-attn or ~kv ntt", BOTH},
    {"kv=f32 capture-points=k", "~capture-points needs ~capture", BOTH},
    {"kv=f32 tap=capture", "tap capture needs ~capture FILE", BOTH},
    {"kv=f32 capture=x capture-points=zork", "~capture-points: unknown point 'zork'; legal: embedding, after_attn, after_ffn, "
     "before_norm, in_qkv, q, k, v, in_o, in_ffn, in_down, in_out, all", BOTH},
    {"kv=f32 capture=x capture-layers=2-1", "~capture-layers: '2-1' is not FROM or FROM-TO", BOTH},
};

static void test_a_plan_refuses_what_cannot_be_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        check_refused(bad[i].words, 0, spelled(bad[i].says, ""));
}

static void test_an_engine_refuses_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        struct settings s;
        const struct hx_engine_cfg cfg = {.model = NO_MODEL, .settings = split(&s, bad[i].words), .n_ctx = 8};
        struct hx_engine *e = NULL;
        struct hx_error err = {""};

        assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
        assert_string_equal(err.text, spelled(bad[i].says, ""));
    }
}

/* Settings that the struct has fields for go there. */
static const char **field(struct hexrig_config *cfg, const char *name, size_t n)
{
    const struct {
        const char *name, **at;
    } fields[] = {{"kv", &cfg->kv},     {"density", &cfg->density}, {"cal", &cfg->cal},
                  {"basis", &cfg->basis}, {"k", &cfg->k},           {"linear", &cfg->linear},
                  {"attn", &cfg->attn}, {"offload", &cfg->offload}, {"placement", &cfg->placement}};

    for (size_t i = 0; i < HXT_LEN(fields); i++)
        if (strlen(fields[i].name) == n && memcmp(fields[i].name, name, n) == 0)
            return fields[i].at;
    return NULL;
}

static void check_api(const char *words, const char *says, int fields)
{
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
    const char *options[MOST_SETTINGS + 1] = {NULL};
    struct hexrig_model *m = NULL;
    struct hexrig_error err = {""};
    struct settings s;
    size_t n = 0;

    split(&s, words);
    cfg.model = NO_MODEL;
    for (size_t i = 0; s.at[i]; i++) {
        const char **to = fields ? field(&cfg, s.at[i], strcspn(s.at[i], "=")) : NULL;

        if (to && strchr(s.at[i], '='))
            *to = strchr(s.at[i], '=') + 1;
        else
            options[n++] = s.at[i];
    }
    cfg.options = options;
    assert_int_equal(hexrig_model_open(&m, &cfg, &err), -EINVAL);
    assert_null(m);
    if (strcmp(err.text, says) != 0)
        fail_msg("%s: '%s', not '%s'", words, err.text, says);
}

static void test_the_c_api_refuses_the_same_when_the_model_is_opened(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        for (int fields = 0; fields < 2; fields++)
            check_api(bad[i].words, spelled(bad[i].says, ""), fields);
}

static void test_an_option_of_the_c_api_wins_over_its_field(void **state)
{
    static const char *const options[] = {"kv=f32", "k-rope=post", NULL};
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
    struct hexrig_model *m = NULL;
    struct hexrig_error err = {""};

    (void)state;
    cfg.model = MODEL_Q8_0;
    cfg.kv = "ntt";
    cfg.k = "before";
    cfg.attn = "flash";
    cfg.options = options;
    if (hexrig_model_open(&m, &cfg, &err))
        fail_msg("%s", err.text);
    hexrig_model_close(m);
    cfg.kv = "f32";
    cfg.options = (const char *const[]){"kv=spinor-attn", NULL};
    assert_int_equal(hexrig_model_open(&m, &cfg, &err), -EINVAL);
    assert_string_equal(err.text, "attn flash needs rows of the cache; kv spinor-attn has no such thing");
}

static void test_the_commands_refuse_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i += HXT_EACH) {
        char words[700] = "run -p x -m " NO_MODEL;
        struct settings s;

        if (bad[i].where == NO_COMMAND)
            continue;
        split(&s, bad[i].words);
        for (size_t k = 0; s.at[k]; k++)
            snprintf(words + strlen(words), sizeof(words) - strlen(words), " --%s", s.at[k]);
        e2e_refused(words, 2, hxt_path("hexrig run: %s", spelled(bad[i].says, "--")));
    }
}

static void test_a_kernel_that_this_cpu_has_not_is_refused_by_the_option(void **state)
{
    static const char says[] = "--ok-kernel: unknown value 'foo'; this CPU has scalar";
    struct hx_plan *p = NULL;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(make(&p, "kv=f32 linear=ok ok-kernel=foo", "--", 0, &err), -EINVAL);
    assert_memory_equal(err.text, says, sizeof(says) - 1);
    hx_plan_close(p);
    e2e_refused("run -p x --kv f32 --linear cpu,wq=ok --ok-kernel foo -m " NO_MODEL, 2, says);
}

static void test_what_only_the_model_can_tell_names_the_item(void **state)
{
    (void)state;
    e2e_refused("run -p x --kv f32 --linear cpu,wq=ref,up@9=ref", 1,
                "hexrig run: --linear: up@9=ref: layer 9; the model has 6, from 0");
}

static void test_too_much_is_refused(void **state)
{
    struct hx_plan *p = NULL;
    struct hx_error err = {""};
    char map[400] = "cpu";
    int rc = 0;

    (void)state;
    assert_int_equal(hx_plan_open(&p, "", 0, &err), 0);
    for (size_t i = 0; i < 65 && !rc; i++)
        rc = hx_plan_set(p, "tap", "capture", &err);
    assert_int_equal(rc, -EINVAL);
    assert_string_equal(err.text, "more than 64 options");
    hx_plan_close(p);
    for (size_t i = 0; i < 31; i++)
        strcat(map, ",wq=ref");
    hx_plan_close(plan_of(hxt_path("kv=f32 linear=%s", map)));
    strcat(map, ",wq=ref");
    check_refused(hxt_path("linear=%s", map), 0, "linear: more than 32 items");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_plan_refuses_what_cannot_be_meant),
    cmocka_unit_test(test_an_engine_refuses_the_same),
    cmocka_unit_test(test_the_c_api_refuses_the_same_when_the_model_is_opened),
    cmocka_unit_test(test_an_option_of_the_c_api_wins_over_its_field),
    cmocka_unit_test(test_the_commands_refuse_the_same),
    cmocka_unit_test(test_a_kernel_that_this_cpu_has_not_is_refused_by_the_option),
    cmocka_unit_test(test_what_only_the_model_can_tell_names_the_item),
    cmocka_unit_test(test_too_much_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
