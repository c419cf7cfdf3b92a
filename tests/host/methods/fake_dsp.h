/* A CDSP inside the test program: defines the calls of libcdsprpc that the engine makes, checks every argument strictly
 * and codes blocks with the plain reference.  Include in one file of a test only. */
#ifndef FAKE_DSP_H
#define FAKE_DSP_H

#include <stdlib.h>
#include <string.h>

#include "hx_block_codec.h"
#include "hx_rig.h"
#include "hxt.h"
#include "remote.h"
#include "rpcmem.h"
#include "sp_hex.h"

enum { FAKE_HANDLE = 77, FAKE_MAX_SHARED = 8 };

static struct {
    size_t calls[sp_hex_N_METHODS];
    size_t opens, closes;
    uint32_t fail_method; /* this method fails with fail_code ... */
    size_t fail_call;     /* ... at its call number, from 1; 0: never */
    int fail_code;
    int damage_tables;    /* 1: calibrate reports another CRC */
    size_t damage_decode; /* number of the decode call whose reply is damaged, from 1 */

    struct hx_codec *codec;
    const struct hx_block_shape *shape;
    size_t n_slots;
    struct {
        char *p;
        size_t n;
    } shared[FAKE_MAX_SHARED];
} fake;

static void fake_reset(void)
{
    free(fake.codec);
    for (size_t i = 0; i < FAKE_MAX_SHARED; i++)
        assert_null(fake.shared[i].p); /* the cache freed its buffers */
    assert_int_equal(fake.opens, fake.closes);
    memset(&fake, 0, sizeof(fake));
}

/* --- what libcdsprpc offers */

int hx_rig_connect(char *err, size_t why_bytes)
{
    (void)err;
    (void)why_bytes;
    return 0;
}

void *rpcmem_alloc2(int heapid, uint32_t flags, size_t size)
{
    (void)heapid;
    (void)flags;
    for (size_t i = 0; i < FAKE_MAX_SHARED; i++)
        if (!fake.shared[i].p) {
            fake.shared[i].p = calloc(1, size);
            fake.shared[i].n = size;
            return fake.shared[i].p;
        }
    return NULL;
}

void rpcmem_free(void *po)
{
    for (size_t i = 0; po && i < FAKE_MAX_SHARED; i++)
        if (fake.shared[i].p == po) {
            free(po);
            fake.shared[i].p = NULL;
        }
}

static int fake_is_shared(const remote_buf *b)
{
    for (size_t i = 0; i < FAKE_MAX_SHARED; i++)
        if (fake.shared[i].p && (char *)b->pv >= fake.shared[i].p &&
            (char *)b->pv + b->nLen <= fake.shared[i].p + fake.shared[i].n)
            return 1;
    return 0;
}

int remote_session_control(uint32_t req, void *data, uint32_t datalen)
{
    const struct remote_rpc_control_unsigned_module *u = data;

    assert_int_equal(req, DSPRPC_CONTROL_UNSIGNED_MODULE);
    assert_int_equal(datalen, sizeof(*u));
    assert_int_equal(u->domain, CDSP_DOMAIN_ID);
    assert_int_equal(u->enable, 1);
    assert_int_equal(fake.opens, fake.closes); /* before the first open */
    return AEE_SUCCESS;
}

int remote_handle64_open(const char *uri, remote_handle64 *h)
{
    assert_string_equal(uri, "file:///libsp_hex_skel.so?sp_hex_skel_handle_invoke&_modver=1.0"
                             "&_dom=cdsp");
    *h = FAKE_HANDLE;
    fake.opens++;
    return AEE_SUCCESS;
}

int remote_handle64_close(remote_handle64 h)
{
    assert_int_equal(h, FAKE_HANDLE);
    fake.closes++;
    return AEE_SUCCESS;
}

/* --- the skel */

static int fake_calibrate(const remote_arg *a)
{
    struct sp_hex_calibrate_primIn in;
    struct sp_hex_calibrate_primROut out;
    struct hx_codec_format f;
    size_t bytes;

    assert_int_equal(a[0].buf.nLen, sizeof(in));
    memcpy(&in, a[0].buf.pv, sizeof(in));
    assert_int_equal(hx_codec_format(&f, (size_t)in.dh, (uint32_t)in.basis, (uint32_t)in.code), 0);
    assert_int_equal(in.tablesLen, a[1].buf.nLen);
    bytes = hx_block_table_bytes(f.shape, f.basis);
    assert_int_equal(in.tablesLen % bytes, 0);
    assert_int_equal(a[2].buf.nLen, sizeof(out));
    free(fake.codec);
    fake.shape = f.shape;
    fake.n_slots = in.tablesLen / bytes;
    fake.codec = hx_codec_init(malloc(hx_codec_bytes(&f, fake.n_slots)), &f, a[1].buf.pv,
                               fake.n_slots);
    out.crc = hx_crc32(0, a[1].buf.pv, in.tablesLen) ^ (uint32_t)fake.damage_tables;
    memcpy(a[2].buf.pv, &out, sizeof(out));
    return AEE_SUCCESS;
}

