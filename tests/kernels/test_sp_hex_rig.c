/* Protects libsp_hex_skel.so as a client meets it: every method by itself and attention over blocks, called through the rig,
 * give what the references give; what does not fit is refused; corrupt blocks are counted and named. */
#include <math.h>
#include <stdlib.h>

#include "spinor/band_dequantize.h"
#include "hx_compress.h"
#include "hx_f16.h"
#include "hx_rig.h"
#include "hx_vht2.h"
#include "own_rig.h"
#include "remote.h"
#include "sp_hex.h"
#include "spinor/spinor_attn.h"
#include "spinor_rig.h"

enum { HEADS = 2, QUERIES = 2, POSITIONS = 40, DH = 128, BLOCKS = HEADS * POSITIONS };

static remote_handle64 skel;
static struct spinor_rig tables; /* K heads, then V heads */
static float x[2][BLOCKS * DH];
static uint8_t blocks[2][BLOCKS * HX_BLOCK_SLOT];
static float q[HEADS * QUERIES * DH], own[2][HEADS * DH];

static int calibrate(uint32_t basis, uint32_t code)
{
    const int bytes = (int)(2 * HEADS * tables.table_bytes);
    unsigned int crc = 0;
    int rc = sp_hex_calibrate(skel, DH, (int)basis, tables.tables, bytes, &crc, (int)code);

    if (rc == AEE_SUCCESS)
        assert_int_equal(crc, hx_crc32(0, tables.tables, (size_t)bytes));
    return rc;
}

static int encode(int is_v)
{
    return sp_hex_hier_encode_batch_f32(skel, is_v * HEADS, HEADS, POSITIONS, x[is_v], BLOCKS * DH,
                                        blocks[is_v], sizeof(blocks[0]));
}

static int open_skel(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 9);
    open_spinor_rig(&tables, DH, HX_BASIS_KLT, 2 * HEADS, 9);
    for (int is_v = 0; is_v < 2; is_v++) {
        hxt_fill_f32(&rng, x[is_v], BLOCKS * DH, HXT_NORMAL);
        hxt_fill_f32(&rng, own[is_v], HEADS * DH, HXT_NORMAL);
    }
    hxt_fill_f32(&rng, q, HEADS * QUERIES * DH, HXT_NORMAL);
    return sp_hex_open(sp_hex_URI "&_dom=cdsp", &skel) || calibrate(HX_BASIS_KLT, HX_CODE_SIGN) ||
           encode(0) || encode(1);
}

static int close_skel(void **state)
{
    (void)state;
    close_spinor_rig(&tables);
    return sp_hex_close(skel);
}

static double worst_of(const float *a, const float *b, size_t n)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

/* --- attention */

static struct hx_spinor_attn call_of(float *out)
{
    return (struct hx_spinor_attn){.n_slots = HEADS, .n_q = QUERIES, .n_pos = POSITIONS,
                                   .v_first = HEADS, .k = blocks[0], .v = blocks[1], .q = q,
                                   .k_own = own[0], .v_own = own[1], .scale = 0.1f, .out = out};
}

static int scores(float *out, int after_rope)
{
    return sp_hex_kq_scores(skel, 0, HEADS, POSITIONS, after_rope, 0.1f, q, HEADS * QUERIES * DH,
                            blocks[0], sizeof(blocks[0]), out, HEADS * QUERIES * POSITIONS);
}

static int attend(float *out, int own_len)
{
    return sp_hex_attn_block(skel, 0, HEADS, HEADS, POSITIONS, 1, 0.1f, q, HEADS * QUERIES * DH,
                             own[0], own_len, own[1], own_len, blocks[0], sizeof(blocks[0]),
                             blocks[1], sizeof(blocks[1]), out, HEADS * QUERIES * DH);
}

