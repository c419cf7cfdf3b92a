/* Protects: the 23 qfloat intrinsics give the bits of the definition in docs/hvx.md.
 *
 * Two oracles: the golden vectors (an exact-rational model, 4000 triples per operation) and the
 * scalar reading of the same definition below, compared on random and edge operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hexagon_types.h"
#include "hvx_hexagon_protos.h"

typedef __int128 wide;

/* A format: F fraction and X exponent bits. */
struct fmt {
    int F, X;
};
static const struct fmt f32 = {23, 8}, f16 = {10, 5};

/* An operand: m * 2^(e - F); qf operands carry their sign in m, IEEE ones in neg. */
struct num {
    int64_t m;
    int e;
    int neg;
};

static int bias(struct fmt f)
{
    return (1 << (f.X - 1)) - 1;
}

static struct num from_qf(uint32_t w, struct fmt f)
{
    const int bits = f.F + 1 + f.X;
    const int64_t s = (int64_t)((uint64_t)w << (64 - bits)) >> (64 - bits + f.X);

    return (struct num){2 * s + 1, (int)(w & ((1u << f.X) - 1)) - bias(f), 0};
}

static struct num from_ieee(uint32_t w, struct fmt f)
{
    const uint32_t frac = w & ((1u << f.F) - 1), ef = (w >> f.F) & ((1u << f.X) - 1);

    if (!ef)
        return (struct num){frac, 1 - bias(f), (int)(w >> (f.F + f.X)) & 1};
    return (struct num){frac | 1u << f.F, (int)ef - bias(f), (int)(w >> (f.F + f.X)) & 1};
}

static uint32_t pack(int64_t s, int64_t e, struct fmt f)
{
    return ((uint32_t)s << f.X | ((uint32_t)e & ((1u << f.X) - 1))) & (f.X == 8 ? ~0u : 0xffffu);
}

/* R(exp, n / 2^k) of the definition; k >= F. */
static uint32_t ref_round(int exp, wide n, int k, struct fmt f)
{
    const int emin = -bias(f), emax = bias(f) + 1;
    const wide one = (wide)1 << k;
    const int ovf = n >= 2 * one || n < -2 * one;
    int two_way = exp == emax;
    int64_t s;
    wide q, r;

    if (!n)
        return 0;
    if (exp >= emax + 1 || (ovf && exp == emax))
        return n > 0 ? pack((1 << f.F) - 1, -1, f) : pack(-(1 << f.F), -1, f);
    if (exp <= emin - 2)
        return n > 0 ? pack(0, 0, f) : pack(-1, 0, f);
    if (exp == emin - 1 || ovf) {
        k++;
        exp++;
        two_way = 1;
    }
    k -= f.F; /* t = n / 2^k */
    q = n >> (k + 2);
    r = n - q * ((wide)1 << (k + 2));
    if (two_way) {
        s = (int64_t)(2 * q + (r > (wide)2 << k));
    } else if (2 * r <= (wide)3 << k) {
        s = (int64_t)(2 * q);
    } else if (2 * r <= (wide)5 << k) {
        s = (int64_t)q;
        exp++;
    } else {
        s = (int64_t)(2 * q + 1);
    }
    return pack(s, exp + bias(f), f);
}

static uint32_t complement(uint32_t w, struct fmt f)
{
    return w ^ pack(-1, 0, f);
}

static uint32_t ref_mpy(struct num a, struct num b, struct fmt in, struct fmt out)
{
    const wide p = (wide)a.m * b.m;
    const uint32_t w = ref_round(a.e + b.e, p * (1 << 26), 2 * in.F + 26, out);

    return a.neg ^ b.neg ? complement(w, out) : w;
}

static int ilogb_m(int64_t m, struct fmt f)
{
    return m ? 63 - __builtin_clzll((uint64_t)llabs(m)) - f.F : -(f.F + 1);
}

/* m * 2^(e - exp) in units of 2^-(F + 64); what lies below that only counts as "not zero". */
static wide scaled(struct num a, int exp)
{
    const int up = a.e - exp + 64;

    if (up >= 0)
        return a.m * ((wide)1 << up);
    return a.m ? (a.m > 0 ? 1 : -1) : 0;
}

