/* Files of bases, see ugt_file.h. */
#include "ugt_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hx_block.h"
#include "methods/capture/part.h"
#include "text/text.h"

enum { VERSION = 1, MOST = 1 << 16 /* numbers of a state */ };

static const char magic[8] = "HXUGT\0\0";

struct header {
    char magic[8];
    uint32_t version, d, k, reserved;
    uint64_t fingerprint;
    double held;
};
_Static_assert(sizeof(struct header) == 40, "header of a basis");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static int put(const struct hx_ugt *u, const struct header *h, FILE *f)
{
    uint32_t crc = hx_crc32(0, h, sizeof(*h));

    crc = hx_crc32(crc, u->mean, u->d * sizeof(double));
    crc = hx_crc32(crc, u->basis, u->k * u->d * sizeof(double));
    return fwrite(h, sizeof(*h), 1, f) != 1 || fwrite(u->mean, sizeof(double), u->d, f) != u->d ||
           fwrite(u->basis, sizeof(double), u->k * u->d, f) != u->k * u->d || fwrite(&crc, sizeof(crc), 1, f) != 1;
}

int hx_ugt_write(const struct hx_ugt *u, uint64_t fingerprint, const char *path, struct hx_error *err)
{
    struct header h = {.version = VERSION, .d = (uint32_t)u->d, .k = (uint32_t)u->k, .fingerprint = fingerprint, .held = u->held};
    struct hx_capture_part part;
    int rc;

    memcpy(h.magic, magic, sizeof(magic));
    rc = hx_capture_part_open(&part, path, magic, sizeof(magic), err);
    if (rc)
        return rc;
    if (put(u, &h, part.file)) {
        hx_capture_part_drop(&part);
        return hx_error_set(err, -EIO, "%s: cannot write", path);
    }
    rc = hx_capture_part_keep(&part);
    return rc ? hx_error_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static int check(const char *bytes, size_t n, const char *path, uint64_t fingerprint, struct header *h, struct hx_error *err)
{
    uint32_t crc;

    if (n < sizeof(*h) + sizeof(crc) || memcmp(bytes, magic, sizeof(magic)))
        return hx_error_set(err, -EINVAL, "%s: no basis of hidden states", path);
    memcpy(h, bytes, sizeof(*h));
    memcpy(&crc, bytes + n - sizeof(crc), sizeof(crc));
    if (h->version != VERSION || h->reserved)
        return hx_error_set(err, -EINVAL, "%s: version %u of a basis; %d is known", path, h->version, VERSION);
    if (crc != hx_crc32(0, bytes, n - sizeof(crc)))
        return hx_error_set(err, -EINVAL, "%s: damaged: its checksum is another", path);
    if (!h->d || h->d > MOST || !h->k || h->k > h->d ||
        n != sizeof(*h) + ((size_t)h->k + 1) * h->d * sizeof(double) + sizeof(crc))
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are not those of a basis of %u x %u", path, n, h->d, h->k);
    if (fingerprint && h->fingerprint != fingerprint)
        return hx_error_set(err, -EINVAL, "%s: basis of another model (fingerprint %016" PRIx64 "; this one has %016" PRIx64 ")", path,
                            h->fingerprint, fingerprint);
    return 0;
}

static int take(struct hx_ugt *u, const struct header *h, const char *body, const char *path, struct hx_error *err)
{
    const size_t mean = h->d * sizeof(double), basis = h->k * mean;

    *u = (struct hx_ugt){h->d, h->k, malloc(mean), malloc(basis), h->held};
    if (!u->mean || !u->basis)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    memcpy(u->mean, body, mean);
    memcpy(u->basis, body + mean, basis);
    for (size_t i = 0; i < (size_t)h->k * h->d; i++)
        if (!isfinite(u->basis[i]) || !isfinite(u->mean[i % h->d]))
            return hx_error_set(err, -EINVAL, "%s: a number is not finite", path);
    return 0;
}

int hx_ugt_read(struct hx_ugt *u, const char *path, uint64_t fingerprint, uint64_t *found, struct hx_error *err)
{
    struct header h;
    char *bytes;
    size_t n;
    int rc = hx_text_read(path, &bytes, &n, err);

    *u = (struct hx_ugt){0};
    if (rc)
        return rc;
    rc = check(bytes, n, path, fingerprint, &h, err);
    if (!rc)
        rc = take(u, &h, bytes + sizeof(h), path, err);
    if (rc)
        hx_ugt_free(u);
    else if (found)
        *found = h.fingerprint;
    free(bytes);
    return rc;
}
