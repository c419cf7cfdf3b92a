/* Protects the element-wise kernels and attention of host/cpu and host/methods/cpu/attn_flash.c: within their stated tolerance of f64 or of
 * the reference, on every instruction set, and independent of batch and threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/cpu/attn_flash.h"
#include "methods/cpu/isa/isa.h"
#include "hxt.h"
#include "engine/kv.h"

static const size_t lengths[] = {1, 15, 16, 17, 31, 64, 100, 1000};

static const struct hx_cpu_kernels *isa_at(int i)
{
    return hx_isa((enum hx_isa)i);
}

/* |got - want| <= rel * size + 1e-30 for each element */
static void near_all(const char *what, const struct hx_cpu_kernels *isa, const float *got, const double *want,
                     size_t n, double rel, double size)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= rel * (size > 0 ? size : fabs(want[i])) + 1e-30))
            fail_msg("%s, %s, %zu of %zu: got %.9g, want %.9g", what, isa->name, i, n,
                     (double)got[i], want[i]);
}

static void test_rms_norm_is_the_formula(void **state)
{
    float x[1000], w[1000], y[1000];
    double want[1000];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int k = 0; k < HX_ISAS; k++)
        for (size_t l = 0; isa_at(k) && l < HXT_LEN(lengths); l++) {
            const size_t n = lengths[l];
            double sum = 0;

            hxt_fill_f32(&rng, x, n, HXT_NORMAL);
            hxt_fill_f32(&rng, w, n, HXT_NORMAL);
            for (size_t i = 0; i < n; i++)
                sum += (double)x[i] * x[i];
            for (size_t i = 0; i < n; i++)
                want[i] = w[i] * (x[i] / sqrt(sum / (double)n + 1e-6f));
            isa_at(k)->rmsnorm(y, x, w, n, 1e-6f);
            near_all("rms norm", isa_at(k), y, want, n, 2e-6, 0);
            isa_at(k)->rmsnorm(x, x, w, n, 1e-6f);
            hxt_same_bytes(x, y, n * sizeof(*x));
        }
}

static double silu(double g)
{
    return g / (1 + exp(-g));
}

static double gelu(double g)
{
    return 0.5 * g * (1 + tanh(0.79788456080286535588 * (g + 0.044715 * g * g * g)));
}

static void test_gates_are_the_formulas(void **state)
{
    float x[1000], up[1000], y[1000];
    double want[1000];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (int k = 0; k < HX_ISAS; k++)
        for (size_t l = 0; isa_at(k) && l < 4 * HXT_LEN(lengths); l++) {
            const size_t n = lengths[l / 4];
            const int is_gelu = l % 2, has_up = l % 4 > 1;

            hxt_fill_f32(&rng, x, n, HXT_NORMAL);
            hxt_fill_f32(&rng, up, n, HXT_NORMAL);
            for (size_t i = 0; i < n; i++)
                x[i] = i % 7 ? 4 * x[i] : 40 * x[i];
            for (size_t i = 0; i < n; i++)
                want[i] = (is_gelu ? gelu(x[i]) : silu(x[i])) * (has_up ? (double)up[i] : 1);
            memcpy(y, x, n * sizeof(*y));
            (is_gelu ? isa_at(k)->geglu : isa_at(k)->swiglu)(y, has_up ? up : NULL, n);
            /* where the result is nothing beside its argument, so is the difference */
            for (size_t i = 0; i < n; i++)
                if (!(fabs((double)y[i] - want[i]) <= 3e-6 * fabs(want[i]) + 1e-6 * 0x1p-8))
                    fail_msg("%s: gate of %.9g: got %.9g, want %.9g", isa_at(k)->name, (double)x[i],
                             (double)y[i], want[i]);
        }
}

static void test_what_is_not_finite_is_found(void **state)
{
    static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    float x[100];

    (void)state;
    for (int k = 0; k < HX_ISAS; k++)
        for (size_t n = 1; isa_at(k) && n <= HXT_LEN(x); n += 9) {
            for (size_t i = 0; i < n; i++)
                x[i] = i % 2 ? 3.4e38f : -3.4e38f;
            assert_true(isa_at(k)->finite(x, n));
            for (size_t i = 0; i < n; i++) {
                const float kept = x[i];

                x[i] = bad[i % 4];
                assert_false(isa_at(k)->finite(x, n));
                x[i] = kept;
            }
        }
}

static void test_argmax_is_the_first_largest(void **state)
{
    float x[100];

    (void)state;
    for (int k = 0; k < HX_ISAS; k++)
        for (size_t n = 1; isa_at(k) && n <= HXT_LEN(x); n++)
            for (size_t at = 0; at < n; at++) {
                for (size_t i = 0; i < n; i++)
                    x[i] = -5 - (float)(i % 3);
                for (size_t i = at; i < n; i += 11)
                    x[i] = -1;
                assert_int_equal(isa_at(k)->argmax(x, n), at);
            }
}

/* --- attention */

struct attn_case {
    size_t n_kv, group, dh, pos, n, window;
    float softcap;
};

static const struct attn_case attn_cases[] = {
    {1, 2, 128, 0, 1, 0, 0},   {1, 2, 128, 200, 1, 0, 0}, {2, 3, 64, 0, 70, 0, 0},
    {2, 1, 80, 65, 40, 0, 30}, {1, 4, 20, 63, 3, 10, 0},  {1, 2, 128, 100, 90, 64, 0},
    {3, 1, 64, 128, 2, 1, 0},  {1, 1, 256, 300, 5, 130, 50},
};

enum { MOST_CTX = 320 };

struct attn_data {
    struct hx_attn_in in;
    float *q, *k, *v, *want, *got;
    size_t out; /* floats */
};

