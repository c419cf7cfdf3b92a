/* Protects the blocks of this CPU as people use them (--kv spinor-cpu): the same text and perplexity as through the DSP's blocks and no
 * call, with and without a calibration, and what cannot work is said. */
#include "e2e.h"

/* Plain C, so that every machine has the same ties. */
#define PPL "ppl -f " HXT_SRC "/host/data/books-holdout.txt --chunks 1 --json --linear ref --attn ref --kv "
#define RUN "run -p PROMPT -n 8 --json --linear ref --attn ref --kv "

static void test_cpu_and_dsp_generate_the_same_tokens(void **state)
{
    static const char *const options[] = {"", "--basis vht2", "--k-rope post", "--uncalibrated"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(options); i++) {
        json_t *here = e2e_json(hxt_path(RUN "spinor-cpu %s", options[i]));
        json_t *there = e2e_json(hxt_path(RUN "spinor %s", options[i]));

        if (!json_equal(json_object_get(here, "tokens"), json_object_get(there, "tokens")))
            fail_msg("other tokens with %s", options[i]);
        assert_true(json_equal(json_object_get(here, "block"), json_object_get(there, "block")));
        assert_string_equal(e2e_text(here, "front_end"), "none");
        assert_true(e2e_number(here, "dispatch.calls") == 0);
        assert_true(e2e_number(there, "dispatch.calls") > 0);
        json_decref(here);
        json_decref(there);
    }
    e2e_clean();
}

/* Tokens hang on few bits of a cache, a perplexity on all of them. */
static void test_cpu_and_dsp_have_the_same_perplexity(void **state)
{
    static const char *const options[] = {"", "--basis vht2", "--basis vht2w --k-rope post"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(options); i++) {
        json_t *here = e2e_json(hxt_path(PPL "spinor-cpu %s", options[i])), *there = e2e_json(hxt_path(PPL "spinor %s", options[i]));

        if (e2e_number(here, "ppl") != e2e_number(there, "ppl"))
            fail_msg("ppl %.17g here, %.17g on the DSP with '%s'", e2e_number(here, "ppl"), e2e_number(there, "ppl"), options[i]);
        json_decref(here);
        json_decref(there);
    }
    e2e_clean();
}

static void test_what_cannot_work_is_said(void **state)
{
    (void)state;
    e2e_refused("run -p x --kv spinor-cpu --offload kv", 2, "the cache spinor-cpu cannot be on the DSP");
    e2e_refused("run -p x --kv spinor-cpu --offload attn", 2, "the cache spinor-cpu cannot do attention on the DSP");
    e2e_refused("run -p x --kv spinor-cpu --uncalibrated --basis klt", 2, "legal: vht2, vht2w");
    e2e_refused("run -p x --kv spinor --uncalibrated --cal x", 2, "--uncalibrated and a calibration exclude each other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_and_dsp_generate_the_same_tokens),
        cmocka_unit_test(test_cpu_and_dsp_have_the_same_perplexity),
        cmocka_unit_test(test_what_cannot_work_is_said),
    };

    return HXT_RUN(tests);
}
