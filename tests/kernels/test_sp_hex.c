/* Protects the DSP side of sp_hex: what it accepts, what it refuses and with which code, and that its calls give what
 * the kernels give.  The platform (VTCM, HVX lock, messages) is this file's own, so that its failures can be tested. */
#include <pthread.h>
#include <stdlib.h>

#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hx_f16.h"
#include "hxt.h"
#include "qurt_hvx.h"
#include "sp_hex.h"
#include "sp_hex_machine.h"
#include "sp_hex_platform.h"
#include "spinor/spinor.h"


/* --- platform */

static int vtcm_full, hvx_refused;  /* switches */
static int vtcm_grants;             /* outstanding */
static _Thread_local int hvx_held;
static char last_message[256];

void *HAP_request_VTCM(unsigned int size, unsigned int single_page_flag)
{
    (void)single_page_flag;
    if (vtcm_full)
        return NULL;
    vtcm_grants++;
    return hxt_guard_alloc(size, 128);
}

int HAP_release_VTCM(void *pVA)
{
    vtcm_grants--;
    hxt_guard_free(pVA);
    return 0;
}

int HAP_query_avail_VTCM(unsigned int *block, unsigned int *page, unsigned int *pages)
{
    *block = *page = *pages = 0;
    return 0;
}

int HAP_query_total_VTCM(unsigned int *page_size, unsigned int *page_count)
{
    *page_size = 8 << 20;
    *page_count = 1;
    return 0;
}

int qurt_hvx_lock(int mode)
{
    if (hvx_refused || hvx_held || mode != QURT_HVX_MODE_128B)
        return QURT_HVX_LOCK_ERROR;
    hvx_held = 1;
    return QURT_HVX_LOCK_SUCCESS;
}

int qurt_hvx_unlock(void)
{
    hvx_held = 0;
    return QURT_HVX_LOCK_SUCCESS;
}

void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    (void)level, (void)file, (void)line;
    if (!compiled_in)
        return;
    va_start(ap, fmt);
    vsnprintf(last_message, sizeof(last_message), fmt, ap);
    va_end(ap);
}

/* --- fixture: one open, calibrated handle */

enum { SLOTS = 4, POSITIONS = 3, VECTORS = SLOTS * POSITIONS };

static remote_handle64 handle;
static struct hx_block_table tables[SLOTS];
static float *x;                /* [VECTORS][128] */
static struct hx_block *blocks; /* [VECTORS] */

static int skel_open(remote_handle64 *h)
{
    char uri[] = sp_hex_URI;
    uint32_t len = sizeof(uri);
    remote_arg pra[3] = {{.buf = {&len, sizeof(len)}}, {.buf = {uri, len}}, {.h64 = 0}};
    const uint32_t sc = REMOTE_SCALARS_MAKEX(0, sp_hex_METHOD_open, 2, 0, 0, 1);
    int rc = sp_hex_skel_handle_invoke(0, sc, pra);

    *h = pra[2].h64;
    return rc;
}

static int skel_close(remote_handle64 h)
{
    remote_arg pra[1] = {{.h64 = h}};
    const uint32_t sc = REMOTE_SCALARS_MAKEX(0, sp_hex_METHOD_close, 0, 0, 1, 0);

    return sp_hex_skel_handle_invoke(0, sc, pra);
}

/* dh, basis, bytes, code: the order in which hexidl packs them */
static int skel_calibrate(remote_handle64 h, struct sp_hex_calibrate_primIn in, const void *t,
                          size_t bytes, uint32_t *crc)
{
    remote_arg pra[3] = {
        {.buf = {&in, sizeof(in)}}, {.buf = {(void *)t, bytes}}, {.buf = {crc, sizeof(*crc)}}};

    return sp_hex_skel_handle_invoke(h, REMOTE_SCALARS_MAKE(sp_hex_METHOD_calibrate, 2, 1), pra);
}

