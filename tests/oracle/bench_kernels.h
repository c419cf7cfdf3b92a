/* Three whole kernels for `make bench`, in intrinsics only: built here and for qemu from the same
 * source.
 *
 * gemv: int8 weights [1024][1152] times 16 activation rows (unsigned bytes), int32 results: vrmpy.
 * wht: 128 words, seven butterfly stages (the powers of two of VHT2, unnormalised): add, subtract,
 * shuffle. modmul: 256 products mod q, q = 1073738753 (30 bits), by Barrett in 64-bit halves: vmpye
 * and vmpyo. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stdint.h>

#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

#define GEMV_OUT 1024
#define GEMV_IN 1152
#define GEMV_ROWS 16
#define MOD_Q 1073738753
#define MOD_MU 1073744895 /* floor(2^60 / q) */
#define MOD_N 256

/* Sum of the 32 words of each of four vectors, in lanes 0..3. */
static inline HVX_Vector sum4(HVX_Vector a, HVX_Vector b, HVX_Vector c, HVX_Vector d)
{
    /* each step adds pairs and halves what is left of each vector */
    HVX_VectorPair ab = Q6_W_vdeal_VVR(b, a, -4), cd = Q6_W_vdeal_VVR(d, c, -4);
    HVX_Vector x = Q6_Vw_vadd_VwVw(Q6_V_lo_W(ab), Q6_V_hi_W(ab));
    HVX_Vector y = Q6_Vw_vadd_VwVw(Q6_V_lo_W(cd), Q6_V_hi_W(cd));

    for (int step = 0; step < 4; step++) {
        HVX_VectorPair w = Q6_W_vdeal_VVR(y, x, -4);
        HVX_Vector s = Q6_Vw_vadd_VwVw(Q6_V_lo_W(w), Q6_V_hi_W(w));

        x = s;
        y = Q6_V_vzero();
    }
    return x;
}

/* w: [GEMV_OUT][GEMV_IN], x: [GEMV_ROWS][GEMV_IN], y: [GEMV_ROWS][GEMV_OUT]; all 128-byte aligned.
 */
static void bench_gemv(int32_t *y, const int8_t *w, const uint8_t *x)
{
    for (int t = 0; t < GEMV_ROWS; t++) {
        const HVX_Vector *xv = (const HVX_Vector *)(x + t * GEMV_IN);

        for (int o = 0; o < GEMV_OUT; o += 4) {
            const HVX_Vector *w0 = (const HVX_Vector *)(w + o * GEMV_IN);
            HVX_Vector a = Q6_V_vzero(), b = a, c = a, d = a;

            for (int i = 0; i < GEMV_IN / 128; i++) {
                a = Q6_Vw_vrmpyacc_VwVubVb(a, xv[i], w0[i]);
                b = Q6_Vw_vrmpyacc_VwVubVb(b, xv[i], w0[i + GEMV_IN / 128]);
                c = Q6_Vw_vrmpyacc_VwVubVb(c, xv[i], w0[i + 2 * GEMV_IN / 128]);
                d = Q6_Vw_vrmpyacc_VwVubVb(d, xv[i], w0[i + 3 * GEMV_IN / 128]);
            }
            a = sum4(a, b, c, d);
            for (int k = 0; k < 4; k++)
                y[t * GEMV_OUT + o + k] = Q6_R_vextract_VR(a, 4 * k);
        }
    }
}

/* In place, x: [128], aligned. */
static void bench_wht(int32_t *x)
{
    HVX_Vector *v = (HVX_Vector *)x;
    HVX_Vector a = v[0], b = v[1], c = v[2], d = v[3];

    for (int stage = 0; stage < 7; stage++) {
        /* butterflies of neighbours, then a perfect shuffle: after seven rounds every index bit was
         * low once */
        HVX_VectorPair ab = Q6_W_vdeal_VVR(b, a, -4), cd = Q6_W_vdeal_VVR(d, c, -4);

        a = Q6_Vw_vadd_VwVw(Q6_V_lo_W(ab), Q6_V_hi_W(ab));
        c = Q6_Vw_vsub_VwVw(Q6_V_lo_W(ab), Q6_V_hi_W(ab));
        b = Q6_Vw_vadd_VwVw(Q6_V_lo_W(cd), Q6_V_hi_W(cd));
        d = Q6_Vw_vsub_VwVw(Q6_V_lo_W(cd), Q6_V_hi_W(cd));
    }
    v[0] = a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
}

