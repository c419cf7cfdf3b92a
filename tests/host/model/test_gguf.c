/* Protects: the GGUF reader and the model loader against files that lie, and the messages that people get then. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/arch/arch.h"
#include "engine/forward.h"
#include "hxt.h"
#include "model/model.h"
#include "tiny_gguf.h"

/* Opens the first n bytes from an allocation of exactly that size, so that ASan sees a read past the end. */
static int open_exact(const uint8_t *p, size_t n, struct hx_error *err)
{
    uint8_t *copy = malloc(n ? n : 1);
    struct hx_model *m = NULL;
    struct hx_gguf *g = NULL;
    int rc;

    memcpy(copy, p, n);
    err->text[0] = '\0';
    rc = hx_gguf_open_bytes(&g, "tiny.gguf", copy, n, err);
    if (!rc)
        rc = hx_model_from_gguf(&m, g, hx_archs, err);
    hx_model_close(m);
    free(copy);
    return rc;
}

/* Builds the distorted file and expects rc and a message with `part` in it. */
static void expect(struct tiny t, int rc, const char *part)
{
    struct hx_error err;
    int got;

    tiny_build(&t);
    got = open_exact(t.p, t.n, &err);
    free(t.p);
    if (got != rc || !strstr(err.text, part) || strchr(err.text, '\n'))
        fail_msg("rc %d (want %d), message '%s' (want '%s')", got, rc, err.text, part);
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
    struct hx_error err;
    const struct hx_gguf_kv *kv;
    struct hx_str s;
    uint32_t u = 0;
    float f;

    (void)state;
    tiny_build(&t);
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &err), 0);
    assert_int_equal(hx_gguf_u32(g, "t.u8", &u, &err), 0);
    assert_int_equal(u, 0xfe);
    assert_int_equal(hx_gguf_u32(g, "t.u16", &u, &err), 0);
    assert_int_equal(u, 0xfffe);
    assert_int_equal(hx_gguf_u32(g, "t.u32", &u, &err), 0);
    assert_int_equal(u, 0xfffffffe);
    static const char *const not_u32[] = {"t.i8",  "t.i16",  "t.i32", "t.u64",
                                          "t.i64", "t.bool", "t.f64", "t.bytes"};
    for (size_t i = 0; i < HXT_LEN(not_u32); i++)
        assert_int_equal(hx_gguf_u32(g, not_u32[i], &u, &err), -EINVAL);
    assert_int_equal(hx_gguf_u32(g, "t.nothing", &u, &err), -ENOENT);
    assert_int_equal(hx_gguf_f32(g, "t.f64", &f, &err), -EINVAL);
    assert_int_equal(hx_gguf_str(g, "general.architecture", &s, &err), 0);
    assert_true(hx_str_is(s, "qwen3"));
    assert_int_equal(hx_gguf_array(g, "t.bytes", HX_GGUF_STRING, &kv, &err), -EINVAL);
    assert_int_equal(hx_gguf_array(g, "t.bytes", HX_GGUF_U8, &kv, &err), 0);
    assert_int_equal(kv->n, 3);
    assert_int_equal(kv->bytes, 3);
    assert_int_equal(kv->data[0], 0xfe);
    assert_int_equal(hx_gguf_array(g, "t.doubles", HX_GGUF_F64, &kv, &err), 0);
    assert_int_equal(kv->bytes, 8);
    assert_int_equal(hx_gguf_array(g, "t.none", HX_GGUF_STRING, &kv, &err), 0);
    assert_int_equal(kv->n + kv->bytes, 0);
    hx_gguf_close(g);
    free(t.p);
}

static void test_every_truncation_is_refused(void **state)
{
    struct tiny t = {0};
    struct hx_error err;

    (void)state;
    tiny_build(&t);
    for (size_t n = 0; n < t.n - TINY_ALIGN; n++) /* the last tensor may be followed by padding */
        if (open_exact(t.p, n, &err) != -EINVAL || !err.text[0])
            fail_msg("%zu of %zu bytes: '%s'", n, t.n, err.text);
    free(t.p);
}