static uint32_t ref_add(struct num a, struct num b, int both_ieee, struct fmt f)
{
    const int la = a.e + ilogb_m(a.m, f), lb = b.e + ilogb_m(b.m, f);
    const int exp = a.e > b.e ? (la > b.e ? la : b.e) : (lb > a.e ? lb : a.e);
    const int down = both_ieee && a.neg && b.neg;
    uint32_t w;

    if (a.neg && !down)
        a.m = -a.m;
    if (b.neg && !down)
        b.m = -b.m;
    w = ref_round(exp, scaled(a, exp) + scaled(b, exp), f.F + 64, f);
    return down ? complement(w, f) : w;
}

/* Exact value to the target, ties to even, all-ones exponent an ordinary binade that saturates. */
static uint32_t ref_conv(struct num a, struct fmt in, struct fmt out)
{
    const uint64_t mag = (uint64_t)llabs(a.m);
    const int top = 63 - __builtin_clzll(mag);
    int exp = top + a.e - in.F; /* value = 1.xxx * 2^exp */
    const int emin = 1 - bias(out);
    const int ulp = (exp > emin ? exp : emin) - out.F; /* weight of the last bit */
    const int drop = ulp - (a.e - in.F);
    const uint32_t inf = (1u << (out.F + out.X)) - 1;
    uint64_t r;

    if (drop <= 0) {
        r = mag << -drop;
    } else if (drop > 60) {
        r = 0;
    } else {
        const uint64_t rest = mag & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);

        r = mag >> drop;
        r += rest > half || (rest == half && (r & 1));
    }
    if (exp < emin)
        exp = emin;
    r += (uint64_t)(exp - emin) << out.F;
    if (exp > bias(out) + 1 || r > inf)
        r = inf;
    return (uint32_t)r | (uint32_t)(a.m < 0) << (out.F + out.X);
}

enum kind { QF, IEEE };

static uint32_t ref_op(char op, enum kind ka, enum kind kb, struct fmt in, struct fmt out,
                       uint32_t a, uint32_t b)
{
    struct num x = ka == QF ? from_qf(a, in) : from_ieee(a, in);
    struct num y = kb == QF ? from_qf(b, in) : from_ieee(b, in);

    if (op == '*')
        return ref_mpy(x, y, in, out);
    if (op == '-') {
        if (kb == QF)
            y.m = -y.m;
        else
            y.neg ^= 1;
    }
    return ref_add(x, y, ka == IEEE && kb == IEEE, in);
}

typedef HVX_Vector op_fn(HVX_Vector, HVX_Vector);
typedef HVX_VectorPair wide_fn(HVX_Vector, HVX_Vector);

static const struct op {
    const char *file;
    op_fn *fn;
    wide_fn *wfn;
    char op;
    enum kind a, b;
    int bits; /* lane width of the inputs */
} ops[] = {
    {"mpy_qf32_qf32_qf32", Q6_Vqf32_vmpy_Vqf32Vqf32, NULL, '*', QF, QF, 32},
    {"mpy_qf32_sf_sf", Q6_Vqf32_vmpy_VsfVsf, NULL, '*', IEEE, IEEE, 32},
    {"add_qf32_qf32_qf32", Q6_Vqf32_vadd_Vqf32Vqf32, NULL, '+', QF, QF, 32},
    {"add_qf32_qf32_sf", Q6_Vqf32_vadd_Vqf32Vsf, NULL, '+', QF, IEEE, 32},
    {"add_qf32_sf_sf", Q6_Vqf32_vadd_VsfVsf, NULL, '+', IEEE, IEEE, 32},
    {"sub_qf32_qf32_qf32", Q6_Vqf32_vsub_Vqf32Vqf32, NULL, '-', QF, QF, 32},
    {"sub_qf32_qf32_sf", Q6_Vqf32_vsub_Vqf32Vsf, NULL, '-', QF, IEEE, 32},
    {"sub_qf32_sf_sf", Q6_Vqf32_vsub_VsfVsf, NULL, '-', IEEE, IEEE, 32},
    {"mpy_qf16_qf16_qf16", Q6_Vqf16_vmpy_Vqf16Vqf16, NULL, '*', QF, QF, 16},
    {"mpy_qf16_qf16_hf", Q6_Vqf16_vmpy_Vqf16Vhf, NULL, '*', QF, IEEE, 16},
    {"mpy_qf16_hf_hf", Q6_Vqf16_vmpy_VhfVhf, NULL, '*', IEEE, IEEE, 16},
    {"add_qf16_qf16_qf16", Q6_Vqf16_vadd_Vqf16Vqf16, NULL, '+', QF, QF, 16},
    {"add_qf16_qf16_hf", Q6_Vqf16_vadd_Vqf16Vhf, NULL, '+', QF, IEEE, 16},
    {"add_qf16_hf_hf", Q6_Vqf16_vadd_VhfVhf, NULL, '+', IEEE, IEEE, 16},
    {"sub_qf16_qf16_qf16", Q6_Vqf16_vsub_Vqf16Vqf16, NULL, '-', QF, QF, 16},
    {"sub_qf16_qf16_hf", Q6_Vqf16_vsub_Vqf16Vhf, NULL, '-', QF, IEEE, 16},
    {"sub_qf16_hf_hf", Q6_Vqf16_vsub_VhfVhf, NULL, '-', IEEE, IEEE, 16},
    {"mpy_qf32_qf16_qf16", NULL, Q6_Wqf32_vmpy_Vqf16Vqf16, '*', QF, QF, 16},
    {"mpy_qf32_qf16_hf", NULL, Q6_Wqf32_vmpy_Vqf16Vhf, '*', QF, IEEE, 16},
    {"mpy_qf32_hf_hf", NULL, Q6_Wqf32_vmpy_VhfVhf, '*', IEEE, IEEE, 16},
};

