/* Protects projected K and V on this CPU (kv method proj): bases are the directions that their definitions say, before and after RoPE;
 * what comes back is U U^T x, and at full rank x; a position that is put again is the new one; trees keep paths; files of bases come back
 * as they were or are refused. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "golden.h"
#include "methods/kvproj/proj_cache.h"
#include "methods/spinor/calibrate.h"
#include "open_engine.h"
#include "text/text.h"

enum { LAYERS = 6, DH = 128, CTX = 64, N = 12, VOCAB = 2048 };

static const uint32_t ids[N] = {505, 1560, 351, 12, 7, 33, 900, 11, 108, 205, 302, 399};
static const size_t heads[] = {0, 7, 10, 11}; /* some of (layer, K or V): both kinds, first and last */

static struct hx_engine *open_engine(const char *const *settings)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .n_ctx = CTX, .max_batch = CTX, .threads = 2, .settings = settings});
}

static struct hx_engine *model;

static int open_model(void **state)
{
    (void)state;
    model = open_engine(HXT_SETTINGS(HXT_REF, "kv=f32"));
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    hx_engine_close(model);
    return 0;
}

/* --- bases */

/* |rows^T rows - 1| */
static void check_orthonormal(const float *u)
{
    for (size_t i = 0; i < DH; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;

            for (size_t d = 0; d < DH; d++)
                sum += (double)u[i * DH + d] * u[j * DH + d];
            if (!(fabs(sum - (i == j)) < 1e-5))
                fail_msg("directions %zu and %zu: %g", i, j, sum);
        }
}

/* Directions of falling share of g [DH][DH], none of which another one has a part of: then they are its eigenvectors. */
static void check_diagonal(const double *g, const float *u, double tolerance)
{
    static double gu[DH][DH];
    double before = INFINITY, trace = 0;

    for (size_t i = 0; i < DH; i++)
        for (size_t d = 0; d < DH; d++) {
            gu[i][d] = 0;
            for (size_t e = 0; e < DH; e++)
                gu[i][d] += g[d * DH + e] * u[i * DH + e];
        }
    for (size_t d = 0; d < DH; d++)
        trace += g[d * DH + d];
    for (size_t i = 0; i < DH; i++)
        for (size_t j = 0; j < DH; j++) {
            double sum = 0;

            for (size_t d = 0; d < DH; d++)
                sum += gu[i][d] * u[j * DH + d];
            if (i != j && !(fabs(sum) < tolerance * trace))
                fail_msg("directions %zu and %zu share %g of %g", i, j, sum, trace);
            if (i == j && !(sum <= before + tolerance * trace))
                fail_msg("direction %zu has %g, more than the one before", i, sum);
            before = i == j ? sum : before;
        }
}

/* In double, from the weights themselves; after RoPE turned by its formula, halves of a head as pairs. */
static void gram(size_t layer, int is_v, int turned, double *g)
{
    const struct hx_model *m = model->model;
    const struct hx_linear *w = is_v ? &m->layers[layer].v : &m->layers[layer].k;
    const float *norm = is_v ? NULL : m->layers[layer].k_norm.w;
    float *rows = malloc(DH * m->width * sizeof(*rows));
    const size_t n = turned ? 64 : 1, half = DH / 2;

    assert_int_equal(m->rope.global.pairs, HX_ROPE_HALVES);
    for (size_t i = 0; i < DH; i++) {
        hx_linear_row(w, i, rows + i * m->width);
        for (size_t k = 0; norm && k < m->width; k++)
            rows[i * m->width + k] *= norm[i];
    }
    memset(g, 0, DH * DH * sizeof(*g));
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < m->width; k++) {
            double x[DH];

            for (size_t i = 0; i < half; i++) {
                const double angle = (double)(p * m->n_ctx / 64) * pow(m->rope.global.base, -2.0 * (double)i / DH) * turned;
                const double a = rows[i * m->width + k], b = rows[(i + half) * m->width + k];

                x[i] = a * cos(angle) - b * sin(angle);
                x[i + half] = a * sin(angle) + b * cos(angle);
            }
            for (size_t i = 0; i < DH; i++)
                for (size_t j = 0; j < DH; j++)
                    g[i * DH + j] += x[i] * x[j] / (double)n;
        }
    free(rows);
}