/* The full 62-bit product of words below 2^31, high and low word. */
static inline HVX_VectorPair product(HVX_Vector a, HVX_Vector b)
{
    return Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(a, b), a, b);
}

/* (hi:lo) >> n of a non-negative number, 0 < n < 32 */
static inline HVX_Vector shift_right(HVX_VectorPair p, int n)
{
    return Q6_V_vor_VV(Q6_Vuw_vlsr_VuwR(Q6_V_lo_W(p), n), Q6_Vw_vasl_VwR(Q6_V_hi_W(p), 32 - n));
}

static inline HVX_Vector low_product(HVX_Vector a, HVX_Vector b)
{
    return Q6_V_lo_W(product(a, b));
}

/* r = a * b mod q, each [MOD_N], residues below q. */
static void bench_modmul(int32_t *r, const int32_t *a, const int32_t *b)
{
    const HVX_Vector q = Q6_V_vsplat_R(MOD_Q), mu = Q6_V_vsplat_R(MOD_MU),
                     last = Q6_V_vsplat_R(MOD_Q - 1);

    for (int i = 0; i < MOD_N / 32; i++) {
        const HVX_VectorPair x = product(((const HVX_Vector *)a)[i], ((const HVX_Vector *)b)[i]);
        const HVX_Vector estimate = shift_right(product(shift_right(x, 29), mu), 31);
        HVX_Vector rest = Q6_Vw_vsub_VwVw(Q6_V_lo_W(x), low_product(estimate, q));

        for (int k = 0; k < 2; k++)
            rest = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VuwVuw(rest, last), Q6_Vw_vsub_VwVw(rest, q), rest);
        ((HVX_Vector *)r)[i] = rest;
    }
}

/* --- what both sides run and time */
static int8_t bench_w[GEMV_OUT * GEMV_IN] __attribute__((aligned(128)));
static uint8_t bench_x[GEMV_ROWS * GEMV_IN] __attribute__((aligned(128)));
static int32_t bench_y[GEMV_ROWS * GEMV_OUT] __attribute__((aligned(128)));
static int32_t bench_v[128] __attribute__((aligned(128)));
static int32_t bench_m[3][MOD_N] __attribute__((aligned(128)));

static void bench_fill(void)
{
    uint32_t s = 12345;

    for (int i = 0; i < GEMV_OUT * GEMV_IN; i++)
        bench_w[i] = (int8_t)((s = s * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < GEMV_ROWS * GEMV_IN; i++)
        bench_x[i] = (uint8_t)((s = s * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < 128; i++)
        bench_v[i] = (int32_t)((s = s * 1664525u + 1013904223u) >> 12) - (1 << 19);
    for (int i = 0; i < MOD_N; i++)
        for (int k = 0; k < 2; k++)
            bench_m[k][i] = (int32_t)((s = s * 1664525u + 1013904223u) >> 2);
}

/* Kernel k (0 gemv, 1 wht, 2 modmul), n times. */
static void bench_run(int k, int n)
{
    while (n-- > 0) {
        if (k == 0)
            bench_gemv(bench_y, bench_w, bench_x);
        else if (k == 1)
            bench_wht(bench_v);
        else
            bench_modmul(bench_m[2], bench_m[0], bench_m[1]);
    }
}

/* A number made of a kernel's results, to compare the sides. */
static uint32_t bench_digest(int k)
{
    const int32_t *p = k == 0 ? bench_y : k == 1 ? bench_v : bench_m[2];
    const int n = k == 0 ? GEMV_ROWS * GEMV_OUT : k == 1 ? 128 : MOD_N;
    uint32_t h = 0;

    for (int i = 0; i < n; i++)
        h = h * 31 + (uint32_t)p[i];
    return h;
}

#endif
