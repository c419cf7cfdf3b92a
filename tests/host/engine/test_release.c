/* Protects --release-file (engine/core.h, gguf/gguf.h): once methods have the weights in a form of their own the engine computes on
 * without the file, bit for bit, also when that is gone; memory falls; what would need the weights is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gguf/gguf_write.h"
#include "golden.h"
#include "open_engine.h"

enum { VOCAB = 2048, N = 5 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7};

/* A copy of the project's model that a test may spoil. */
static const char *copy_of_model(void)
{
    const char *path = hxt_path("%s/model.gguf", hxt_tmpdir());
    size_t bytes;
    void *content = hxt_read_file(MODEL_F16, &bytes);
    FILE *f = fopen(path, "w");

    assert_true(content && f);
    assert_int_equal(fwrite(content, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
    free(content);
    return path;
}

/* Lines of this process's maps that name the file. */
static int maps_of(const char *path)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1024];
    int n = 0;

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        n += strstr(line, path) != NULL;
    fclose(f);
    return n;
}

static void logits_of(struct hx_engine *e, float *logits)
{
    const uint32_t next = 33;

    run(e, ids, N, 0);
    run(e, &next, 1, N);
    assert_int_equal(hx_engine_logits(e, logits, NULL), 0);
}

static struct hx_engine *open_at(const char *path, const char *const *settings)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = path, .settings = settings, .threads = 2, .n_ctx = 16});
}

static void check_released(const char *linear, double least_gone_mb)
{
    static float want[VOCAB], got[VOCAB];
    const char *path = copy_of_model();
    struct hx_engine *e = open_at(path, HXT_SETTINGS("kv=f32", "attn=ref", linear));

    assert_true(maps_of(path) > 0);
    logits_of(e, want);
    hx_engine_close(e);

    e = open_at(path, HXT_SETTINGS("kv=f32", "attn=ref", linear, "release-file"));
    assert_int_equal(maps_of(path), 0);
    assert_int_equal(truncate(path, 0), 0); /* a page of it that was still read would end this program */
    assert_int_equal(unlink(path), 0);
    logits_of(e, got);
    hxt_same_bytes(got, want, sizeof(want));
    const double gone = hxt_reported(e, "release_file", "gone_mb"), drop = hxt_reported(e, "release_file", "rss_drop_mb");

    print_message("%s: %.2f MB gone, rss %.2f MB less\n", linear, gone, drop);
    assert_true(gone > least_gone_mb);
    /* less than went when what stays had not been read yet (the header and the embedding, 1.2 MB), or when the kernel took pages back */
    assert_true(drop > gone / 4 && drop < gone + 1.6);
    assert_true(hxt_reported(e, "release_file", "rss_before_mb") > hxt_reported(e, "release_file", "rss_after_mb"));
    hx_engine_close(e);
}

/* F16 weights of the layers: 7.1 MB; of the feed-forward alone: 4.7 MB. */
static void test_an_engine_computes_on_without_its_file(void **state)
{
    (void)state;
    check_released("linear=ok", 6.5);
}

static void test_some_matrices_can_go_and_others_stay(void **state)
{
    (void)state;
    check_released("linear=ref,ffn=ok", 4.2);
}

/* Every second tensor of the project's model, and with part 0 its metadata. */
static const char *write_part(uint32_t no)
{
    const char *path = hxt_path("%s/two-%05u-of-00002.gguf", hxt_tmpdir(), no + 1);
    struct hx_gguf *whole = NULL;
    struct hx_gguf_writer *w = NULL;

    assert_int_equal(hx_gguf_open(&whole, MODEL_F16, NULL), 0);
    const struct hx_gguf_facts f = hx_gguf_facts(whole);

    assert_int_equal(hx_gguf_writer_open(&w, path, 32, NULL), 0);
    for (size_t i = 0; no == 0 && i < f.n_kv; i++)
        hx_gguf_writer_kv(w, &f.kv[i]);
    hx_gguf_writer_u32(w, "split.no", no);
    hx_gguf_writer_u32(w, "split.count", 2);
    hx_gguf_writer_u32(w, "split.tensors.count", (uint32_t)f.n_tensors);
    for (size_t i = no; i < f.n_tensors; i += 2)
        hx_gguf_writer_tensor(w, &f.tensors[i]);
    for (size_t i = no; i < f.n_tensors; i += 2)
        assert_int_equal(hx_gguf_writer_data(w, f.tensors[i].data, f.tensors[i].bytes, NULL), 0);
    assert_int_equal(hx_gguf_writer_finish(w, NULL), 0);
    hx_gguf_writer_close(w);
    hx_gguf_close(whole);
    return path;
}

