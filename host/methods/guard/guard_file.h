/* Guards in files: little-endian, a checksum behind.
 *
 * 8 bytes `HXGUARD\0`; u32 version, 1; u32 d; u32 f; u32 0; u64 the model's fingerprint; f64 threshold; char name [64], padded with zeroes;
 * f32 Q [f][d]; u32 CRC-32 of all that. */
#ifndef HX_GUARD_FILE_H
#define HX_GUARD_FILE_H

#include <stdint.h>

#include "base/error.h"
#include "guard.h"

struct hx_guard {
    char name[64];     /* of the topic; terminated */
    double threshold;  /* of TEH */
    float *q;          /* [f][d] orthonormal */
    size_t f, d;
    uint64_t fingerprint;
};

/* `path` is as it was until the file is complete.  0, or negative errno; -EEXIST: another kind of file is there. */
int hx_guard_write(const struct hx_guard *g, const char *path, struct hx_error *err);

/* fingerprint: of the model that it has to be of; 0: of any.  0; -EINVAL: no such file, damaged, of another model, directions that are not
 * orthonormal to 1e-4; negative errno. */
int hx_guard_read(struct hx_guard *g, const char *path, uint64_t fingerprint, struct hx_error *err);

/* Accepts zeroes. */
void hx_guard_free(struct hx_guard *g);

#endif
