/* Protects: the GGUF reader and the model loader against files that lie, and the messages that people get then. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "forward.h"
#include "hxt.h"
#include "model.h"
#include "tiny_gguf.h"

/* Opens the first n bytes from an allocation of exactly that size, so that ASan sees a read past the end. */
static int open_exact(const uint8_t *p, size_t n, struct hx_why *why)
{
    uint8_t *copy = malloc(n ? n : 1);
    struct hx_model *m = NULL;
    struct hx_gguf *g = NULL;
    int rc;

    memcpy(copy, p, n);
    why->text[0] = '\0';
    rc = hx_gguf_open_bytes(&g, "tiny.gguf", copy, n, why);
    if (!rc)
        rc = hx_model_from_gguf(&m, g, why);
    hx_model_close(m);
    free(copy);
    return rc;
}

/* Builds the distorted file and expects rc and a message with `part` in it. */
static void expect(struct tiny t, int rc, const char *part)
{
    struct hx_why why;
    int got;

    tiny_build(&t);
    got = open_exact(t.p, t.n, &why);
    free(t.p);
    if (got != rc || !strstr(why.text, part) || strchr(why.text, '\n'))
        fail_msg("rc %d (want %d), message '%s' (want '%s')", got, rc, why.text, part);
}

static void test_a_complete_file_opens(void **state)
{
    (void)state;
    expect((struct tiny){0}, 0, "");
}

static void test_every_metadata_type_is_read(void **state)
{
    struct tiny t = {0};
    struct hx_gguf *g;
    struct hx_why why;
    const struct hx_gguf_kv *kv;
    struct hx_str s;
    uint32_t u = 0;
    float f;

    (void)state;
    tiny_build(&t);
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &why), 0);
    assert_int_equal(hx_gguf_u32(g, "t.u8", &u, &why), 0);
    assert_int_equal(u, 0xfe);
    assert_int_equal(hx_gguf_u32(g, "t.u16", &u, &why), 0);
    assert_int_equal(u, 0xfffe);
    assert_int_equal(hx_gguf_u32(g, "t.u32", &u, &why), 0);
    assert_int_equal(u, 0xfffffffe);
    static const char *const not_u32[] = {"t.i8",  "t.i16",  "t.i32", "t.u64",
                                          "t.i64", "t.bool", "t.f64", "t.nested"};
    for (size_t i = 0; i < HXT_LEN(not_u32); i++)
        assert_int_equal(hx_gguf_u32(g, not_u32[i], &u, &why), -EINVAL);
    assert_int_equal(hx_gguf_u32(g, "t.none", &u, &why), -ENOENT);
    assert_int_equal(hx_gguf_f32(g, "t.f64", &f, &why), -EINVAL);
    assert_int_equal(hx_gguf_str(g, "general.architecture", &s, &why), 0);
    assert_true(hx_str_is(s, "qwen3"));
    assert_int_equal(hx_gguf_array(g, "t.nested", HX_GGUF_STRING, &kv, &why), -EINVAL);
    assert_int_equal(hx_gguf_array(g, "t.nested", HX_GGUF_ARRAY, &kv, &why), 0);
    assert_int_equal(kv->n, 2);
    hx_gguf_close(g);
    free(t.p);
}

static void test_every_truncation_is_refused(void **state)
{
    struct tiny t = {0};
    struct hx_why why;

    (void)state;
    tiny_build(&t);
    for (size_t n = 0; n < t.n - TINY_ALIGN; n++) /* the last tensor may be followed by padding */
        if (open_exact(t.p, n, &why) != -EINVAL || !why.text[0])
            fail_msg("%zu of %zu bytes: '%s'", n, t.n, why.text);
    free(t.p);
}

static void test_not_a_gguf_is_named_so(void **state)
{
    struct hx_why why;

    (void)state;
    assert_int_equal(open_exact((const uint8_t *)"PK\3\4 something else", 20, &why), -EINVAL);
    assert_non_null(strstr(why.text, "not a GGUF file"));
    expect((struct tiny){.version = 2}, -EINVAL, "version 2");
}

