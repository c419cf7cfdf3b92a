/* Encode and decode of spinor blocks (head dimension 128, basis klt) on one core: the HVX version as it is emulated here beside
 * memcpy of the same floats and beside the same mathematics in plain AVX2, and what the cost model takes the HVX version
 * for on a V69.  GB/s count the floats. */
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "HAP_vtcm_mgr.h"
#include "bench.h"
#include "cost/pending.h"
#include "hx_f16.h"
#include "hx_profile.h"
#include "base/machine.h"
#include "spinor/spinor.h"
#include "cost/vtime.h"

enum { DH = HX_BLOCK_DH, ROWS = HX_BLOCK_SKEL + HX_BLOCK_RES, VECTORS = 128, ROUNDS = 40, GROUPS = DH / 8 };

struct rig {
    float (*x)[DH], (*y)[DH];
    struct hx_block *blocks;
    struct hx_spinor *hvx;
    struct plain {
        float mean[DH], scale[64], row[ROWS][DH]; /* rows stay aligned */
    } *plain;
};

static void *aligned(size_t n)
{
    void *p = aligned_alloc(128, (n + 127) / 128 * 128);

    if (!p)
        exit(1);
    memset(p, 0, (n + 127) / 128 * 128);
    return p;
}

/* --- plain AVX2: rows of the basis in f32, fused multiply-add, CRC by table */

static uint8_t crc_table[256];

static uint8_t crc8(const uint8_t *p, size_t n)
{
    uint8_t crc = 0;

    for (size_t i = 0; i < n; i++)
        crc = crc_table[crc ^ p[i]];
    return crc;
}

static __attribute__((target("avx2,fma"))) float dot(const float *row, const float *x)
{
    __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;

    for (int i = 0; i < DH; i += 32) {
        a = _mm256_fmadd_ps(_mm256_load_ps(row + i), _mm256_load_ps(x + i), a);
        b = _mm256_fmadd_ps(_mm256_load_ps(row + i + 8), _mm256_load_ps(x + i + 8), b);
        c = _mm256_fmadd_ps(_mm256_load_ps(row + i + 16), _mm256_load_ps(x + i + 16), c);
        d = _mm256_fmadd_ps(_mm256_load_ps(row + i + 24), _mm256_load_ps(x + i + 24), d);
    }
    a = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}

static __attribute__((target("avx2,fma"))) void encode_plain(const struct plain *p, const float *x,
                                                             struct hx_block *b)
{
    _Alignas(32) float centred[DH];
    float r[HX_BLOCK_RES], amax = 0;
    uint8_t mag[HX_BLOCK_RES], phase[HX_BLOCK_RES], planes[28];
    uint64_t phases = 0;

    for (int i = 0; i < DH; i++)
        centred[i] = x[i] - p->mean[i];
    for (int j = 0; j < HX_BLOCK_SKEL; j++)
        b->skeleton[j] = hx_f16_from_f32(dot(p->row[j], centred));
    for (int i = 0; i < HX_BLOCK_RES; i++) {
        r[i] = dot(p->row[HX_BLOCK_SKEL + i], centred) / p->scale[i];
        amax = fmaxf(amax, fabsf(r[i]));
    }
    for (int i = 0; i < HX_BLOCK_RES; i++) {
        mag[i] = (uint8_t)(7 * fabsf(r[i]) / amax + 0.5f);
        phase[i] = mag[i] && r[i] < 0;
    }
    for (int g = 0; g < HX_BLOCK_RES; g += 8) {
        uint32_t bits = 0;

        for (int i = g; i < g + 8 && i < HX_BLOCK_RES; i++) {
            bits |= (uint32_t)mag[i] << 3 * (i - g);
            phases |= (uint64_t)phase[i] << i;
        }
        memcpy(&planes[3 * (g / 8)], &bits, sizeof(bits));
    }
    memcpy(b->magnitude, planes, sizeof(b->magnitude));
    memcpy(b->phase, &phases, sizeof(phases));
    memcpy(b->amax, &amax, sizeof(amax));
    b->crc = crc8((const uint8_t *)b, HX_BLOCK_PAYLOAD);
}

