/* Host side of interface sp_hex: packs the arguments as rpc/wire/sp_hex.h states and calls the DSP. */
#include "sp_hex.h"

/* Sequences are read-only to the callee; remote_arg has one pointer type for both directions. */
static remote_arg in_buf(const void *p, size_t bytes)
{
    return (remote_arg){.buf = {(void *)(uintptr_t)p, bytes}};
}

static remote_arg out_buf(void *p, size_t bytes)
{
    return (remote_arg){.buf = {p, bytes}};
}

int sp_hex_open(const char *uri, remote_handle64 *h)
{
    return remote_handle64_open(uri, h);
}

int sp_hex_close(remote_handle64 h)
{
    return remote_handle64_close(h);
}

int sp_hex_calibrate(remote_handle64 h, int32_t dh, int32_t basis, const uint8_t *tables,
                     int tables_len, uint32_t *crc)
{
    struct sp_hex_calibrate_in in = {dh, basis, (uint32_t)tables_len};
    struct sp_hex_calibrate_out out = {0};
    int rc;

    if (tables_len < 0)
        return AEE_EBADPARM;
    remote_arg args[] = {in_buf(&in, sizeof(in)), in_buf(tables, (size_t)tables_len),
                         out_buf(&out, sizeof(out))};
    rc = remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(SP_HEX_CALIBRATE, 2, 1), args);
    if (rc == AEE_SUCCESS)
        *crc = out.crc;
    return rc;
}

/* One sequence in, one out: all coding methods have this form. */
static int code(remote_handle64 h, enum sp_hex_method method, const void *scalars,
                size_t scalar_bytes, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    remote_arg args[] = {in_buf(scalars, scalar_bytes), in_buf(in, in_bytes),
                         out_buf(out, out_bytes)};

    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(method, 2, 1), args);
}

int sp_hex_hier_encode_f32(remote_handle64 h, int32_t slot, const float *x, int x_len,
                           uint8_t *block, int block_len)
{
    struct sp_hex_vector_in in = {slot, (uint32_t)x_len, (uint32_t)block_len};

    if (x_len < 0 || block_len < 0)
        return AEE_EBADPARM;
    return code(h, SP_HEX_HIER_ENCODE_F32, &in, sizeof(in), x, (size_t)x_len * sizeof(*x), block,
                (size_t)block_len);
}

int sp_hex_hier_decode_f32(remote_handle64 h, int32_t slot, const uint8_t *block, int block_len,
                           float *x, int x_len)
{
    struct sp_hex_vector_in in = {slot, (uint32_t)block_len, (uint32_t)x_len};

    if (x_len < 0 || block_len < 0)
        return AEE_EBADPARM;
    return code(h, SP_HEX_HIER_DECODE_F32, &in, sizeof(in), block, (size_t)block_len, x,
                (size_t)x_len * sizeof(*x));
}

int sp_hex_hier_encode_batch_f32(remote_handle64 h, int32_t first_slot, int32_t n_slots,
                                 int32_t n_pos, const float *x, int x_len, uint8_t *blocks,
                                 int blocks_len)
{
    struct sp_hex_batch_in in = {first_slot, n_slots, n_pos, (uint32_t)x_len,
                                 (uint32_t)blocks_len};

    if (x_len < 0 || blocks_len < 0)
        return AEE_EBADPARM;
    return code(h, SP_HEX_HIER_ENCODE_BATCH_F32, &in, sizeof(in), x, (size_t)x_len * sizeof(*x),
                blocks, (size_t)blocks_len);
}

int sp_hex_hier_decode_batch_f32(remote_handle64 h, int32_t first_slot, int32_t n_slots,
                                 int32_t n_pos, const uint8_t *blocks, int blocks_len, float *x,
                                 int x_len)
{
    struct sp_hex_batch_in in = {first_slot, n_slots, n_pos, (uint32_t)blocks_len,
                                 (uint32_t)x_len};

    if (x_len < 0 || blocks_len < 0)
        return AEE_EBADPARM;
    return code(h, SP_HEX_HIER_DECODE_BATCH_F32, &in, sizeof(in), blocks, (size_t)blocks_len, x,
                (size_t)x_len * sizeof(*x));
}
