/* Files of guards, see guard_file.h. */
#include "guard_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "methods/capture/sealed.h"

enum { MOST = 1 << 16 /* numbers of a state */ };

struct header {
    char magic[8];
    uint32_t version, d, f, reserved;
    uint64_t fingerprint;
    double threshold;
    char name[64];
};
_Static_assert(sizeof(struct header) == 104, "header of a guard");

static const struct hx_sealed_kind kind = {"HXGUARD", "guard", 1, sizeof(struct header)};

int hx_guard_write(const struct hx_guard *g, const char *path, struct hx_error *err)
{
    struct header h = {.version = kind.version, .d = (uint32_t)g->d, .f = (uint32_t)g->f, .fingerprint = g->fingerprint,
                       .threshold = g->threshold};
    const struct hx_sealed_part parts[] = {{&h, sizeof(h)}, {g->q, g->f * g->d * sizeof(*g->q)}};

    memcpy(h.magic, kind.magic, sizeof(h.magic));
    memcpy(h.name, g->name, strnlen(g->name, sizeof(h.name) - 1));
    return hx_sealed_write(path, &kind, parts, sizeof(parts) / sizeof(parts[0]), err);
}

static int check(const struct header *h, size_t n, const char *path, uint64_t fingerprint, struct hx_error *err)
{
    if (h->reserved || !h->d || h->d > MOST || !h->f || h->f > h->d || n != sizeof(*h) + (size_t)h->f * h->d * sizeof(float) ||
        h->name[sizeof(h->name) - 1] || !(h->threshold >= 0 && h->threshold <= 1))
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are not those of a guard of %u x %u", path, n, h->d, h->f);
    return hx_sealed_model(path, &kind, h->fingerprint, fingerprint, err);
}

static int take(struct hx_guard *g, const struct header *h, const char *body, const char *path, struct hx_error *err)
{
    const size_t bytes = (size_t)h->f * h->d * sizeof(float);
    double skew;

    *g = (struct hx_guard){.threshold = h->threshold, .q = malloc(bytes), .f = h->f, .d = h->d, .fingerprint = h->fingerprint};
    if (!g->q)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    memcpy(g->name, h->name, sizeof(g->name));
    memcpy(g->q, body, bytes);
    skew = hx_guard_skew(&(struct hx_guard_q){g->q, g->f, g->d});
    return skew <= HX_GUARD_SKEW ? 0 : hx_error_set(err, -EINVAL, "%s: its directions are not orthonormal: off by %g, %g at most", path,
                                                    skew, HX_GUARD_SKEW);
}

int hx_guard_read(struct hx_guard *g, const char *path, uint64_t fingerprint, struct hx_error *err)
{
    struct header h;
    char *bytes;
    size_t n;
    int rc = hx_sealed_read(path, &kind, &bytes, &n, err);

    *g = (struct hx_guard){.q = NULL};
    if (rc)
        return rc;
    memcpy(&h, bytes, sizeof(h));
    rc = check(&h, n, path, fingerprint, err);
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