static void test_counts_that_lie_are_refused(void **state)
{
    (void)state;
    expect((struct tiny){.add_tensors = 1}, -EINVAL, "tiny.gguf");
    expect((struct tiny){.add_tensors = UINT64_MAX / 2}, -EINVAL, "tensors");
    expect((struct tiny){.add_kvs = 1}, -EINVAL, "tiny.gguf");
    expect((struct tiny){.add_kvs = UINT64_MAX / 2}, -EINVAL, "metadata");
}

static void test_unknown_quant_type_is_named(void **state)
{
    (void)state;
    expect((struct tiny){.type_tensor = "blk.0.attn_q.weight", .type = 12}, -EINVAL,
           "tensor 'blk.0.attn_q.weight' has type 12 (Q4_K)");
    expect((struct tiny){.type_tensor = "blk.0.attn_q.weight", .type = 4711}, -EINVAL,
           "type 4711 (?)");
}

static void test_impossible_shapes_are_refused(void **state)
{
    static const uint64_t bad[] = {0, UINT64_MAX, 1ull << 62, 33};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        expect((struct tiny){.dim_tensor = "token_embd.weight", .dim = bad[i]}, -EINVAL,
               "token_embd.weight");
    expect((struct tiny){.dim_tensor = "blk.0.attn_k.weight", .dim = 16}, -EINVAL,
           "'blk.0.attn_k.weight' is 4 x 16; 4 x 32 is needed");
}

static void test_tensor_outside_the_file_is_refused(void **state)
{
    (void)state;
    expect((struct tiny){.shift_offset = 32}, -EINVAL, "'output_norm.weight' needs");
    expect((struct tiny){.shift_offset = 1ull << 63}, -EINVAL, "'output_norm.weight' needs");
    expect((struct tiny){.shift_offset = 4}, -EINVAL, "not a multiple of 32");
}

static void test_bad_alignment_is_refused(void **state)
{
    (void)state;
    expect((struct tiny){.alignment = 32}, 0, "");
    expect((struct tiny){.alignment = 24}, -EINVAL, "general.alignment is 24");
    expect((struct tiny){.alignment = 1u << 31}, -EINVAL, "general.alignment");
}

static void test_missing_tensor_is_named(void **state)
{
    (void)state;
    expect((struct tiny){.drop_tensor = "blk.0.ffn_up.weight"}, -ENOENT,
           "no tensor 'blk.0.ffn_up.weight'");
}

static void test_norms_must_be_f32(void **state)
{
    (void)state;
    expect((struct tiny){.type_tensor = "blk.0.attn_norm.weight", .type = HX_QUANT_F16}, -EINVAL,
           "norm 'blk.0.attn_norm.weight' is F16");
}

static void test_unsupported_architecture_is_named(void **state)
{
    (void)state;
    expect((struct tiny){.arch = "llama"}, -EINVAL, "architecture 'llama' is not supported");
}

static void test_merge_of_unknown_tokens_is_refused(void **state)
{
    (void)state;
    expect((struct tiny){.drop_merge = "q uu"}, -EINVAL, "merge 1");
    expect((struct tiny){.drop_merge = ""}, -EINVAL, "merge 1");
}

static void test_missing_file_says_why(void **state)
{
    struct hx_gguf *g;
    struct hx_why why;

    (void)state;
    assert_int_equal(hx_gguf_open(&g, "/nonexistent/x.gguf", &why), -ENOENT);
    assert_non_null(strstr(why.text, "/nonexistent/x.gguf: No such file"));
    assert_int_equal(hx_gguf_open(&g, "/", &why), -EINVAL);
    assert_non_null(strstr(why.text, "/: is a directory"));
}