static int calibrate(remote_handle64 h, const void *t, size_t bytes, uint32_t *crc)
{
    struct sp_hex_calibrate_primIn in = {HX_BLOCK_DH, HX_BASIS_VHT2, (uint32_t)bytes, HX_CODE_SIGN};

    return skel_calibrate(h, in, t, bytes, crc);
}

/* The primIn of both batch methods: sequence in, sequence out. */
struct batch_in {
    int first_slot, n_slots, n_pos;
    uint32_t in_len, out_len;
};

static int skel_batch(remote_handle64 h, int method, struct batch_in in, const void *from,
                      size_t from_bytes, void *to, size_t to_bytes)
{
    remote_arg pra[3] = {
        {.buf = {&in, sizeof(in)}}, {.buf = {(void *)from, from_bytes}}, {.buf = {to, to_bytes}}};

    return sp_hex_skel_handle_invoke(h, REMOTE_SCALARS_MAKE((uint32_t)method, 2, 1), pra);
}

static int encode_all(remote_handle64 h)
{
    struct batch_in in = {0, SLOTS, POSITIONS, VECTORS * HX_BLOCK_DH,
                                 VECTORS * HX_BLOCK_SLOT};

    return skel_batch(h, sp_hex_METHOD_hier_encode_batch_f32, in, x, in.in_len * sizeof(float),
                      blocks, in.out_len);
}

static int decode_all(remote_handle64 h)
{
    struct batch_in in = {0, SLOTS, POSITIONS, VECTORS * HX_BLOCK_SLOT,
                                 VECTORS * HX_BLOCK_DH};

    return skel_batch(h, sp_hex_METHOD_hier_decode_batch_f32, in, blocks, in.in_len, x,
                      in.out_len * sizeof(float));
}

static int setup(void **state)
{
    static const uint16_t skeleton[] = {0, 1, 2, 4, 5, 6, 9, 10, 12, 13, 14, 16, 18, 20};
    struct hxt_rng rng;
    uint32_t crc;

    (void)state;
    hxt_rng_init(&rng, 5);
    memset(tables, 0, sizeof(tables));
    for (size_t s = 0; s < SLOTS; s++) {
        memcpy(tables[s].skeleton, skeleton, sizeof(skeleton));
        for (size_t r = 0; r < HX_BLOCK_RES; r++)
            for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
                tables[s].w[r][j] = hx_f16_from_f32((float)hxt_normal(&rng) * 0.1f);
    }
    x = hxt_guard_alloc(VECTORS * HX_BLOCK_DH * sizeof(float), 128);
    blocks = hxt_guard_alloc(VECTORS * sizeof(*blocks), 64);
    hxt_fill_f32(&rng, x, VECTORS * HX_BLOCK_DH, HXT_NORMAL);
    vtcm_full = hvx_refused = 0;
    last_message[0] = 0;
    if (skel_open(&handle))
        return -1;
    return calibrate(handle, tables, sizeof(tables), &crc);
}

static int teardown(void **state)
{
    (void)state;
    hxt_guard_free(x);
    hxt_guard_free(blocks);
    skel_close(handle);
    return vtcm_grants; /* a leak fails the test */
}

/* --- tests */

static void test_calibrate_returns_the_crc_of_the_tables(void **state)
{
    uint32_t crc = 0;

    (void)state;
    assert_int_equal(calibrate(handle, tables, sizeof(tables), &crc), AEE_SUCCESS);
    assert_int_equal(crc, hx_crc32(0, tables, sizeof(tables)));
    assert_int_equal(vtcm_grants, 1); /* the old tables were given back */
}

static void test_tables_may_lie_at_an_odd_address(void **state)
{
    uint8_t *odd = malloc(sizeof(tables) + 1);
    uint32_t crc = 0;

    (void)state;
    memcpy(odd + 1, tables, sizeof(tables));
    assert_int_equal(calibrate(handle, odd + 1, sizeof(tables), &crc), AEE_SUCCESS);
    assert_int_equal(crc, hx_crc32(0, tables, sizeof(tables)));
    free(odd);
}