/* Conversions: 32 results of 32 source words (hf results in the low half). */
enum conv { SF_QF32, HF_QF16, HF_QF32, CONVS };
static const char *const conv_file[CONVS] = {"conv_sf_qf32", "conv_hf_qf16", "conv_hf_qf32"};

/* Puts 32 words (bits = 32) or 64 halfwords into a vector. */
static HVX_Vector fill(const uint32_t *x, int bits)
{
    union hx_v v = {.v = {0}};

    for (int i = 0; i < 1024 / bits; i++) {
        if (bits == 32)
            v.uw[i] = x[i];
        else
            v.uh[i] = (uint16_t)x[i];
    }
    return v.v;
}

/* Runs one intrinsic on 1024 / bits operand pairs. */
static void run_op(const struct op *o, const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    const HVX_Vector u = fill(a, o->bits), v = fill(b, o->bits);
    union hx_v d;
    union hx_w p;

    if (o->wfn) {
        p.w = o->wfn(u, v);
        for (int i = 0; i < 64; i++)
            out[i] = p.u[i & 1].uw[i / 2];
        return;
    }
    d.v = o->fn(u, v);
    for (int i = 0; i < 1024 / o->bits; i++)
        out[i] = o->bits == 32 ? d.uw[i] : d.uh[i];
}

/* Always 64 operands in, 64 out. */
static void run_conv(enum conv c, const uint32_t *a, uint32_t *out)
{
    union hx_v d;

    switch (c) {
    case SF_QF32:
        for (int h = 0; h < 2; h++) {
            d.v = Q6_Vsf_equals_Vqf32(fill(a + 32 * h, 32));
            memcpy(out + 32 * h, d.uw, 128);
        }
        return;
    case HF_QF16:
        d.v = Q6_Vhf_equals_Vqf16(fill(a, 16));
        break;
    default:
        d.v = Q6_Vhf_equals_Wqf32(hx_pair(fill(a + 32, 32), fill(a, 32)));
        for (int i = 0; i < 64; i++) /* low vector -> even halfwords */
            out[i] = d.uh[2 * (i % 32) + i / 32];
        return;
    }
    for (int i = 0; i < 64; i++)
        out[i] = d.uh[i];
}

struct golden {
    uint32_t n;
    uint32_t (*t)[3];
};

static struct golden load(const char *name)
{
    struct golden g = {0, NULL};
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/data/qfloat/vec_%s.bin", HXT_SRC, name);
    f = fopen(path, "rb");
    assert_non_null(f);
    g.t = malloc(4000 * sizeof(*g.t));
    assert_non_null(g.t);
    g.n = (uint32_t)fread(g.t, sizeof(*g.t), 4000, f);
    fclose(f);
    assert_int_equal(g.n, 4000);
    return g;
}

