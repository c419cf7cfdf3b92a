/* The kernels that can be asked for: buffers of a shape, and the call. */
#include <string.h>

#include "AEEStdErr.h"
#include "forward.h"
#include "timing_ops.h"
#include "timing_pool.h"

enum { Q1 = 1073738753, Q2 = 1073732609 };

static void *take_residues(struct hx_timing_pool *p, size_t n)
{
    uint32_t *b = hx_pool_take(p, n * sizeof(*b));

    for (size_t i = 0; b && i < n; i++)
        b[i] = hx_pool_next(p) % Q1;
    return b;
}

static int run_echo(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    uint8_t *in = hx_pool_bytes(&p, (size_t)n), *out = hx_pool_take(&p, (size_t)n);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY : silicon_echo(h, &a->how, in, n, out, n, c));
}

static int run_axpby(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    short *x = hx_pool_bytes(&p, (size_t)n * 2), *y = hx_pool_take(&p, (size_t)n * 2);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY : silicon_axpby(h, &a->how, 3, 4, x, n, y, n, c));
}

static int run_barrett(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    uint32_t *x = take_residues(&p, (size_t)n), *y = take_residues(&p, (size_t)n);
    uint32_t *r = hx_pool_take(&p, (size_t)n * 4);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_barrett(h, &a->how, Q1, x, n, y, n, r, n, c));
}

static int run_modmatmul(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int batch = (int)a->shape[0], inner = (int)a->shape[1], outer = (int)a->shape[2];
    uint32_t *x = take_residues(&p, (size_t)batch * inner);
    uint32_t *w = take_residues(&p, (size_t)inner * outer), *y = hx_pool_take(&p, (size_t)batch * outer * 4);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_modmatmul(h, &a->how, Q1, batch, inner, outer, x,
                                                              batch * inner, w, inner * outer, y,
                                                              batch * outer, c));
}

static int vht2(remote_handle64 h, const struct hx_timing_ask *a, int hvx, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    float *x = hx_pool_floats(&p, (size_t)n), *y = hx_pool_take(&p, (size_t)n * 4);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_vht2(h, &a->how, hvx, n, 1, x, n, y, n, c));
}

static int run_vht2(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return vht2(h, a, 0, c);
}

static int run_vht2_hvx(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return vht2(h, a, 1, c);
}

static int matmul(remote_handle64 h, const struct hx_timing_ask *a, int variant, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int tokens = (int)a->shape[0], inner = (int)a->shape[1], rows = (int)a->shape[2];
    const int stride = (inner + 127) / 128 * 128;
    float *x = hx_pool_floats(&p, (size_t)tokens * inner);
    uint8_t *w = hx_pool_bytes(&p, (size_t)rows * stride);
    float *scale = hx_pool_floats(&p, (size_t)rows), *y = hx_pool_take(&p, (size_t)tokens * rows * 4);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_matmul(h, &a->how, variant, tokens, inner, rows, x,
                                                           tokens * inner, w, rows * stride, scale, rows, y,
                                                           tokens * rows, c));
}

static int run_matmul(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return matmul(h, a, SILICON_ROW_SUMS, c);
}

/* The row sums, by a cold call of one token, unless the question is about the call that makes them. */
static int make_row_sums(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_ask cold = *a;

    cold.how.cold = 1;
    cold.shape[0] = 1;
    return a->how.cold ? AEE_SUCCESS : run_matmul(h, &cold, c);
}

static int run_matmul_single(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return matmul(h, a, SILICON_SINGLE, c);
}

static int run_matmul_qf32(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return matmul(h, a, SILICON_QF32, c);
}

static int run_argmax(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    unsigned short *x = hx_pool_bytes(&p, (size_t)n * 2);
    unsigned int index;

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY : silicon_argmax(h, &a->how, x, n, &index, c));
}

/* Bytes of a vector of n floats in K's bands of 5, 5, 4 and 3 bits, each behind an fp16 scale. */
static int band_bytes(int n)
{
    static const int bits[] = {5, 5, 4, 3};
    int bytes = 0;

    for (int b = 0; b < 4; b++) {
        const int lanes = b < 3 ? n / 4 : n - 3 * (n / 4);

        bytes += 2 + (lanes * bits[b] + 7) / 8;
    }
    return bytes;
}

/* Of V: one band of 3 bits, behind an fp16 scale. */
static int v_bytes(int n)
{
    return 2 + (3 * n + 7) / 8;
}

