/* Protects paged weights (host/pager/pager.h): every matrix of every architecture gets the file's bytes, in pages of any size, with a
 * thread that reads ahead and without; nothing of it is left behind; what cannot be read is named. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/arch/arch.h"
#include "engine/linear.h"
#include "gen_model.h"
#include "golden.h"
#include "hxt_proc.h"
#include "open_engine.h"
#include "prefetch_readers.h"

enum { N = 9, VOCAB = 2048, CTX = 32 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7, 33, 900, 2, 77};

static const struct hx_pager_how ways[] = {
    {0},
    {.no_oracle = 1},
    {.from_disk = 1},
    {.storage = {.hit_us = 1, .miss_us = 200, .mb_s = 5000}},
};

static struct hx_engine *open_with(const char *model, const char *const *settings, struct hx_pager_how how)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = model, .settings = settings, .n_ctx = CTX, .threads = 2, .paging = how});
}

/* A batch, and then one more token: logits of both. */
static void logits_of(struct hx_engine *e, float (*out)[VOCAB])
{
    struct hx_error err;

    run(e, ids, N - 1, 0);
    assert_int_equal(hx_engine_logits(e, out[0], &err), 0);
    run(e, &ids[N - 1], 1, N - 1);
    assert_int_equal(hx_engine_logits(e, out[1], &err), 0);
}

static void expect_counts(struct hx_engine *e, const struct hx_pager_how *how)
{
    const double hits = hxt_reported(e, "paging", "hits"), late = hxt_reported(e, "paging", "late");
    const double misses = hxt_reported(e, "paging", "misses"), fetches = hxt_reported(e, "paging", "fetches");

    assert_true(hits + late + misses == fetches);
    assert_true(hxt_reported(e, "paging", "failed") == 0);
    assert_true(fetches >= 2 * hxt_reported(e, "paging", "pages"));
    assert_true(hxt_reported(e, "paging", "weight_bytes") > 0);
    if (how->no_oracle) {
        assert_true(misses == fetches);
        assert_true(hxt_reported(e, "paging", "bytes_read") >= 2 * hxt_reported(e, "paging", "weight_bytes"));
    }
}

static void test_logits_are_the_same_bits_from_pages_of_any_size(void **state)
{
    static const char *const linear[] = {"linear=cpu", "linear=ref", "linear=cpu,ffn_down@2-5=ref,wq=ref"};
    static const char *const pages[] = {"page-kib=4", "page-kib=100", "page-kib=512", "page-kib=8192"};
    static float want[2][VOCAB], got[2][VOCAB];

    (void)state;
    for (size_t l = 0; l < HXT_LEN(linear); l++) {
        struct hx_engine *e = open_with(MODEL_Q8_0, HXT_SETTINGS(linear[l], "kv=f32"), ways[0]);

        logits_of(e, want);
        hx_engine_close(e);
        for (size_t i = 0; i < HXT_LEN(pages); i++) {
            e = open_with(MODEL_Q8_0, HXT_SETTINGS(linear[l], "kv=f32", "page-weights", pages[i]), ways[(i + l) % HXT_LEN(ways)]);
            logits_of(e, got);
            hxt_same_bytes(got, want, sizeof(got));
            expect_counts(e, &ways[(i + l) % HXT_LEN(ways)]);
            hx_engine_close(e);
        }
    }
}

static void file_of(const char *arch, int own_output, const char *path)
{
    struct gen_model g;

    gen_init(&g, arch);
    g.type = HX_QUANT_Q8_0;
    g.own_output |= own_output;
    gen_build(&g);
    hxt_write_file(path, g.file, g.n_file);
    gen_free(&g);
}