static __attribute__((target("avx2,fma"))) void decode_plain(const struct plain *p,
                                                             const struct hx_block *b, float *x)
{
    float z[ROWS], level[16], amax;
    __m256 acc[GROUPS];
    uint64_t phases;

    if (crc8((const uint8_t *)b, HX_BLOCK_PAYLOAD) != b->crc)
        return;
    memcpy(&amax, b->amax, sizeof(amax));
    memcpy(&phases, b->phase, sizeof(phases));
    for (int m = 0; m < 8; m++) {
        level[m] = (float)m * amax / 7;
        level[8 + m] = -level[m];
    }
    for (int j = 0; j < HX_BLOCK_SKEL; j++)
        z[j] = hx_f32_from_f16(b->skeleton[j]);
    for (int g = 0; g < HX_BLOCK_RES; g += 8) {
        uint32_t bits;

        memcpy(&bits, &b->magnitude[3 * (g / 8)], sizeof(bits)); /* ends inside the block */
        for (int i = g; i < g + 8 && i < HX_BLOCK_RES; i++)
            z[HX_BLOCK_SKEL + i] =
                level[(bits >> 3 * (i - g) & 7) | (phases >> i & 1) << 3] * p->scale[i];
    }
    for (int half = 0; half < DH; half += DH / 2) { /* eight sums stay in registers */
        for (int v = 0; v < GROUPS / 2; v++)
            acc[v] = _mm256_load_ps(p->mean + half + 8 * v);
        for (int j = 0; j < ROWS; j++) {
            const __m256 by = _mm256_broadcast_ss(&z[j]);

            for (int v = 0; v < GROUPS / 2; v++)
                acc[v] = _mm256_fmadd_ps(by, _mm256_load_ps(p->row[j] + half + 8 * v), acc[v]);
        }
        for (int v = 0; v < GROUPS / 2; v++)
            _mm256_store_ps(x + half + 8 * v, acc[v]);
    }
}

/* --- what is timed */

static void run_encode_plain(void *arg)
{
    const struct rig *r = arg;

    for (int i = 0; i < VECTORS; i++)
        encode_plain(r->plain, r->x[i], &r->blocks[i]);
}

static void run_decode_plain(void *arg)
{
    const struct rig *r = arg;

    for (int i = 0; i < VECTORS; i++)
        decode_plain(r->plain, &r->blocks[i], r->y[i]);
}

static void run_encode_hvx(void *arg)
{
    const struct rig *r = arg;
    struct hx_spinor_faults faults;

    if (hx_spinor_encode_batch_hvx(r->hvx, 0, 1, VECTORS, r->x[0], r->blocks, &faults))
        exit(1);
}

static void run_decode_hvx(void *arg)
{
    const struct rig *r = arg;
    struct hx_spinor_faults faults;

    if (hx_spinor_decode_batch_hvx(r->hvx, 0, 1, VECTORS, r->blocks, r->y[0], &faults))
        exit(1);
}

static void run_memcpy(void *arg)
{
    const struct rig *r = arg;

    memcpy(r->y, r->x, sizeof(*r->x) * VECTORS);
    __asm__ volatile("" : : "r"(r->y) : "memory");
}

/* --- tables: random orthonormal directions */

static float random_float(void)
{
    static uint32_t s = 1;

    s = s * 1664525 + 1013904223;
    return (float)(int32_t)s * 0x1p-31f;
}

static void orthonormal(float row[ROWS][DH])
{
    for (int j = 0; j < ROWS; j++) {
        float norm = 0;

        for (int i = 0; i < DH; i++)
            row[j][i] = random_float();
        for (int o = 0; o < j; o++) {
            float d = 0;

            for (int i = 0; i < DH; i++)
                d += row[j][i] * row[o][i];
            for (int i = 0; i < DH; i++)
                row[j][i] -= d * row[o][i];
        }
        for (int i = 0; i < DH; i++)
            norm += row[j][i] * row[j][i];
        for (int i = 0; i < DH; i++)
            row[j][i] = hx_f32_from_f16(hx_f16_from_f32(row[j][i] / sqrtf(norm)));
    }
}

