/* Interface sp_hex (rpc/sp_hex.idl): method numbers, argument structs and prototypes.
 *
 * Written by hand in the form that the IDL compiler will generate: in-buffer 0 holds the `in` scalars and the lengths of
 * all sequences in declaration order, out-buffer 0 the `rout` scalars (absent when there are none), then the
 * sequences.  Lengths are counts of elements.
 * The prototypes are the same on both sides: the stub (host) sends, the implementation (DSP) does the work.  Every
 * function returns AEE_SUCCESS or an AEE code; buffers are borrowed for the call. */
#ifndef SP_HEX_H
#define SP_HEX_H

#include <stdint.h>

#include "remote.h"

#define sp_hex_URI "file:///libsp_hex_skel.so?sp_hex_skel_handle_invoke&_modver=1.0"

enum sp_hex_method {
    SP_HEX_OPEN = 0,
    SP_HEX_CLOSE = 1,
    SP_HEX_CALIBRATE = 2,
    SP_HEX_HIER_ENCODE_F32 = 3,
    SP_HEX_HIER_DECODE_F32 = 4,
    SP_HEX_HIER_ENCODE_BATCH_F32 = 5,
    SP_HEX_HIER_DECODE_BATCH_F32 = 6,
    SP_HEX_METHODS
};

struct sp_hex_calibrate_in {
    int32_t dh;
    int32_t basis;
    uint32_t tables_len;
};
struct sp_hex_calibrate_out {
    uint32_t crc;
};
struct sp_hex_vector_in { /* hier_encode_f32: x then block; hier_decode_f32: block then x */
    int32_t slot;
    uint32_t in_len;
    uint32_t out_len;
};
struct sp_hex_batch_in { /* hier_encode_batch_f32: x then blocks; hier_decode_batch_f32: blocks then x */
    int32_t first_slot;
    int32_t n_slots;
    int32_t n_pos;
    uint32_t in_len;
    uint32_t out_len;
};

int sp_hex_open(const char *uri, remote_handle64 *h);
int sp_hex_close(remote_handle64 h);
int sp_hex_calibrate(remote_handle64 h, int32_t dh, int32_t basis, const uint8_t *tables,
                     int tables_len, uint32_t *crc);
int sp_hex_hier_encode_f32(remote_handle64 h, int32_t slot, const float *x, int x_len,
                           uint8_t *block, int block_len);
int sp_hex_hier_decode_f32(remote_handle64 h, int32_t slot, const uint8_t *block, int block_len,
                           float *x, int x_len);
int sp_hex_hier_encode_batch_f32(remote_handle64 h, int32_t first_slot, int32_t n_slots,
                                 int32_t n_pos, const float *x, int x_len, uint8_t *blocks,
                                 int blocks_len);
int sp_hex_hier_decode_batch_f32(remote_handle64 h, int32_t first_slot, int32_t n_slots,
                                 int32_t n_pos, const uint8_t *blocks, int blocks_len, float *x,
                                 int x_len);

#endif