static void test_weight_bases_are_singular_vectors(void **state)
{
    static double g[DH * DH];
    struct hx_kv_basis *b;
    struct hx_error err;

    (void)state;
    for (int after = 0; after < 2; after++) {
        if (hx_kv_basis_of_weights(&b, model->model, after, &err))
            fail_msg("%s", err.text);
        assert_int_equal(b->k_after_rope, after);
        for (size_t i = 0; i < HXT_LEN(heads); i++) {
            const int is_v = heads[i] % 2 != 0;
            const float *u = hx_kv_basis_at(b, heads[i] / 2, is_v, 0);

            check_orthonormal(u);
            gram(heads[i] / 2, is_v, after && !is_v, g);
            check_diagonal(g, u, 1e-5);
        }
        hx_kv_basis_free(b);
    }
}

static void add(void *arg, size_t slot, const float *x)
{
    double *m = (double *)arg + slot * DH * DH;

    for (size_t i = 0; i < DH; i++)
        for (size_t j = 0; j < DH; j++)
            m[i * DH + j] += (double)x[i] * x[j];
}

/* A text of some windows. */
static const char *some_text(void)
{
    const char *path = hxt_path("%s/text", hxt_tmpdir());
    size_t n;
    char *all = hxt_read_file(HOLDOUT, &n);

    assert_true(n > 4000);
    hxt_write_file(path, all, 4000);
    free(all);
    return path;
}

static void test_calibrated_bases_are_principal_directions(void **state)
{
    double *moments = calloc(2 * LAYERS, DH * DH * sizeof(*moments));
    const char *path = some_text();
    struct hx_kv_basis *b;
    struct hx_error err;
    size_t n, vectors;
    uint32_t *text;

    (void)state;
    if (hx_text_encode(model->model->tok, path, &text, &n, &err) || hx_cal_visit(model->model, 1, text, n, add, moments, &vectors, &err) ||
        hx_kv_basis_of_text(&b, model->model, 1, path, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < HXT_LEN(heads); i++) {
        const float *u = hx_kv_basis_at(b, heads[i] / 2, heads[i] % 2 != 0, 0);

        check_orthonormal(u);
        check_diagonal(moments + heads[i] * DH * DH, u, 1e-5);
    }
    hx_kv_basis_free(b);
    free(text);
    free(moments);
}

/* --- the cache */

struct pair {
    float *k, *v; /* [CTX][DH] */
};

static struct pair random_pair(struct hxt_rng *rng)
{
    struct pair p = {malloc(CTX * DH * sizeof(float)), malloc(CTX * DH * sizeof(float))};

    for (size_t i = 0; i < CTX * DH; i++) {
        p.k[i] = (float)hxt_normal(rng);
        p.v[i] = (float)hxt_normal(rng);
    }
    return p;
}

static void free_pair(struct pair *p)
{
    free(p->k);
    free(p->v);
}

/* U U^T x in double; of K before RoPE turned back and forth. */
static void project(const struct hx_kv_basis *b, size_t layer, int is_v, size_t rank, size_t pos, const float *x, double *out)
{
    const struct hx_rope_spec *s = &model->model->rope.global;
    const float *u = hx_kv_basis_at(b, layer, is_v, 0);
    const double turn = is_v || b->k_after_rope ? 0 : (double)pos;
    double in[DH], back[DH] = {0};

    for (size_t i = 0; i < DH / 2; i++) {
        const double angle = turn * pow(s->base, -2.0 * (double)i / DH);

        in[i] = x[i] * cos(angle) + x[i + DH / 2] * sin(angle);
        in[i + DH / 2] = x[i + DH / 2] * cos(angle) - x[i] * sin(angle);
    }
    for (size_t i = 0; i < rank; i++) {
        double z = 0;

        for (size_t d = 0; d < DH; d++)
            z += in[d] * u[i * DH + d];
        for (size_t d = 0; d < DH; d++)
            back[d] += z * u[i * DH + d];
    }
    for (size_t i = 0; i < DH / 2; i++) {
        const double angle = turn * pow(s->base, -2.0 * (double)i / DH);

        out[i] = back[i] * cos(angle) - back[i + DH / 2] * sin(angle);
        out[i + DH / 2] = back[i] * sin(angle) + back[i + DH / 2] * cos(angle);
    }
}

static void check_rows(struct hx_kv *kv, const struct hx_kv_basis *b, size_t layer, size_t rank, const struct pair *x, size_t n,
                       double tolerance)
{
    struct hx_kv_view view;
    double want[DH];

    assert_int_equal(kv->ops->rows(kv, layer, n, &view, NULL), 0);
    for (size_t pos = 0; pos < n; pos++)
        for (int is_v = 0; is_v < 2; is_v++) {
            const float *got = (is_v ? view.v : view.k) + pos * view.stride;

            project(b, layer, is_v, rank, pos, (is_v ? x->v : x->k) + pos * DH, want);
            for (size_t d = 0; d < DH; d++)
                if (!(fabs(got[d] - want[d]) < tolerance))
                    fail_msg("rank %zu, %s of position %zu: [%zu] is %g, not %g", rank, is_v ? "V" : "K", pos, d, (double)got[d], want[d]);
        }
}

static void put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const struct pair *x)
{
    struct hx_error err;

    if (kv->ops->put(kv, layer, pos, n, x->k + pos * DH, x->v + pos * DH, &err))
        fail_msg("%s", err.text);
}

