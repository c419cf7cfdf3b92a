/* GGUF v3 reader, see gguf.h.  Every length in the file is a claim: it is compared with what is left of the file before
 * it is used, and counts are bounded by the smallest encoding of what they count. */
#include "gguf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "GGUF data is used in place");

enum {
    VERSION = 3,
    MIN_KV_BYTES = 8 + 4 + 1,
    MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8,
    MAX_DIMS = 4,
    MAX_NESTING = 8, /* arrays of arrays */
    MIN_ALIGNMENT = 8,
    MAX_ALIGNMENT = 1 << 20,
    DEFAULT_ALIGNMENT = 32,
    SHOWN = 64, /* bytes of a name that a message quotes */
};

struct hx_gguf {
    char *name;
    const uint8_t *base;
    size_t size;
    int mapped; /* base belongs to us */
    struct hx_gguf_kv *kv;
    size_t n_kv;
    struct hx_gguf_tensor *tensors;
    size_t n_tensors;
    uint64_t alignment;
};

/* What is left to read. */
struct cursor {
    const uint8_t *p, *end;
};

static const uint8_t scalar_bytes[HX_GGUF_TYPES] = {
    [HX_GGUF_U8] = 1,  [HX_GGUF_I8] = 1,  [HX_GGUF_U16] = 2, [HX_GGUF_I16] = 2,
    [HX_GGUF_U32] = 4, [HX_GGUF_I32] = 4, [HX_GGUF_F32] = 4, [HX_GGUF_BOOL] = 1,
    [HX_GGUF_U64] = 8, [HX_GGUF_I64] = 8, [HX_GGUF_F64] = 8,
};

static const char *const quant_names[] = {
    [0] = "F32",      [1] = "F16",      [2] = "Q4_0",    [3] = "Q4_1",     [6] = "Q5_0",
    [7] = "Q5_1",     [8] = "Q8_0",     [9] = "Q8_1",    [10] = "Q2_K",    [11] = "Q3_K",
    [12] = "Q4_K",    [13] = "Q5_K",    [14] = "Q6_K",   [15] = "Q8_K",    [16] = "IQ2_XXS",
    [17] = "IQ2_XS",  [18] = "IQ3_XXS", [19] = "IQ1_S",  [20] = "IQ4_NL",  [21] = "IQ3_S",
    [22] = "IQ2_S",   [23] = "IQ4_XS",  [24] = "I8",     [25] = "I16",     [26] = "I32",
    [27] = "I64",     [28] = "F64",     [29] = "IQ1_M",  [30] = "BF16",    [34] = "TQ1_0",
    [35] = "TQ2_0",   [39] = "MXFP4",
};

const char *hx_quant_name(uint32_t type)
{
    if (type >= sizeof(quant_names) / sizeof(quant_names[0]) || !quant_names[type])
        return "?";
    return quant_names[type];
}

int hx_str_is(struct hx_str s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static int shown(struct hx_str s)
{
    return s.n < SHOWN ? (int)s.n : SHOWN;
}

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
                     struct hx_why *why)
{
    return hx_why_set(why, -EINVAL, "%s: truncated or damaged in %s at byte %zu of %zu", g->name,
                      what, (size_t)(c->p - g->base), g->size);
}

static int skip_values(struct cursor *c, uint32_t type, uint64_t n, int depth);

static int skip_array(struct cursor *c, int depth)
{
    uint32_t elem;
    uint64_t n;

    if (take(c, &elem, sizeof(elem)) || take(c, &n, sizeof(n)))
        return -EINVAL;
    return skip_values(c, elem, n, depth + 1);
}

/* Steps over n values of `type`, checking that they are there. */
static int skip_values(struct cursor *c, uint32_t type, uint64_t n, int depth)
{
    struct hx_str s;

    if (type >= HX_GGUF_TYPES || depth > MAX_NESTING)
        return -EINVAL;
    if (scalar_bytes[type]) {
        if (n > left(c) / scalar_bytes[type])
            return -EINVAL;
        c->p += n * scalar_bytes[type];
        return 0;
    }
    for (uint64_t i = 0; i < n; i++) /* each step consumes at least 8 bytes or fails */
        if (type == HX_GGUF_STRING ? take_str(c, &s) : skip_array(c, depth))
            return -EINVAL;
    return 0;
}

static int read_kv(struct cursor *c, struct hx_gguf_kv *kv)
{
    if (take_str(c, &kv->key) || take(c, &kv->type, sizeof(kv->type)))
        return -EINVAL;
    kv->elem = kv->type;
    kv->n = 1;
    if (kv->type == HX_GGUF_ARRAY &&
        (take(c, &kv->elem, sizeof(kv->elem)) || take(c, &kv->n, sizeof(kv->n))))
        return -EINVAL;
    kv->data = c->p;
    return skip_values(c, kv->elem, kv->n, 0);
}