static void test_all_files_of_a_model_go(void **state)
{
    static float want[VOCAB], got[VOCAB];
    const char *first = write_part(0), *second = write_part(1);
    struct hx_engine *e = open_at(MODEL_F16, HXT_SETTINGS("kv=f32", "attn=ref", "linear=ok"));

    (void)state;
    logits_of(e, want);
    hx_engine_close(e);
    e = open_at(first, HXT_SETTINGS("kv=f32", "attn=ref", "linear=ok", "release-file"));
    assert_int_equal(maps_of(first) + maps_of(second), 0);
    assert_true(hxt_reported(e, "release_file", "gone_mb") > 6);
    assert_int_equal(unlink(first) + unlink(second), 0);
    logits_of(e, got);
    hxt_same_bytes(got, want, sizeof(want));
    hx_engine_close(e);
}

/* The model's own matrices have no weights then, and say so. */
static void test_the_reference_of_what_went_is_an_error(void **state)
{
    struct hx_engine *e = open_at(MODEL_F16, HXT_SETTINGS("kv=f32", "linear=ok,wq=ref", "release-file"));
    const struct hx_linear *gone = &e->model->layers[1].down, *stays = &e->model->layers[1].q;
    float x[512] = {1}, y[512], scratch[512], *to[] = {y};
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_linear_apply(&gone, to, 1, x, 1, scratch, &err), -ENODATA);
    assert_non_null(strstr(err.text, "the model's file has been let go"));
    assert_int_equal(hx_linear_apply(&stays, to, 1, x, 1, scratch, &err), 0);
    assert_non_null(e->model->embd.w);
    hx_engine_close(e);
}

/* Two engines of one core: the second finds the file gone and needs it no more than the first. */
static void test_engines_that_share_a_core_share_what_is_left(void **state)
{
    static float a[VOCAB], b[VOCAB];
    const char *const *settings = HXT_SETTINGS("kv=f32", "attn=ref", "linear=ok", "release-file");
    struct hx_engine *first = open_at(MODEL_F16, settings);
    struct hx_engine *second = hxt_engine_open(&(struct hx_engine_cfg){.share_with = first, .settings = settings, .n_ctx = 16});

    (void)state;
    logits_of(first, a);
    logits_of(second, b);
    hxt_same_bytes(a, b, sizeof(a));
    hx_engine_close(second);
    hx_engine_close(first);
}

static void refused(const char *const *settings, const char *says)
{
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_engine_open(&e, &(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings}, &err), -EINVAL);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
}

static void test_methods_that_read_the_file_are_refused(void **state)
{
    (void)state;
    refused(HXT_SETTINGS("kv=f32", "linear=cpu", "release-file"), "release-file: no linear method here has the weights");
    refused(HXT_SETTINGS("kv=f32", "linear=cpu", "release-file", "page-weights"), "exclude each other");
}

/* --- the map itself */

static void test_spans_go_and_the_rest_stays_where_it_was(void **state)
{
    struct hx_gguf *g = NULL;
    struct hx_gguf_released r;
    size_t bytes;
    uint8_t *file = hxt_read_file(MODEL_F16, &bytes);
    struct hx_gguf_span gone[] = {{800000, 900000}, {100001, 100002}, {300000, 500000}, {499999, 600000}};

    (void)state;
    assert_int_equal(hx_gguf_open(&g, MODEL_F16, NULL), 0);
    const uint8_t *base = (const uint8_t *)hx_gguf_facts(g).tensors[0].data - hx_gguf_offset(g, hx_gguf_facts(g).tensors[0].data);

    assert_int_equal(hx_gguf_release(g, gone, HXT_LEN(gone), &r, NULL), 0);
    assert_int_equal(r.gone_bytes % 4096, 0);
    assert_in_range(r.gone_bytes, 300000 + 100000 - 4 * 4096, 300000 + 100000);
    assert_in_range(r.kept_bytes + r.gone_bytes, bytes, bytes + 4096);
    assert_int_equal(maps_of(MODEL_F16), 0);
    assert_memory_equal(base, file, 300000);
    assert_memory_equal(base + 600000, file + 600000, 200000);
    assert_memory_equal(base + 900000, file + 900000, bytes - 900000);
    hx_gguf_close(g);

    assert_int_equal(hx_gguf_open_bytes(&g, "bytes", file, bytes, NULL), 0);
    assert_int_equal(hx_gguf_release(g, gone, 1, &r, NULL), -EINVAL);
    hx_gguf_close(g);
    free(file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_an_engine_computes_on_without_its_file),
    cmocka_unit_test(test_some_matrices_can_go_and_others_stay),
    cmocka_unit_test(test_all_files_of_a_model_go),
    cmocka_unit_test(test_the_reference_of_what_went_is_an_error),
    cmocka_unit_test(test_engines_that_share_a_core_share_what_is_left),
    cmocka_unit_test(test_methods_that_read_the_file_are_refused),
    cmocka_unit_test(test_spans_go_and_the_rest_stays_where_it_was),
};

int main(void)
{
    return HXT_RUN(tests);
}
