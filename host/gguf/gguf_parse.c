/* From the bytes of a GGUF file to checked records.  Every length in the file is a claim: it is compared with
 * what is left of the file before it is used, and counts are bounded by the smallest encoding of what they count. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_impl.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "GGUF data is used in place");

enum {
    OLDEST = 2, /* version 1 had counts of 32 bits */
    NEWEST = 3, /* as 2, and says that big-endian files exist */
    MIN_KV_BYTES = 8 + 4 + 1,
    MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8,
    MAX_DIMS = 4,
    MIN_ALIGNMENT = 8,
    MAX_ALIGNMENT = 1 << 20,
    DEFAULT_ALIGNMENT = 32,
};

/* What is left to read. */
struct cursor {
    const uint8_t *p, *end;
};

static size_t left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

static int take(struct cursor *c, void *out, size_t n)
{
    if (left(c) < n)
        return -EINVAL;
    memcpy(out, c->p, n);
    c->p += n;
    return 0;
}

static int take_str(struct cursor *c, struct hx_str *s)
{
    uint64_t n;

    if (take(c, &n, sizeof(n)) || n > left(c))
        return -EINVAL;
    s->p = (const char *)c->p;
    s->n = n;
    c->p += n;
    return 0;
}

static int truncated(const struct hx_gguf *g, const struct cursor *c, const char *what,
                     struct hx_error *err)
{
    return hx_error_set(err, -EINVAL, "%s: truncated or damaged in %s at byte %zu of %zu", g->name,
                        what, (size_t)(c->p - g->base), g->size);
}

/* --- metadata */

/* Steps over n scalars or strings, checking that they are there. */
static int skip_values(struct cursor *c, uint32_t type, uint64_t n)
{
    struct hx_str s;

    if (type == HX_GGUF_STRING) {
        for (uint64_t i = 0; i < n; i++) /* each step consumes at least 8 bytes or fails */
            if (take_str(c, &s))
                return -EINVAL;
        return 0;
    }
    if (n > left(c) / hx_gguf_scalar_size(type))
        return -EINVAL;
    c->p += n * hx_gguf_scalar_size(type);
    return 0;
}

static int bad_type(const struct hx_gguf *g, const struct hx_gguf_kv *kv, struct hx_error *err)
{
    if (kv->elem == HX_GGUF_ARRAY)
        return hx_error_set(err, -EINVAL, "%s: metadata '%s' is an array of arrays, which hexrig "
                          "does not read", g->name, hx_str_shown(kv->key).text);
    return hx_error_set(err, -EINVAL, "%s: metadata '%s' has type %" PRIu32 "; 0 to %d are defined",
                        g->name, hx_str_shown(kv->key).text, kv->elem, HX_GGUF_TYPES - 1);
}

static int read_kv(struct hx_gguf *g, struct cursor *c, struct hx_gguf_kv *kv, struct hx_error *err)
{
    if (take_str(c, &kv->key) || take(c, &kv->type, sizeof(kv->type)))
        return truncated(g, c, "the metadata", err);
    kv->elem = kv->type;
    kv->n = 1;
    if (kv->type == HX_GGUF_ARRAY &&
        (take(c, &kv->elem, sizeof(kv->elem)) || take(c, &kv->n, sizeof(kv->n))))
        return truncated(g, c, "the metadata", err);
    if (kv->elem >= HX_GGUF_TYPES || kv->elem == HX_GGUF_ARRAY)
        return bad_type(g, kv, err);
    kv->data = c->p;
    if (skip_values(c, kv->elem, kv->n))
        return truncated(g, c, "the metadata", err);
    kv->bytes = (size_t)(c->p - kv->data);
    return 0;
}

static int read_alignment(struct hx_gguf *g, struct hx_error *err)
{
    uint32_t alignment = DEFAULT_ALIGNMENT;
    int rc = 0;

    if (hx_gguf_find(g, "general.alignment"))
        rc = hx_gguf_u32(g, "general.alignment", &alignment, err);
    if (rc)
        return rc;
    if (alignment < MIN_ALIGNMENT || alignment > MAX_ALIGNMENT || (alignment & (alignment - 1)))
        return hx_error_set(err, -EINVAL, "%s: general.alignment is %" PRIu32
                          "; powers of two from %d to %d are legal", g->name, alignment,
                          MIN_ALIGNMENT, MAX_ALIGNMENT);
    g->alignment = alignment;
    return 0;
}