/* Bytes of a tensor of this shape; 0 when that is not a number or the shape does not suit the type. */
static uint64_t tensor_bytes(const struct hx_gguf_tensor *t)
{
    uint64_t n = 1, bytes;

    for (uint32_t i = 0; i < MAX_DIMS; i++)
        if (__builtin_mul_overflow(n, t->dims[i], &n))
            return 0;
    switch (t->type) {
    case HX_QUANT_F32:
        return __builtin_mul_overflow(n, 4, &bytes) ? 0 : bytes;
    case HX_QUANT_F16:
        return __builtin_mul_overflow(n, 2, &bytes) ? 0 : bytes;
    case HX_QUANT_Q8_0:
        if (t->dims[0] % HX_Q8_0_WEIGHTS)
            return 0;
        return __builtin_mul_overflow(n / HX_Q8_0_WEIGHTS, HX_Q8_0_BYTES, &bytes) ? 0 : bytes;
    default:
        return 0;
    }
}

/* Reads one tensor's record; `offset` gets its place relative to the data section. */
static int read_tensor(struct hx_gguf *g, struct cursor *c, struct hx_gguf_tensor *t,
                       uint64_t *offset, struct hx_why *why)
{
    if (take_str(c, &t->name) || take(c, &t->n_dims, sizeof(t->n_dims)))
        return truncated(g, c, "the tensor list", why);
    if (t->n_dims < 1 || t->n_dims > MAX_DIMS)
        return hx_why_set(why, -EINVAL, "%s: tensor '%.*s' has %u dimensions, 1 to %d are legal",
                          g->name, shown(t->name), t->name.p, t->n_dims, MAX_DIMS);
    for (uint32_t i = 0; i < MAX_DIMS; i++) {
        t->dims[i] = 1;
        if (i < t->n_dims && take(c, &t->dims[i], sizeof(t->dims[i])))
            return truncated(g, c, "the tensor list", why);
    }
    if (take(c, &t->type, sizeof(t->type)) || take(c, offset, sizeof(*offset)))
        return truncated(g, c, "the tensor list", why);
    if (t->type != HX_QUANT_F32 && t->type != HX_QUANT_F16 && t->type != HX_QUANT_Q8_0)
        return hx_why_set(why, -EINVAL,
                          "%s: tensor '%.*s' has type %u (%s); supported are F32, F16 and Q8_0",
                          g->name, shown(t->name), t->name.p, t->type, hx_quant_name(t->type));
    t->bytes = tensor_bytes(t);
    if (!t->bytes)
        return hx_why_set(why, -EINVAL, "%s: tensor '%.*s' has an impossible shape for %s: "
                          "%llu x %llu x %llu x %llu", g->name, shown(t->name), t->name.p,
                          hx_quant_name(t->type), (unsigned long long)t->dims[0],
                          (unsigned long long)t->dims[1], (unsigned long long)t->dims[2],
                          (unsigned long long)t->dims[3]);
    return 0;
}

static int read_all_kv(struct hx_gguf *g, struct cursor *c, uint64_t n, struct hx_why *why)
{
    uint32_t alignment = DEFAULT_ALIGNMENT;

    if (n > left(c) / MIN_KV_BYTES)
        return hx_why_set(why, -EINVAL, "%s: truncated: %llu metadata entries, %zu bytes left",
                          g->name, (unsigned long long)n, left(c));
    g->kv = calloc(n ? n : 1, sizeof(*g->kv));
    if (!g->kv)
        return hx_why_set(why, -ENOMEM, "%s: out of memory", g->name);
    for (g->n_kv = 0; g->n_kv < n; g->n_kv++)
        if (read_kv(c, &g->kv[g->n_kv]))
            return truncated(g, c, "the metadata", why);
    if (hx_gguf_find(g, "general.alignment")) {
        int rc = hx_gguf_u32(g, "general.alignment", &alignment, why);
        if (rc)
            return rc;
    }
    if (alignment < MIN_ALIGNMENT || alignment > MAX_ALIGNMENT || (alignment & (alignment - 1)))
        return hx_why_set(why, -EINVAL,
                          "%s: general.alignment is %u; powers of two from %d to %d are legal",
                          g->name, alignment, MIN_ALIGNMENT, MAX_ALIGNMENT);
    g->alignment = alignment;
    return 0;
}