static void test_calibrate_refuses_what_it_cannot_use(void **state)
{
    static const struct sp_hex_calibrate_primIn bad[] = {
        {64, HX_BASIS_VHT2, sizeof(tables), 0},         {96, HX_BASIS_VHT2, sizeof(tables), 0},
        {HX_BLOCK_DH, HX_BASES, sizeof(tables), 0},     {HX_BLOCK_DH, -1, sizeof(tables), 0},
        {HX_BLOCK_DH, HX_BASIS_KLT, sizeof(tables), 0}, {HX_BLOCK_DH, HX_BASIS_VHT2, 0, 0},
        {HX_BLOCK_DH, HX_BASIS_VHT2, sizeof(tables) - 2, 0},
        {HX_BLOCK_DH, HX_BASIS_VHT2, 100, 0},
        {HX_BLOCK_DH, HX_BASIS_VHT2, sizeof(tables), HX_CODES},
    };
    uint32_t crc = 0xA5A5A5A5;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(skel_calibrate(handle, bad[i], tables, bad[i].tablesLen, &crc),
                         AEE_DSP(AEE_EBADPARM));
    tables[2].skeleton[0] = 200;
    assert_int_equal(calibrate(handle, tables, sizeof(tables), &crc), AEE_DSP(AEE_EBADPARM));
    assert_non_null(strstr(last_message, "slot 2"));
    assert_int_equal(crc, 0xA5A5A5A5);
    assert_int_equal(encode_all(handle), AEE_SUCCESS); /* the old tables still serve */
}

static void test_no_vtcm_is_enomemory_and_leaves_the_handle_uncalibrated(void **state)
{
    uint32_t crc;

    (void)state;
    vtcm_full = 1;
    assert_int_equal(calibrate(handle, tables, sizeof(tables), &crc), AEE_DSP(AEE_ENOMEMORY));
    assert_non_null(strstr(last_message, "vtcm: need"));
    assert_int_equal(encode_all(handle), AEE_DSP(AEE_EBADSTATE));
    vtcm_full = 0;
    assert_int_equal(calibrate(handle, tables, sizeof(tables), &crc), AEE_SUCCESS);
    assert_int_equal(encode_all(handle), AEE_SUCCESS);
}

