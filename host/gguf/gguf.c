/* GGUF files: opening them and looking things up, see gguf.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gguf_impl.h"

int hx_str_is(struct hx_str s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

int hx_gguf_open_bytes(struct hx_gguf **out, const char *name, const void *bytes, size_t n,
                       struct hx_error *err)
{
    struct hx_gguf *g = calloc(1, sizeof(*g));
    int rc;

    if (!g)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", name);
    g->base = bytes;
    g->size = n;
    g->name = strdup(name);
    rc = g->name ? hx_gguf_parse(g, err) : hx_error_set(err, -ENOMEM, "%s: out of memory", name);
    if (rc) {
        hx_gguf_close(g);
        return rc;
    }
    *out = g;
    return 0;
}

int hx_gguf_open(struct hx_gguf **out, const char *path, struct hx_error *err)
{
    void *map = MAP_FAILED;
    struct stat st;
    int fd, rc;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0 || fstat(fd, &st)) {
        rc = hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        rc = hx_error_set(err, -EINVAL, "%s: is a directory", path);
    } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        rc = hx_error_set(err, -EINVAL, "%s: not a GGUF file (%s)", path,
                        S_ISREG(st.st_mode) ? "empty" : "not a regular file");
    } else {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        rc = map == MAP_FAILED ? hx_error_set(err, -errno, "%s: mmap: %s", path, strerror(errno))
                               : hx_gguf_open_bytes(out, path, map, (size_t)st.st_size, err);
    }
    if (fd >= 0)
        close(fd);
    if (rc && map != MAP_FAILED)
        munmap(map, (size_t)st.st_size);
    if (!rc)
        (*out)->mapped = 1;
    return rc;
}

void hx_gguf_will_need(const struct hx_gguf *g)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t memory = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
    const uint64_t from = g->data_start & -page;

    /* only advice: a kernel that does not take it reads page by page */
    if (g->mapped && from < g->size && g->size - from <= memory / 2)
        madvise((void *)(g->base + from), g->size - from, MADV_WILLNEED);
}

void hx_gguf_close(struct hx_gguf *g)
{
    if (!g)
        return;
    if (g->mapped)
        munmap((void *)g->base, g->size);
    free(g->keys.at);
    free(g->names.at);
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
    return (const struct hx_gguf_kv *)hx_gguf_look_up(&g->keys, key);
}

const struct hx_gguf_tensor *hx_gguf_tensor(const struct hx_gguf *g, const char *name)
{
    return (const struct hx_gguf_tensor *)hx_gguf_look_up(&g->names, name);
}

struct hx_gguf_facts hx_gguf_facts(const struct hx_gguf *g)
{
    return (struct hx_gguf_facts){.version = g->version, .alignment = g->alignment,
                                  .file_bytes = g->size, .data_start = g->data_start,
                                  .kv = g->kv, .n_kv = g->n_kv,
                                  .tensors = g->tensors, .n_tensors = g->n_tensors};
}

static int find(const struct hx_gguf *g, const char *key, const struct hx_gguf_kv **kv,
                struct hx_error *err)
{
    *kv = hx_gguf_find(g, key);
    return *kv ? 0 : hx_error_set(err, -ENOENT, "%s: no metadata key '%s'", g->name, key);
}

static int wrong_type(const struct hx_gguf *g, const char *key, const char *want,
                      struct hx_error *err)
{
    return hx_error_set(err, -EINVAL, "%s: metadata '%s' is not %s", g->name, key, want);
}

/* The integer value of a scalar; -1 when it is negative, no integer, or beyond int64. */
static int64_t integer_value(const struct hx_gguf_kv *kv)
{
    uint64_t u = 0;

    memcpy(&u, kv->data, hx_gguf_scalar_size(kv->type)); /* strings and arrays: nothing */
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

int hx_gguf_u32(const struct hx_gguf *g, const char *key, uint32_t *out, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    int64_t v;
    int rc = find(g, key, &kv, err);

    if (rc)
        return rc;
    v = integer_value(kv);
    if (v < 0 || v > UINT32_MAX)
        return wrong_type(g, key, "an integer from 0 to 4294967295", err);
    *out = (uint32_t)v;
    return 0;
}

int hx_gguf_f32(const struct hx_gguf *g, const char *key, float *out, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    int rc = find(g, key, &kv, err);

    if (rc)
        return rc;
    if (kv->type != HX_GGUF_F32)
        return wrong_type(g, key, "a 32-bit float", err);
    memcpy(out, kv->data, sizeof(*out));
    return 0;
}

int hx_gguf_str(const struct hx_gguf *g, const char *key, struct hx_str *out, struct hx_error *err)
{
    const struct hx_gguf_kv *kv;
    const uint8_t *p;
    int rc = find(g, key, &kv, err);

    if (rc)
        return rc;
    if (kv->type != HX_GGUF_STRING)
        return wrong_type(g, key, "a string", err);
    p = kv->data;
    *out = hx_gguf_next_str(&p);
    return 0;
}

int hx_gguf_array(const struct hx_gguf *g, const char *key, enum hx_gguf_type elem,
                  const struct hx_gguf_kv **out, struct hx_error *err)
{
    int rc = find(g, key, out, err);

    if (rc)
        return rc;
    if ((*out)->type != HX_GGUF_ARRAY || (*out)->elem != elem)
        return wrong_type(g, key, "an array of the expected type", err);
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
