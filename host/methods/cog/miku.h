/* A COG in a file, .miku: what it has learned, for the next time.
 *
 * 8 bytes `HXMIKU\0\0`; u32 version, 1; u32 bytes of JSON; the JSON, compact, keys in this order: format ("miku-v1"), model_id
 * (16 hexadecimal digits), k_ugt, d_model, forbidden_coords, snipe_coords, trajectories (prompt, answer, teh, z), conversation_log
 * (prompt, answer, tier, similarity); f32 basis [k][d]; f64 metric [k][k]; u32 CRC-32 of all that.  Little-endian.
 * Numbers of the JSON have 17 digits, so that a file that was read and written again has the same bytes. */
#ifndef HX_MIKU_H
#define HX_MIKU_H

#include "cog.h"

/* `path` has the old content until the new is complete, whatever happens.  Texts that are no UTF-8 are kept as far as they are.
 * 0, or negative errno; -EEXIST: another kind of file is there. */
int hx_miku_write(const struct hx_cog *c, const char *path, struct hx_error *err);

/* model: fingerprint that it has to have; 0: any.  0; -EINVAL: no such file, damaged, of another model, or something in it cannot be: a
 * basis that is not orthonormal to 1e-4, a metric that is not symmetric, a coordinate that is not below k_ugt or is listed twice;
 * -ENOENT and other negative errno.  In any case to be freed. */
int hx_miku_read(struct hx_cog *c, const char *path, uint64_t model, struct hx_error *err);

#endif