/* y = W x for one matrix, of two vectors: what its rows are is seen in every element. */
static void product(const struct hx_linear *w, float *y)
{
    float *x = calloc(3 * w->cols, sizeof(*x));
    struct hx_error err;

    for (size_t i = 0; i < 2 * w->cols; i++)
        x[i] = (float)((i * 37 + 11) % 101) / 50 - 1;
    if (hx_linear_apply(&w, &y, 1, x, 2, x + 2 * w->cols, &err))
        fail_msg("%s", err.text);
    free(x);
}

static void same_product(const struct hx_linear *paged, const struct hx_linear *plain)
{
    const size_t bytes = 2 * plain->rows * sizeof(float);
    float *got = malloc(bytes + 1), *want = malloc(bytes + 1);

    memset(got, 0xa5, bytes);
    product(paged, got);
    product(plain, want);
    hxt_same_bytes(got, want, bytes);
    free(got);
    free(want);
}

static void test_every_matrix_of_every_architecture_is_whole(void **state)
{
    char *path = strdup(hxt_path("%s/paged.gguf", hxt_tmpdir()));

    (void)state;
    for (size_t a = 0; gen_archs[a]; a++) {
        struct hx_engine *e;

        file_of(gen_archs[a], a % 2 == 0, path);
        e = open_with(path, HXT_SETTINGS("linear=ref", "attn=ref", "kv=f32", "page-weights", "page-kib=4"), ways[a % 2]);
        for (size_t i = e->model->n_layer; i-- > 0;) /* in an order of our own: the plan is wrong, the bytes are not */
            for (int w = 0; w < HX_PER_LAYER; w++)
                if (hx_layer_matrix(&e->model->layers[i], (enum hx_matrix)w)->rows)
                    same_product(hx_matrices_at(&e->core->matrices, i, (enum hx_matrix)w),
                                 hx_layer_matrix(&e->model->layers[i], (enum hx_matrix)w));
        same_product(&e->core->matrices.out, &e->model->out);
        hx_engine_close(e);
    }
    free(path);
}

static void test_a_file_that_ends_too_early_is_named(void **state)
{
    char *path = strdup(hxt_path("%s/short.gguf", hxt_tmpdir()));
    size_t bytes = 0;
    char *file = hxt_read_file(MODEL_Q8_0, &bytes);
    const off_t end = 4260000; /* in the last matrix of the last layer: vectors before it are still mapped */
    struct hx_error err = {""};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        struct hx_engine *e;

        hxt_write_file(path, file, bytes);
        e = open_with(path, HXT_SETTINGS("linear=cpu", "kv=f32", "page-weights", "page-kib=64"), ways[i]);
        assert_int_equal(truncate(path, end), 0);
        assert_int_equal(hx_engine_run(e, ids, 1, 0, &err), -EIO);
        if (!strstr(err.text, path) || !strstr(err.text, "truncated"))
            fail_msg("%s", err.text);
        assert_true(hxt_reported(e, "paging", "failed") == 1);
        hx_engine_close(e);
        assert_true(hxt_until(no_readers, NULL, 20));
    }
    free(file);
    free(path);
}

static struct hx_plan *plan_of(const char *const *settings)
{
    struct hx_plan *p = NULL;
    struct hx_error err;

    if (hx_plan_open(&p, "", 0, &err) || hx_plan_set_list(p, settings, &err) || hx_plan_resolve(p, &err))
        fail_msg("%s", err.text);
    return p;
}