/* Turns the tensors' offsets into checked pointers. */
static int place_tensors(struct hx_gguf *g, uint64_t data_start, const uint64_t *offsets,
                         struct hx_why *why)
{
    uint64_t data_bytes = data_start < g->size ? g->size - data_start : 0;

    for (size_t i = 0; i < g->n_tensors; i++) {
        struct hx_gguf_tensor *t = &g->tensors[i];

        if (offsets[i] & (g->alignment - 1))
            return hx_why_set(why, -EINVAL,
                              "%s: tensor '%.*s' starts at %llu, not a multiple of %llu", g->name,
                              shown(t->name), t->name.p, (unsigned long long)offsets[i],
                              (unsigned long long)g->alignment);
        if (offsets[i] > data_bytes || t->bytes > data_bytes - offsets[i])
            return hx_why_set(why, -EINVAL,
                              "%s: truncated: tensor '%.*s' needs %llu bytes at %llu, the data "
                              "section has %llu", g->name, shown(t->name), t->name.p,
                              (unsigned long long)t->bytes, (unsigned long long)offsets[i],
                              (unsigned long long)data_bytes);
        t->data = g->base + data_start + offsets[i];
    }
    return 0;
}

static int read_all_tensors(struct hx_gguf *g, struct cursor *c, uint64_t n, struct hx_why *why)
{
    uint64_t *offsets, header_bytes;
    int rc = 0;

    if (n > left(c) / MIN_TENSOR_BYTES)
        return hx_why_set(why, -EINVAL, "%s: truncated: %llu tensors, %zu bytes left", g->name,
                          (unsigned long long)n, left(c));
    g->tensors = calloc(n ? n : 1, sizeof(*g->tensors));
    offsets = calloc(n ? n : 1, sizeof(*offsets));
    if (!g->tensors || !offsets)
        rc = hx_why_set(why, -ENOMEM, "%s: out of memory", g->name);
    for (; !rc && g->n_tensors < n; g->n_tensors++)
        rc = read_tensor(g, c, &g->tensors[g->n_tensors], &offsets[g->n_tensors], why);
    if (!rc) {
        header_bytes = (uint64_t)(c->p - g->base);
        rc = place_tensors(g, (header_bytes + g->alignment - 1) & ~(g->alignment - 1), offsets,
                           why);
    }
    free(offsets);
    return rc;
}

static int parse(struct hx_gguf *g, struct hx_why *why)
{
    struct cursor c = {g->base, g->base + g->size};
    uint64_t n_tensors, n_kv;
    uint32_t version;
    char magic[4];
    int rc;

    if (take(&c, magic, sizeof(magic)) || memcmp(magic, "GGUF", 4))
        return hx_why_set(why, -EINVAL, "%s: not a GGUF file (no GGUF magic)", g->name);
    if (take(&c, &version, sizeof(version)))
        return truncated(g, &c, "the header", why);
    if (version != VERSION)
        return hx_why_set(why, -EINVAL, "%s: GGUF version %u is not supported, only %d is",
                          g->name, version, VERSION);
    if (take(&c, &n_tensors, sizeof(n_tensors)) || take(&c, &n_kv, sizeof(n_kv)))
        return truncated(g, &c, "the header", why);
    rc = read_all_kv(g, &c, n_kv, why);
    return rc ? rc : read_all_tensors(g, &c, n_tensors, why);
}

int hx_gguf_open_bytes(struct hx_gguf **out, const char *name, const void *bytes, size_t n,
                       struct hx_why *why)
{
    struct hx_gguf *g = calloc(1, sizeof(*g));
    int rc;

    if (!g)
        return hx_why_set(why, -ENOMEM, "%s: out of memory", name);
    g->base = bytes;
    g->size = n;
    g->name = strdup(name);
    rc = g->name ? parse(g, why) : hx_why_set(why, -ENOMEM, "%s: out of memory", name);
    if (rc) {
        hx_gguf_close(g);
        return rc;
    }
    *out = g;
    return 0;
}

int hx_gguf_open(struct hx_gguf **out, const char *path, struct hx_why *why)
{
    void *map = MAP_FAILED;
    struct stat st;
    int fd, rc;

    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        rc = hx_why_set(why, -errno, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        rc = hx_why_set(why, -EINVAL, "%s: is a directory", path);
    } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        rc = hx_why_set(why, -EINVAL, "%s: not a GGUF file (%s)", path,
                        S_ISREG(st.st_mode) ? "empty" : "not a regular file");
    } else {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        rc = map == MAP_FAILED ? hx_why_set(why, -errno, "%s: mmap: %s", path, strerror(errno))
                               : hx_gguf_open_bytes(out, path, map, (size_t)st.st_size, why);
    }
    if (fd >= 0)
        close(fd);
    if (rc && map != MAP_FAILED)
        munmap(map, (size_t)st.st_size);
    if (!rc)
        (*out)->mapped = 1;
    return rc;
}