static float *floats(struct hxt_rng *rng, size_t n)
{
    float *x = malloc(n * sizeof(*x));

    assert_non_null(x);
    hxt_fill_f32(rng, x, n, HXT_NORMAL);
    return x;
}

static void attn_open(struct attn_data *d, const struct attn_case *c, uint64_t seed)
{
    const size_t row = c->n_kv * c->dh, tokens = c->pos + c->n;
    struct hx_kv *kv;
    struct hxt_rng rng;

    hxt_rng_init(&rng, seed);
    assert_int_equal(hx_kv_f32_open(&kv, 2, c->n_kv, c->dh, MOST_CTX, NULL), 0);
    d->out = c->n * c->n_kv * c->group * c->dh;
    d->q = floats(&rng, d->out);
    d->k = floats(&rng, tokens * row);
    d->v = floats(&rng, tokens * row);
    d->want = floats(&rng, d->out);
    d->got = floats(&rng, d->out);
    assert_int_equal(kv->ops->put(kv, 1, 0, tokens, d->k, d->v, NULL), 0);
    d->in = (struct hx_attn_in){
        .layer = 1, .pos = c->pos, .n = c->n, .q = d->q, .k = d->k + c->pos * row,
        .v = d->v + c->pos * row, .kv = kv, .n_head = c->n_kv * c->group,
        .scale = 1.5f / sqrtf((float)c->dh), .softcap = c->softcap, .window = c->window,
    };
}

static void attn_close(struct attn_data *d)
{
    hx_kv_close(d->in.kv);
    free(d->q);
    free(d->k);
    free(d->v);
    free(d->want);
    free(d->got);
}

static void run_flash(struct attn_data *d, const struct hx_cpu_kernels *isa, size_t threads)
{
    struct hx_pool *pool;
    struct hx_attn *a;

    assert_int_equal(hx_pool_open(&pool, threads, NULL), 0);
    assert_int_equal(hx_attn_flash_open(&a, isa, pool, NULL), 0);
    memset(d->got, 0xa5, d->out * sizeof(*d->got));
    assert_int_equal(a->ops->run(a, &d->in, d->got, NULL), 0);
    hx_attn_close(a);
    hx_pool_close(pool);
}

static void run_reference(struct attn_data *d)
{
    struct hx_attn *a;

    assert_int_equal(hx_attn_ref_open(&a, MOST_CTX, NULL), 0);
    assert_int_equal(a->ops->run(a, &d->in, d->want, NULL), 0);
    hx_attn_close(a);
}

static float largest(const float *x, size_t n)
{
    float top = 0;

    for (size_t i = 0; i < n; i++)
        top = fmaxf(top, fabsf(x[i]));
    return top;
}

static void test_flash_attention_is_within_its_tolerance_of_the_reference(void **state)
{
    (void)state;
    for (size_t c = 0; c < HXT_LEN(attn_cases); c++) {
        const struct attn_case *a = &attn_cases[c];
        struct attn_data d;

        attn_open(&d, a, 40 + c);
        run_reference(&d);
        for (int k = 0; k < HX_ISAS; k++) {
            const float bound = 1e-5f * largest(d.v, (a->pos + a->n) * a->n_kv * a->dh);

            if (!isa_at(k))
                continue;
            run_flash(&d, isa_at(k), 1);
            for (size_t i = 0; i < d.out; i++)
                if (!(fabsf(d.got[i] - d.want[i]) <= bound))
                    fail_msg("case %zu, %s, element %zu: got %.9g, want %.9g +- %.3g", c,
                             isa_at(k)->name, i, (double)d.got[i], (double)d.want[i], (double)bound);
        }
        attn_close(&d);
    }
}

/* Token by token on one thread, against all at once on three. */
static void test_a_tokens_attention_depends_on_neither_batch_nor_threads(void **state)
{
    (void)state;
    for (size_t c = 0; c < HXT_LEN(attn_cases); c++) {
        const struct attn_case *a = &attn_cases[c];
        const size_t q = a->n_kv * a->group * a->dh, row = a->n_kv * a->dh;
        struct attn_data d;
        float *all;

        attn_open(&d, a, 80 + c);
        run_flash(&d, NULL, 3);
        all = d.got;
        for (size_t i = 0; i < a->n; i++) {
            struct attn_data one = d;

            one.got = d.want + i * q;
            one.out = q;
            one.in.pos = a->pos + i;
            one.in.n = 1;
            one.in.q += i * q;
            one.in.k += i * row;
            one.in.v += i * row;
            run_flash(&one, NULL, 1);
        }
        hxt_same_bytes(all, d.want, d.out * sizeof(*all));
        attn_close(&d);
    }
}

/* Damage must not vanish in the softmax. */
static void test_attention_over_what_is_no_number_is_none(void **state)
{
    (void)state;
    for (int k = 0; k < HX_ISAS; k++) {
        struct attn_data d;

        if (!isa_at(k))
            continue;
        attn_open(&d, &attn_cases[1], 5);
        d.q[7] = NAN;
        run_flash(&d, isa_at(k), 1);
        assert_false(isfinite(d.got[0]));
        attn_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rms_norm_is_the_formula),
        cmocka_unit_test(test_gates_are_the_formulas),
        cmocka_unit_test(test_what_is_not_finite_is_found),
        cmocka_unit_test(test_argmax_is_the_first_largest),
        cmocka_unit_test(test_flash_attention_is_within_its_tolerance_of_the_reference),
        cmocka_unit_test(test_a_tokens_attention_depends_on_neither_batch_nor_threads),
        cmocka_unit_test(test_attention_over_what_is_no_number_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
