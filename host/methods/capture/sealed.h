/* Sealed files: 8 bytes that say of which kind they are, u32 version, what the kind has, u32 CRC-32 of all that.  Little-endian. */
#ifndef HX_CAPTURE_SEALED_H
#define HX_CAPTURE_SEALED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_sealed_kind {
    char magic[8];
    const char *what;  /* for messages: "guard" */
    uint32_t version;  /* the one that is known */
    size_t header;     /* bytes that each has at least in front of the CRC, magic and version among them */
};

struct hx_sealed_part {
    const void *bytes;
    size_t n;
};

/* The parts, the first of which begins with the kind's magic and version, and the CRC.  `path` is as it was until the file is complete.
 * 0, or negative errno; -EEXIST: another kind of file is there. */
int hx_sealed_write(const char *path, const struct hx_sealed_kind *kind, const struct hx_sealed_part *parts, size_t n_parts,
                    struct hx_error *err);

/* *bytes [*n], malloc'ed: the file without its CRC, which was right; its content is the caller's to check.
 * 0; -EINVAL: no such file, of another version, damaged; negative errno. */
int hx_sealed_read(const char *path, const struct hx_sealed_kind *kind, char **bytes, size_t *n, struct hx_error *err);

/* wanted: the fingerprint that it has to have; 0: any.  0 or -EINVAL. */
int hx_sealed_model(const char *path, const struct hx_sealed_kind *kind, uint64_t fingerprint, uint64_t wanted, struct hx_error *err);

#endif