static void report(const char *what, uint32_t a, uint32_t b, uint32_t got, uint32_t want)
{
    fail_msg("%s(%08x, %08x) = %08x, want %08x", what, a, b, got, want);
}

static void test_golden_vectors_of_arithmetic_match_bit_for_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
        struct golden g = load(ops[k].file);
        const uint32_t lanes = 1024 / (uint32_t)ops[k].bits;

        for (uint32_t i = 0; i < g.n; i += lanes) {
            uint32_t a[64] = {0}, b[64] = {0}, out[64];
            const uint32_t n = g.n - i < lanes ? g.n - i : lanes;

            for (uint32_t j = 0; j < n; j++) {
                a[j] = g.t[i + j][0];
                b[j] = g.t[i + j][1];
            }
            run_op(&ops[k], a, b, out);
            for (uint32_t j = 0; j < n; j++)
                if (out[j] != g.t[i + j][2])
                    report(ops[k].file, a[j], b[j], out[j], g.t[i + j][2]);
        }
        free(g.t);
    }
}

/* V69 has no instruction for qf32 * sf; the definition covers it, and so does the scalar reading. */
static void test_golden_vectors_without_an_instruction_match_the_scalar_reading(void **state)
{
    struct golden g = load("mpy_qf32_qf32_sf");

    (void)state;
    for (uint32_t i = 0; i < g.n; i++) {
        const uint32_t out = ref_op('*', QF, IEEE, f32, f32, g.t[i][0], g.t[i][1]);

        if (out != g.t[i][2])
            report("mpy_qf32_qf32_sf", g.t[i][0], g.t[i][1], out, g.t[i][2]);
    }
    free(g.t);
}

static void test_golden_vectors_of_conversions_match_bit_for_bit(void **state)
{
    (void)state;
    for (int c = 0; c < CONVS; c++) {
        struct golden g = load(conv_file[c]);

        for (uint32_t i = 0; i < g.n; i += 64) {
            uint32_t a[64] = {0}, out[64];
            const uint32_t n = g.n - i < 64 ? g.n - i : 64;

            for (uint32_t j = 0; j < n; j++)
                a[j] = g.t[i + j][0];
            run_conv((enum conv)c, a, out);
            for (uint32_t j = 0; j < n; j++)
                if (out[j] != g.t[i + j][2])
                    report(conv_file[c], a[j], 0, out[j], g.t[i + j][2]);
        }
        free(g.t);
    }
}

static uint64_t seed;

static uint32_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

/* Random words, with exponents often at the ends of the range or near `near`, and significands
 * often extreme. */
static uint32_t operand(enum kind k, int bits, uint32_t near)
{
    static const uint32_t edge[] = {0,        1,        2,        3,        0x7fffff,
                                    0x7ffffe, 0x800000, 0xffffff, 0xfffffe, 0x400000,
                                    0xbfffff, 0x3ff,    0x400};
    const struct fmt f = bits == 32 ? f32 : f16;
    const int eshift = k == QF ? 0 : f.F, sshift = k == QF ? f.X : 0;
    const uint32_t emask = ((1u << f.X) - 1) << eshift, mask = bits == 32 ? ~0u : 0xffffu;
    uint32_t w = rnd();

    if (rnd() % 4 == 0)
        w = (w & emask) | ((edge[rnd() % 13] << sshift) & ~emask);
    if (rnd() % 2)
        w = (w & ~emask) | ((near + ((rnd() % 61 - 30) << eshift)) & emask);
    else if (rnd() % 4 == 0)
        w = (w & ~emask) | (((rnd() % 5 - 2) << eshift) & emask);
    return w & mask;
}

static void test_arithmetic_agrees_with_the_scalar_reading(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
        const struct op *o = &ops[k];
        const struct fmt in = o->bits == 32 ? f32 : f16;
        const struct fmt out = o->wfn ? f32 : in;

        for (int round = 0; round < 6000; round++) {
            uint32_t a[64], b[64], got[64];

            for (int i = 0; i < 64; i++) {
                a[i] = operand(o->a, o->bits, rnd());
                b[i] = operand(o->b, o->bits, o->a == o->b ? a[i] : rnd());
            }
            run_op(o, a, b, got);
            for (int i = 0; i < 1024 / o->bits; i++) {
                const uint32_t want = ref_op(o->op, o->a, o->b, in, out, a[i], b[i]);

                if (got[i] != want)
                    report(o->file, a[i], b[i], got[i], want);
            }
        }
    }
}