void hx_gguf_close(struct hx_gguf *g)
{
    if (!g)
        return;
    if (g->mapped)
        munmap((void *)g->base, g->size);
    free(g->kv);
    free(g->tensors);
    free(g->name);
    free(g);
}

const char *hx_gguf_name(const struct hx_gguf *g)
{
    return g->name;
}

uint64_t hx_gguf_offset(const struct hx_gguf *g, const void *p)
{
    return (uint64_t)((const uint8_t *)p - g->base);
}

const struct hx_gguf_kv *hx_gguf_find(const struct hx_gguf *g, const char *key)
{
    for (size_t i = 0; i < g->n_kv; i++)
        if (hx_str_is(g->kv[i].key, key))
            return &g->kv[i];
    return NULL;
}

const struct hx_gguf_tensor *hx_gguf_tensor(const struct hx_gguf *g, const char *name)
{
    for (size_t i = 0; i < g->n_tensors; i++)
        if (hx_str_is(g->tensors[i].name, name))
            return &g->tensors[i];
    return NULL;
}

static int find(const struct hx_gguf *g, const char *key, const struct hx_gguf_kv **kv,
                struct hx_why *why)
{
    *kv = hx_gguf_find(g, key);
    return *kv ? 0 : hx_why_set(why, -ENOENT, "%s: no metadata key '%s'", g->name, key);
}

static int wrong_type(const struct hx_gguf *g, const char *key, const char *want,
                      struct hx_why *why)
{
    return hx_why_set(why, -EINVAL, "%s: metadata '%s' is not %s", g->name, key, want);
}

/* The integer value of a scalar; -1 when it is negative, no integer, or beyond int64. */
static int64_t integer_value(const struct hx_gguf_kv *kv)
{
    uint64_t u = 0;

    if (kv->type > HX_GGUF_F64 || !scalar_bytes[kv->type])
        return -1;
    memcpy(&u, kv->data, scalar_bytes[kv->type]);
    switch (kv->type) {
    case HX_GGUF_U8:
    case HX_GGUF_U16:
    case HX_GGUF_U32:
    case HX_GGUF_U64:
    case HX_GGUF_I64:
        return (int64_t)u;
    case HX_GGUF_I8:
        return (int8_t)u;
    case HX_GGUF_I16:
        return (int16_t)u;
    case HX_GGUF_I32:
        return (int32_t)u;
    default:
        return -1;
    }
}

int hx_gguf_u32(const struct hx_gguf *g, const char *key, uint32_t *out, struct hx_why *why)
{
    const struct hx_gguf_kv *kv;
    int64_t v;
    int rc = find(g, key, &kv, why);

    if (rc)
        return rc;
    v = integer_value(kv);
    if (v < 0 || v > UINT32_MAX)
        return wrong_type(g, key, "an integer from 0 to 4294967295", why);
    *out = (uint32_t)v;
    return 0;
}

int hx_gguf_f32(const struct hx_gguf *g, const char *key, float *out, struct hx_why *why)
{
    const struct hx_gguf_kv *kv;
    int rc = find(g, key, &kv, why);

    if (rc)
        return rc;
    if (kv->type != HX_GGUF_F32)
        return wrong_type(g, key, "a 32-bit float", why);
    memcpy(out, kv->data, sizeof(*out));
    return 0;
}

int hx_gguf_str(const struct hx_gguf *g, const char *key, struct hx_str *out, struct hx_why *why)
{
    const struct hx_gguf_kv *kv;
    const uint8_t *p;
    int rc = find(g, key, &kv, why);

    if (rc)
        return rc;
    if (kv->type != HX_GGUF_STRING)
        return wrong_type(g, key, "a string", why);
    p = kv->data;
    *out = hx_gguf_next_str(&p);
    return 0;
}

int hx_gguf_array(const struct hx_gguf *g, const char *key, enum hx_gguf_type elem,
                  const struct hx_gguf_kv **out, struct hx_why *why)
{
    int rc = find(g, key, out, why);

    if (rc)
        return rc;
    if ((*out)->type != HX_GGUF_ARRAY || (*out)->elem != elem)
        return wrong_type(g, key, "an array of the expected type", why);
    return 0;
}

struct hx_str hx_gguf_next_str(const uint8_t **cursor)
{
    struct hx_str s;
    uint64_t n;

    memcpy(&n, *cursor, sizeof(n));
    s.p = (const char *)*cursor + sizeof(n);
    s.n = n;
    *cursor += sizeof(n) + n;
    return s;
}
