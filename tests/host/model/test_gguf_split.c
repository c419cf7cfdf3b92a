/* Protects: models in several files are one model, whichever tensors lie where; parts that are missing, or of another model, are
 * named. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/arch/arch.h"
#include "engine/engine.h"
#include "gguf/gguf_convert.h"
#include "gguf/gguf_write.h"
#include "hxt.h"
#include "model/model.h"
#include "tiny_gguf.h"

enum { PARTS = 3 };

static struct tiny tiny;
static struct hx_gguf *whole;

/* What a part says of itself; what differs from the truth is a test's doing. */
struct says {
    uint32_t no, count, tensors;
};

static struct says truth(uint32_t no)
{
    return (struct says){no, PARTS, (uint32_t)hx_gguf_facts(whole).n_tensors};
}

static const char *name_of(const char *stem, uint32_t no)
{
    return hxt_path("%s/%s-%05u-of-%05u.gguf", hxt_tmpdir(), stem, no + 1, PARTS);
}

/* Part `no` has every third tensor, and the first one the metadata. */
static void write_part(const char *path, uint32_t no, struct says says)
{
    const struct hx_gguf_facts f = hx_gguf_facts(whole);
    struct hx_gguf_writer *w;
    struct hx_error err = {""};
    int rc = hx_gguf_writer_open(&w, path, 32, &err);

    for (size_t i = 0; !rc && no == 0 && i < f.n_kv; i++)
        hx_gguf_writer_kv(w, &f.kv[i]);
    if (!rc) {
        hx_gguf_writer_u32(w, "split.no", says.no);
        hx_gguf_writer_u32(w, "split.count", says.count);
        hx_gguf_writer_u32(w, "split.tensors.count", says.tensors);
    }
    for (size_t i = no; !rc && i < f.n_tensors; i += PARTS)
        hx_gguf_writer_tensor(w, &f.tensors[i]);
    for (size_t i = no; !rc && i < f.n_tensors; i += PARTS)
        rc = hx_gguf_writer_data(w, f.tensors[i].data, f.tensors[i].bytes, &err);
    if (!rc)
        rc = hx_gguf_writer_finish(w, &err);
    hx_gguf_writer_close(w);
    if (rc)
        fail_msg("%s: %s", path, err.text);
}

static void write_parts(const char *stem)
{
    for (uint32_t no = 0; no < PARTS; no++)
        write_part(name_of(stem, no), no, truth(no));
}

/* All of the whole's tensors are there, with their bytes. */
static void expect_all(const struct hx_gguf *g)
{
    const struct hx_gguf_facts f = hx_gguf_facts(whole);

    assert_int_equal(hx_gguf_facts(g).n_tensors, f.n_tensors);
    for (size_t i = 0; i < f.n_tensors; i++) {
        const struct hx_gguf_tensor *t = hx_gguf_tensor(g, hxt_path("%.*s", (int)f.tensors[i].name.n, f.tensors[i].name.p));

        assert_non_null(t);
        assert_int_equal(t->bytes, f.tensors[i].bytes);
        assert_memory_equal(t->data, f.tensors[i].data, t->bytes);
    }
}

static void test_parts_are_one_model(void **state)
{
    struct hx_model *m;
    struct hx_gguf *g;
    struct hx_error err = {""};

    (void)state;
    write_parts("good");
    if (hx_gguf_open(&g, name_of("good", 0), &err))
        fail_msg("%s", err.text);
    expect_all(g);
    assert_int_equal(hx_gguf_facts(g).n_files, PARTS);
    hx_gguf_close(g);
    if (hx_model_open(&m, name_of("good", 0), hx_archs, &err))
        fail_msg("%s", err.text);
    hx_model_close(m);
}

/* Part `no` of two, with one tensor. */
static void write_f32(const char *path, uint32_t no)
{
    const float weights[32] = {1, 2, (float)no};
    const struct hx_gguf_tensor t = {.name = {no ? "b.weight" : "a.weight", 8}, .n_dims = 2, .dims = {32, 1, 1, 1}, .type = HX_QUANT_F32,
                                     .bytes = sizeof(weights)};
    struct hx_gguf_writer *w;
    struct hx_error err;

    assert_int_equal(hx_gguf_writer_open(&w, path, 32, &err), 0);
    hx_gguf_writer_u32(w, "split.no", no);
    hx_gguf_writer_u32(w, "split.count", 2);
    hx_gguf_writer_u32(w, "split.tensors.count", 2);
    hx_gguf_writer_tensor(w, &t);
    assert_int_equal(hx_gguf_writer_data(w, weights, sizeof(weights), &err), 0);
    assert_int_equal(hx_gguf_writer_finish(w, &err), 0);
    hx_gguf_writer_close(w);
}