static int compress(remote_handle64 h, const struct hx_timing_ask *a, int is_v, int transform, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0], vectors = (int)a->shape[1], all = n * vectors;
    const int bytes = (is_v ? v_bytes(n) : band_bytes(n)) * vectors;
    float *x = hx_pool_floats(&p, (size_t)all);
    uint8_t *codes = hx_pool_take(&p, (size_t)bytes);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_compress(h, &a->how, is_v, transform, n, x, all, codes,
                                                             bytes, c));
}

static int run_compress(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return compress(h, a, 0, 1, c);
}

static int run_band_quantize(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return compress(h, a, 0, 0, c);
}

static int run_compress_v(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return compress(h, a, 1, 1, c);
}

static int run_band_quantize_v(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return compress(h, a, 1, 0, c);
}

static int run_dot(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0], times = (int)a->shape[1], all = n * times;
    float *x = hx_pool_floats(&p, (size_t)all), *y = hx_pool_floats(&p, (size_t)all);
    float *sums = hx_pool_take(&p, (size_t)times * 4);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_dot(h, &a->how, n, x, all, y, all, sums, times, c));
}

static int run_ntt_init(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    return silicon_ntt_init(h, &a->how, c);
}

static int ntt(remote_handle64 h, const struct hx_timing_ask *a, int variant, int inverse, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    uint32_t *x = take_residues(&p, (size_t)n), *y = hx_pool_take(&p, (size_t)n * 4);

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_ntt(h, &a->how, variant, inverse,
                                                        a->shape[1] == 2 ? Q2 : Q1, n, x, n, y, n, c));
}

#define RUN_NTT(name, variant, inverse) \
    static int name(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c) \
    { \
        return ntt(h, a, variant, inverse, c); \
    }
RUN_NTT(run_ntt_scalar, SILICON_NTT_SCALAR, 0)
RUN_NTT(run_ntt_hvx, SILICON_NTT_HVX, 0)
RUN_NTT(run_ntt_vtcm, SILICON_NTT_PERSISTENT, 0)
RUN_NTT(run_intt_scalar, SILICON_NTT_SCALAR, 1)
RUN_NTT(run_intt_hvx, SILICON_NTT_HVX, 1)
RUN_NTT(run_intt_vtcm, SILICON_NTT_PERSISTENT, 1)

static int run_null(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    uint8_t *in = hx_pool_take(&p, a->in_bytes), *out = hx_pool_take(&p, a->out_bytes);

    *c = (silicon_cycles){0};
    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_null(h, in, (int)a->in_bytes, out, (int)a->out_bytes));
}