static int read_all_kv(struct hx_gguf *g, struct cursor *c, uint64_t n, struct hx_error *err)
{
    int rc = 0;

    if (n > left(c) / MIN_KV_BYTES)
        return hx_error_set(err, -EINVAL, "%s: truncated: %" PRIu64 " metadata entries, %zu bytes "
                          "left", g->name, n, left(c));
    g->kv = calloc(n ? n : 1, sizeof(*g->kv));
    if (!g->kv)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);
    for (; !rc && g->n_kv < n; g->n_kv++)
        rc = read_kv(g, c, &g->kv[g->n_kv], err);
    if (!rc)
        rc = hx_gguf_index_make(g, &g->keys, g->kv, g->n_kv, sizeof(*g->kv), "metadata key", err);
    return rc ? rc : read_alignment(g, err);
}

/* --- tensors */

/* Bytes of a tensor of this shape; 0 when that is not a number or a row is no whole number of blocks. */
static uint64_t tensor_bytes(const struct hx_gguf_tensor *t, const struct hx_quant_info *info)
{
    uint64_t n = 1, bytes;

    for (uint32_t i = 0; i < MAX_DIMS; i++)
        if (__builtin_mul_overflow(n, t->dims[i], &n))
            return 0;
    if (t->dims[0] % info->weights)
        return 0;
    return __builtin_mul_overflow(n / info->weights, info->bytes, &bytes) ? 0 : bytes;
}

static int impossible(const struct hx_gguf *g, const struct hx_gguf_tensor *t,
                      const struct hx_quant_info *info, struct hx_error *err)
{
    return hx_error_set(err, -EINVAL, "%s: tensor '%s' has an impossible shape for %s: %" PRIu64
                      " x %" PRIu64 " x %" PRIu64 " x %" PRIu64 "%s", g->name,
                      hx_str_shown(t->name).text, info->name, t->dims[0], t->dims[1], t->dims[2],
                      t->dims[3], t->dims[0] % info->weights ? " (a row is no whole number of its "
                      "blocks)" : "");
}

static int unsupported(const struct hx_gguf *g, const struct hx_gguf_tensor *t, struct hx_error *err)
{
    char legal[192] = "";
    size_t n = 0;

    for (uint32_t type = 0; type < HX_QUANT_NAMES && n < sizeof(legal); type++)
        if (hx_quant_info(type))
            n += (size_t)snprintf(legal + n, sizeof(legal) - n, "%s%s", n ? " " : "",
                                  hx_quant_name(type));
    return hx_error_set(err, -EINVAL, "%s: tensor '%s' has type %" PRIu32 " (%s); supported are %s",
                      g->name, hx_str_shown(t->name).text, t->type, hx_quant_name(t->type), legal);
}

/* Reads one tensor's record; `offset` gets its place relative to the data section. */
static int read_tensor(struct hx_gguf *g, struct cursor *c, struct hx_gguf_tensor *t,
                       uint64_t *offset, struct hx_error *err)
{
    const struct hx_quant_info *info;

    if (take_str(c, &t->name) || take(c, &t->n_dims, sizeof(t->n_dims)))
        return truncated(g, c, "the tensor list", err);
    if (t->n_dims < 1 || t->n_dims > MAX_DIMS)
        return hx_error_set(err, -EINVAL, "%s: tensor '%s' has %" PRIu32
                          " dimensions, 1 to %d are legal", g->name, hx_str_shown(t->name).text,
                          t->n_dims, MAX_DIMS);
    for (uint32_t i = 0; i < MAX_DIMS; i++) {
        t->dims[i] = 1;
        if (i < t->n_dims && take(c, &t->dims[i], sizeof(t->dims[i])))
            return truncated(g, c, "the tensor list", err);
    }
    if (take(c, &t->type, sizeof(t->type)) || take(c, offset, sizeof(*offset)))
        return truncated(g, c, "the tensor list", err);
    info = hx_quant_info(t->type);
    if (!info)
        return unsupported(g, t, err);
    t->bytes = tensor_bytes(t, info);
    return t->bytes ? 0 : impossible(g, t, info, err);
}

