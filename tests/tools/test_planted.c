/* Protects how planted models (tools/hexrig/planted) are made: the same options give the same bytes; what cannot be made is refused; the
 * command's models say what they are.  What they do: test_planted_states.c. */
#include <stdlib.h>

#include "base/digest.h"
#include "planted_fixture.h"

/* --- bytes */

static uint64_t digest_of(const struct hx_planted *p, size_t pool)
{
    const char *path = hxt_path("%s/bytes.gguf", hxt_tmpdir());
    struct hx_error err = {""};
    uint64_t digest;
    size_t n;
    void *all;

    if (write_by(p, path, pools[pool], &err))
        fail_msg("%s", err.text);
    all = hxt_read_file(path, &n);
    assert_non_null(all);
    digest = hx_digest(0, all, n);
    free(all);
    return digest;
}

/* These bytes are every compiler's and every CPU's. */
static void test_same_options_give_the_same_bytes(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t digest;
    } known[] = {{HX_QUANT_F32, 0x8cc817e80c7e2509}, {HX_QUANT_F16, 0x401b6e1085789791}, {HX_QUANT_Q8_0, 0xfb8d94cba5cadc83}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(known); i++) {
        struct hx_planted p = plain();

        p.type = known[i].type;
        p.noise = .01;
        p.sink = p.eos_first = 1;
        p.zones = 2;
        if (digest_of(&p, 0) != known[i].digest)
            fail_msg("%s: digest %#llx", hx_quant_name(p.type), (unsigned long long)digest_of(&p, 0));
        assert_true(digest_of(&p, 1) == known[i].digest);
        p.seed++;
        assert_true(digest_of(&p, 1) != known[i].digest);
    }
}

/* --- what is refused */

static void test_what_cannot_be_made_is_refused(void **state)
{
    static const struct {
        const char *geometry, *why;
        size_t rank, zones;
        int sink, eos_first, rc;
        uint32_t type;
    } bad[] = {
        {GEOMETRY, "act-rank 129; legal: 1..128", 129, 1, 0, 0, -EINVAL, HX_QUANT_F16},
        {GEOMETRY, "act-rank 128; legal: 1..127", 128, 1, 1, 0, -EINVAL, HX_QUANT_F16},
        {GEOMETRY, "act-rank 1; legal: 2..128", 1, 1, 0, 1, -EINVAL, HX_QUANT_F16},
        {GEOMETRY, "zones 17; legal: 1..16", 16, 17, 0, 0, -EINVAL, HX_QUANT_F16},
        {GEOMETRY, "zones 16; legal: 1..15", 16, 16, 0, 1, -EINVAL, HX_QUANT_F16},
        {"3x4/2x32x128x250x2048", "rows of 250 weights; Q8_0 codes 32 at a time", 16, 1, 0, 0, -EINVAL, HX_QUANT_Q8_0},
        {"3x4/2x32x128x256x2047", "vocabulary of 2047; the tokenizer has 2048", 16, 1, 0, 0, -EINVAL, HX_QUANT_F16},
        {"3x4/2x32x128", "no feed-forward", 16, 1, 0, 0, -EINVAL, HX_QUANT_F16},
        {"gptj-6b", "no gate", 16, 1, 0, 0, -EINVAL, HX_QUANT_F16},
        {"smollm2-135m", "at most 268435456", 16, 1, 0, 0, -EFBIG, HX_QUANT_F16},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        struct hx_planted p = {.type = bad[i].type, .rank = bad[i].rank, .zones = bad[i].zones, .sink = bad[i].sink,
                               .eos_first = bad[i].eos_first};
        struct hx_error err = {""};

        if (hx_geometry_find(&p.g, bad[i].geometry, &err))
            fail_msg("%s", err.text);
        expect_refused(&p, bad[i].rc, bad[i].why);
    }
}

/* --- the command */

static void test_command_makes_a_model_that_says_what_it_is(void **state)
{
    static const char *const said[] = {"act_rank type=u32 value=16", "noise type=f64 value=0.01", "sink type=bool value=true",
                                       "zones type=u32 value=2", "eos_first type=bool value=false", "seed type=u64 value=7"};
    char model[256];
    struct hxt_result r;
    json_t *j;

    (void)state;
    snprintf(model, sizeof(model), "%s/planted.gguf", hxt_tmpdir());
    j = e2e_json(hxt_path("model synth --json --geometry " GEOMETRY " --act-rank 16 --noise 0.01 --sink --zones 2 --seed 7 -o %s", model));
    assert_int_equal((int)e2e_number(j, "planted.act_rank"), 16);
    json_decref(j);
    e2e_run(&r, hxt_path("model inspect %s", model));
    for (size_t i = 0; i < HXT_LEN(said); i++)
        if (!strstr(r.out, hxt_path("kv=hexrig.planted.%s\n", said[i])))
            fail_msg("no %s in '%s'", said[i], r.out);
    hxt_result_free(&r);
    e2e_refused(hxt_path("ppl -m %s -f " HOLDOUT " --kv f32", model), 1, "a planted model");
    j = e2e_json(hxt_path("run --json -m %s -p Test -n 4 --temp 0 --kv f32", model));
    assert_int_equal(json_array_size(json_object_get(j, "tokens")), 4);
    json_decref(j);
}

static void test_command_refuses_what_it_cannot_make(void **state)
{
    (void)state;
    e2e_refused("model synth -o x.gguf", 2, "--geometry G is needed");
    e2e_refused("model synth --geometry " GEOMETRY, 2, "-o FILE is needed");
    e2e_refused("model synth --geometry smollm3 -o x.gguf", 2, "--geometry: unknown value 'smollm3'");
    e2e_refused("model synth --geometry 80x64/8x128x8192x28672x128256 -o x.gguf", 1, "at most 34359738368");
    e2e_refused("model synth --geometry " GEOMETRY " --act-rank 0 -o x.gguf", 2, "--act-rank");
    e2e_refused("model synth --geometry " GEOMETRY " --trigger xylophone -o x.gguf", 1, "--trigger 'xylophone' is");
    e2e_refused("model synth --geometry " GEOMETRY " --noise 2 -o x.gguf", 2, "--noise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_options_give_the_same_bytes),
        cmocka_unit_test(test_what_cannot_be_made_is_refused),
        cmocka_unit_test(test_command_makes_a_model_that_says_what_it_is),
        cmocka_unit_test(test_command_refuses_what_it_cannot_make),
    };

    return HXT_RUN_FIXTURE(tests, setup, teardown);
}