static void test_scores_and_attention_are_those_of_decoded_blocks(void **state)
{
    float got[HEADS * QUERIES * DH], want[HEADS * QUERIES * DH];
    struct hx_spinor_attn a = call_of(want);
    struct hx_spinor_faults faults;
    int in_v;

    (void)state;
    assert_int_equal(scores(got, 1), AEE_SUCCESS);
    assert_int_equal(hx_spinor_scores_ref(tables.codec, &a, &faults), AEE_SUCCESS);
    assert_true(worst_of(got, want, HEADS * QUERIES * POSITIONS) < 2e-3);
    assert_int_equal(attend(got, HEADS * DH), AEE_SUCCESS);
    assert_int_equal(hx_spinor_attend_ref(tables.codec, &a, &faults, &in_v), AEE_SUCCESS);
    assert_true(worst_of(got, want, HEADS * QUERIES * DH) < 3e-3);
    a.k_own = a.v_own = NULL;
    assert_int_equal(attend(got, 0), AEE_SUCCESS);
    assert_int_equal(hx_spinor_attend_ref(tables.codec, &a, &faults, &in_v), AEE_SUCCESS);
    assert_true(worst_of(got, want, HEADS * QUERIES * DH) < 3e-3);
}

/* Attention of blocks of code sheet against the codec; `t` has tables of the same layout. */
static double sheet_difference(const struct spinor_rig *t)
{
    const int bytes = (int)(2 * HEADS * t->table_bytes);
    float got[HEADS * QUERIES * DH], want[HEADS * QUERIES * DH];
    struct hx_spinor_attn a = call_of(want);
    struct hx_spinor_faults faults;
    struct hx_codec_format f;
    unsigned int crc;
    int in_v;

    hx_codec_format(&f, DH, t->f.basis, HX_CODE_SHEET);
    struct hx_codec *c = hx_codec_init(malloc(hx_codec_bytes(&f, 2 * HEADS)), &f, t->tables,
                                       2 * HEADS);
    assert_int_equal(sp_hex_calibrate(skel, DH, (int)f.basis, t->tables, bytes, &crc, HX_CODE_SHEET),
                     AEE_SUCCESS);
    assert_int_equal(encode(0) || encode(1), 0);
    assert_int_equal(attend(got, HEADS * DH), AEE_SUCCESS);
    assert_int_equal(hx_spinor_attend_ref(c, &a, &faults, &in_v), AEE_SUCCESS);
    free(c);
    return worst_of(got, want, HEADS * QUERIES * DH);
}

static void test_code_sheet_runs_by_tables_or_step_by_step(void **state)
{
    struct spinor_rig predicting;

    (void)state;
    open_spinor_rig(&predicting, DH, HX_BASIS_VHT2W, 2 * HEADS, 10);
    assert_true(sheet_difference(&predicting) < 1e-4);
    assert_true(sheet_difference(&predicting) > 0); /* the codec is fp64 */
    assert_true(sheet_difference(&tables) < 3e-3);
    assert_true(sheet_difference(&tables) > 0);
    close_spinor_rig(&predicting);
}

static void test_k_before_rope_is_refused_by_name(void **state)
{
    float out[HEADS * QUERIES * POSITIONS];

    (void)state;
    assert_int_equal(scores(out, 0), AEE_DSP(AEE_EUNSUPPORTED));
}

static void test_attention_lengths_must_agree(void **state)
{
    const int n_q = HEADS * QUERIES * DH, n_k = sizeof(blocks[0]), n_s = HEADS * QUERIES * POSITIONS;
    static float out[HEADS * QUERIES * DH];

    (void)state;
    const struct {
        int first, slots, pos, q, k, out;
    } bad[] = {
        {-1, HEADS, POSITIONS, n_q, n_k, n_s},     {3, HEADS, POSITIONS, n_q, n_k, n_s},
        {0, 0, POSITIONS, n_q, n_k, n_s},          {0, HEADS, -1, n_q, n_k, n_s},
        {0, HEADS, POSITIONS - 1, n_q, n_k, n_s},  {0, HEADS, POSITIONS, n_q - 1, n_k, n_s},
        {0, HEADS, POSITIONS, 0, n_k, n_s},        {0, HEADS, POSITIONS, n_q, n_k - 64, n_s},
        {0, HEADS, POSITIONS, n_q, n_k, n_s - 1},
    };
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(sp_hex_kq_scores(skel, bad[i].first, bad[i].slots, bad[i].pos, 1, 1, q,
                                          bad[i].q, blocks[0], bad[i].k, out, bad[i].out),
                         AEE_DSP(AEE_EBADPARM));
    assert_int_equal(attend(out, DH), AEE_DSP(AEE_EBADPARM));
}