static void open_rig(struct rig *r)
{
    struct hx_codec_format f;
    uint16_t *table;
    size_t bytes;

    hx_codec_format(&f, DH, HX_BASIS_KLT, HX_CODE_SIGN);
    table = aligned(hx_block_table_bytes(f.shape, f.basis));
    bytes = hx_spinor_bytes(&f, 1);
    *r = (struct rig){aligned(sizeof(*r->x) * VECTORS), aligned(sizeof(*r->y) * VECTORS),
                      aligned(sizeof(*r->blocks) * VECTORS), HAP_request_VTCM((unsigned)bytes, 1),
                      aligned(sizeof(*r->plain))};
    if (!r->hvx)
        exit(1);
    orthonormal(r->plain->row);
    for (int i = 0; i < DH; i++)
        table[i] = hx_f16_from_f32(r->plain->mean[i] = 0.25f * (float)(i % 3));
    for (int i = 0; i < HX_BLOCK_RES; i++)
        table[DH + i] = hx_f16_from_f32(r->plain->scale[i] = 1);
    for (int i = 0; i < ROWS * DH; i++)
        table[DH + HX_BLOCK_RES + i] = hx_f16_from_f32(r->plain->row[i / DH][i % DH]);
    if (hx_spinor_init(r->hvx, bytes, &f, table, 1))
        exit(1);
    for (int i = 0; i < VECTORS * DH; i++)
        r->x[i / DH][i % DH] = 2 * random_float();
    free(table);
}

/* Both make the same vectors, or the comparison means nothing. */
static float difference(const struct rig *r)
{
    static float plain[VECTORS][DH];
    float worst = 0;

    run_encode_plain((void *)r);
    run_decode_plain((void *)r);
    memcpy(plain, r->y, sizeof(plain));
    run_encode_hvx((void *)r);
    run_decode_hvx((void *)r);
    for (int i = 0; i < VECTORS * DH; i++)
        worst = fmaxf(worst, fabsf(plain[i / DH][i % DH] - r->y[i / DH][i % DH]));
    return worst;
}

/* Listings are charged to the thread's clock as they run, all other HVX operations are pending at the end. */
static double pcycles_of(void (*run)(void *), struct rig *r)
{
    hx_vt_call_begin(0, 0);
    hx_cost_pending();
    const uint64_t start = hx_vt_now();
    run(r);
    const double pcycles = hx_cost_pending() + (double)(hx_vt_now() - start);
    hx_vt_call_end();
    return pcycles / VECTORS;
}

/* The shortest of many short runs: others use the machine, too. */
static double best_us(void (*run)(void *), struct rig *r)
{
    double best = bench_us(run, r, 1);

    for (int i = 1; i < ROUNDS; i++) {
        const double us = bench_us(run, r, 1);

        best = us < best ? us : best;
    }
    return best;
}

static void row(const char *what, void (*run)(void *), double peer_us, double copy_us, struct rig *r,
                const char *aim)
{
    const double us = best_us(run, r), gb = sizeof(*r->x) * VECTORS / 1e3;
    char name[64];

    snprintf(name, sizeof(name), "spinor %s", what);
    printf("%-22s %7.2f GB/s, %5.3fx of AVX2 (%.2f GB/s)%s, %.4fx of memcpy, %.0f pcycles per vector "
           "(model)\n", name, gb / us, peer_us / us, gb / peer_us, aim, copy_us / us,
           pcycles_of(run, r));
}

int main(void)
{
    static struct hx_profile profile;
    struct rig r;
    char err[256] = "no machine";

    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        printf("bench_spinor: skip: no AVX2 here\n");
        return 77;
    }
    if (hx_profile_load(&profile, HXT_SRC "/dsp/profiles", "s22u-577", err, sizeof(err)) ||
        hx_machine_init(&profile)) {
        fprintf(stderr, "bench_spinor: %s\n", err);
        return 1;
    }
    for (int i = 0; i < 256; i++)
        crc_table[i] = hx_crc8(&(uint8_t){(uint8_t)i}, 1);
    open_rig(&r);
    if (difference(&r) > 0.5f) {
        fprintf(stderr, "bench_spinor: the two versions differ by %g\n", (double)difference(&r));
        return 1;
    }
    const double copy = best_us(run_memcpy, &r);
    row("encode", run_encode_hvx, best_us(run_encode_plain, &r), copy, &r, "");
    row("decode", run_decode_hvx, best_us(run_decode_plain, &r), copy, &r, ", aim 0.4");
    return 0;
}