static void test_a_file_that_has_gone_is_named(void **state)
{
    char *path = strdup(hxt_path("%s/gone.gguf", hxt_tmpdir()));
    struct hx_plan *plan = plan_of(HXT_SETTINGS("linear=cpu", "kv=f32", "page-weights"));
    struct hx_model *m = NULL;
    struct hx_core *core = NULL;
    struct hx_error err = {""};

    (void)state;
    file_of("llama", 1, path);
    assert_int_equal(hx_model_open(&m, path, hx_archs, &err), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(hx_core_open(&core, &(struct hx_core_cfg){.model = m, .threads = 1}, plan, &err), -ENOENT);
    assert_non_null(strstr(err.text, path));
    assert_null(core);
    hx_model_close(m);
    hx_plan_close(plan);
    free(path);
}

static void test_closing_ends_the_thread(void **state)
{
    struct hx_engine *e = open_with(MODEL_Q8_0, HXT_SETTINGS("linear=cpu", "kv=f32", "page-weights"), ways[0]);

    (void)state;
    assert_int_equal(readers(), 1);
    run(e, ids, 2, 0); /* a page is held */
    hx_engine_close(e);
    assert_true(hxt_until(no_readers, NULL, 20));
    e = open_with(MODEL_Q8_0, HXT_SETTINGS("linear=cpu", "kv=f32", "page-weights"), ways[0]);
    hx_engine_close(e); /* none is */
    assert_true(hxt_until(no_readers, NULL, 20));
}

static void test_a_cpu_that_is_not_there_ends_the_opening(void **state)
{
    struct hx_engine *e = NULL;
    struct hx_error err = {""};
    cpu_set_t last;

    (void)state;
    CPU_ZERO(&last);
    CPU_SET(CPU_SETSIZE - 1, &last);
    assert_int_equal(hx_engine_open(&e, &(struct hx_engine_cfg){
        .model = MODEL_Q8_0, .settings = HXT_SETTINGS("linear=cpu", "kv=f32", "page-weights"), .n_ctx = CTX, .threads = 1,
        .paging = {.cpus = &last}}, &err), -EINVAL);
    assert_non_null(strstr(err.text, "CPU 1023"));
    assert_null(e);
}

static void refused(const char *const *settings, const char *part)
{
    struct hx_plan *p = NULL;
    struct hx_error err = {""};
    int rc;

    assert_int_equal(hx_plan_open(&p, "--", 0, &err), 0);
    rc = hx_plan_set_list(p, settings, &err);
    if (!rc)
        rc = hx_plan_resolve(p, &err);
    assert_int_equal(rc, -EINVAL);
    if (!strstr(err.text, part))
        fail_msg("%s", err.text);
    hx_plan_close(p);
}

static void test_what_cannot_be_paged_is_refused(void **state)
{
    struct hx_engine *e, *other = NULL;
    struct hx_error err = {""};

    (void)state;
    refused(HXT_SETTINGS("page-weights", "linear=ok"), "--page-weights: linear method ok has the weights in a form of its own");
    refused(HXT_SETTINGS("page-weights", "linear=cpu,wq@1=ok"), "linear method ok");
    refused(HXT_SETTINGS("page-weights", "offload=linear=wq"), "linear method dsp");
    refused(HXT_SETTINGS("page-weights", "offload=layer"), "--page-weights and --offload layer exclude each other");
    refused(HXT_SETTINGS("page-kib=64"), "--page-kib needs --page-weights");
    refused(HXT_SETTINGS("page-weights", "page-kib=3"), "page-kib");
    e = open_with(MODEL_Q8_0, HXT_SETTINGS("linear=cpu", "kv=f32", "page-weights"), ways[0]);
    assert_int_equal(hx_engine_open(&other, &(struct hx_engine_cfg){
        .share_with = e, .n_ctx = CTX, .settings = HXT_SETTINGS("linear=cpu", "kv=f32")}, &err), -EINVAL);
    assert_non_null(strstr(err.text, "page-weights"));
    hx_engine_close(e);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_logits_are_the_same_bits_from_pages_of_any_size),
    cmocka_unit_test(test_every_matrix_of_every_architecture_is_whole),
    cmocka_unit_test(test_a_file_that_ends_too_early_is_named),
    cmocka_unit_test(test_a_file_that_has_gone_is_named),
    cmocka_unit_test(test_closing_ends_the_thread),
    cmocka_unit_test(test_a_cpu_that_is_not_there_ends_the_opening),
    cmocka_unit_test(test_what_cannot_be_paged_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
