/* Sealed files, see sealed.h. */
#include "sealed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hx_block.h"
#include "part.h"
#include "text/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

int hx_sealed_write(const char *path, const struct hx_sealed_kind *kind, const struct hx_sealed_part *parts, size_t n_parts,
                    struct hx_error *err)
{
    struct hx_capture_part part;
    uint32_t crc = 0;
    int bad = 0, rc = hx_capture_part_open(&part, path, kind->magic, sizeof(kind->magic), err);

    if (rc)
        return rc;
    for (size_t i = 0; i < n_parts; i++) {
        crc = hx_crc32(crc, parts[i].bytes, parts[i].n);
        bad |= fwrite(parts[i].bytes, 1, parts[i].n, part.file) != parts[i].n;
    }
    if (bad || fwrite(&crc, sizeof(crc), 1, part.file) != 1) {
        hx_capture_part_drop(&part);
        return hx_error_set(err, -EIO, "%s: cannot write", path);
    }
    rc = hx_capture_part_keep(&part);
    return rc ? hx_error_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static int check(const char *bytes, size_t n, const char *path, const struct hx_sealed_kind *kind, struct hx_error *err)
{
    uint32_t version, crc;

    if (n < kind->header + sizeof(crc) || memcmp(bytes, kind->magic, sizeof(kind->magic)))
        return hx_error_set(err, -EINVAL, "%s: no %s", path, kind->what);
    memcpy(&version, bytes + sizeof(kind->magic), sizeof(version));
    if (version != kind->version)
        return hx_error_set(err, -EINVAL, "%s: version %u of a %s; %u is known", path, version, kind->what, kind->version);
    memcpy(&crc, bytes + n - sizeof(crc), sizeof(crc));
    return crc == hx_crc32(0, bytes, n - sizeof(crc)) ? 0 : hx_error_set(err, -EINVAL, "%s: damaged: its checksum is another", path);
}

int hx_sealed_read(const char *path, const struct hx_sealed_kind *kind, char **bytes, size_t *n, struct hx_error *err)
{
    int rc = hx_text_read(path, bytes, n, err);

    if (rc)
        return rc;
    rc = check(*bytes, *n, path, kind, err);
    if (rc) {
        free(*bytes);
        *bytes = NULL;
        return rc;
    }
    *n -= sizeof(uint32_t);
    return 0;
}

int hx_sealed_model(const char *path, const struct hx_sealed_kind *kind, uint64_t fingerprint, uint64_t wanted, struct hx_error *err)
{
    if (!wanted || fingerprint == wanted)
        return 0;
    return hx_error_set(err, -EINVAL, "%s: %s of another model (fingerprint %016" PRIx64 "; this one has %016" PRIx64 ")", path, kind->what,
                        fingerprint, wanted);
}
