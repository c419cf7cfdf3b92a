/* The integer parts of our own kernels on random inputs: the same source here and under qemu-hexagon, one 64-bit number per
 * result to stdout, for comparing the two.  Covers: blocks taken apart (CRC, fill, skeleton integers, signed magnitudes), the
 * integer sums of a decode, planes and CRC of an encode, planes back to levels, argmax, band codes both ways, 64-bit sums of the
 * exact linear layer.
 * With an argument it prints the results' names instead. */
#include "spinor/spinor_hvx.c"
#include "spinor/spinor_layout.c"
#include "spinor/spinor_group_hvx.c"
#include "spinor/spinor_load_hvx.c"
#include "spinor/spinor_decode_hvx.c"

#include "spinor/band_dequantize_hvx.c"
#include "silicon/band_quantize_hvx.c"
#include "silicon/elementwise_hvx.c"
#include "ok/ok_sums_hvx.c"

#ifdef __hexagon__
#include "freestanding.h"

/* What clang calls for division; nothing that runs here divides floats. */
unsigned __hexagon_umodsi3(unsigned a, unsigned b);
unsigned __hexagon_udivsi3(unsigned a, unsigned b);
int __hexagon_divsi3(int a, int b);

unsigned __hexagon_udivsi3(unsigned a, unsigned b)
{
    unsigned q = 0;

    for (int bit = 31; bit >= 0; bit--) {
        if (a >> bit >= b) {
            a -= b << bit;
            q |= 1u << bit;
        }
    }
    return q;
}

unsigned __hexagon_umodsi3(unsigned a, unsigned b)
{
    return a - __hexagon_udivsi3(a, b) * b;
}

int __hexagon_divsi3(int a, int b)
{
    const unsigned q = __hexagon_udivsi3((unsigned)(a < 0 ? -a : a), (unsigned)(b < 0 ? -b : b));

    return (a < 0) != (b < 0) ? -(int)q : (int)q;
}
#else
#include <stdio.h>

#include "sp_hex_platform.h"

static void put(const void *p, long n)
{
    fwrite(p, 1, (size_t)n, stdout);
}
#endif

/* Needed by the sources above and not by what runs here. */
void hx_codec_levels(uint32_t code, float amax, float level[8])
{
    (void)code, (void)amax;
    memset(level, 0, 8 * sizeof(*level));
}

int hx_squarefree_index(size_t i)
{
    return (int)(i & 0);
}

static uint64_t seed = 1;

static uint32_t any(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static void fill(void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)any();
}

#ifndef __hexagon__
static int names_only;
#endif

/* FNV-1a of a result; its name tells which one differs. */
static void result(const char *name, const void *p, size_t n)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211u;
#ifndef __hexagon__
    if (names_only) {
        puts(name);
        return;
    }
#endif
    (void)name;
    put(&h, sizeof(h));
}

static void blocks_of(const struct hx_block_shape *s, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t *b = to + i * s->slot;

        fill(b, s->slot);
        if (i % 4)
            b[s->off_amax + 3] &= 0x3f;
        hx_block_seal(s, b);
        if (i % 7 == 0)
            b[any() % s->slot] ^= 0x10;
    }
}

static struct hx_spinor k;
static struct hx_spinor_group g;
static struct hx_spinor_rows rows[HX_SPINOR_MAX_QUADS];
static uint8_t bytes[HX_SPINOR_LANES * HX_BLOCK_MAX_SLOT] __attribute__((aligned(128)));

static void group_case(const struct hx_block_shape *s, size_t n)
{
    const uint8_t *from[HX_SPINOR_LANES];
    union hx_spinor_lanes means;
    HVX_Vector sums[2];

    blocks_of(s, bytes, n);
    fill(rows, sizeof(rows));
    for (int i = 0; i < HX_SPINOR_LANES; i++)
        means.u[i] = any() % 30 << 10;
    for (size_t i = n; i < HX_SPINOR_LANES; i++)
        means.u[i] = 0;
    for (size_t i = 0; i < n; i++)
        from[i] = bytes + i * s->slot;
    hx_spinor_unpack(&k, from, n, means.v, &g);
    result("words", g.word, s->slot / 4 * sizeof(g.word[0]));
    result("skeleton high", g.high, sizeof(g.high));
    result("skeleton low", g.low, sizeof(g.low));
    result("residuals", g.residual, k.quads * sizeof(g.residual[0]));
    result("fixes", &g.skel_fix, 2 * sizeof(g.skel_fix));
    result("exponents", &g.exponent, sizeof(g.exponent));
    result("amax", &g.amax, sizeof(g.amax));
    for (int i = 0; i < HX_SPINOR_LANES; i++)
        g.bad.u[i] = g.bad.u[i] != 0;
    result("verdicts", &g.bad, sizeof(g.bad));
    sums[0] = skeleton_sum(rows, &g, n - 1);
    sums[1] = residual_sum(rows, k.quads, &g, n - 1);
    result("sums", sums, sizeof(sums));
}