static void test_corrupt_blocks_are_counted_and_named(void **state)
{
    float out[HEADS * QUERIES * DH];
    unsigned int slot, position;
    uint64_t total;

    (void)state;
    assert_int_equal(sp_hex_corrupt_blocks(skel, &total, &slot, &position), AEE_SUCCESS);
    assert_int_equal(total, 0);
    blocks[1][(17 * HEADS + 1) * HX_BLOCK_SLOT + 30] ^= 1;
    blocks[1][(19 * HEADS + 0) * HX_BLOCK_SLOT + 30] ^= 1;
    assert_int_equal(sp_hex_hier_decode_batch_f32(skel, HEADS, HEADS, POSITIONS, blocks[1],
                                                  sizeof(blocks[1]), x[1], BLOCKS * DH),
                     AEE_DSP(AEE_EBADITEM));
    assert_int_equal(sp_hex_corrupt_blocks(skel, &total, &slot, &position), AEE_SUCCESS);
    assert_int_equal(total, 2);
    assert_int_equal(slot, HEADS + 1);
    assert_int_equal(position, 17);
    assert_int_equal(attend(out, 0), AEE_DSP(AEE_EBADITEM));
    blocks[0][(3 * HEADS + 0) * HX_BLOCK_SLOT] ^= 1;
    assert_int_equal(scores(out, 1), AEE_DSP(AEE_EBADITEM));
    assert_int_equal(sp_hex_corrupt_blocks(skel, &total, &slot, &position), AEE_SUCCESS);
    assert_int_equal(total, 5);
    assert_int_equal(slot, 0);
    assert_int_equal(position, 3);
}

/* --- steps */

static void test_vht2_of_every_length_is_its_own_inverse(void **state)
{
    static const int lengths[] = {2, 8, 16, 32, 64, 66, 105, 128, 154, 256, 330, 512, 770, 1024};
    float in[2 * 1024], out[2 * 1024], back[2 * 1024];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 10);
    for (size_t i = 0; i < HXT_LEN(lengths); i++) {
        const int n = lengths[i];
        double want[1024];

        hxt_fill_f32(&rng, in, 2 * (size_t)n, HXT_NORMAL);
        assert_int_equal(sp_hex_vht2_forward_f32(skel, n, in, 2 * n, out, 2 * n), AEE_SUCCESS);
        assert_int_equal(sp_hex_vht2_forward_f32(skel, n, out, 2 * n, back, 2 * n), AEE_SUCCESS);
        assert_true(worst_of(in, back, 2 * (size_t)n) < 2e-5);
        for (int k = 0; k < n; k++)
            want[k] = (double)in[n + k];
        if (hx_vht2_f64(want, (size_t)n) == 0) /* squarefree lengths and 2 */
            for (int k = 0; k < n; k++)
                assert_true(fabs((double)out[n + k] - want[k]) < 1e-5);
    }
    for (int n = -1; n < 2; n++)
        assert_int_equal(sp_hex_vht2_forward_f32(skel, n, in, 8, out, 8), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_vht2_forward_f32(skel, 12, in, 12, out, 12), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_vht2_forward_f32(skel, 64, in, 65, out, 64), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_vht2_forward_f32(skel, 64, in, 64, out, 128), AEE_DSP(AEE_EBADPARM));
}

