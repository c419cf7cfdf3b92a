/* Protects the cache of compressed vectors as people use it (--kv banded): the same text from this CPU's codes and from the DSP's,
 * calls as promised, sizes and cosine in the report, and what cannot work is said. */
#include "e2e.h"

enum { LAYERS = 6 };

/* Plain C, so that every machine has the same ties. */
#define RUN "run -p PROMPT -n 8 --json --linear ref --attn ref --kv banded "

static void test_cpu_and_dsp_generate_the_same_tokens(void **state)
{
    static const char *const v[] = {"3", "5543", "f32"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(v); i++) {
        json_t *here = e2e_json(hxt_path(RUN "--banded-v %s", v[i]));
        json_t *there = e2e_json(hxt_path(RUN "--banded-v %s --offload kv", v[i]));

        if (!json_equal(json_object_get(here, "tokens"), json_object_get(there, "tokens")))
            fail_msg("other tokens with --banded-v %s", v[i]);
        assert_string_equal(e2e_text(json_object_get(here, "banded"), "by"), "cpu");
        assert_string_equal(e2e_text(json_object_get(there, "banded"), "by"), "dsp");
        assert_true(e2e_number(here, "dispatch.calls_per_token") == 0);
        assert_true(e2e_number(there, "dispatch.calls_per_token") == 2 * LAYERS);
        json_decref(here);
        json_decref(there);
    }
    e2e_clean();
}

static void test_the_report_says_what_it_takes_and_what_is_left(void **state)
{
    json_t *j = e2e_json(RUN);

    (void)state;
    assert_true(e2e_number(j, "banded.k.bytes") == 76);
    assert_true(e2e_number(j, "banded.v.bytes") == 50);
    assert_true(e2e_number(j, "banded.k.cosine") >= 0.99);
    assert_true(e2e_number(j, "banded.v.cosine") > 0.8);
    assert_true(e2e_number(j, "banded.k.vectors") > 0);
    json_decref(j);
}

static void test_what_cannot_work_is_said(void **state)
{
    (void)state;
    e2e_refused("run -p x --kv banded --offload attn", 2, "the cache banded cannot do attention on the DSP");
    e2e_refused("run -p x --kv banded --banded-v 4", 2, "legal: 3, 5543, f32");
    e2e_refused("run -p x --kv f32 --banded-v f32", 2, "--banded-v needs --kv banded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_and_dsp_generate_the_same_tokens),
        cmocka_unit_test(test_the_report_says_what_it_takes_and_what_is_left),
        cmocka_unit_test(test_what_cannot_work_is_said),
    };

    return HXT_RUN(tests);
}