/* Two files are one model, the third has another norm weight. */
static void test_fingerprint_is_of_the_model_not_of_the_file(void **state)
{
    struct tiny t = {0};
    struct hx_model *f16, *q8, *tiny;
    struct hx_gguf *g;
    struct hx_why why;
    uint64_t before;

    (void)state;
    assert_int_equal(hx_model_open(&f16, HXT_SRC "/tests/data/hexrig-tiny-f16.gguf", &why), 0);
    assert_int_equal(hx_model_open(&q8, HXT_SRC "/host/data/hexrig-tiny-q8_0.gguf", &why), 0);
    assert_true(f16->fingerprint == q8->fingerprint);
    hx_model_close(f16);
    hx_model_close(q8);
    tiny_build(&t);
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &why), 0);
    assert_int_equal(hx_model_from_gguf(&tiny, g, &why), 0);
    before = tiny->fingerprint;
    hx_model_close(tiny);
    t.p[t.n - TINY_ALIGN] ^= 1; /* output_norm */
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &why), 0);
    assert_int_equal(hx_model_from_gguf(&tiny, g, &why), 0);
    assert_true(tiny->fingerprint != before);
    hx_model_close(tiny);
    free(t.p);
}

static void test_a_loaded_tiny_model_runs(void **state)
{
    struct tiny t = {0};
    struct hx_model *m;
    struct hx_gguf *g;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *f;
    struct hx_why why;
    const uint32_t ids[] = {1, 257, 3};
    float logits[TINY_VOCAB];

    (void)state;
    tiny_build(&t);
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &why), 0);
    assert_int_equal(hx_model_from_gguf(&m, g, &why), 0);
    assert_int_equal(hx_kv_f32_open(&kv, 1, 1, TINY_DH, 16, &why), 0);
    assert_int_equal(hx_attn_ref_open(&attn, 16, &why), 0);
    assert_int_equal(hx_forward_open(&f, m, kv, attn, 3, &why), 0);
    assert_int_equal(hx_forward_run(f, ids, 3, 0, &why), 0);
    assert_int_equal(hx_forward_logits(f, 2, 1, logits, NULL), 0);
    for (size_t i = 0; i < TINY_VOCAB; i++)
        assert_true(logits[i] == logits[i]);
    assert_int_equal(hx_forward_run(f, ids, 3, 14, &why), -EINVAL);
    assert_non_null(strstr(why.text, "context of 16"));
    assert_int_equal(hx_forward_run(f, (const uint32_t[]){TINY_VOCAB}, 1, 0, &why), -EINVAL);
    assert_int_equal(hx_forward_run(f, ids, 0, 0, &why), -EINVAL);
    hx_forward_close(f);
    hx_attn_close(attn);
    hx_kv_close(kv);
    hx_model_close(m);
    free(t.p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_complete_file_opens),
    cmocka_unit_test(test_every_metadata_type_is_read),
    cmocka_unit_test(test_every_truncation_is_refused),
    cmocka_unit_test(test_not_a_gguf_is_named_so),
    cmocka_unit_test(test_counts_that_lie_are_refused),
    cmocka_unit_test(test_unknown_quant_type_is_named),
    cmocka_unit_test(test_impossible_shapes_are_refused),
    cmocka_unit_test(test_tensor_outside_the_file_is_refused),
    cmocka_unit_test(test_bad_alignment_is_refused),
    cmocka_unit_test(test_missing_tensor_is_named),
    cmocka_unit_test(test_norms_must_be_f32),
    cmocka_unit_test(test_unsupported_architecture_is_named),
    cmocka_unit_test(test_merge_of_unknown_tokens_is_refused),
    cmocka_unit_test(test_missing_file_says_why),
    cmocka_unit_test(test_fingerprint_is_of_the_model_not_of_the_file),
    cmocka_unit_test(test_a_loaded_tiny_model_runs),
};

int main(void)
{
    return HXT_RUN(tests);
}