static void test_not_a_gguf_is_named_so(void **state)
{
    struct hx_error err;

    (void)state;
    assert_int_equal(open_exact((const uint8_t *)"PK\3\4 something else", 20, &err), -EINVAL);
    assert_non_null(strstr(err.text, "not a GGUF file"));
}

static void test_versions_2_and_3_are_read_and_others_named(void **state)
{
    (void)state;
    expect((struct tiny){.version = 2}, 0, "");
    expect((struct tiny){.version = 3}, 0, "");
    expect((struct tiny){.version = 1}, -EINVAL, "GGUF version 1 is not supported; 2 and 3 are");
    expect((struct tiny){.version = 4}, -EINVAL, "GGUF version 4 is not supported");
    expect((struct tiny){.version = 3u << 24}, -EINVAL, "a big-endian GGUF file (version 3)");
}

static void test_arrays_of_arrays_and_unknown_types_are_named(void **state)
{
    (void)state;
    expect((struct tiny){.odd_elem = HX_GGUF_ARRAY}, -EINVAL,
           "metadata 't.odd' is an array of arrays");
    expect((struct tiny){.odd_elem = 13}, -EINVAL, "metadata 't.odd' has type 13");
}

static void test_a_name_twice_is_refused(void **state)
{
    (void)state;
    expect((struct tiny){.again = "qwen3.block_count"}, -EINVAL,
           "metadata key 'qwen3.block_count' is there twice");
    expect((struct tiny){.rename_tensor = "blk.0.ffn_up.weight", .to = "blk.0.ffn_gate.weight"},
           -EINVAL, "tensor 'blk.0.ffn_gate.weight' is there twice");
}

static void test_names_cannot_break_a_message(void **state)
{
    (void)state;
    expect((struct tiny){.rename_tensor = "output_norm.weight", .to = "a\n\x1b[2Jb",
                         .shift_offset = 4}, -EINVAL, "tensor 'a??[2Jb' starts at");
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
    expect((struct tiny){.type_tensor = "blk.0.attn_q.weight", .type = 16}, -EINVAL,
           "tensor 'blk.0.attn_q.weight' has type 16 (IQ2_XXS); supported are F32 F16 Q4_0");
    expect((struct tiny){.type_tensor = "blk.0.attn_q.weight", .type = 4711}, -EINVAL,
           "type 4711 (?)");
    expect((struct tiny){.type_tensor = "blk.0.attn_q.weight", .type = HX_QUANT_Q4_K}, -EINVAL,
           "'blk.0.attn_q.weight' has an impossible shape for Q4_K: 32 x 8 x 1 x 1 (a row is");
}

static void test_impossible_shapes_are_refused(void **state)
{
    static const uint64_t bad[] = {0, UINT64_MAX, 1ull << 62, 33};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        expect((struct tiny){.dim_tensor = "token_embd.weight", .dim = bad[i]}, -EINVAL,
               "'token_embd.weight' has an impossible shape");
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
    expect((struct tiny){.arch = "mamba"}, -EINVAL, "architecture 'mamba' is not supported");
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
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_gguf_open(&g, "/nonexistent/x.gguf", &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/x.gguf: No such file"));
    assert_int_equal(hx_gguf_open(&g, "/", &err), -EINVAL);
    assert_non_null(strstr(err.text, "/: is a directory"));
}

/* Of n bytes at p in a mapped file: how many are in memory. */
static size_t resident(const void *p, size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), start = (size_t)p & -page;
    const size_t pages = ((size_t)p + n - start + page - 1) / page;
    uint8_t *in = malloc(pages);
    size_t sum = 0;

    assert_int_equal(mincore((void *)start, pages * page, in), 0);
    for (size_t i = 0; i < pages; i++)
        sum += in[i] & 1;
    free(in);
    return sum * page;
}