/* Encode and decode have the same primIn but for the order of names; this is what both look like. */
struct fake_vector_in {
    int slot;
    uint32_t in_len, out_len;
};
struct fake_batch_in {
    int first_slot, n_slots, n_pos;
    uint32_t in_len, out_len;
};

/* n vectors of consecutive slots, x and blocks as the wire has them. */
static void fake_code(int encode, size_t first, size_t n_slots, size_t n, float *x, uint8_t *blocks)
{
    for (size_t i = 0; i < n; i++) {
        const size_t slot = first + i % n_slots;
        float *vector = x + i * fake.shape->dh;
        uint8_t *block = blocks + i * fake.shape->slot;

        assert_int_equal(encode ? hx_codec_encode(fake.codec, slot, vector, block)
                                : hx_codec_decode(fake.codec, slot, block, vector), 0);
    }
    if (!encode && fake.damage_decode == fake.calls[sp_hex_METHOD_hier_decode_f32] +
                                             fake.calls[sp_hex_METHOD_hier_decode_batch_f32])
        x[0] += 3;
}

static int fake_vector(int encode, const remote_arg *a)
{
    struct fake_vector_in in;
    const remote_buf *x = &a[encode ? 1 : 2].buf, *block = &a[encode ? 2 : 1].buf;

    assert_int_equal(a[0].buf.nLen, sizeof(in));
    memcpy(&in, a[0].buf.pv, sizeof(in));
    assert_true(in.slot >= 0 && (size_t)in.slot < fake.n_slots);
    assert_int_equal(encode ? in.in_len : in.out_len, fake.shape->dh);
    assert_int_equal(encode ? in.out_len : in.in_len, fake.shape->slot);
    assert_int_equal(x->nLen, fake.shape->dh * sizeof(float));
    assert_int_equal(block->nLen, fake.shape->slot);
    assert_false(fake_is_shared(x) || fake_is_shared(block));
    fake_code(encode, (size_t)in.slot, 1, 1, x->pv, block->pv);
    return AEE_SUCCESS;
}

static int fake_batch(int encode, const remote_arg *a)
{
    struct fake_batch_in in;
    const remote_buf *x = &a[encode ? 1 : 2].buf, *blocks = &a[encode ? 2 : 1].buf;
    size_t n;

    assert_int_equal(a[0].buf.nLen, sizeof(in));
    memcpy(&in, a[0].buf.pv, sizeof(in));
    assert_true(in.first_slot >= 0 && in.n_slots > 0 && in.n_pos > 0);
    assert_true((size_t)in.first_slot + (size_t)in.n_slots <= fake.n_slots);
    assert_int_equal(in.first_slot % in.n_slots, 0); /* one whole layer */
    n = (size_t)in.n_slots * (size_t)in.n_pos;
    assert_int_equal(encode ? in.in_len : in.out_len, n * fake.shape->dh);
    assert_int_equal(encode ? in.out_len : in.in_len, n * fake.shape->slot);
    assert_int_equal(x->nLen, n * fake.shape->dh * sizeof(float));
    assert_int_equal(blocks->nLen, n * fake.shape->slot);
    assert_true(fake_is_shared(x) && fake_is_shared(blocks));
    fake_code(encode, (size_t)in.first_slot, (size_t)in.n_slots, n, x->pv, blocks->pv);
    return AEE_SUCCESS;
}

int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    uint32_t method = REMOTE_SCALARS_METHOD(sc);

    assert_int_equal(h, FAKE_HANDLE);
    assert_int_equal(sc, REMOTE_SCALARS_MAKE(method, 2, 1));
    assert_true(method < sp_hex_N_METHODS);
    fake.calls[method]++;
    if (fake.fail_call && method == fake.fail_method && fake.calls[method] == fake.fail_call)
        return fake.fail_code;
    switch (method) {
    case sp_hex_METHOD_calibrate:
        return fake_calibrate(pra);
    case sp_hex_METHOD_hier_encode_f32:
    case sp_hex_METHOD_hier_decode_f32:
        return fake_vector(method == sp_hex_METHOD_hier_encode_f32, pra);
    case sp_hex_METHOD_hier_encode_batch_f32:
    case sp_hex_METHOD_hier_decode_batch_f32:
        return fake_batch(method == sp_hex_METHOD_hier_encode_batch_f32, pra);
    default:
        fail_msg("method %u", method);
        return AEE_EUNSUPPORTED;
    }
}

#endif
