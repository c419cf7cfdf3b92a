/* Protects the kernels of attention over projections (kernels/kvproj): sums, scores and values are as near to the references in double
 * as their header says, for every rank, and coefficients lie where they should.  Whole attention through a rig: test_kvproj_rig.c. */
#include <math.h>
#include <stdlib.h>

#include "hexrig_hvx_count.h"
#include "hx_f16.h"
#include "hxt.h"
#include "kvproj/proj_attn.h"

enum { ALIGN = 128, POSITIONS = 131, MOST = 128 };

#define UNIT 0x1p-20

static const int ranks[] = {1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128};

static const struct form {
    const char *name;
    const struct hx_proj_form *hvx, *ref;
    size_t bytes;
} forms[] = {{"f16", &hx_proj_f16_hvx, &hx_proj_f16_ref, 2}, {"f32", &hx_proj_f32_hvx, &hx_proj_f32_ref, 4}};

static float *row(size_t n)
{
    return hxt_guard_alloc(n * sizeof(float), ALIGN);
}

static float *random_row(struct hxt_rng *rng, size_t n)
{
    float *x = row(n);

    for (size_t i = 0; i < n; i++)
        x[i] = (float)hxt_normal(rng);
    return x;
}

static double length(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

/* qf32 has no 0, only a least number. */
static void check_one(const char *what, int rank, size_t i, float got, float want, double bound)
{
    if (!(fabs((double)got - want) <= bound + 0x1p-126))
        fail_msg("%s, rank %d: [%zu] = %.9g, not %.9g: %.3g apart, %.3g allowed", what, rank, i, (double)got, (double)want,
                 fabs((double)got - want), bound);
}

/* --- of either form */

static void test_sums_products_and_mixes_are_near_the_reference(void **state)
{
    static const int vectors[] = {1, 2, 3, 4};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 71);
    for (size_t t = 0; t < HXT_LEN(vectors); t++)
        for (int n = 0; n <= 128; n += 32) {
            const size_t width = (size_t)vectors[t] * 32;
            float *w = random_row(&rng, (size_t)n + 1), *rows = random_row(&rng, (size_t)(n + 1) * width);
            float *got = row(width), *want = row(width), *x = random_row(&rng, width), *y = random_row(&rng, width);

            hx_hvx_reset();
            hx_proj_sum_hvx(w, rows, n, vectors[t], got);
            hx_proj_sum_ref(w, rows, n, vectors[t], want);
            for (size_t d = 0; d < width; d++) {
                double all = 0;

                for (int i = 0; i < n; i++)
                    all += fabs((double)w[i] * rows[(size_t)i * width + d]);
                check_one("sum", n, d, got[d], want[d], UNIT * all);
            }
            check_one("dot", n, 0, hx_proj_dot_hvx(x, y, vectors[t]), hx_proj_dot_ref(x, y, vectors[t]),
                      UNIT * length(x, width) * length(y, width));
            memcpy(got, y, width * sizeof(*y));
            memcpy(want, y, width * sizeof(*y));
            hx_proj_mix_hvx(got, 0.3f, x, vectors[t]);
            hx_proj_mix_ref(want, 0.3f, x, vectors[t]);
            for (size_t d = 0; d < width; d++)
                check_one("mix", n, d, got[d], want[d], UNIT * (fabs(y[d]) + fabs(0.3 * x[d])));
            assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
            hxt_guard_free(w), hxt_guard_free(rows), hxt_guard_free(got), hxt_guard_free(want), hxt_guard_free(x), hxt_guard_free(y);
        }
}

/* --- coefficients */

struct store {
    void *k, *v; /* as hx_kv_proj.h has them */
    size_t bytes, k_bytes;
};

static struct store open_store(const struct form *f, int rank)
{
    struct store s = {.bytes = (size_t)hx_kv_proj_head_bytes(POSITIONS, (size_t)rank, f->bytes),
                      .k_bytes = (size_t)hx_kv_proj_k_bytes(POSITIONS, (size_t)rank, f->bytes)};

    s.k = hxt_guard_alloc(s.bytes, ALIGN);
    memset(s.k, 0, s.bytes);
    s.v = (char *)s.k + s.k_bytes;
    return s;
}

/* [MOST] with zeros behind rank. */
static void random_z(struct hxt_rng *rng, float *z, int rank)
{
    memset(z, 0, MOST * sizeof(*z));
    for (int i = 0; i < rank; i++)
        z[i] = (float)(hxt_normal(rng) * 3);
}

/* A halfword or word of both, which of f16 may be neighbours. */
static void check_same(const struct form *f, int rank, const struct store *got, const struct store *want)
{
    for (size_t i = 0; f->bytes == 2 && i < got->bytes / 2; i++) {
        const int a = ((const uint16_t *)got->k)[i], b = ((const uint16_t *)want->k)[i];

        if (abs(a - b) > 1)
            fail_msg("%s, rank %d: halfword %zu is %04x, not %04x", f->name, rank, i, (unsigned)a, (unsigned)b);
    }
    if (f->bytes == 4)
        hxt_same_bytes(got->k, want->k, got->bytes);
}