/* A model of 800 MB, nearly all of it a hole in the file: it opens, and next to nothing comes into memory. */
static void test_opening_a_large_model_reads_no_weights(void **state)
{
    struct tiny t = {.ffn = 1u << 23, .header_only = 1};
    const char *path = hxt_path("%s/large.gguf", hxt_tmpdir());
    const struct hx_gguf_tensor *up;
    struct hx_error err = {""};
    struct hx_gguf *g;
    struct hx_model *m = NULL;
    float row[TINY_WIDTH];

    (void)state;
    tiny_build(&t);
    hxt_write_file(path, t.p, t.n);
    assert_int_equal(truncate(path, (off_t)(t.n + t.data_bytes)), 0);
    if (hx_gguf_open(&g, path, &err) || hx_model_from_gguf(&m, g, hx_archs, &err))
        fail_msg("%s", err.text);
    up = hx_gguf_tensor(g, "blk.0.ffn_up.weight");
    assert_true(up->bytes > 200u << 20);
    if (resident(up->data, up->bytes) > up->bytes / 50)
        fail_msg("%zu of %zu bytes were read", resident(up->data, up->bytes), (size_t)up->bytes);
    hx_linear_row(&m->layers[0].up, (1u << 23) - 1, row);
    assert_true(row[TINY_WIDTH - 1] == 0);
    if (resident(up->data, up->bytes) > up->bytes / 20)
        fail_msg("one row brought in %zu bytes", resident(up->data, up->bytes));
    hx_model_close(m);
    free(t.p);
}

/* Two files are one model, the third has another norm weight. */
static void test_fingerprint_is_of_the_model_not_of_the_file(void **state)
{
    struct tiny t = {0};
    struct hx_model *f16, *q8, *tiny;
    struct hx_gguf *g;
    struct hx_error err;
    uint64_t before;

    (void)state;
    assert_int_equal(hx_model_open(&f16, HXT_SRC "/tests/data/hexrig-tiny-f16.gguf", hx_archs, &err), 0);
    assert_int_equal(hx_model_open(&q8, HXT_SRC "/host/data/hexrig-tiny-q8_0.gguf", hx_archs, &err), 0);
    assert_true(f16->fingerprint == q8->fingerprint);
    hx_model_close(f16);
    hx_model_close(q8);
    tiny_build(&t);
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &err), 0);
    assert_int_equal(hx_model_from_gguf(&tiny, g, hx_archs, &err), 0);
    before = tiny->fingerprint;
    hx_model_close(tiny);
    t.p[t.n - TINY_ALIGN] ^= 1; /* output_norm */
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &err), 0);
    assert_int_equal(hx_model_from_gguf(&tiny, g, hx_archs, &err), 0);
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
    struct hx_error err;
    const uint32_t ids[] = {1, 257, 3};
    float logits[TINY_VOCAB];

    (void)state;
    tiny_build(&t);
    assert_int_equal(hx_gguf_open_bytes(&g, "t", t.p, t.n, &err), 0);
    assert_int_equal(hx_model_from_gguf(&m, g, hx_archs, &err), 0);
    assert_int_equal(hx_kv_f32_open(&kv, 1, 1, TINY_DH, 16, &err), 0);
    assert_int_equal(hx_attn_ref_open(&attn, 16, &err), 0);
    assert_int_equal(hx_forward_open(&f, m, kv, attn, 3, &err), 0);
    assert_int_equal(hx_forward_run(f, ids, 3, 0, &err), 0);
    assert_int_equal(hx_forward_logits(f, 2, 1, logits, NULL), 0);
    for (size_t i = 0; i < TINY_VOCAB; i++)
        assert_true(logits[i] == logits[i]);
    assert_int_equal(hx_forward_run(f, ids, 3, 14, &err), -EINVAL);
    assert_non_null(strstr(err.text, "context of 16"));
    assert_int_equal(hx_forward_run(f, (const uint32_t[]){TINY_VOCAB}, 1, 0, &err), -EINVAL);
    assert_int_equal(hx_forward_run(f, ids, 0, 0, &err), -EINVAL);
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
    cmocka_unit_test(test_versions_2_and_3_are_read_and_others_named),
    cmocka_unit_test(test_arrays_of_arrays_and_unknown_types_are_named),
    cmocka_unit_test(test_a_name_twice_is_refused),
    cmocka_unit_test(test_names_cannot_break_a_message),
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
    cmocka_unit_test(test_opening_a_large_model_reads_no_weights),
    cmocka_unit_test(test_fingerprint_is_of_the_model_not_of_the_file),
    cmocka_unit_test(test_a_loaded_tiny_model_runs),
};

int main(void)
{
    return HXT_RUN(tests);
}