static void test_compression_is_transform_order_and_bands(void **state)
{
    static const int sizes[2][4] = {{42, 76, 144, 280}, {26, 50, 98, 194}};
    static float in[3 * 512], coef[3 * 512], ordered[3 * 512], out[3 * 512];
    static uint8_t codes[3 * 280], again[3 * 280];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 11);
    for (int is_v = 0; is_v < 2; is_v++) {
        for (int d = 0; d < 4; d++) {
            const int dh = 64 << d, n = 3 * dh, bytes = sizes[is_v][d];
            const unsigned char bits[] = {is_v ? 3 : 5, 5, 4, 3};

            hxt_fill_f32(&rng, in, (size_t)n, HXT_NORMAL);
            assert_int_equal(sp_hex_compress_f32_full_batch(skel, dh, is_v, in, n, codes, 3 * bytes),
                             AEE_SUCCESS);
            assert_int_equal(sp_hex_vht2_forward_f32(skel, dh, in, n, coef, n), AEE_SUCCESS);
            assert_int_equal(sp_hex_mobius_scatter_f32(skel, dh, coef, n, ordered, n), AEE_SUCCESS);
            assert_int_equal(sp_hex_compress_f32_batch(skel, dh, is_v, ordered, n, again, 3 * bytes),
                             AEE_SUCCESS);
            assert_memory_equal(codes, again, 3 * (size_t)bytes);
            assert_int_equal(sp_hex_band_quantize_f32(skel, dh, bits, is_v ? 1 : 4, ordered, n, again,
                                                      3 * bytes), AEE_SUCCESS);
            assert_memory_equal(codes, again, 3 * (size_t)bytes);

            assert_int_equal(sp_hex_decompress_f32_batch(skel, dh, is_v, is_v ? 1 : 4, codes,
                                                         3 * bytes, out, n), AEE_SUCCESS);
            double error = 0, size = 0;
            for (int i = 0; i < n; i++) {
                error += pow((double)out[i] - (double)in[i], 2);
                size += pow((double)in[i], 2);
            }
            assert_true(error < (is_v ? 0.25 : 0.08) * size);
            assert_int_equal(sp_hex_decompress_f32_batch(skel, dh, is_v, 0, codes, 3 * bytes, out, n),
                             AEE_SUCCESS);
            assert_true(out[0] == 0 && out[n - 1] == 0);
            assert_int_equal(sp_hex_compress_f32_full_batch(skel, dh, is_v, in, n, codes,
                                                            3 * bytes - 1), AEE_DSP(AEE_EBADPARM));
        }
    }
    in[3] = NAN;
    assert_int_equal(sp_hex_compress_f32_full_batch(skel, 64, 0, in, 64, codes, 42),
                     AEE_DSP(AEE_EBADPARM));
}

