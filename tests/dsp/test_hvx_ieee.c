/* Protects: the opt-in IEEE and V73 intrinsics compute what their names say.  There is no oracle
 * for them; the scalar side is C's own float, and double for the widest sums. */
#define HEXRIG_HVX_IEEE
#define HEXRIG_HVX_ARCH 73

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hvx_hexagon_protos.h"

union lanes {
    HVX_Vector v;
    float f[32];
    uint32_t u[32];
    int32_t w[32];
    uint16_t h[64];
    int8_t b[128];
};

/* Value of an hf word, from its definition. */
static double value_of(uint16_t h)
{
    const int e = h >> 10 & 31, m = h & 1023;
    const double mag = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);

    return h & 0x8000 ? -mag : mag;
}

/* Nearest hf of a finite double, ties to even: by search among the magnitudes. */
static uint16_t nearest_hf(double x)
{
    const double mag = fabs(x);
    uint16_t lo = 0, hi = 0x7c00; /* 0x7c00 stands for 65536 here */

    while (hi - lo > 1) {
        const uint16_t mid = (uint16_t)((lo + hi) / 2);

        if (value_of(mid) <= mag)
            lo = mid;
        else
            hi = mid;
    }
    {
        const double below = value_of(lo), above = hi == 0x7c00 ? 65536 : value_of(hi);

        if (mag - below > above - mag || (mag - below == above - mag && (lo & 1)))
            lo = hi;
    }
    return (uint16_t)(lo | (signbit(x) ? 0x8000 : 0));
}

static void test_every_hf_widens_and_narrows_exactly(void **state)
{
    (void)state;
    for (uint32_t base = 0; base < 65536; base += 64) {
        union lanes in, back;
        HVX_VectorPair w;
        union lanes part[2];

        for (uint32_t i = 0; i < 64; i++)
            in.h[i] = (uint16_t)(base + i);
        w = Q6_Wsf_vcvt_Vhf(in.v);
        part[0].v = Q6_V_lo_W(w);
        part[1].v = Q6_V_hi_W(w);
        back.v = Q6_Vhf_vcvt_VsfVsf(part[1].v, part[0].v);
        for (int i = 0; i < 64; i++) {
            const double want = value_of(in.h[i]);

            if (isnan(want)) {
                assert_true(isnan(part[i & 1].f[i / 2]) && isnan(value_of(back.h[i])));
                continue;
            }
            assert_true(part[i & 1].f[i / 2] == want &&
                        !signbit(want) == !signbit(part[i & 1].f[i / 2]));
            assert_int_equal(back.h[i], in.h[i]);
        }
    }
}

static uint32_t rnd(void)
{
    static uint64_t s = 88172645463325252u;

    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (uint32_t)(s >> 16);
}

static void test_narrowing_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        union lanes a, b, d;

        for (int i = 0; i < 32; i++) {
            a.f[i] = (float)ldexp((int)rnd(), (int)(rnd() % 44) - 60);
            b.f[i] =
                (float)ldexp(2049 + 2 * (int)(rnd() % 1024), (int)(rnd() % 40) - 36); /* ties */
        }
        d.v = Q6_Vhf_vcvt_VsfVsf(a.v, b.v);
        for (int i = 0; i < 32; i++) {
            assert_int_equal(d.h[2 * i], nearest_hf(b.f[i]));
            assert_int_equal(d.h[2 * i + 1], nearest_hf(a.f[i]));
        }
    }
}

static void test_arithmetic_is_that_of_float(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        union lanes a, b, sum, prod, hsum, dot, wide;

        for (int i = 0; i < 32; i++) {
            a.f[i] = (float)ldexp((int)rnd(), (int)(rnd() % 20) - 40);
            b.f[i] = (float)ldexp((int)rnd(), (int)(rnd() % 20) - 40);
        }
        sum.v = Q6_Vsf_vadd_VsfVsf(a.v, b.v);
        prod.v = Q6_Vsf_vmpy_VsfVsf(a.v, b.v);
        for (int i = 0; i < 32; i++) {
            assert_true(sum.f[i] == a.f[i] + b.f[i]);
            assert_true(prod.f[i] == a.f[i] * b.f[i]);
        }
        for (int i = 0; i < 64; i++) {
            a.h[i] = (uint16_t)(rnd() & 0xbfff); /* below 2 */
            b.h[i] = (uint16_t)(rnd() & 0xbfff);
        }
        hsum.v = Q6_Vhf_vadd_VhfVhf(a.v, b.v);
        dot.v = Q6_Vsf_vdmpy_VhfVhf(a.v, b.v);
        wide.v = Q6_V_hi_W(Q6_Wsf_vmpy_VhfVhf(a.v, b.v));
        for (int i = 0; i < 64; i++)
            assert_int_equal(hsum.h[i] & 0x7fff,
                             nearest_hf(value_of(a.h[i]) + value_of(b.h[i])) & 0x7fff);
        for (int i = 0; i < 32; i++) {
            const double even = value_of(a.h[2 * i]) * value_of(b.h[2 * i]);
            const double odd = value_of(a.h[2 * i + 1]) * value_of(b.h[2 * i + 1]);

            assert_true(dot.f[i] == (float)(even + odd));
            assert_true(wide.f[i] == odd);
        }
    }
}

static void test_integer_converts(void **state)
{
    union lanes x, w, h;

    (void)state;
    for (int i = 0; i < 32; i++)
        x.f[i] = (float)(i - 16) * 1.75f;
    x.f[0] = 3e9f;
    x.f[1] = -3e9f;
    w.v = Q6_Vw_equals_Vsf(x.v);
    assert_int_equal(w.w[0], INT32_MAX);
    assert_int_equal(w.w[1], INT32_MIN);
    for (int i = 2; i < 32; i++)
        assert_int_equal(w.w[i], (int)x.f[i]);
    x.v = Q6_Vsf_equals_Vw(w.v);
    assert_true(x.f[5] == (float)w.w[5]);
    for (int i = 0; i < 64; i++)
        h.h[i] = (uint16_t)(i * 1000 - 32000);
    x.v = Q6_Vh_vcvt_Vhf(Q6_Vhf_vcvt_Vh(h.v));
    w.v = Q6_Vh_equals_Vhf(Q6_Vhf_equals_Vh(h.v));
    for (int i = 0; i < 64; i++) { /* 11 bits of 16 survive */
        const double want = value_of(nearest_hf((int16_t)h.h[i]));

        assert_int_equal((int16_t)x.h[i], (int)want);
        assert_int_equal((int16_t)w.h[i], (int)want);
    }
    for (int i = 0; i < 64; i++)
        h.h[i] = nearest_hf((i - 32) * 4.5);
    w.v = Q6_Vub_vcvt_VhfVhf(h.v, h.v);
    assert_int_equal((uint8_t)w.b[0], 0);
    assert_int_equal((uint8_t)w.b[2 * 33], 4);      /* 4.5 to even */
    assert_int_equal((uint8_t)w.b[2 * 35 + 1], 14); /* 13.5 to even */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_hf_widens_and_narrows_exactly),
        cmocka_unit_test(test_narrowing_rounds_to_nearest_even),
        cmocka_unit_test(test_arithmetic_is_that_of_float),
        cmocka_unit_test(test_integer_converts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