static void test_conversions_agree_with_the_scalar_reading(void **state)
{
    (void)state;
    for (int c = 0; c < CONVS; c++) {
        const struct fmt in = c == HF_QF16 ? f16 : f32, out = c == SF_QF32 ? f32 : f16;

        for (int round = 0; round < 6000; round++) {
            uint32_t a[64], got[64];

            for (int i = 0; i < 64; i++)
                a[i] = operand(QF, in.X == 8 ? 32 : 16, 127);
            run_conv((enum conv)c, a, got);
            for (int i = 0; i < 64; i++) {
                const uint32_t want = ref_conv(from_qf(a[i], in), in, out);

                if (got[i] != want)
                    report(conv_file[c], a[i], 0, got[i], want);
            }
        }
    }
}

/* Every qf16 and hf word against a spread of partners. */
static void test_qf16_agrees_for_every_first_operand(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(ops) / sizeof(*ops); k++) {
        const struct op *o = &ops[k];

        if (o->bits != 16)
            continue;
        for (uint32_t base = 0; base < 65536; base += 64) {
            uint32_t a[64], b[64], got[64];

            for (uint32_t i = 0; i < 64; i++) {
                a[i] = base + i;
                b[i] = operand(o->b, 16, base);
            }
            run_op(o, a, b, got);
            for (int i = 0; i < 64; i++) {
                const uint32_t want =
                    ref_op(o->op, o->a, o->b, f16, o->wfn ? f32 : f16, a[i], b[i]);

                if (got[i] != want)
                    report(o->file, a[i], b[i], got[i], want);
            }
        }
    }
}

/* Sign and magnitude as integers, exponent all ones an ordinary binade. */
static int ref_gt(uint32_t a, uint32_t b, int bits)
{
    const uint32_t sign = 1u << (bits - 1);
    const int64_t x = a & sign ? -(int64_t)(a & ~sign) : a,
                  y = b & sign ? -(int64_t)(b & ~sign) : b;

    return x > y;
}

static void check_compare(int bits, const uint32_t *a, const uint32_t *b)
{
    const HVX_Vector u = fill(a, bits), v = fill(b, bits);
    const HVX_VectorPred x = Q6_Q_vcmp_gt_VwVw(u, v);
    union hx_v gt, both, either, flip, max, min;

    gt.v = bits == 32 ? Q6_Q_vcmp_gt_VsfVsf(u, v) : Q6_Q_vcmp_gt_VhfVhf(u, v);
    both.v = bits == 32 ? Q6_Q_vcmp_gtand_QVsfVsf(x, u, v) : Q6_Q_vcmp_gtand_QVhfVhf(x, u, v);
    either.v = bits == 32 ? Q6_Q_vcmp_gtor_QVsfVsf(x, u, v) : Q6_Q_vcmp_gtor_QVhfVhf(x, u, v);
    flip.v = bits == 32 ? Q6_Q_vcmp_gtxacc_QVsfVsf(x, u, v) : Q6_Q_vcmp_gtxacc_QVhfVhf(x, u, v);
    max.v = bits == 32 ? Q6_Vsf_vmax_VsfVsf(u, v) : Q6_Vhf_vmax_VhfVhf(u, v);
    min.v = bits == 32 ? Q6_Vsf_vmin_VsfVsf(u, v) : Q6_Vhf_vmin_VhfVhf(u, v);
    for (int i = 0; i < 1024 / bits; i++) {
        const uint32_t g = bits == 32 ? gt.uw[i] : gt.uh[i], ones = bits == 32 ? ~0u : 0xffffu;
        const uint32_t hi = bits == 32 ? max.uw[i] : max.uh[i],
                       lo = bits == 32 ? min.uw[i] : min.uh[i];
        /* equal values with different bits are the two zeros: + is the larger */
        const int first =
            a[i] == b[i] || ref_gt(a[i], b[i], bits) || (!ref_gt(b[i], a[i], bits) && a[i] < b[i]);

        if (g != (ref_gt(a[i], b[i], bits) ? ones : 0))
            report("vcmp_gt", a[i], b[i], g, !g);
        if (hi != (first ? a[i] : b[i]) || lo != (first ? b[i] : a[i]))
            report("vmax/vmin", a[i], b[i], hi, lo);
    }
    for (int i = 0; i < 32; i++) {
        const union hx_v q = {.v = x};

        assert_int_equal(both.uw[i], q.uw[i] & gt.uw[i]);
        assert_int_equal(either.uw[i], q.uw[i] | gt.uw[i]);
        assert_int_equal(flip.uw[i], q.uw[i] ^ gt.uw[i]);
    }
}