static void test_a_converted_model_is_one_file(void **state)
{
    const struct hx_convert how = {.type = HX_QUANT_F16};
    const char *merged = strdup(hxt_path("%s/merged.gguf", hxt_tmpdir()));
    const char *first = strdup(hxt_path("%s/two-00001-of-00002.gguf", hxt_tmpdir()));
    struct hx_gguf *g;
    struct hx_error err = {""};

    (void)state;
    write_f32(first, 0);
    write_f32(hxt_path("%s/two-00002-of-00002.gguf", hxt_tmpdir()), 1);
    if (hx_gguf_open(&g, first, &err) || hx_gguf_convert(g, merged, &how, &err))
        fail_msg("%s", err.text);
    hx_gguf_close(g);
    if (hx_gguf_open(&g, merged, &err))
        fail_msg("%s", err.text);
    assert_int_equal(hx_gguf_facts(g).n_files, 1);
    assert_int_equal(hx_gguf_facts(g).n_tensors, 2);
    hx_gguf_close(g);
    free((char *)merged);
    free((char *)first);
}

static void refused(const char *path, int rc, const char *part)
{
    struct hx_gguf *g;
    struct hx_error err = {""};
    const int got = hx_gguf_open(&g, path, &err);

    if (got != rc || !strstr(err.text, part) || strchr(err.text, '\n'))
        fail_msg("%s: rc %d (want %d), message '%s' (want '%s')", path, got, rc, err.text, part);
}

static void test_what_is_wrong_with_parts_is_told(void **state)
{
    const char *odd = strdup(hxt_path("%s/odd.gguf", hxt_tmpdir())), *bad = strdup(name_of("bad", 0)), *last = strdup(name_of("bad", 2));
    const uint32_t n = truth(0).tensors;

    (void)state;
    write_parts("bad");
    refused(last, -EINVAL, hxt_path("part 3 of 3 of a model; the first is to be given, %s", bad));
    write_part(odd, 0, truth(0));
    refused(odd, -EINVAL, "odd.gguf: part 1 of 3 of a model; without -00001-of-00003.gguf");
    unlink(last);
    refused(bad, -ENOENT, "bad-00003-of-00003.gguf: No such file");
    write_part(last, 2, (struct says){1, PARTS, n});
    refused(bad, -EINVAL, "bad-00003-of-00003.gguf: is no part 3 of the model");
    write_part(last, 2, (struct says){2, PARTS + 1, n});
    refused(bad, -EINVAL, "is no part 3 of the model");
    write_part(last, 1, truth(2));
    refused(bad, -EINVAL, "is there twice");
    for (uint32_t no = 0; no < PARTS; no++)
        write_part(name_of("bad", no), no, (struct says){no, PARTS, n + 1});
    refused(bad, -EINVAL, hxt_path("its parts have %u tensors, split.tensors.count is %u", n, n + 1));
    write_part(bad, 0, (struct says){0, 2000, n});
    refused(bad, -EINVAL, "split.count 2000; 2 to 1024 parts are legal");
    write_part(bad, 0, (struct says){3, PARTS, n});
    refused(bad, -EINVAL, "split.no 3 of split.count 3");
    free((char *)odd);
    free((char *)bad);
    free((char *)last);
}

static int open_whole(void **state)
{
    struct hx_error err = {""};

    (void)state;
    tiny_build(&tiny);
    if (hx_gguf_open_bytes(&whole, "tiny.gguf", tiny.p, tiny.n, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int close_whole(void **state)
{
    (void)state;
    hx_gguf_close(whole);
    free(tiny.p);
    return 0;
}

/* Pages are parts of one file: not of the first one, where bytes of another lie behind it. */
static void test_parts_are_not_paged(void **state)
{
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    (void)state;
    write_parts("paged");
    assert_int_equal(hx_engine_open(&e, &(struct hx_engine_cfg){
        .model = name_of("paged", 0), .n_ctx = 8, .threads = 1,
        .settings = (const char *const[]){"kv=f32", "page-weights", NULL}}, &err), -EINVAL);
    if (!strstr(err.text, "the model is in 3 files; pages of weights come from one"))
        fail_msg("%s", err.text);
    assert_null(e);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_parts_are_one_model),
    cmocka_unit_test(test_a_converted_model_is_one_file),
    cmocka_unit_test(test_what_is_wrong_with_parts_is_told),
    cmocka_unit_test(test_parts_are_not_paged),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, open_whole, close_whole);
}