static void test_before_calibrate_is_ebadstate(void **state)
{
    remote_handle64 h;

    (void)state;
    assert_int_equal(skel_open(&h), AEE_SUCCESS);
    assert_int_equal(encode_all(h), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(decode_all(h), AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(skel_close(h), AEE_SUCCESS);
}

static void test_a_closed_handle_is_einvhandle(void **state)
{
    remote_handle64 h;
    uint32_t crc;

    (void)state;
    assert_int_equal(skel_open(&h), AEE_SUCCESS);
    assert_int_equal(skel_close(h), AEE_SUCCESS);
    assert_int_equal(encode_all(h), AEE_DSP(AEE_EINVHANDLE));
    assert_int_equal(calibrate(h, tables, sizeof(tables), &crc), AEE_DSP(AEE_EINVHANDLE));
    assert_int_equal(skel_close(h), AEE_DSP(AEE_EINVHANDLE));
}

static void test_calls_give_what_the_reference_gives(void **state)
{
    (void)state;
    assert_int_equal(encode_all(handle), AEE_SUCCESS);
    for (size_t i = 0; i < VECTORS; i++) {
        const uint32_t sc = REMOTE_SCALARS_MAKE(sp_hex_METHOD_hier_encode_f32, 2, 1);
        struct sp_hex_hier_encode_f32_primIn in = {(int)(i % SLOTS), HX_BLOCK_DH, HX_BLOCK_SLOT};
        struct hx_block *one = hxt_guard_alloc(sizeof(*one), 64);
        remote_arg pra[3] = {{.buf = {&in, sizeof(in)}},
                             {.buf = {x + i * HX_BLOCK_DH, HX_BLOCK_DH * sizeof(float)}},
                             {.buf = {one, sizeof(*one)}}};

        assert_int_equal(sp_hex_skel_handle_invoke(handle, sc, pra), 0);
        hxt_same_bytes(one, &blocks[i], sizeof(*one));
        hxt_guard_free(one);
    }
    hxt_guard_poison(x);
    assert_int_equal(decode_all(handle), AEE_SUCCESS);
    for (size_t i = 0; i < VECTORS; i++) {
        float want[HX_BLOCK_DH];

        assert_int_equal(hx_spinor_decode_ref(&tables[i % SLOTS], &blocks[i], want), AEE_SUCCESS);
        /* 2^-12 of the largest coefficient of N(0, 1) vectors, see spinor.h */
        hxt_near_f32_abs(x + i * HX_BLOCK_DH, want, HX_BLOCK_DH, 0, 1e-3);
    }
    hxt_guard_intact(x);
}

static void test_a_corrupt_block_is_ebaditem_and_is_named(void **state)
{
    (void)state;
    assert_int_equal(encode_all(handle), AEE_SUCCESS);
    blocks[2 * SLOTS + 3].magnitude[5] ^= 0x10;
    assert_int_equal(decode_all(handle), AEE_DSP(AEE_EBADITEM));
    assert_non_null(strstr(last_message, "slot 3, position 2"));
}

static void test_lengths_must_agree_with_the_scalars_and_with_each_other(void **state)
{
    const size_t from = VECTORS * HX_BLOCK_DH * sizeof(float), to = VECTORS * HX_BLOCK_SLOT;
    static const struct {
        struct batch_in in;
        int from_less, to_less; /* bytes that the buffers lack */
    } bad[] = {
        {{0, SLOTS, POSITIONS, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 1, 0},
        {{0, SLOTS, POSITIONS, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 64},
        {{0, SLOTS, POSITIONS, VECTORS * HX_BLOCK_DH - 1, VECTORS * HX_BLOCK_SLOT}, 4, 0},
        {{0, SLOTS, POSITIONS - 1, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 0},
        {{0, SLOTS + 1, POSITIONS, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 0},
        {{1, SLOTS, POSITIONS, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 0},
        {{-1, SLOTS, POSITIONS, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 0},
        {{0, -SLOTS, -POSITIONS, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 0},
        {{0, 65536, 65536, VECTORS * HX_BLOCK_DH, VECTORS * HX_BLOCK_SLOT}, 0, 0},
        {{0, SLOTS, POSITIONS, 0xffffffff, VECTORS * HX_BLOCK_SLOT}, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(skel_batch(handle, sp_hex_METHOD_hier_encode_batch_f32, bad[i].in, x,
                                    from - bad[i].from_less, blocks, to - bad[i].to_less),
                         AEE_DSP(AEE_EBADPARM));
    hxt_untouched(blocks, to);
}

static void test_no_positions_is_no_work(void **state)
{
    struct batch_in in = {0, SLOTS, 0, 0, 0};

    (void)state;
    hvx_refused = 1; /* it would need no HVX context either */
    assert_int_equal(skel_batch(handle, sp_hex_METHOD_hier_decode_batch_f32, in, NULL, 0, NULL, 0),
                     AEE_SUCCESS);
}

static void test_misaligned_or_wild_values_are_ebadparm(void **state)
{
    struct batch_in in = {0, 1, 1, HX_BLOCK_DH, HX_BLOCK_SLOT};

    (void)state;
    assert_int_equal(skel_batch(handle, sp_hex_METHOD_hier_encode_batch_f32, in, (char *)x + 2,
                                HX_BLOCK_DH * sizeof(float), blocks, HX_BLOCK_SLOT),
                     AEE_DSP(AEE_EBADPARM));
    x[5] = 1e30f;
    assert_int_equal(encode_all(handle), AEE_DSP(AEE_EBADPARM));
    assert_non_null(strstr(last_message, "slot 0, position 0"));
}

static void test_the_shape_of_a_call_is_checked(void **state)
{
    remote_arg pra[3] = {{.buf = {NULL, 0}}};

    (void)state;
    for (uint32_t method = 0; method < sp_hex_N_METHODS; method++)
        assert_int_equal(sp_hex_skel_handle_invoke(handle, REMOTE_SCALARS_MAKE(method, 1, 1), pra),
                         AEE_DSP(AEE_EBADPARM));
    for (uint32_t method = sp_hex_N_METHODS; method < 32; method++)
        assert_int_equal(sp_hex_skel_handle_invoke(handle, REMOTE_SCALARS_MAKE(method, 2, 1), pra),
                         AEE_DSP(AEE_EUNSUPPORTED));
    /* right shape, empty buffers */
    for (uint32_t method = sp_hex_METHOD_calibrate; method < sp_hex_N_METHODS; method++)
        assert_int_equal(sp_hex_skel_handle_invoke(handle, REMOTE_SCALARS_MAKE(method, 2, 1), pra),
                         AEE_DSP(AEE_EBADPARM));
}

static void test_without_an_hvx_context_a_call_fails(void **state)
{
    (void)state;
    hvx_refused = 1;
    assert_int_equal(encode_all(handle), AEE_DSP(AEE_EFAILED));
}

static void *decode_many(void *arg)
{
    float *out = hxt_guard_alloc(VECTORS * HX_BLOCK_DH * sizeof(float), 128);
    struct batch_in in = {0, SLOTS, POSITIONS, VECTORS * HX_BLOCK_SLOT,
                                 VECTORS * HX_BLOCK_DH};
    intptr_t failures = 0;

    (void)arg;
    for (int i = 0; i < 50; i++)
        failures += skel_batch(handle, sp_hex_METHOD_hier_decode_batch_f32, in, blocks, in.in_len,
                               out, in.out_len * sizeof(float)) != AEE_SUCCESS;
    hxt_guard_free(out);
    return (void *)failures;
}

static void test_threads_share_a_handle_while_it_is_calibrated_anew(void **state)
{
    pthread_t t[3];
    uint32_t crc;
    void *failures;

    (void)state;
    assert_int_equal(encode_all(handle), AEE_SUCCESS);
    for (size_t i = 0; i < HXT_LEN(t); i++)
        assert_int_equal(pthread_create(&t[i], NULL, decode_many, NULL), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(calibrate(handle, tables, sizeof(tables), &crc), AEE_SUCCESS);
    for (size_t i = 0; i < HXT_LEN(t); i++) {
        pthread_join(t[i], &failures);
        assert_null(failures);
    }
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_calibrate_returns_the_crc_of_the_tables),
        CASE(test_tables_may_lie_at_an_odd_address),
        CASE(test_calibrate_refuses_what_it_cannot_use),
        CASE(test_no_vtcm_is_enomemory_and_leaves_the_handle_uncalibrated),
        CASE(test_before_calibrate_is_ebadstate),
        CASE(test_a_closed_handle_is_einvhandle),
        CASE(test_calls_give_what_the_reference_gives),
        CASE(test_a_corrupt_block_is_ebaditem_and_is_named),
        CASE(test_lengths_must_agree_with_the_scalars_and_with_each_other),
        CASE(test_no_positions_is_no_work),
        CASE(test_misaligned_or_wild_values_are_ebadparm),
        CASE(test_the_shape_of_a_call_is_checked),
        CASE(test_without_an_hvx_context_a_call_fails),
        CASE(test_threads_share_a_handle_while_it_is_calibrated_anew),
    };

    return HXT_RUN(tests);
}