/* What is no power of two is padded; codes are the host's but where a coefficient lies about midway between two. */
static void test_compression_takes_any_head_dimension_that_has_a_pad(void **state)
{
    static const int legal[] = {8, 64, 72, 80, 96, 112, 128, 192, 256, 512, 770, 1024}, bad[] = {-1, 0, 7, 771, 1000, 1025};
    static float in[2 * 1024], out[2 * 1024], want[1024];
    static uint8_t codes[2 * 600], there[600];
    struct hx_compress c;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 15);
    for (size_t i = 0; i < 2 * HXT_LEN(legal); i++) {
        const int dh = legal[i / 2], is_v = (int)i % 2;
        int others = 0;

        assert_int_equal(hx_compress_init(&c, dh, is_v), 0);
        hxt_fill_f32(&rng, in, 2 * (size_t)dh, HXT_NORMAL);
        assert_int_equal(sp_hex_compress_f32_full_batch(skel, dh, is_v, in, 2 * dh, codes, 2 * c.bytes), AEE_SUCCESS);
        assert_int_equal(hx_compress_encode(&c, in + dh, there), 0);
        for (int k = 0; k < c.bytes; k++)
            others += codes[c.bytes + k] != there[k];
        if (others > 1 + c.bytes / 100)
            fail_msg("dh %d, is_v %d: %d bytes of %d are not the host's", dh, is_v, others, c.bytes);
        assert_int_equal(sp_hex_decompress_f32_batch(skel, dh, is_v, c.bands.bands, codes, 2 * c.bytes, out, 2 * dh),
                         AEE_SUCCESS);
        assert_int_equal(hx_compress_decode(&c, c.bands.bands, codes + c.bytes, want), 0);
        assert_true(worst_of(out + dh, want, (size_t)dh) < 1e-4);
    }
    for (int v_as_k = 0; v_as_k < 2; v_as_k++) { /* K and V in one call, or K alone */
        static uint8_t k_codes[2 * 66], v_codes[2 * 66], other[2 * 66];
        const int v_bytes = v_as_k ? 66 : 42;

        assert_int_equal(sp_hex_compress_kv_f32(skel, 80, v_as_k, in, 160, in + 160, 160, k_codes, 132, v_codes, 2 * v_bytes),
                         AEE_SUCCESS);
        assert_int_equal(sp_hex_compress_f32_full_batch(skel, 80, 0, in, 160, other, 132), AEE_SUCCESS);
        assert_memory_equal(k_codes, other, 132);
        assert_int_equal(sp_hex_compress_f32_full_batch(skel, 80, !v_as_k, in + 160, 160, other, 2 * v_bytes), AEE_SUCCESS);
        assert_memory_equal(v_codes, other, 2 * (size_t)v_bytes);
        assert_int_equal(sp_hex_decompress_kv_f32(skel, 80, v_as_k, k_codes, 132, v_codes, 2 * v_bytes, out, 160, out + 160, 160),
                         AEE_SUCCESS);
        assert_int_equal(sp_hex_decompress_f32_batch(skel, 80, !v_as_k, v_as_k ? 4 : 1, v_codes, 2 * v_bytes, want, 160),
                         AEE_SUCCESS);
        assert_memory_equal(out + 160, want, 160 * sizeof(*want));
        assert_int_equal(sp_hex_compress_kv_f32(skel, 80, v_as_k, in, 160, NULL, 0, k_codes, 132, NULL, 0), AEE_SUCCESS);
        assert_int_equal(sp_hex_decompress_kv_f32(skel, 80, v_as_k, k_codes, 132, NULL, 0, out, 160, NULL, 0), AEE_SUCCESS);
        assert_int_equal(sp_hex_compress_kv_f32(skel, 80, v_as_k, in, 160, in, 160, k_codes, 132, v_codes, 2 * v_bytes - 1),
                         AEE_DSP(AEE_EBADPARM));
    }
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        assert_int_equal(sp_hex_compress_f32_full_batch(skel, bad[i], 0, in, 1024, codes, 552), AEE_DSP(AEE_EBADPARM));
        assert_int_equal(sp_hex_compress_f32_batch(skel, bad[i], 0, in, 1024, codes, 552), AEE_DSP(AEE_EBADPARM));
        assert_int_equal(sp_hex_decompress_f32_batch(skel, bad[i], 0, 4, codes, 552, out, 1024), AEE_DSP(AEE_EBADPARM));
    }
    assert_int_equal(sp_hex_compress_f32_full_batch(skel, 128, 2, in, 128, codes, 76), AEE_DSP(AEE_EBADPARM));
}

static void test_both_moebius_orders_are_those_of_the_host(void **state)
{
    enum { N = 154 };
    float in[N], y[N], z[N];
    uint16_t order[N];
    unsigned int squarefree;

    (void)state;
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    for (int kind = 0; kind < HX_MOBIUS_ORDERS; kind++) {
        assert_int_equal(sp_hex_mobius_order_f32(skel, N, kind, in, N, y, N, &squarefree), AEE_SUCCESS);
        assert_int_equal(squarefree, kind == HX_MOBIUS_SHIP ? 93 : 94);
        assert_int_equal(hx_mobius_order(N, (enum hx_mobius)kind, order), squarefree);
        for (int i = 0; i < N; i++)
            assert_true(y[i] == (float)order[i]);
        if (kind == HX_MOBIUS_SHIP) { /* the older method */
            assert_int_equal(sp_hex_mobius_scatter_f32(skel, N, in, N, z, N), AEE_SUCCESS);
            assert_memory_equal(y, z, sizeof(y));
        }
    }
    assert_int_equal(sp_hex_mobius_order_f32(skel, N, 2, in, N, y, N, &squarefree), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_mobius_order_f32(skel, N, -1, in, N, y, N, &squarefree), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_mobius_order_f32(skel, 1025, 0, in, N, y, N, &squarefree), AEE_DSP(AEE_EBADPARM));
}

