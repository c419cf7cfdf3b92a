/* Protects: each method's formula for its DSP calls and packets (struct hx_method, calls) is what the driver counts, alone and
 * beside other methods, at the first position and at later ones. */
#include "e2e.h"

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
        " --geometry qwen3-4b --kv ntt --offload kv", " --geometry smollm2-135m", " --kv f32 --linear dsp",
        " --kv f32 --linear cpu,ffn@1-3=dsp:vtcm",
        /* matrices of one input, of which others are in between or elsewhere */
        " --kv f32 --linear cpu,wq=dsp,wv=dsp", " --kv f32 --native-ok --offload linear=wq,wv",
        " --kv f32 --linear cpu,wq@1=dsp:ddr,wk@1=dsp:ddr,wv@1=dsp:vtcm",
        " --kv f32 --linear cpu,wq=dsp:ddr,wk=dsp:vtcm,wv=dsp:ddr", " --kv f32 --linear cpu,gate=dsp:dma,up=dsp",
        " --kv f32 --native-ok --offload linear", " --kv f32 --frobenius-quant --offload linear=wq,gate",
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(methods); i++) {
        json_t *j = e2e_json(hxt_path("density --pos 0,1,9 --json%s", methods[i]));

        check_rows(j, methods[i]);
        json_decref(j);
    }
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_formulas_are_what_the_driver_counts),
};

int main(void)
{
    return HXT_RUN(tests);
}
