/* Speed of the HVX intrinsics here.  Usage: bench_host [FILE]
 * ns per intrinsic, a few of each family; then three whole kernels beside a straightforward AVX2
 * version and, given FILE (the output of bench_qemu), beside the same source under qemu-hexagon,
 * whose results must be the same. Exit: 0, or 1 when the results differ. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "bench_kernels.h"

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- single intrinsics: independent operations over 64 vectors, best of 20 rounds */
#define N 64
#define HIDE(p) __asm__ volatile("" : : "r"(p) : "memory")
static HVX_Vector in[N + 2];
static HVX_VectorPair out[N];

#define TIME(family, name, expr) \
    do { \
        double best = 1e9; \
        for (int round = 0; round < 20; round++) { \
            double t = now_ns(); \
            for (int k = 0; k < 50; k++) { \
                for (int i = 0; i < N; i++) { \
                    const HVX_Vector a = in[i], b = in[i + 1], c = in[i + 2]; \
                    const HVX_VectorPair ab = hx_pair(a, b), bc = hx_pair(b, c); \
                    (void)c, (void)ab, (void)bc; \
                    *(__typeof__(expr) *)&out[i] = (expr); \
                } \
                HIDE(out); \
            } \
            t = (now_ns() - t) / (50 * N); \
            best = t < best ? t : best; \
        } \
        printf("family=%-11s ns=%5.1f name=%s\n", family, best, name); \
    } while (0)
#define T1(f, n) TIME(f, #n, n(a))
#define T2(f, n) TIME(f, #n, n(a, b))
#define T3(f, n) TIME(f, #n, n(a, b, c))
#define TR(f, n, r) TIME(f, #n, n(a, r))
#define T2R(f, n, r) TIME(f, #n, n(a, b, r))

/* Random words with some bits as `set` says. */
static void fill(uint32_t clear, uint32_t set)
{
    uint32_t s = 1;

    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < 32; j++)
            in[i][j] = (int32_t)(((s = s * 1664525u + 1013904223u) & ~clear) | set);
}

static void families_narrow(void)
{
    T2("add", Q6_Vw_vadd_VwVw);
    T2("add", Q6_Vh_vadd_VhVh_sat);
    T2("average", Q6_Vub_vavg_VubVub_rnd);
    T2("min/max", Q6_Vw_vmax_VwVw);
    T2("abs", Q6_Vub_vabsdiff_VubVub);
    TIME("compare", "Q6_Q_vcmp_gt_VwVw, Q6_V_vmux_QVV",
         Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(a, b), a, c));
    T2("shift", Q6_Vw_vasr_VwVw);
    T2R("narrow", Q6_Vh_vasr_VwVwR_rnd_sat, 7);
    T2R("narrow", Q6_Vub_vasr_VhVhR_sat, 3);
    T2("pack", Q6_Vb_vpacke_VhVh);
    T1("count", Q6_Vuw_vcl0_Vuw);
    T1("count", Q6_Vh_vpopcount_Vh);
    T2R("align", Q6_V_valign_VVR, 4);
    TR("align", Q6_V_vror_VR, 64);
    T2R("shuffle", Q6_W_vshuff_VVR, -4);
    T2R("shuffle", Q6_W_vdeal_VVR, b[0]);
    T2("delta", Q6_V_vdelta_VV);
    T2R("lut", Q6_Vb_vlut32_VbVbR, 1);
    T2R("lut", Q6_Wh_vlut16_VbVhR, 1);
}

static void families_wide(void)
{
    T2("widen", Q6_Ww_vadd_VhVh);
    T1("widen", Q6_Wuh_vunpack_Vub);
    T2("multiply", Q6_Ww_vmpy_VhVh);
    T2("multiply", Q6_Wh_vmpy_VubVb);
    T2("multiply", Q6_Vw_vmpyie_VwVuh);
    T2("multiply", Q6_Vw_vmpyo_VwVh_s1_rnd_sat);
    TIME("multiply", "Q6_W_vmpyoacc_WVwVh", Q6_W_vmpyoacc_WVwVh(ab, b, c));
    T3("dot", Q6_Vw_vrmpyacc_VwVubVb);
    T3("dot", Q6_Vw_vrmpyacc_VwVbVb);
    TR("dot", Q6_Vw_vdmpy_VhRh_sat, 0x30002);
    TIME("dot", "Q6_Wh_vtmpy_WbRb", Q6_Wh_vtmpy_WbRb(ab, 0x01020304));
    fill(0x7f8000ff, 127 << 23 | 127); /* exponents in the middle: the ends are rare, and take longer */
    T2("qf32", Q6_Vqf32_vmpy_VsfVsf);
    T2("qf32", Q6_Vqf32_vmpy_Vqf32Vqf32);
    T2("qf32", Q6_Vqf32_vadd_VsfVsf);
    T2("qf32", Q6_Vqf32_vadd_Vqf32Vqf32);
    T1("qf32", Q6_Vsf_equals_Vqf32);
    fill(0x7c1f7c1f, 0x3c0f3c0f);
    T2("qf16", Q6_Vqf16_vmpy_VhfVhf);
    T2("qf16", Q6_Vqf16_vadd_VhfVhf);
}