static const struct {
    size_t rank;
    enum hx_kv_z z;
    double tolerance; /* vectors are some 11 long, their elements some 1 */
} kinds[] = {{1, HX_KV_Z_F32, 1e-5}, {33, HX_KV_Z_F32, 1e-5}, {DH, HX_KV_Z_F32, 1e-5}, {33, HX_KV_Z_F16, 2e-3}, {DH, HX_KV_Z_F16, 2e-3}};

static void test_what_comes_back_is_the_projection(void **state)
{
    struct hxt_rng rng;
    struct hx_error err;

    (void)state;
    hxt_rng_init(&rng, 91);
    for (int after = 0; after < 2; after++)
        for (size_t i = 0; i < HXT_LEN(kinds); i++) {
            struct pair x = random_pair(&rng), other = random_pair(&rng);
            struct hx_kv_basis *b;
            struct hx_kv *kv;

            if (hx_kv_basis_of_weights(&b, model->model, after, &err) ||
                hx_kv_proj_open(&kv, model->model, b, kinds[i].rank, kinds[i].z, CTX, &err))
                fail_msg("%s", err.text);
            put(kv, 2, 0, 40, &x);
            put(kv, 3, 0, 9, &other);
            check_rows(kv, b, 2, kinds[i].rank, &x, 40, kinds[i].tolerance);
            put(kv, 2, 17, 20, &other); /* again: a batch of guesses was wrong */
            memcpy(x.k + 17 * DH, other.k + 17 * DH, 20 * DH * sizeof(float));
            memcpy(x.v + 17 * DH, other.v + 17 * DH, 20 * DH * sizeof(float));
            check_rows(kv, b, 2, kinds[i].rank, &x, 37, kinds[i].tolerance);
            assert_int_equal(hx_kv_proj_seen(kv, 0).vectors, 69);
            if (kinds[i].rank == DH)
                assert_true(hx_kv_proj_seen(kv, 0).max < kinds[i].tolerance);
            else
                assert_true(hx_kv_proj_seen(kv, 0).mean > 0.5);
            hx_kv_close(kv);
            hx_kv_basis_free(b);
            free_pair(&x), free_pair(&other);
        }
}