static void put_all(struct hxt_rng *rng, const struct form *f, int rank, const struct store *got, const struct store *want)
{
    float *z_k = row(MOST), *z_v = row(MOST);

    for (size_t pos = 0; pos < POSITIONS; pos++) {
        random_z(rng, z_k, rank);
        random_z(rng, z_v, rank);
        f->hvx->put(got->k, got->v, pos, z_k, z_v, rank);
        f->ref->put(want->k, want->v, pos, z_k, z_v, rank);
    }
    hxt_guard_free(z_k), hxt_guard_free(z_v);
}

/* Of one past, read by both. */
static void check_scores(struct hxt_rng *rng, const struct form *f, int rank, const struct store *s)
{
    const size_t tile = hx_kv_proj_tile(f->bytes), tiles = (POSITIONS + tile - 1) / tile;
    float *q = row(MOST), *got = row(tiles * tile), *want = row(tiles * tile);

    random_z(rng, q, rank);
    f->hvx->scores(q, s->k, rank, (int)tiles, 0.125f, got);
    f->ref->scores(q, s->k, rank, (int)tiles, 0.125f, want);
    for (size_t i = 0; i < tiles * tile; i++) /* a key is some 3 sqrt(rank) long */
        check_one(f->name, rank, i, got[i], want[i], 2 * UNIT * 0.125 * length(q, MOST) * 6 * sqrt(rank));
    hxt_guard_intact(got);
    hxt_guard_free(q), hxt_guard_free(got), hxt_guard_free(want);
}

static void check_values(struct hxt_rng *rng, const struct form *f, int rank, const struct store *s)
{
    float *w = random_row(rng, POSITIONS + 1), *got = row(MOST), *want = row(MOST);

    for (int n = 0; n <= POSITIONS; n += 26) {
        double all = 0;

        for (int i = 0; i < n; i++)
            all += fabs((double)w[i]);
        f->hvx->values(w, s->v, n, rank, got);
        f->ref->values(w, s->v, n, rank, want);
        for (int d = 0; d < rank; d++) /* no coefficient is above 20 */
            check_one(f->name, rank, (size_t)d, got[d], want[d], UNIT * 20 * all);
    }
    hxt_guard_intact(got);
    hxt_guard_free(w), hxt_guard_free(got), hxt_guard_free(want);
}

static void test_coefficients_are_kept_and_read_as_the_reference_does(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 72);
    for (size_t i = 0; i < HXT_LEN(forms); i++)
        for (size_t r = 0; r < HXT_LEN(ranks); r++) {
            struct store got = open_store(&forms[i], ranks[r]), want = open_store(&forms[i], ranks[r]);

            hx_hvx_reset();
            put_all(&rng, &forms[i], ranks[r], &got, &want);
            check_same(&forms[i], ranks[r], &got, &want);
            check_scores(&rng, &forms[i], ranks[r], &got);
            check_values(&rng, &forms[i], ranks[r], &got);
            assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
            hxt_guard_free(got.k), hxt_guard_free(want.k);
        }
}

/* By hand: where position 37 is, and that its neighbours are left alone. */
static void test_a_key_is_a_column_and_a_value_is_a_row(void **state)
{
    float *z = row(MOST);

    (void)state;
    for (int i = 0; i < MOST; i++)
        z[i] = i < 40 ? (float)(i + 1) : 0;
    for (size_t i = 0; i < HXT_LEN(forms); i++) {
        struct store s = open_store(&forms[i], 40);
        const uint8_t *bytes = s.k;
        size_t set = 0;

        forms[i].hvx->put(s.k, s.v, 37, z, z, 40);
        for (size_t b = 0; b < s.bytes; b += forms[i].bytes) {
            const int some = forms[i].bytes == 2 ? *(const uint16_t *)(bytes + b) != 0 : *(const float *)(bytes + b) != 0;

            set += (size_t)some;
        }
        assert_int_equal(set, 80);
        if (forms[i].bytes == 2) {
            assert_int_equal(((const uint16_t *)s.k)[39 * 64 + 11], hx_f16_from_f32(40)); /* 37 = 32 + 5 stands beside 5 */
            assert_int_equal(((const uint16_t *)s.v)[37 * 40 + 39], hx_f16_from_f32(40));
        } else {
            assert_true(((const float *)s.k)[40 * 32 + 39 * 32 + 5] == 40);
            assert_true(((const float *)s.v)[37 * 40 + 39] == 40);
        }
        hxt_guard_free(s.k);
    }
    hxt_guard_free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_products_and_mixes_are_near_the_reference),
        cmocka_unit_test(test_coefficients_are_kept_and_read_as_the_reference_does),
        cmocka_unit_test(test_a_key_is_a_column_and_a_value_is_a_row),
    };

    return HXT_RUN(tests);
}
