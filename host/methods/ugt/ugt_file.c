/* Files of bases, see ugt_file.h. */
#include "ugt_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/capture/sealed.h"

enum { MOST = 1 << 16 /* numbers of a state */ };

static const double most_skew = 1e-6;

struct header {
    char magic[8];
    uint32_t version, d, k, reserved;
    uint64_t fingerprint;
    double held;
};
_Static_assert(sizeof(struct header) == 40, "header of a basis");

static const struct hx_sealed_kind kind = {"HXUGT", "basis of hidden states", 1, sizeof(struct header)};

int hx_ugt_write(const struct hx_ugt *u, uint64_t fingerprint, const char *path, struct hx_error *err)
{
    struct header h = {.version = kind.version, .d = (uint32_t)u->d, .k = (uint32_t)u->k, .fingerprint = fingerprint, .held = u->held};
    const struct hx_sealed_part parts[] = {{&h, sizeof(h)}, {u->mean, u->d * sizeof(double)}, {u->basis, u->k * u->d * sizeof(double)}};

    memcpy(h.magic, kind.magic, sizeof(h.magic));
    return hx_sealed_write(path, &kind, parts, sizeof(parts) / sizeof(parts[0]), err);
}

static int check(const struct header *h, size_t n, const char *path, uint64_t fingerprint, struct hx_error *err)
{
    if (h->reserved || !h->d || h->d > MOST || !h->k || h->k > h->d || n != sizeof(*h) + ((size_t)h->k + 1) * h->d * sizeof(double))
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are not those of a basis of %u x %u", path, n, h->d, h->k);
    if (!(h->held >= 0 && h->held <= 1 + most_skew))
        return hx_error_set(err, -EINVAL, "%s: held = %g; a share is 0..1", path, h->held);
    return hx_sealed_model(path, &kind, h->fingerprint, fingerprint, err);
}

static int take(struct hx_ugt *u, const struct header *h, const char *body, const char *path, struct hx_error *err)
{
    const size_t mean = h->d * sizeof(double), basis = h->k * mean;
    double skew;

    *u = (struct hx_ugt){h->d, h->k, malloc(mean), malloc(basis), h->held};
    if (!u->mean || !u->basis)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    memcpy(u->mean, body, mean);
    memcpy(u->basis, body + mean, basis);
    for (size_t i = 0; i < (size_t)h->k * h->d; i++)
        if (!isfinite(u->basis[i]) || !isfinite(u->mean[i % h->d]))
            return hx_error_set(err, -EINVAL, "%s: a number is not finite", path);
    skew = hx_ugt_skew(u->basis, u->k, u->d);
    return skew <= most_skew ? 0 : hx_error_set(err, -EINVAL, "%s: its basis is not orthonormal: off by %g, %g at most", path, skew,
                                                most_skew);
}

int hx_ugt_read(struct hx_ugt *u, const char *path, uint64_t fingerprint, uint64_t *found, struct hx_error *err)
{
    struct header h;
    char *bytes;
    size_t n;
    int rc = hx_sealed_read(path, &kind, &bytes, &n, err);

    *u = (struct hx_ugt){0};
    if (rc)
        return rc;
    memcpy(&h, bytes, sizeof(h));
    rc = check(&h, n, path, fingerprint, err);
    if (!rc)
        rc = take(u, &h, bytes + sizeof(h), path, err);
    if (rc)
        hx_ugt_free(u);
    else if (found)
        *found = h.fingerprint;
    free(bytes);
    return rc;
}