static void test_bands_come_back_whole_or_in_part(void **state)
{
    static const unsigned char bits[] = {5, 5, 4, 3};
    const struct hx_bands b = hx_bands_k(128);
    float in[128], out[128], want[128];
    uint8_t codes[76];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 12);
    hxt_fill_f32(&rng, in, 128, HXT_NORMAL);
    assert_int_equal(sp_hex_band_quantize_f32(skel, 128, bits, 4, in, 128, codes, 76), AEE_SUCCESS);
    for (int n = 0; n <= 4; n++) {
        assert_int_equal(sp_hex_band_dequantize_f32(skel, 128, bits, 4, n, codes, 76, out, 128),
                         AEE_SUCCESS);
        hx_bands_decode(&b, n, codes, want);
        assert_true(worst_of(out, want, 128) == 0);
    }
    assert_int_equal(sp_hex_band_dequantize_f32(skel, 128, bits, 4, 5, codes, 76, out, 128),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_band_quantize_f32(skel, 128, bits, 0, in, 128, codes, 76),
                     AEE_DSP(AEE_EBADPARM));
}

static void test_the_steps_of_a_block_fit_together(void **state)
{
    float skeleton[HX_BLOCK_SKEL] = {1, 2, 3}, pred[HX_BLOCK_RES], res[2 * HX_BLOCK_RES];
    float back[2 * HX_BLOCK_RES];
    uint8_t planes[2 * 35];
    struct hx_block want = {.crc = 0};
    struct hxt_rng rng;

    (void)state;
    assert_int_equal(sp_hex_hier_predict_f32(skel, 1, skeleton, HX_BLOCK_SKEL, pred, HX_BLOCK_RES),
                     AEE_SUCCESS);
    assert_true(pred[0] == 0); /* klt */
    assert_int_equal(sp_hex_hier_predict_f32(skel, 9, skeleton, HX_BLOCK_SKEL, pred, HX_BLOCK_RES),
                     AEE_DSP(AEE_EBADPARM));
    skeleton[4] = 1e9f;
    assert_int_equal(sp_hex_hier_predict_f32(skel, 1, skeleton, HX_BLOCK_SKEL, pred, HX_BLOCK_RES),
                     AEE_DSP(AEE_EBADPARM));

    hxt_rng_init(&rng, 13);
    hxt_fill_f32(&rng, res, 2 * HX_BLOCK_RES, HXT_NORMAL);
    assert_int_equal(sp_hex_residual_quantize_spinor(skel, DH, res, 2 * HX_BLOCK_RES, planes,
                                                     sizeof(planes)), AEE_SUCCESS);
    assert_int_equal(sp_hex_residual_unpack_f32(skel, DH, planes, sizeof(planes), back,
                                                2 * HX_BLOCK_RES), AEE_SUCCESS);
    for (int v = 0; v < 2; v++) {
        float amax = 0;

        for (int i = 0; i < HX_BLOCK_RES; i++)
            amax = fmaxf(amax, fabsf(res[v * HX_BLOCK_RES + i]));
        hx_spinor_pack_ref(res + v * HX_BLOCK_RES, amax, &want);
        assert_memory_equal(planes + 35 * v, want.magnitude, 35);
        assert_true(worst_of(back + v * HX_BLOCK_RES, res + v * HX_BLOCK_RES, HX_BLOCK_RES) <=
                    (double)amax / 13.99);
    }
    res[5] = INFINITY;
    assert_int_equal(sp_hex_residual_quantize_spinor(skel, DH, res, HX_BLOCK_RES, planes, 35),
                     AEE_DSP(AEE_EBADPARM));
    memset(planes, 0xff, sizeof(planes));
    assert_int_equal(sp_hex_residual_unpack_f32(skel, DH, planes, 35, back, HX_BLOCK_RES),
                     AEE_DSP(AEE_EBADITEM));
    assert_int_equal(sp_hex_residual_unpack_f32(skel, 96, planes, 35, back, HX_BLOCK_RES),
                     AEE_DSP(AEE_EBADPARM));
}

