/* Protects: each method's formula for its DSP calls and packets (struct hx_method, calls) is what the driver counts, alone and
 * beside other methods, at the first position and at later ones; a prompt of 136 tokens costs no more calls than a token. */
#include "e2e.h"
#include "hxt_each.h"

static void check_rows(const json_t *j, const char *words)
{
    json_t *rows = json_object_get(j, "rows"), *row;
    size_t i;

    assert_true(json_array_size(rows) > 0);
    json_array_foreach(rows, i, row) {
        const double calls = e2e_number(row, "calls_per_token"), packets = e2e_number(row, "packets_per_token");

        if (calls != e2e_number(row, "formula_calls_per_token") || packets != e2e_number(row, "formula_packets_per_token"))
            fail_msg("density%s: %s at %g: counted %g calls and %g packets, by formula %g and %g", words,
                     e2e_text(row, "density"), e2e_number(row, "pos"), calls, packets,
                     e2e_number(row, "formula_calls_per_token"), e2e_number(row, "formula_packets_per_token"));
    }
}

static void test_formulas_are_what_the_driver_counts(void **state)
{
    static const char *const methods[] = {
        "", " --offload linear", " --offload linear,argmax", " --offload attn", " --kv ntt --offload kv",
        " --kv ntt --offload kv,linear=wq", " --kv ntt --offload kv --attn ref", " --kv ntt --offload kv --attn flash",
        " --kv ntt --offload kv --ring-ddr 24", " --kv ntt --offload kv --ring-ddr 24 --attn ref", /* 4 positions */
        " --geometry qwen3-4b --kv ntt --offload kv", " --geometry smollm2-135m", " --kv f32 --linear dsp",
        " --kv f32 --linear cpu,ffn@1-3=dsp:vtcm",
        /* matrices of one input, of which others are in between or elsewhere */
        " --kv f32 --linear cpu,wq=dsp,wv=dsp", " --kv f32 --native-ok --offload linear=wq,wv",
        " --kv f32 --linear cpu,wq@1=dsp:ddr,wk@1=dsp:ddr,wv@1=dsp:vtcm",
        " --kv f32 --linear cpu,wq=dsp:ddr,wk=dsp:vtcm,wv=dsp:ddr", " --kv f32 --linear cpu,gate=dsp:dma,up=dsp",
        " --kv f32 --native-ok --offload linear", " --kv f32 --frobenius-quant --offload linear=wq,gate",
        /* the same as packets */
        " --packets --offload linear,argmax", " --packets --density per-vector,batched --offload attn",
        " --packets --kv banded --native-ok --offload kv,linear",
        " --packets --kv ntt --offload kv --ring-ddr 24 --linear cpu,wq=dsp:ddr,wk=dsp:vtcm",
        /* whole layers, with the output matrix here or there */
        " --offload layer", " --offload layer,argmax", " --packets --offload layer,argmax",
        " --geometry smollm2-135m --offload layer",
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(methods); i += HXT_EACH) {
        json_t *j = e2e_json(hxt_path("density --pos 0,1,9 --json%s", methods[i]));

        check_rows(j, methods[i]);
        json_decref(j);
    }
    e2e_clean();
}

enum { PROMPT_TOKENS = 136 };

/* More words than that are tokens. */
static void write_prompt(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (int i = 0; i <= PROMPT_TOKENS; i++)
        fputs(i ? " the" : "the", f);
    assert_int_equal(fclose(f), 0);
}

static void test_a_prompt_makes_as_many_calls_as_one_token(void **state)
{
    static const char *const methods[] = {"--kv ntt --offload kv", "--density batched --offload attn", "--offload layer"};
    char prompt[512];

    (void)state;
    snprintf(prompt, sizeof(prompt), "%s/prompt", hxt_tmpdir());
    write_prompt(prompt);
    for (size_t i = 0; i < HXT_LEN(methods); i++) {
        json_t *token = e2e_json(hxt_path("density --pos 9 --json %s", methods[i]));
        json_t *run = e2e_json(hxt_path("run -f %s -n 1 --ctx 256 --json %s", prompt, methods[i]));
        const double want = e2e_number(json_array_get(json_object_get(token, "rows"), 0), "formula_calls_per_token");

        assert_true(e2e_number(run, "prefill.tokens") >= PROMPT_TOKENS);
        if (e2e_number(run, "prefill.calls") != want)
            fail_msg("%s: a prompt makes %g calls, by formula %g", methods[i], e2e_number(run, "prefill.calls"), want);
        json_decref(token);
        json_decref(run);
    }
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_formulas_are_what_the_driver_counts),
    cmocka_unit_test(test_a_prompt_makes_as_many_calls_as_one_token),
};

int main(void)
{
    return HXT_RUN(tests);
}