static void test_what_cannot_be_kept_is_said(void **state)
{
    struct hx_kv_basis *b;
    struct hx_error err;
    struct hx_kv *kv;
    struct pair x;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 92);
    x = random_pair(&rng);
    assert_int_equal(hx_kv_basis_of_weights(&b, model->model, 1, &err), 0);
    assert_int_equal(hx_kv_proj_open(&kv, model->model, b, 0, HX_KV_Z_F16, CTX, &err), -EINVAL);
    assert_int_equal(hx_kv_proj_open(&kv, model->model, b, DH + 1, HX_KV_Z_F16, CTX, &err), -EINVAL);
    assert_string_equal(err.text, "kv proj: rank 129; 1 to 128, the head dimension, are legal");
    assert_int_equal(hx_kv_proj_open(&kv, model->model, b, 64, HX_KV_Z_F16, CTX, &err), 0);
    for (size_t d = 0; d < DH; d++)
        x.v[d] = 1e5f;
    assert_int_equal(kv->ops->put(kv, 1, 0, 1, x.k, x.v, &err), -EDOM);
    assert_non_null(strstr(err.text, "V of layer 1, position 0"));
    assert_non_null(strstr(err.text, "f16 ends at 65504"));
    hx_kv_close(kv);
    hx_kv_basis_free(b);
    free_pair(&x);
}

/* --- in an engine */

static float plain[N * VOCAB], got[N * VOCAB];

static void logits_of(struct hx_engine *e, float *out)
{
    struct hx_error err;

    run(e, ids, N, 0);
    if (hx_forward_logits(e->forward, 0, N, out, &err))
        fail_msg("%s", err.text);
}

static void check_full_rank(const char *rope)
{
    struct hx_engine *e = open_engine(HXT_SETTINGS(HXT_REF, "axex-kv=128", "kv-z=f32", rope));

    logits_of(e, got);
    for (size_t i = 0; i < N * VOCAB; i++)
        if (!(fabs(got[i] - plain[i]) < 1e-3)) /* of logits of some 10 */
            fail_msg("%s: logit %zu is %g, not %g", rope, i, (double)got[i], (double)plain[i]);
    hx_engine_close(e);
}

static void test_full_rank_is_the_plain_cache(void **state)
{
    (void)state;
    logits_of(model, plain);
    check_full_rank("k-rope=pre");
    check_full_rank("k-rope=post");
}

static void test_a_token_has_the_same_bits_in_a_batch_and_alone(void **state)
{
    static const char *const rope[] = {"k-rope=pre", "k-rope=post"};
    static float alone[VOCAB];

    (void)state;
    for (size_t r = 0; r < HXT_LEN(rope); r++) {
        struct hx_engine *e = open_engine(HXT_SETTINGS("axex-kv=40", rope[r]));

        logits_of(e, got);
        for (size_t i = 0; i < N; i++) {
            run(e, ids + i, 1, i);
            assert_int_equal(hx_engine_logits(e, alone, NULL), 0);
            hxt_same_bytes(alone, got + i * VOCAB, sizeof(alone));
        }
        hx_engine_close(e);
    }
}