#define ROWS_SHAPE(n) "ROWSxN", {16, n}
#define NTT_SHAPE "N[xPRIME]", {256, 1}
const struct hx_timing_kernel hx_timing_kernels[] = {
    {"null", "", {0}, "a call that does nothing with --in-bytes and --out-bytes", NULL, run_null, NULL},
    {"matmul", "TOKENSxINxOUT", {16, 1152, 6912}, "int8 vrmpy, row sums from a table (K02-K05)", make_row_sums,
     run_matmul, NULL},
    {"matmul-single", "TOKENSxINxOUT", {16, 1152, 6912}, "int8 vrmpy, dot and row sum (K01), 1 thread", NULL,
     run_matmul_single, NULL},
    {"matmul-qf32", "TOKENSxINxOUT", {16, 1152, 6912}, "its predecessor on qf32 (E02), 1 thread", NULL,
     run_matmul_qf32, NULL},
    {"modmatmul", "BATCHxINxOUT", {8, 128, 128}, "u32 matmul modulo a 30-bit prime (K10-K12)", NULL,
     run_modmatmul, NULL},
    {"barrett", "N", {4096}, "products modulo a 30-bit prime", NULL, run_barrett, NULL},
    {"ntt-scalar", NTT_SHAPE, "forward NTT, no HVX, tables in the call (K20)", NULL, run_ntt_scalar, NULL},
    {"ntt-hvx", NTT_SHAPE, "forward NTT on HVX, tables in the call (K21)", NULL, run_ntt_hvx, NULL},
    {"ntt", NTT_SHAPE, "forward NTT on HVX, tables in VTCM", run_ntt_init, run_ntt_vtcm, NULL},
    {"intt-scalar", NTT_SHAPE, "the inverse", NULL, run_intt_scalar, NULL},
    {"intt-hvx", NTT_SHAPE, "the inverse", NULL, run_intt_hvx, NULL},
    {"intt", NTT_SHAPE, "the inverse", run_ntt_init, run_intt_vtcm, NULL},
    {"ntt-init", "", {0}, "the tables of ntt: six VTCM requests; --cold: at first (R10)", NULL,
     run_ntt_init, NULL},
    {"vht2", "N", {256}, "Walsh-Hadamard butterflies, scalar (K15)", NULL, run_vht2, NULL},
    {"vht2-hvx", "N", {256}, "the same with qf32 from stride 32 on (K16)", NULL, run_vht2_hvx, NULL},
    {"compress", "NxVECTORS", {64, 1}, "VHT2, Moebius order and band quantise (K18)", NULL, run_compress, NULL},
    {"band-quantize", "NxVECTORS", {64, 1}, "bands of 5, 5, 4 and 3 bits", NULL, run_band_quantize, NULL},
    {"compress-v", "NxVECTORS", {64, 1}, "the same as V: one band of 3 bits", NULL, run_compress_v, NULL},
    {"band-quantize-v", "NxVECTORS", {64, 1}, "its band alone", NULL, run_band_quantize_v, NULL},
    {"dot", "NxTIMES", {1024, 1}, "qf32 dot products", NULL, run_dot, NULL},
    {"argmax", "N", {151936}, "first largest of u16 values (K26)", NULL, run_argmax, NULL},
    {"axpby", "N", {4096}, "alpha * x + beta on i16 (R04, R05)", NULL, run_axpby, NULL},
    {"echo", "N", {65536}, "byte copy (R07: --build debug)", NULL, run_echo, NULL},
    {"rmsnorm", ROWS_SHAPE(1152), "norms of rows, scalar, sums in double", NULL, hx_timing_run_rmsnorm, NULL},
    {"rmsnorm-hvx", ROWS_SHAPE(1152), "the same on HVX", NULL, hx_timing_run_rmsnorm_hvx, NULL},
    {"rope", ROWS_SHAPE(256), "rotary embedding, scalar, powf, cosf and sinf per pair", NULL, hx_timing_run_rope, NULL},
    {"rope-hvx", ROWS_SHAPE(256), "the same on HVX, from a table", NULL, hx_timing_run_rope_hvx, NULL},
    {"softmax", ROWS_SHAPE(16), "scalar, with expf", NULL, hx_timing_run_softmax, NULL},
    {"softmax-hvx", ROWS_SHAPE(16), "the same on HVX", NULL, hx_timing_run_softmax_hvx, NULL},
    {"gelu", ROWS_SHAPE(6912), "gelu(x) * up, scalar, with tanhf", NULL, hx_timing_run_gelu, NULL},
    {"gelu-hvx", ROWS_SHAPE(6912), "the same on HVX", NULL, hx_timing_run_gelu_hvx, NULL},
    {"silu", ROWS_SHAPE(6912), "silu(x) * up, scalar, with expf", NULL, hx_timing_run_silu, NULL},
    {"silu-hvx", ROWS_SHAPE(6912), "the same on HVX", NULL, hx_timing_run_silu_hvx, NULL},
    {"add", ROWS_SHAPE(1152), "residual adds, scalar", NULL, hx_timing_run_add, NULL},
    {"add-hvx", ROWS_SHAPE(1152), "the same on HVX", NULL, hx_timing_run_add_hvx, NULL},
    {"attend", "TOKENSxHEADSxDH", {16, 4, 256}, "causal attention by scalar loops, one KV head", NULL,
     hx_timing_run_attend, NULL},
    {"row-sums", "ROWSxIN", {6912, 1152}, "the table of matmul's row sums, by a scalar scan", NULL,
     hx_timing_run_row_sums, NULL},
    {"stage", "BYTESxCOPIES", {2959872, 1}, "VTCM request, copies in (the last of many: out), release", NULL,
     hx_timing_run_stage, NULL},
    {"layers", "TOKENSxLAYERSxFFN", {16, 1, 6912}, "layers of Gemma3-1B in one call",
     hx_forward_make_tables, hx_forward_run_layers, NULL},
    {"forward", "TOKENS", {16}, "all 26 layers; total: with the host, see --forward", NULL, NULL,
     hx_forward_answer},
};
const size_t hx_timing_n_kernels = sizeof(hx_timing_kernels) / sizeof(hx_timing_kernels[0]);