/* --- AVX2 by hand */
#ifdef __AVX2__
static void avx2_gemv(void)
{
    for (int t = 0; t < GEMV_ROWS; t++) {
        for (int o = 0; o < GEMV_OUT; o++) {
            __m256i acc = _mm256_setzero_si256();
            __m128i s;

            for (int i = 0; i < GEMV_IN; i += 16) {
                const __m128i x = _mm_load_si128((const __m128i *)(bench_x + t * GEMV_IN + i));
                const __m128i w = _mm_load_si128((const __m128i *)(bench_w + o * GEMV_IN + i));

                acc = _mm256_add_epi32(
                    acc, _mm256_madd_epi16(_mm256_cvtepu8_epi16(x), _mm256_cvtepi8_epi16(w)));
            }
            s = _mm_add_epi32(_mm256_castsi256_si128(acc), _mm256_extracti128_si256(acc, 1));
            s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
            s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
            bench_y[t * GEMV_OUT + o] = _mm_cvtsi128_si32(s);
        }
    }
}

/* The butterflies of bench_wht: neighbours, then a deal over all 128 words of two halves. */
static void avx2_wht(void)
{
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    int32_t next[128] __attribute__((aligned(32)));

    for (int stage = 0; stage < 7; stage++) {
        for (int i = 0; i < 64; i += 8) {
            const __m256i *p = (const __m256i *)(bench_v + 2 * i);
            const __m256i x = _mm256_permutevar8x32_epi32(p[0], even),
                          y = _mm256_permutevar8x32_epi32(p[1], even);
            const __m256i lo = _mm256_permute2x128_si256(x, y, 0x20),
                          hi = _mm256_permute2x128_si256(x, y, 0x31);

            _mm256_store_si256((__m256i *)(next + i), _mm256_add_epi32(lo, hi));
            _mm256_store_si256((__m256i *)(next + 64 + i), _mm256_sub_epi32(lo, hi));
        }
        memcpy(bench_v, next, sizeof(next));
    }
}

static void avx2_modmul(void)
{
    const __m256i q = _mm256_set1_epi64x(MOD_Q), mu = _mm256_set1_epi64x(MOD_MU),
                  last = _mm256_set1_epi64x(MOD_Q - 1);

    for (int i = 0; i < MOD_N; i += 8) {
        const __m256i a = _mm256_load_si256((const __m256i *)(bench_m[0] + i));
        const __m256i b = _mm256_load_si256((const __m256i *)(bench_m[1] + i));
        __m256i r[2];

        for (int k = 0; k < 2; k++) {
            const __m256i x = _mm256_mul_epu32(k ? _mm256_srli_epi64(a, 32) : a,
                                               k ? _mm256_srli_epi64(b, 32) : b);
            const __m256i e = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 29), mu), 31);

            r[k] = _mm256_sub_epi64(x, _mm256_mul_epu32(e, q));
            for (int n = 0; n < 2; n++)
                r[k] = _mm256_sub_epi64(r[k], _mm256_and_si256(_mm256_cmpgt_epi64(r[k], last), q));
        }
        _mm256_store_si256((__m256i *)(bench_m[2] + i),
                           _mm256_or_si256(r[0], _mm256_slli_epi64(r[1], 32)));
    }
}

static void (*const by_hand[3])(void) = {avx2_gemv, avx2_wht, avx2_modmul};
#endif

static const char *const kernel[3] = {"gemv 1024x1152x16", "wht 128", "modmul 256"};
static const int repeat[3] = {3, 20000, 20000};

/* Best of five rounds, ns per run. */
static double time_ours(int k)
{
    double best = 1e12;

    for (int round = 0; round < 5; round++) {
        double t = now_ns();

        bench_run(k, repeat[k]);
        t = (now_ns() - t) / repeat[k];
        best = t < best ? t : best;
    }
    return best;
}

#ifdef __AVX2__
static double time_by_hand(int k)
{
    double best = 1e12;

    for (int round = 0; round < 5; round++) {
        double t = now_ns();

        for (int i = 0; i < repeat[k]; i++)
            by_hand[k]();
        t = (now_ns() - t) / repeat[k];
        best = t < best ? t : best;
    }
    return best;
}
#endif

/* ns under qemu, from a line of its output; 0 without.  The digest goes to *digest. */
static double qemu_ns(FILE *f, uint32_t *digest)
{
    unsigned long long units, runs, d;
    int k;

    if (!f || fscanf(f, "%d %llu %llu %llu", &k, &units, &runs, &d) != 4)
        return 0;
    *digest = (uint32_t)d;
    return (double)units * 1024 / (double)runs;
}

static int kernels(const char *path)
{
    FILE *f = path ? fopen(path, "r") : NULL;
    int bad = 0;

    for (int k = 0; k < 3; k++) {
        uint32_t digest, theirs = 0;
        double ours, qemu;

        bench_fill();
        bench_run(k, 1);
        digest = bench_digest(k);
        ours = time_ours(k);
        printf("kernel=\"%s\" ns=%.0f", kernel[k], ours);
#ifdef __AVX2__
        bench_fill();
        by_hand[k]();
        if (bench_digest(k) != digest) {
            printf(" avx2_results=DIFFER");
            bad = 1;
        }
        {
            const double hand = time_by_hand(k);

            printf(" avx2_ns=%.0f times_avx2=%.2f", hand, ours / hand);
        }
#endif
        qemu = qemu_ns(f, &theirs);
        if (qemu > 0) {
            printf(" qemu_ns=%.0f faster_than_qemu=%.0f results=%s", qemu, qemu / ours,
                   theirs == digest ? "same" : "DIFFER");
            bad |= theirs != digest;
        }
        printf("\n");
    }
    if (f)
        fclose(f);
    return bad;
}

int main(int argc, char **argv)
{
    fill(0, 0);
    families_narrow();
    families_wide();
    return kernels(argc > 1 ? argv[1] : NULL);
}