static void test_compare_max_min_order_sign_and_magnitude(void **state)
{
    static const uint32_t sf[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                  0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff,
                                  0x7fffffff, 0x3f800000, 0xbf800000, 0x00800000};

    (void)state;
    for (int round = 0; round < 4000; round++) {
        for (int bits = 16; bits <= 32; bits += 16) {
            uint32_t a[64], b[64];

            for (int i = 0; i < 64; i++) {
                a[i] = rnd() % 2 ? sf[rnd() % 14] >> (32 - bits) : rnd() >> (32 - bits);
                b[i] = rnd() % 2   ? sf[rnd() % 14] >> (32 - bits)
                       : rnd() % 4 ? rnd() >> (32 - bits)
                                   : a[i];
            }
            check_compare(bits, a, b);
        }
    }
}

static void test_spot_values_of_the_definition(void **state)
{
    static const struct {
        uint32_t a, b, qf, sf;
        op_fn *fn;
    } spot[] = {
        {0x3f800000, 0, 0x4000007f, 0x3f800001, Q6_Vqf32_vadd_VsfVsf},
        {0x3f800000, 0x3f800000, 0x40000080, 0x40000001, Q6_Vqf32_vadd_VsfVsf},
        {0x40490fdb, 0, 0x6487ed80, 0x40490fdb, Q6_Vqf32_vadd_VsfVsf},
        {0xbf800000, 0, 0xc000007f, 0xbf7ffffe, Q6_Vqf32_vadd_VsfVsf},
        {0xbf800000, 0x3f800000, 0xbfffff7f, 0xbf800001, Q6_Vqf32_vmpy_VsfVsf},
        {0x3dcccccd, 0x3e4ccccd, 0x4ccccc7d, 0x3e999999, Q6_Vqf32_vadd_VsfVsf},
        {0x3f800000, 0x3f800000, 0, 0, Q6_Vqf32_vsub_VsfVsf},
        {0x80000000, 0x40a00000, 0xffffff00, 0x80000000, Q6_Vqf32_vmpy_VsfVsf},
        {0x7149f2ca, 0x7149f2ca, 0x7fffffff, 0x7fffffff, Q6_Vqf32_vmpy_VsfVsf},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(spot) / sizeof(*spot); i++) {
        const HVX_Vector qf =
            spot[i].fn(Q6_V_vsplat_R((int)spot[i].a), Q6_V_vsplat_R((int)spot[i].b));
        const HVX_Vector sf = Q6_Vsf_equals_Vqf32(qf);

        assert_int_equal((uint32_t)qf[0], spot[i].qf);
        assert_int_equal((uint32_t)sf[31], spot[i].sf);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_vectors_of_arithmetic_match_bit_for_bit),
        cmocka_unit_test(test_golden_vectors_without_an_instruction_match_the_scalar_reading),
        cmocka_unit_test(test_golden_vectors_of_conversions_match_bit_for_bit),
        cmocka_unit_test(test_spot_values_of_the_definition),
        cmocka_unit_test(test_arithmetic_agrees_with_the_scalar_reading),
        cmocka_unit_test(test_conversions_agree_with_the_scalar_reading),
        cmocka_unit_test(test_qf16_agrees_for_every_first_operand),
        cmocka_unit_test(test_compare_max_min_order_sign_and_magnitude),
    };

    seed = 0x9e3779b97f4a7c15u;
    if (argc == 3 && !strcmp(argv[1], "--seed"))
        seed = strtoull(argv[2], NULL, 0) | 1;
    printf("seed=0x%llx\n", (unsigned long long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
