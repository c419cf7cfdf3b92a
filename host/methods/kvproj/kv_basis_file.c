/* Files of bases, see kv_basis.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hx_block.h"
#include "kv_basis.h"
#include "methods/capture/part.h"
#include "text/text.h"

enum { VERSION = 1, FLAG_K_AFTER_ROPE = 1, FLAG_CALIB = 2 };

static const char magic[8] = "HXKVB\0\0";

struct header {
    char magic[8];
    uint32_t version, dh, n_layer, n_kv, flags, reserved;
    uint64_t fingerprint;
};
_Static_assert(sizeof(struct header) == 40, "header of a basis");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static size_t floats_of(size_t n_layer, size_t n_kv, size_t dh)
{
    return n_layer * 2 * n_kv * dh * dh;
}

static int check(const char *bytes, size_t n, const char *path, const struct hx_model *m, struct hx_error *err)
{
    struct header h;
    uint32_t crc;

    if (n < sizeof(h) + sizeof(crc) || memcmp(bytes, magic, sizeof(magic)))
        return hx_error_set(err, -EINVAL, "%s: no file of bases of K and V", path);
    memcpy(&h, bytes, sizeof(h));
    memcpy(&crc, bytes + n - sizeof(crc), sizeof(crc));
    if (h.version != VERSION || h.reserved || h.flags > (FLAG_K_AFTER_ROPE | FLAG_CALIB))
        return hx_error_set(err, -EINVAL, "%s: version %u of bases; %d is known", path, h.version, VERSION);
    if (crc != hx_crc32(0, bytes, n - sizeof(crc)))
        return hx_error_set(err, -EINVAL, "%s: damaged: its checksum is another", path);
    if (h.fingerprint != m->fingerprint || h.dh != m->dh || h.n_layer != m->n_layer || h.n_kv != m->n_kv)
        return hx_error_set(err, -EINVAL, "%s: basis of another model (fingerprint %016" PRIx64 ", %s has %016" PRIx64 ")", path,
                            h.fingerprint, hx_gguf_name(m->file), m->fingerprint);
    if (n != sizeof(h) + floats_of(h.n_layer, h.n_kv, h.dh) * sizeof(float) + sizeof(crc))
        return hx_error_set(err, -EINVAL, "%s: %zu bytes are not those of its shape", path, n);
    return 0;
}

int hx_kv_basis_read(struct hx_kv_basis **out, const char *path, const struct hx_model *m, struct hx_error *err)
{
    struct hx_kv_basis *b = NULL;
    struct header h;
    char *bytes;
    size_t n;
    int rc = hx_text_read(path, &bytes, &n, err);

    if (rc)
        return rc;
    rc = check(bytes, n, path, m, err);
    if (!rc)
        rc = hx_kv_basis_units(&b, m, 0, err);
    if (!rc) {
        memcpy(&h, bytes, sizeof(h));
        b->k_after_rope = (h.flags & FLAG_K_AFTER_ROPE) != 0;
        b->from = h.flags & FLAG_CALIB ? HX_KV_BASIS_CALIB : HX_KV_BASIS_WEIGHT;
        memcpy(b->u, bytes + sizeof(h), floats_of(h.n_layer, h.n_kv, h.dh) * sizeof(float));
        *out = b;
    }
    free(bytes);
    return rc;
}

int hx_kv_basis_write(const struct hx_kv_basis *b, const char *path, struct hx_error *err)
{
    struct header h = {.version = VERSION, .dh = (uint32_t)b->dh, .n_layer = (uint32_t)b->n_layer, .n_kv = (uint32_t)b->n_kv,
                       .flags = (b->k_after_rope ? FLAG_K_AFTER_ROPE : 0u) | (b->from == HX_KV_BASIS_CALIB ? FLAG_CALIB : 0u),
                       .fingerprint = b->fingerprint};
    const size_t n = floats_of(b->n_layer, b->n_kv, b->dh);
    struct hx_capture_part part;
    uint32_t crc;
    int rc;

    memcpy(h.magic, magic, sizeof(magic));
    crc = hx_crc32(hx_crc32(0, &h, sizeof(h)), b->u, n * sizeof(*b->u));
    rc = hx_capture_part_open(&part, path, magic, sizeof(magic), err);
    if (rc)
        return rc;
    if (fwrite(&h, sizeof(h), 1, part.file) != 1 || fwrite(b->u, sizeof(*b->u), n, part.file) != n ||
        fwrite(&crc, sizeof(crc), 1, part.file) != 1) {
        hx_capture_part_drop(&part);
        return hx_error_set(err, -EIO, "%s: cannot write", path);
    }
    rc = hx_capture_part_keep(&part);
    return rc ? hx_error_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}