static uint64_t executed_ns(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return s.exec_ns;
}

/* Attention over n blocks of slot 0, K and V alike, is the reference's, and has its price: it decodes each K as a decode does, which
 * took `decode_ns`. */
static void check_attention_by_steps(const struct hx_codec *c, const uint8_t *k, size_t n, uint64_t decode_ns)
{
    const int bytes = (int)n * hx_codec_format_of(c)->shape->slot;
    float got[DH], want[DH];
    const struct hx_spinor_attn a = {.n_slots = 1, .n_q = 1, .n_pos = n, .k = k, .v = k, .q = q, .scale = 0.1f, .out = want};
    struct hx_spinor_faults faults;
    uint64_t scores_ns, attend_ns;
    int in_v;

    assert_int_equal(hx_spinor_scores_ref(c, &a, &faults), AEE_SUCCESS);
    scores_ns = executed_ns();
    assert_int_equal(sp_hex_kq_scores(skel, 0, 1, (int)n, 1, 0.1f, q, DH, k, bytes, got, (int)n), AEE_SUCCESS);
    attend_ns = executed_ns();
    scores_ns = attend_ns - scores_ns;
    assert_true(worst_of(got, want, n) < 1e-4);
    assert_int_equal(hx_spinor_attend_ref(c, &a, &faults, &in_v), AEE_SUCCESS);
    assert_int_equal(sp_hex_attn_block(skel, 0, 0, 1, (int)n, 1, 0.1f, q, DH, NULL, 0, NULL, 0, k, bytes, k, bytes, got, DH), AEE_SUCCESS);
    attend_ns = executed_ns() - attend_ns;
    assert_true(worst_of(got, want, DH) < 1e-4);
    print_message("%zu blocks: decode %.1f us, scores %.1f, attention %.1f (model)\n", n, (double)decode_ns / 1e3,
                  (double)scores_ns / 1e3, (double)attend_ns / 1e3);
    assert_true(scores_ns > decode_ns / 2);
    assert_true(attend_ns > scores_ns);
}

/* Step by step: the codec's blocks but for neighbours. */
static void test_blocks_of_other_lanes_are_those_of_the_codec(void **state)
{
    enum { SKELETON = 10, RESIDUAL = 40, N = 6 };
    static float in[N * DH], out[N * DH], want[DH];
    static uint16_t table[SKELETON + 2 + RESIDUAL * SKELETON];
    struct hx_codec_format f;
    struct hx_codec *c;
    uint8_t got[N * HX_BLOCK_SLOT], block[HX_BLOCK_SLOT];
    uint64_t decode_ns;
    unsigned int crc;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 16);
    assert_int_equal(hx_codec_format_lanes(&f, DH, SKELETON, RESIDUAL, HX_BASIS_VHT2, HX_CODE_SIGN), 0);
    for (size_t i = 0, n = 0; n < SKELETON; i++)
        if (hx_squarefree_index(i))
            table[n++] = (uint16_t)i;
    for (size_t i = SKELETON + 2; i < HXT_LEN(table); i++)
        table[i] = hx_f16_from_f32((float)hxt_normal(&rng) / 8);
    assert_int_equal(sizeof(table), hx_block_table_bytes(f.shape, f.basis));
    c = hx_codec_init(malloc(hx_codec_bytes(&f, 1)), &f, table, 1);
    assert_int_equal(sp_hex_calibrate_lanes(skel, DH, HX_BASIS_VHT2, HX_CODE_SIGN, SKELETON, RESIDUAL, (uint8_t *)table,
                                            sizeof(table), &crc), AEE_SUCCESS);
    hxt_fill_f32(&rng, in, N * DH, HXT_NORMAL);
    assert_int_equal(sp_hex_hier_encode_batch_f32(skel, 0, 1, N, in, N * DH, got, sizeof(got)), AEE_SUCCESS);
    decode_ns = executed_ns();
    assert_int_equal(sp_hex_hier_decode_batch_f32(skel, 0, 1, N, got, sizeof(got), out, N * DH), AEE_SUCCESS);
    check_attention_by_steps(c, got, N, executed_ns() - decode_ns);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(hx_codec_encode(c, 0, in + i * DH, block), 0);
        assert_int_equal(hx_block_fault(f.shape, got + i * f.shape->slot), HX_BLOCK_GOOD);
        for (size_t k = 0; k < RESIDUAL; k++)
            assert_true(abs((int)hx_block_magnitude(f.shape, block, k) -
                            (int)hx_block_magnitude(f.shape, got + i * f.shape->slot, k)) <= 1);
        assert_int_equal(hx_codec_decode(c, 0, got + i * f.shape->slot, want), 0);
        assert_true(worst_of(out + i * DH, want, DH) < 1e-4);
    }
    assert_int_equal(sp_hex_hier_predict_f32(skel, 0, in, SKELETON, out, RESIDUAL), AEE_SUCCESS);
    assert_int_equal(sp_hex_hier_predict_f32(skel, 0, in, HX_BLOCK_SKEL, out, RESIDUAL), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_calibrate_lanes(skel, DH, HX_BASIS_VHT2, HX_CODE_SIGN, 33, RESIDUAL, (uint8_t *)table,
                                            sizeof(table), &crc), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_calibrate_lanes(skel, DH, HX_BASIS_VHT2, HX_CODE_SIGN, -1, RESIDUAL, (uint8_t *)table,
                                            sizeof(table), &crc), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_calibrate_lanes(skel, DH, HX_BASIS_VHT2, HX_CODE_SIGN, SKELETON, 61, (uint8_t *)table,
                                            sizeof(table), &crc), AEE_DSP(AEE_EBADPARM));
    free(c);
}

