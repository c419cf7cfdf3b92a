/* Protects the guard's steps on the DSP (kernels/linear/guard.h): HVX gives what the reference in double gives, within what the header
 * says, for every width, and of what is taken twice nothing is left.  Calls through a rig: test_guard_rig.c. */
#include <math.h>

#include "hxt.h"
#include "linear/guard.h"

enum { ALIGN = 128, LANES = 32 };

static const int widths[] = {1, 2, 3, 8, 80}; /* vectors */

static double length(const float *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sqrt(sum);
}

static float *filled(struct hxt_rng *rng, int n, enum hxt_fill kind)
{
    float *x = hxt_guard_alloc((size_t)n * sizeof(*x), ALIGN);

    hxt_fill_f32(rng, x, (size_t)n, kind);
    return x;
}

static void test_products_are_the_references(void **state)
{
    static const enum hxt_fill kinds[] = {HXT_NORMAL, HXT_UNIFORM, HXT_ZERO, HXT_SPIKE, HXT_CONST};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t w = 0; w < HXT_LEN(widths); w++)
        for (size_t k = 0; k < HXT_LEN(kinds); k++) {
            const int n = widths[w] * LANES;
            float *a = filled(&rng, n, HXT_NORMAL), *b = filled(&rng, n, kinds[k]);
            const double got = hx_guard_product_hvx(a, b, widths[w]), want = hx_guard_product_ref(a, b, widths[w]);

            if (!(fabs(got - want) <= 0x1p-20 * length(a, n) * length(b, n) + 0x1p-120))
                fail_msg("%d vectors, %s: %g, not %g", widths[w], hxt_fill_name(kinds[k]), got, want);
            hxt_guard_intact(a);
            hxt_guard_intact(b);
            hxt_guard_free(a);
            hxt_guard_free(b);
        }
}

static void test_what_is_taken_is_gone(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    for (size_t w = 0; w < HXT_LEN(widths); w++) {
        const int n = widths[w] * LANES;
        float *q = filled(&rng, n, HXT_NORMAL), *x = filled(&rng, n, HXT_NORMAL), *want = filled(&rng, n, HXT_NORMAL);
        const double one = length(q, n), all = length(x, n);
        float z;

        for (int i = 0; i < n; i++)
            q[i] = (float)(q[i] / one);
        memcpy(want, x, (size_t)n * sizeof(*x));
        z = hx_guard_product_hvx(q, x, widths[w]);
        hx_guard_take_hvx(q, z, x, widths[w]);
        hx_guard_take_ref(q, z, want, widths[w]);
        for (int i = 0; i < n; i++)
            if (!(fabs((double)x[i] - want[i]) <= 0x1p-21 * all + 0x1p-120))
                fail_msg("%d vectors, element %d: %g, not %g", widths[w], i, (double)x[i], (double)want[i]);
        assert_true(fabs(hx_guard_product_hvx(q, x, widths[w])) < 1e-6 * all);
        hxt_guard_intact(x);
        hxt_guard_free(q);
        hxt_guard_free(x);
        hxt_guard_free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_the_references),
        cmocka_unit_test(test_what_is_taken_is_gone),
    };

    return HXT_RUN(tests);
}
