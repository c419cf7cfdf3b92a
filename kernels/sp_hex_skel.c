/* The DSP side of interface sp_hex: takes FastRPC arguments apart as rpc/wire/sp_hex.h lays them out and calls the
 * implementation.  Nothing here trusts the caller: counts come from `sc`, lengths from the buffers, and both must agree
 * with what the scalars claim. */
#include "sp_hex.h"

#include <stdbool.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* True when `count` elements of `size` bytes fill the buffer exactly and fit an int. */
static bool is_sequence(const remote_buf *b, uint32_t count, size_t size)
{
    return count <= INT32_MAX && b->nLen == (uint64_t)count * size && (b->pv || count == 0);
}

/* Copies the scalars out of in-buffer 0: the caller may still be writing to it. */
static bool take_scalars(void *to, size_t n, const remote_buf *b)
{
    if (b->nLen != n || !b->pv)
        return false;
    memcpy(to, b->pv, n);
    return true;
}

static int serve_open(remote_handle64 h, remote_arg *pra)
{
    const char *uri = pra[1].buf.pv;
    uint32_t len;

    (void)h;
    if (!take_scalars(&len, sizeof(len), &pra[0].buf) || len == 0 ||
        !is_sequence(&pra[1].buf, len, 1) || uri[len - 1] != '\0')
        return AEE_DSP(AEE_EBADPARM);
    return sp_hex_open(uri, &pra[2].h64);
}

static int serve_close(remote_handle64 h, remote_arg *pra)
{
    (void)h;
    return sp_hex_close(pra[0].h64);
}

static int serve_calibrate(remote_handle64 h, remote_arg *pra)
{
    struct sp_hex_calibrate_in in;
    struct sp_hex_calibrate_out out;

    if (!take_scalars(&in, sizeof(in), &pra[0].buf) ||
        !is_sequence(&pra[1].buf, in.tables_len, 1) || !pra[2].buf.pv ||
        pra[2].buf.nLen != sizeof(out))
        return AEE_DSP(AEE_EBADPARM);
    int rc = sp_hex_calibrate(h, in.dh, in.basis, pra[1].buf.pv, (int)in.tables_len, &out.crc);
    if (rc == AEE_SUCCESS)
        memcpy(pra[2].buf.pv, &out, sizeof(out));
    return rc;
}

static int serve_encode(remote_handle64 h, remote_arg *pra)
{
    struct sp_hex_vector_in in;

    if (!take_scalars(&in, sizeof(in), &pra[0].buf) ||
        !is_sequence(&pra[1].buf, in.in_len, sizeof(float)) ||
        !is_sequence(&pra[2].buf, in.out_len, 1))
        return AEE_DSP(AEE_EBADPARM);
    return sp_hex_hier_encode_f32(h, in.slot, pra[1].buf.pv, (int)in.in_len, pra[2].buf.pv,
                                  (int)in.out_len);
}

static int serve_decode(remote_handle64 h, remote_arg *pra)
{
    struct sp_hex_vector_in in;

    if (!take_scalars(&in, sizeof(in), &pra[0].buf) || !is_sequence(&pra[1].buf, in.in_len, 1) ||
        !is_sequence(&pra[2].buf, in.out_len, sizeof(float)))
        return AEE_DSP(AEE_EBADPARM);
    return sp_hex_hier_decode_f32(h, in.slot, pra[1].buf.pv, (int)in.in_len, pra[2].buf.pv,
                                  (int)in.out_len);
}

static int serve_encode_batch(remote_handle64 h, remote_arg *pra)
{
    struct sp_hex_batch_in in;

    if (!take_scalars(&in, sizeof(in), &pra[0].buf) ||
        !is_sequence(&pra[1].buf, in.in_len, sizeof(float)) ||
        !is_sequence(&pra[2].buf, in.out_len, 1))
        return AEE_DSP(AEE_EBADPARM);
    return sp_hex_hier_encode_batch_f32(h, in.first_slot, in.n_slots, in.n_pos, pra[1].buf.pv,
                                        (int)in.in_len, pra[2].buf.pv, (int)in.out_len);
}

static int serve_decode_batch(remote_handle64 h, remote_arg *pra)
{
    struct sp_hex_batch_in in;

    if (!take_scalars(&in, sizeof(in), &pra[0].buf) || !is_sequence(&pra[1].buf, in.in_len, 1) ||
        !is_sequence(&pra[2].buf, in.out_len, sizeof(float)))
        return AEE_DSP(AEE_EBADPARM);
    return sp_hex_hier_decode_batch_f32(h, in.first_slot, in.n_slots, in.n_pos, pra[1].buf.pv,
                                        (int)in.in_len, pra[2].buf.pv, (int)in.out_len);
}

/* `shape`: the scalars without attributes and method, which must match the call's exactly. */
static const struct {
    int (*serve)(remote_handle64 h, remote_arg *pra);
    uint32_t shape;
} methods[SP_HEX_METHODS] = {
    [SP_HEX_OPEN] = {serve_open, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1)},
    [SP_HEX_CLOSE] = {serve_close, REMOTE_SCALARS_MAKEX(0, 0, 0, 0, 1, 0)},
    [SP_HEX_CALIBRATE] = {serve_calibrate, REMOTE_SCALARS_MAKE(0, 2, 1)},
    [SP_HEX_HIER_ENCODE_F32] = {serve_encode, REMOTE_SCALARS_MAKE(0, 2, 1)},
    [SP_HEX_HIER_DECODE_F32] = {serve_decode, REMOTE_SCALARS_MAKE(0, 2, 1)},
    [SP_HEX_HIER_ENCODE_BATCH_F32] = {serve_encode_batch, REMOTE_SCALARS_MAKE(0, 2, 1)},
    [SP_HEX_HIER_DECODE_BATCH_F32] = {serve_decode_batch, REMOTE_SCALARS_MAKE(0, 2, 1)},
};

EXPORT int sp_hex_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra);

EXPORT int sp_hex_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    const uint32_t shape_mask = 0x00ffffff;
    uint32_t method = REMOTE_SCALARS_METHOD(sc);

    if (method >= SP_HEX_METHODS)
        return AEE_DSP(AEE_EUNSUPPORTED);
    if ((sc & shape_mask) != methods[method].shape || !pra)
        return AEE_DSP(AEE_EBADPARM);
    return methods[method].serve(h, pra);
}