static void test_argmax_echo_null_and_vtcm(void **state)
{
    enum { VOCABULARY = 151936 };
    static unsigned short logits[VOCABULARY];
    unsigned int index, total, largest_free, of_tables;
    uint8_t data[1000], back[1000];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 14);
    hxt_fill_bytes(&rng, logits, sizeof(logits));
    for (int i = 0; i < VOCABULARY; i++)
        logits[i] &= 0x7fff;
    logits[70001] = logits[70100] = logits[150000] = 0x9000;
    assert_int_equal(sp_hex_logit_argmax_u16(skel, logits, VOCABULARY, &index), AEE_SUCCESS);
    assert_int_equal(index, 70001);
    assert_int_equal(sp_hex_logit_argmax_u16(skel, logits, 0, &index), AEE_DSP(AEE_EBADPARM));

    hxt_fill_bytes(&rng, data, sizeof(data));
    assert_int_equal(sp_hex_echo(skel, data, sizeof(data), back, sizeof(back)), AEE_SUCCESS);
    assert_memory_equal(data, back, sizeof(data));
    assert_int_equal(sp_hex_echo(skel, data, sizeof(data), back, 10), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_null(skel), AEE_SUCCESS);

    assert_int_equal(sp_hex_vtcm_status(skel, &total, &largest_free, &of_tables), AEE_SUCCESS);
    assert_int_equal(total, 8 << 20);
    assert_int_equal(of_tables, hx_spinor_bytes(&tables.f, 2 * HEADS));
    assert_true(largest_free > 0 && largest_free <= total - of_tables);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_skel, close_skel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_scores_and_attention_are_those_of_decoded_blocks),
        CASE(test_code_sheet_runs_by_tables_or_step_by_step),
        CASE(test_k_before_rope_is_refused_by_name),
        CASE(test_attention_lengths_must_agree),
        CASE(test_corrupt_blocks_are_counted_and_named),
        CASE(test_vht2_of_every_length_is_its_own_inverse),
        CASE(test_compression_is_transform_order_and_bands),
        CASE(test_compression_takes_any_head_dimension_that_has_a_pad),
        CASE(test_both_moebius_orders_are_those_of_the_host),
        CASE(test_bands_come_back_whole_or_in_part),
        CASE(test_the_steps_of_a_block_fit_together),
        CASE(test_blocks_of_other_lanes_are_those_of_the_codec),
        CASE(test_argmax_echo_null_and_vtcm),
    };

    own_rig_front_end = "socket";
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
