/* Protects files of matrices in k dimensions (host/methods/native/fits.h): what was written comes back, a file that was cut anywhere or has
 * any byte changed is refused in one line, and so is another model's; a file of something else is never replaced. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/blas.h"
#include "engine/arch/arch.h"
#include "golden.h"
#include "methods/native/fits.h"

static struct hx_error err;
static struct hx_model *model;
static struct hx_matrices matrices;

static int open_model(void **state)
{
    (void)state;
    return hx_model_open(&model, MODEL_F16, hx_archs, &err) || hx_matrices_copy(&matrices, model);
}

static int close_model(void **state)
{
    (void)state;
    hx_matrices_free(&matrices);
    hx_model_close(model);
    return 0;
}

/* The best of wk of the first `layers` layers, of k dimensions. */
static void make(struct hx_native_fits *f, size_t layers, size_t k)
{
    struct hx_linear_set set = {.at = calloc(layers, sizeof(*set.at)), .n = layers};

    for (size_t i = 0; i < layers; i++) {
        set.at[i].w = hx_matrices_at(&matrices, i, HX_WK);
        set.at[i].layer = i;
        set.at[i].which = HX_WK;
    }
    *f = (struct hx_native_fits){.fingerprint = model->fingerprint};
    assert_int_equal(hx_native_fits_take(f, &set, 1 << HX_WK, k, 0, &err), 0);
    assert_int_equal(hx_native_fits_each(f, NULL, NULL, "matrices", hx_native_fits_best, NULL, &err), 0);
    free(set.at);
}

static int read_back(const char *path)
{
    struct hx_native_fits f = {.n = 0};
    const int rc = hx_native_fits_read(&f, path, model, 0, &err);

    hx_native_fits_free(&f);
    return rc;
}

static void test_what_was_written_comes_back(void **state)
{
    const char *path = hxt_path("%s/some.nat", hxt_tmpdir());
    struct hx_native_fits f, got = {.n = 0};

    (void)state;
    make(&f, 2, 5);
    assert_true(fabs(f.at[1].loss - f.at[1].bound) < 1e-9);
    assert_int_equal(hx_native_fits_write(&f, path, &err), 0);
    assert_int_equal(hx_native_fits_write(&f, path, &err), 0); /* it replaces its like */
    assert_int_equal(hx_native_fits_read(&got, path, model, 9, &err), 0);
    assert_int_equal(got.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct hx_native *a = &f.at[i].n, *b = &got.at[i].n;

        assert_int_equal(got.at[i].layer, i);
        assert_int_equal(b->k, 5);
        assert_int_equal(b->room, 9);
        assert_true(got.at[i].loss == f.at[i].loss && got.at[i].bound == f.at[i].bound);
        for (size_t x = 0; x < a->k * a->rows; x++)
            assert_true(b->out[x] == (float)a->out[x]);
        for (size_t x = 0; x < a->k * a->k; x++)
            assert_true(b->core[x] == (float)a->core[x]);
        for (size_t x = 0; x < a->k * a->cols; x++)
            assert_true(b->in[x] == (float)a->in[x]);
    }
    hx_native_fits_free(&f);
    hx_native_fits_free(&got);
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void refused(const char *path, const char *what, size_t at)
{
    if (read_back(path) != -EINVAL || !strstr(err.text, path) || strchr(err.text, '\n'))
        fail_msg("%s byte %zu: '%s'", what, at, err.text);
}

static void test_every_cut_and_every_changed_byte_is_refused(void **state)
{
    const char *path = hxt_path("%s/whole.nat", hxt_tmpdir());
    FILE *file;
    struct hx_native_fits f;
    char *bytes;
    size_t n = 0;

    (void)state;
    make(&f, 1, 1);
    assert_int_equal(hx_native_fits_write(&f, path, &err), 0);
    hx_native_fits_free(&f);
    bytes = hxt_read_file(path, &n);
    assert_non_null(bytes);
    assert_int_equal(read_back(path), 0);
    file = fopen(path, "r+");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++) {
        const char changed = (char)(bytes[i] ^ 1 << i % 8);

        assert_int_equal(pwrite(fileno(file), &changed, 1, (off_t)i), 1);
        refused(path, "changed", i);
        assert_int_equal(pwrite(fileno(file), &bytes[i], 1, (off_t)i), 1);
    }
    assert_int_equal(read_back(path), 0);
    for (size_t i = n; i-- > 0;) {
        assert_int_equal(ftruncate(fileno(file), (off_t)i), 0);
        refused(path, "cut at", i);
    }
    fclose(file);
    free(bytes);
}

static void test_what_is_of_another_model_or_of_something_else_is_refused(void **state)
{
    const char *path = hxt_path("%s/another.nat", hxt_tmpdir()), *text = hxt_path("%s/text", hxt_tmpdir());
    struct hx_native_fits f;
    char *kept;
    size_t n = 0;

    (void)state;
    make(&f, 1, 1);
    f.fingerprint ^= 1;
    assert_int_equal(hx_native_fits_write(&f, path, &err), 0);
    assert_int_equal(read_back(path), -EINVAL);
    assert_non_null(strstr(err.text, "another model"));

    write_bytes(text, "a text that is dear to somebody\n", 32);
    assert_int_equal(hx_native_fits_write(&f, text, &err), -EEXIST);
    kept = hxt_read_file(text, &n);
    assert_int_equal(n, 32);
    assert_int_equal(read_back(text), -EINVAL);
    free(kept);
    hx_native_fits_free(&f);
}

static void test_a_matrix_of_zeros_is_named(void **state)
{
    static const float zeros[4 * 6];
    struct hx_linear w = {.ops = &hx_linear_ref, .w = zeros, .rows = 4, .cols = 6};
    struct hx_linear_set set = {.at = calloc(1, sizeof(*set.at)), .n = 1};
    struct hx_native_fits f = {.n = 0};

    (void)state;
    set.at[0].w = &w;
    set.at[0].layer = 3;
    set.at[0].which = HX_UP;
    assert_int_equal(hx_native_fits_take(&f, &set, HX_LAYER_MATRICES, 64, 0, &err), 0);
    assert_int_equal(f.at[0].n.k, 4); /* as many as there are */
    assert_int_equal(hx_native_fits_each(&f, NULL, NULL, "matrices", hx_native_fits_best, NULL, &err), -EDOM);
    assert_non_null(strstr(err.text, "up of layer 3"));
    hx_native_fits_free(&f);
    assert_int_equal(hx_native_fits_take(&f, &set, 1 << HX_WQ, 64, 0, &err), -EINVAL);
    hx_native_fits_free(&f);
    free(set.at);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_was_written_comes_back),
    cmocka_unit_test(test_every_cut_and_every_changed_byte_is_refused),
    cmocka_unit_test(test_what_is_of_another_model_or_of_something_else_is_refused),
    cmocka_unit_test(test_a_matrix_of_zeros_is_named),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, open_model, close_model);
}
