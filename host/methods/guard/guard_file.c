/* Files of guards, see guard_file.h. */
#include "guard_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hx_block.h"
#include "methods/capture/part.h"
#include "text/text.h"

enum { VERSION = 1, MOST = 1 << 16 /* numbers of a state */ };

static const char magic[8] = "HXGUARD";
static const double most_skew = 1e-4;

struct header {
    char magic[8];
    uint32_t version, d, f, reserved;
    uint64_t fingerprint;
    double threshold;
    char name[64];
};
_Static_assert(sizeof(struct header) == 104, "header of a guard");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

int hx_guard_write(const struct hx_guard *g, const char *path, struct hx_error *err)
{
    struct header h = {.version = VERSION, .d = (uint32_t)g->d, .f = (uint32_t)g->f, .fingerprint = g->fingerprint,
                       .threshold = g->threshold};
    struct hx_capture_part part;
    uint32_t crc;
    int rc;

    memcpy(h.magic, magic, sizeof(magic));
    memcpy(h.name, g->name, strnlen(g->name, sizeof(h.name) - 1));
    crc = hx_crc32(hx_crc32(0, &h, sizeof(h)), g->q, g->f * g->d * sizeof(float));
    rc = hx_capture_part_open(&part, path, magic, sizeof(magic), err);
    if (rc)
        return rc;
    if (fwrite(&h, sizeof(h), 1, part.file) != 1 || fwrite(g->q, sizeof(float), g->f * g->d, part.file) != g->f * g->d ||
        fwrite(&crc, sizeof(crc), 1, part.file) != 1) {
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
        return hx_error_set(err, -EINVAL, "%s: no guard", path);
    memcpy(h, bytes, sizeof(*h));
    memcpy(&crc, bytes + n - sizeof(crc), sizeof(crc));
    if (h->version != VERSION || h->reserved)
        return hx_error_set(err, -EINVAL, "%s: version %u of a guard; %d is known", path, h->version, VERSION);
    if (crc != hx_crc32(0, bytes, n - sizeof(crc)))
        return hx_error_set(err, -EINVAL, "%s: damaged: its checksum is another", path);
    if (!h->d || h->d > MOST || !h->f || h->f > h->d || n != sizeof(*h) + (size_t)h->f * h->d * sizeof(float) + sizeof(crc) ||
        h->name[sizeof(h->name) - 1] || !(h->threshold >= 0 && h->threshold <= 1))
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are not those of a guard of %u x %u", path, n, h->d, h->f);
    if (fingerprint && h->fingerprint != fingerprint)
        return hx_error_set(err, -EINVAL, "%s: guard of another model (fingerprint %016" PRIx64 "; this one has %016" PRIx64 ")", path,
                            h->fingerprint, fingerprint);
    return 0;
}

/* The largest of |Q^T Q - I|; NaN where a number is none. */
static double skew(const struct hx_guard *g)
{
    double most = 0;

    for (size_t i = 0; i < g->f; i++)
        for (size_t j = i; j < g->f; j++) {
            double sum = -(double)(i == j);

            for (size_t k = 0; k < g->d; k++)
                sum += (double)g->q[i * g->d + k] * (double)g->q[j * g->d + k];
            if (!(fabs(sum) <= most))
                most = isfinite(sum) ? fabs(sum) : INFINITY;
        }
    return most;
}

static int take(struct hx_guard *g, const struct header *h, const char *body, const char *path, struct hx_error *err)
{
    const size_t bytes = (size_t)h->f * h->d * sizeof(float);

    *g = (struct hx_guard){.threshold = h->threshold, .q = malloc(bytes), .f = h->f, .d = h->d, .fingerprint = h->fingerprint};
    if (!g->q)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    memcpy(g->name, h->name, sizeof(g->name));
    memcpy(g->q, body, bytes);
    return skew(g) <= most_skew ? 0 : hx_error_set(err, -EINVAL, "%s: its directions are not orthonormal (%g)", path, skew(g));
}

int hx_guard_read(struct hx_guard *g, const char *path, uint64_t fingerprint, struct hx_error *err)
{
    struct header h;
    char *bytes;
    size_t n;
    int rc = hx_text_read(path, &bytes, &n, err);

    *g = (struct hx_guard){.q = NULL};
    if (rc)
        return rc;
    rc = check(bytes, n, path, fingerprint, &h, err);
    if (!rc)
        rc = take(g, &h, bytes + sizeof(h), path, err);
    if (rc)
        hx_guard_free(g);
    free(bytes);
    return rc;
}

void hx_guard_free(struct hx_guard *g)
{
    free(g->q);
    *g = (struct hx_guard){.q = NULL};
}