/* A tree, the path that is kept, and a token behind it, beside the plain text. */
static void test_a_tree_keeps_one_path(void **state)
{
    static const int parent[5] = {-1, 0, 0, 2, 1};
    static const size_t path[3] = {0, 2, 3};
    struct hx_engine *e = open_engine(HXT_SETTINGS("axex-kv=40", "k-rope=post"));
    struct hx_engine *pre = open_engine(HXT_SETTINGS("axex-kv=40", "k-rope=pre"));
    const struct hx_forward_parts parts = {.matrices = &e->core->matrices, .kernels = e->core->kernels, .pool = e->core->pool, .trees = 1};
    const struct hx_method *m = hx_method_find(hx_methods, HX_SEAM_KV, "proj", 4);
    static float alone[VOCAB];
    struct hx_error err;

    (void)state;
    assert_true((m->gives & HX_TRAIT_TREE) != 0);
    assert_null(pre->kv->ops->keep); /* a place in a tree is no position */
    logits_of(e, got);
    assert_int_equal(hx_forward_use(e->forward, &parts, &err), 0);
    run(e, ids, 4, 0);
    assert_int_equal(hx_forward_run_tree(e->forward, (const uint32_t[]){ids[4], 900, ids[5], ids[6], 3}, parent, 5, 4, &err), 0);
    assert_int_equal(hx_forward_logits(e->forward, 3, 1, alone, &err), 0);
    hxt_same_bytes(alone, got + 6 * VOCAB, sizeof(alone));
    assert_int_equal(e->kv->ops->keep(e->kv, 4, path, 3, &err), 0);
    run(e, ids + 7, 1, 7);
    assert_int_equal(hx_engine_logits(e, alone, &err), 0);
    hxt_same_bytes(alone, got + 7 * VOCAB, sizeof(alone));
    hx_engine_close(e);
    hx_engine_close(pre);
}

/* --- files */

static void refused(const char *path, const struct hx_model *m, int want, const char *part)
{
    struct hx_kv_basis *b = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_kv_basis_read(&b, path, m, &err), want);
    assert_null(b);
    if (!strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
}

static void test_files_come_back_or_are_refused(void **state)
{
    const char *path = hxt_path("%s/basis", hxt_tmpdir()), *bad = hxt_path("%s/bad", hxt_tmpdir());
    const size_t floats = 2 * LAYERS * DH * DH;
    struct hx_kv_basis *b, *again;
    struct hx_model other = *model->model;
    struct hx_error err;
    size_t n;
    char *bytes;

    (void)state;
    if (hx_kv_basis_of_weights(&b, model->model, 1, &err) || hx_kv_basis_write(b, path, &err) ||
        hx_kv_basis_read(&again, path, model->model, &err))
        fail_msg("%s", err.text);
    hxt_same_bytes(again->u, b->u, floats * sizeof(*b->u));
    assert_int_equal(again->k_after_rope, 1);
    assert_int_equal(again->from, HX_KV_BASIS_WEIGHT);
    other.fingerprint ^= 1;
    refused(path, &other, -EINVAL, "basis of another model");
    refused(hxt_path("%s/none", hxt_tmpdir()), model->model, -ENOENT, "none");
    bytes = hxt_read_file(path, &n);
    bytes[n / 2] ^= 1;
    hxt_write_file(bad, bytes, n);
    refused(bad, model->model, -EINVAL, "damaged");
    hxt_write_file(bad, bytes, 30);
    refused(bad, model->model, -EINVAL, "no file of bases");
    hxt_write_file(bad, "other", 5);
    refused(bad, model->model, -EINVAL, "no file of bases");
    assert_true(hx_kv_basis_write(b, bad, &err) != 0); /* what is no basis stays */
    free(bytes);
    hx_kv_basis_free(b);
    hx_kv_basis_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weight_bases_are_singular_vectors),
        cmocka_unit_test(test_calibrated_bases_are_principal_directions),
        cmocka_unit_test(test_what_comes_back_is_the_projection),
        cmocka_unit_test(test_what_cannot_be_kept_is_said),
        cmocka_unit_test(test_full_rank_is_the_plain_cache),
        cmocka_unit_test(test_a_token_has_the_same_bits_in_a_batch_and_alone),
        cmocka_unit_test(test_a_tree_keeps_one_path),
        cmocka_unit_test(test_files_come_back_or_are_refused),
    };

    return HXT_RUN_FIXTURE(tests, open_model, close_model);
}