/* Residuals with amax among them. */
static void pack_case(const struct hx_block_shape *s)
{
    static union hx_spinor_lanes r[HX_SPINOR_MAX_RES_VECTORS];
    static const uint32_t amaxes[] = {0x3f800000, 0x40e00000, 0x00000001, 0x00000007, 0x00800000,
                                      0x7f7fffff, 0x3dcccccd, 0};
    float level[8];

    for (size_t i = 0; i < sizeof(amaxes) / sizeof(amaxes[0]); i++) {
        const float amax = float_of(amaxes[i]);

        for (size_t l = 0; l < s->n_res; l++) {
            const uint32_t sign = any() << 31;

            r[l / HX_SPINOR_LANES].u[l % HX_SPINOR_LANES] =
                sign | (amaxes[i] ? any() % (amaxes[i] + 1) : 0);
        }
        fill(bytes, s->slot);
        hx_spinor_pack_hvx(&k, r[0].f, amax, bytes);
        result("planes and CRC", bytes, s->slot);
        fill(level, sizeof(level));
        for (size_t v = 0; v < k.res_vectors; v++)
            r[v].v = unpack(&k, bytes, level, v);
        result("levels", r, k.res_vectors * sizeof(r[0]));
    }
}

static void band_case(int n)
{
    static float x[1024] __attribute__((aligned(128)));
    static uint8_t codes[1024];
    const struct hx_bands b = {n, 4, {5, (uint8_t)(2 + any() % 7), 4, 3}};

    for (int i = 0; i < n; i++)
        x[i] = (float)(int)any() * 0x1p-31f;
    fill(codes, sizeof(codes));
    hx_band_quantize_hvx(&b, x, codes);
    result("band codes", codes, sizeof(codes));
    hx_band_dequantize_hvx(&b, 1 + (int)(any() % 4), codes, x);
    result("band values", x, (size_t)n * sizeof(float));
}

int hx_bands_bytes(const struct hx_bands *b)
{
    return b->n; /* not looked at beyond 0 */
}

static void argmax_case(int n)
{
    static uint16_t x[4096];

    fill(x, sizeof(x));
    for (int tie = 0; tie < 3; tie++)
        x[any() % (unsigned)n] = 0xffff;
    n = hx_argmax_hvx(x + n % 3, n);
    result("argmax", &n, sizeof(n));
}

/* Odd cases have extreme numbers. */
static void ok_case(int i)
{
    enum { COLS = 24, VECTORS = 6, PLANES = 2 };
    static int32_t w[COLS * PLANES * HX_OKW_ROWS] __attribute__((aligned(128)));
    static int32_t x[COLS * VECTORS];
    static struct hx_ok_acc acc[VECTORS * PLANES];
    static int64_t y[HX_OKW_ROWS];
    const struct hx_ok_tile tile = {(const uint8_t *)w, COLS, PLANES, x, COLS, VECTORS, acc};

    fill(w, sizeof(w));
    fill(x, sizeof(x));
    fill(acc, sizeof(acc));
    for (size_t j = 0; i % 2 && j < COLS * VECTORS; j++)
        x[j] = x[j] & 1 ? INT32_MIN + (x[j] >> 1 & 1) : INT32_MAX;
    hx_ok_sums_hvx(&tile);
    result("64-bit sums", acc, sizeof(acc));
    hx_ok_store_hvx(y, acc, 1 + any() % HX_OKW_ROWS);
    result("stored sums", y, sizeof(y));
}

static void all_cases(void)
{
    for (size_t d = 0; d < HX_CODES * HX_BLOCK_SHAPES; d++) {
        const struct hx_codec_format f = {&hx_block_shapes[d / HX_CODES], HX_BASIS_KLT, d % HX_CODES};

        hx_spinor_lay_out(&k, &f, 0);
        for (size_t n = 1; n <= HX_SPINOR_LANES; n++)
            group_case(f.shape, n);
        for (int i = 0; i < 8; i++)
            pack_case(f.shape);
    }
    for (int i = 0; i < 100; i++) {
        band_case(4 + (int)(any() % 508));
        argmax_case(1 + (int)(any() % 4000));
        ok_case(i);
    }
}

#ifdef __hexagon__
__attribute__((used)) void c_start(long *stack)
{
    (void)stack;
    all_cases();
    syscall3(HX_SYS_EXIT_GROUP, 0, 0, 0);
}
#else
int main(int argc, char **argv)
{
    (void)argv;
    names_only = argc > 1;
    all_cases();
    return 0;
}
#endif
