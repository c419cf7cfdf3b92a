/* Looking things up in a parsed file: records by name, values by key. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_impl.h"

int hx_str_is(struct hx_str s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

/* A stranger's name must not bring line ends or terminal controls into a message. */
struct hx_shown hx_str_shown(struct hx_str s)
{
    struct hx_shown q = {""};

    for (size_t i = 0; i < s.n && i + 1 < sizeof(q.text); i++)
        q.text[i] = (uint8_t)s.p[i] < ' ' || s.p[i] == 0x7f ? '?' : s.p[i];
    return q;
}

/* --- names */

static int compare(const struct hx_str *a, const struct hx_str *b)
{
    const size_t n = a->n < b->n ? a->n : b->n;
    const int order = memcmp(a->p, b->p, n);

    return order ? order : (a->n > b->n) - (a->n < b->n);
}

static int compare_entries(const void *a, const void *b)
{
    return compare(*(const struct hx_str *const *)a, *(const struct hx_str *const *)b);
}

const struct hx_str *hx_gguf_look_up(const struct hx_gguf_index *index, const char *name)
{
    const struct hx_str wanted = {name, strlen(name)}, *key = &wanted;
    const struct hx_str **found;

    if (!index->n)
        return NULL;
    found = bsearch(&key, index->at, index->n, sizeof(*index->at), compare_entries);
    return found ? *found : NULL;
}

int hx_gguf_index_make(const struct hx_gguf *g, struct hx_gguf_index *index, const void *records,
                       size_t n, size_t stride, const char *what, struct hx_error *err)
{
    index->at = calloc(n ? n : 1, sizeof(*index->at));
    if (!index->at)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);
    for (size_t i = 0; i < n; i++)
        index->at[i] = (const struct hx_str *)((const char *)records + i * stride);
    index->n = n;
    qsort(index->at, n, sizeof(*index->at), compare_entries);
    for (size_t i = 1; i < n; i++)
        if (compare(index->at[i - 1], index->at[i]) == 0)
            return hx_error_set(err, -EINVAL, "%s: %s '%s' is there twice", g->name, what,
                                hx_str_shown(*index->at[i]).text);
    return 0;
}

const struct hx_gguf_kv *hx_gguf_find(const struct hx_gguf *g, const char *key)
{
    return (const struct hx_gguf_kv *)hx_gguf_look_up(&g->keys, key);
}

const struct hx_gguf_tensor *hx_gguf_tensor(const struct hx_gguf *g, const char *name)
{
    return (const struct hx_gguf_tensor *)hx_gguf_look_up(&g->names, name);
}

/* --- values */

size_t hx_gguf_scalar_size(uint32_t type)
{
    static const uint8_t bytes[HX_GGUF_TYPES] = {
        [HX_GGUF_U8] = 1,  [HX_GGUF_I8] = 1,  [HX_GGUF_U16] = 2, [HX_GGUF_I16] = 2,
        [HX_GGUF_U32] = 4, [HX_GGUF_I32] = 4, [HX_GGUF_F32] = 4, [HX_GGUF_BOOL] = 1,
        [HX_GGUF_U64] = 8, [HX_GGUF_I64] = 8, [HX_GGUF_F64] = 8,
    };

    return bytes[type];
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
