/* Protects `hexrig model rotate` and what `hexrig ugt swap` puts together (tools/hexrig/twin, ugt/graft): a twin has the same logits to
 * 1e-4 and other matrices, noise is what was asked for, architectures that cannot be turned are refused, and a feed-forward of the twin
 * does its work in the model through the rotation and not without it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "engine/forward.h"
#include "gen_model.h"
#include "hxt.h"
#include "quant/quant.h"
#include "topics/states.h"
#include "twin/twin.h"
#include "ugt/graft.h"

enum { N = 24, SEED = 5 };

static const char *const turned[] = {"llama", "qwen2", "qwen3"};
static const char *const refused[] = {"gemma2", "gemma3", "gpt2", "opt", "gptj"};

static uint32_t ids[N];

static struct hx_model *open_model(const char *path)
{
    struct hx_error err = {""};
    struct hx_model *m;

    if (hx_model_open(&m, path, hx_archs, &err))
        fail_msg("%s", err.text);
    return m;
}

static struct hx_model *generate(const char *arch)
{
    const char *path = hxt_path("%s/%s.gguf", hxt_tmpdir(), arch);
    struct gen_model g;

    gen_init(&g, arch);
    g.type = HX_QUANT_F32;
    gen_build(&g);
    hxt_write_file(path, g.file, g.n_file);
    gen_free(&g);
    for (size_t i = 0; i < N; i++)
        ids[i] = (uint32_t)(i * 37 % GEN_VOCAB);
    return open_model(path);
}

static struct hx_model *twin_of(const struct hx_model *m, double noise)
{
    const char *path = hxt_path("%s/twin.gguf", hxt_tmpdir());
    const struct hx_twin how = {.seed = SEED, .noise = noise, .type = HX_QUANT_F32};
    struct hx_error err = {""};

    if (hx_twin_write(m, path, &how, &err))
        fail_msg("%s", err.text);
    return open_model(path);
}

/* matrices: taken over; NULL: the model's own.  out: [N][vocab] */
static void logits(const struct hx_model *m, struct hx_matrices *matrices, float *out)
{
    struct hx_error err = {""};
    struct hx_runner r;
    int rc = hx_runner_open(&r, m, NULL, matrices, N, NULL, &err);

    if (!rc)
        rc = hx_forward_run(r.forward, ids, N, 0, &err);
    if (!rc)
        rc = hx_forward_logits(r.forward, 0, N, out, &err);
    if (rc)
        fail_msg("%s", err.text);
    hx_runner_close(&r);
}

static double farthest(const float *a, const float *b)
{
    double most = 0;

    for (size_t i = 0; i < N * GEN_VOCAB; i++)
        most = fmax(most, fabs((double)a[i] - b[i]));
    return most;
}

static float one[N * GEN_VOCAB], other[N * GEN_VOCAB];

static void test_a_twin_has_the_same_logits_and_other_matrices(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(turned); i++) {
        struct hx_model *m = generate(turned[i]), *t = twin_of(m, 0);
        float a[1024], b[1024];
        double same = 0, all = 0;

        logits(m, NULL, one);
        logits(t, NULL, other);
        if (!(farthest(one, other) < 1e-4))
            fail_msg("%s: %g", turned[i], farthest(one, other));
        hx_linear_row(&m->layers[0].up, 0, a);
        hx_linear_row(&t->layers[0].up, 0, b);
        for (size_t k = 0; k < m->width; k++) {
            same += a[k] * b[k];
            all += a[k] * a[k];
            assert_true(t->out_norm.w[k] == 1 && t->layers[0].attn_norm.w[k] == 1);
        }
        assert_true(fabs(same) < .7 * all);
        hx_model_close(m);
        hx_model_close(t);
    }
}

/* The noise of an entry is normal with s times the matrix' root mean square; of some thousands their square is within 10 %. */
static void test_noise_is_relative_to_the_matrix(void **state)
{
    const double s = .05;
    struct hx_model *m = generate("llama"), *t = twin_of(m, 0);
    float a[1024], b[1024];
    double off = 0, all = 0;
    float *rows = malloc(m->vocab * m->width * sizeof(float));

    (void)state;
    for (size_t r = 0; r < t->vocab; r++)
        hx_linear_row(&t->embd, r, rows + r * t->width);
    hx_model_close(t);
    t = twin_of(m, s);
    for (size_t r = 0; r < t->vocab; r++) {
        hx_linear_row(&t->embd, r, b);
        memcpy(a, rows + r * t->width, t->width * sizeof(float));
        for (size_t k = 0; k < t->width; k++) {
            off += (b[k] - a[k]) * (b[k] - a[k]);
            all += a[k] * a[k];
        }
    }
    assert_true(fabs(sqrt(off / all) / s - 1) < .05);
    free(rows);
    hx_model_close(m);
    hx_model_close(t);
}

static void test_architectures_that_cannot_be_turned_are_refused(void **state)
{
    const struct hx_twin how = {.seed = 1, .type = HX_QUANT_F32};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(refused); i++) {
        struct hx_model *m = generate(refused[i]);
        const char *path = hxt_path("%s/no.gguf", hxt_tmpdir());
        struct hx_error err = {""};

        assert_int_equal(hx_twin_write(m, path, &how, &err), -EINVAL);
        assert_non_null(strstr(err.text, refused[i]));
        assert_null(hxt_read_file(path, NULL));
        hx_model_close(m);
    }
}

static void test_a_feed_forward_of_the_twin_does_its_work_through_the_rotation_only(void **state)
{
    struct hx_model *m = generate("qwen3"), *t = twin_of(m, 0);
    const size_t d = m->width;
    double *q = malloc(2 * d * d * sizeof(*q)), *back = q + d * d;
    struct hx_graft g;

    (void)state;
    assert_int_equal(hx_twin_rotation(q, d, SEED, NULL), 0);
    for (size_t i = 0; i < d * d; i++)
        back[i] = q[i % d * d + i / d];
    logits(m, NULL, one);
    assert_int_equal(hx_graft_make(&g, m, t, 1, back, NULL), 0);
    logits(m, &g.matrices, other);
    assert_true(farthest(one, other) < 1e-4);
    hx_graft_free(&g);
    assert_int_equal(hx_graft_make(&g, m, t, 1, NULL, NULL), 0);
    logits(m, &g.matrices, other);
    assert_true(farthest(one, other) > .01);
    hx_graft_free(&g);
    assert_int_equal(hx_graft_make(&g, m, t, m->n_layer, NULL, NULL), -EINVAL);
    hx_graft_free(&g);
    free(q);
    hx_model_close(m);
    hx_model_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_twin_has_the_same_logits_and_other_matrices),
        cmocka_unit_test(test_noise_is_relative_to_the_matrix),
        cmocka_unit_test(test_architectures_that_cannot_be_turned_are_refused),
        cmocka_unit_test(test_a_feed_forward_of_the_twin_does_its_work_through_the_rotation_only),
    };

    return HXT_RUN(tests);
}