/* Turns the tensors' offsets into checked pointers. */
static int place_tensors(struct hx_gguf *g, const uint64_t *offsets, struct hx_error *err)
{
    const uint64_t data_bytes = g->data_start < g->size ? g->size - g->data_start : 0;

    for (size_t i = 0; i < g->n_tensors; i++) {
        struct hx_gguf_tensor *t = &g->tensors[i];

        if (offsets[i] & (g->alignment - 1))
            return hx_error_set(err, -EINVAL, "%s: tensor '%s' starts at %" PRIu64
                              ", not a multiple of %" PRIu32, g->name, hx_str_shown(t->name).text,
                              offsets[i], g->alignment);
        if (offsets[i] > data_bytes || t->bytes > data_bytes - offsets[i])
            return hx_error_set(err, -EINVAL, "%s: truncated: tensor '%s' needs %" PRIu64
                              " bytes at %" PRIu64 ", the data section has %" PRIu64, g->name,
                              hx_str_shown(t->name).text, t->bytes, offsets[i], data_bytes);
        t->data = g->base + g->data_start + offsets[i];
    }
    return 0;
}

static int read_all_tensors(struct hx_gguf *g, struct cursor *c, uint64_t n, struct hx_error *err)
{
    uint64_t *offsets;
    int rc = 0;

    if (n > left(c) / MIN_TENSOR_BYTES)
        return hx_error_set(err, -EINVAL, "%s: truncated: %" PRIu64 " tensors, %zu bytes left",
                            g->name, n, left(c));
    g->tensors = calloc(n ? n : 1, sizeof(*g->tensors));
    offsets = calloc(n ? n : 1, sizeof(*offsets));
    if (!g->tensors || !offsets)
        rc = hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);
    for (; !rc && g->n_tensors < n; g->n_tensors++)
        rc = read_tensor(g, c, &g->tensors[g->n_tensors], &offsets[g->n_tensors], err);
    if (!rc)
        rc = hx_gguf_index_make(g, &g->names, g->tensors, g->n_tensors, sizeof(*g->tensors), "tensor",
                                err);
    g->data_start = ((uint64_t)(c->p - g->base) + g->alignment - 1) & -(uint64_t)g->alignment;
    if (!rc)
        rc = place_tensors(g, offsets, err);
    free(offsets);
    return rc;
}

/* --- the header */

static int check_version(const struct hx_gguf *g, struct hx_error *err)
{
    const uint32_t swapped = __builtin_bswap32(g->version);

    if (g->version >= OLDEST && g->version <= NEWEST)
        return 0;
    if (swapped >= 1 && swapped <= NEWEST)
        return hx_error_set(err, -EINVAL, "%s: a big-endian GGUF file (version %" PRIu32
                          "); only little-endian ones are supported", g->name, swapped);
    return hx_error_set(err, -EINVAL, "%s: GGUF version %" PRIu32 " is not supported; %d and %d "
                      "are%s", g->name, g->version, OLDEST, NEWEST,
                      g->version == 1 ? " (version 1 files are from August 2023)" : "");
}

int hx_gguf_parse(struct hx_gguf *g, enum hx_gguf_depth depth, struct hx_error *err)
{
    struct cursor c = {g->base, g->base + g->size};
    uint64_t n_tensors, n_kv;
    char magic[4];
    int rc;

    if (take(&c, magic, sizeof(magic)) || memcmp(magic, "GGUF", 4))
        return hx_error_set(err, -EINVAL, "%s: not a GGUF file (no GGUF magic)", g->name);
    if (take(&c, &g->version, sizeof(g->version)))
        return truncated(g, &c, "the header", err);
    rc = check_version(g, err);
    if (rc)
        return rc;
    if (take(&c, &n_tensors, sizeof(n_tensors)) || take(&c, &n_kv, sizeof(n_kv)))
        return truncated(g, &c, "the header", err);
    rc = read_all_kv(g, &c, n_kv, err);
    return rc || depth == HX_GGUF_KEYS ? rc : read_all_tensors(g, &c, n_tensors, err);
}
