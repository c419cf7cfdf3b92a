/* Bases of final hidden states in files: little-endian, a checksum behind.
 *
 * 8 bytes `HXUGT\0\0\0`; u32 version, 1; u32 d; u32 k; u32 0; u64 the model's fingerprint; f64 held, of the states that made it, or,
 * of a refined one, of those that it was refined by; f64 mean [d]; f64 basis [k][d]; u32 CRC-32 of all that. */
#ifndef HX_UGT_FILE_H
#define HX_UGT_FILE_H

#include <stdint.h>

#include "ugt.h"

/* `path` is as it was until the file is complete.  0, or negative errno; -EEXIST: another kind of file is there. */
int hx_ugt_write(const struct hx_ugt *u, uint64_t fingerprint, const char *path, struct hx_error *err);

/* fingerprint: of the model that it has to be of; 0: of any, then *found (may be NULL) says which.  0; -EINVAL: no such file, damaged,
 * of another model, numbers that are not finite, a basis that is not orthonormal to 1e-6; negative errno.  Freed as hx_ugt_build()'s. */
int hx_ugt_read(struct hx_ugt *u, const char *path, uint64_t fingerprint, uint64_t *found, struct hx_error *err);

#endif
