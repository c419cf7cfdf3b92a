/* What the files of the GGUF reader share; users see gguf.h. */
#ifndef HX_GGUF_IMPL_H
#define HX_GGUF_IMPL_H

#include "gguf.h"

/* Names in order, for look-ups; each points at the `key` or `name` that its record begins with. */
struct hx_gguf_index {
    const struct hx_str **at; /* [n] */
    size_t n;
};

struct hx_gguf {
    char *name;
    const uint8_t *base;
    size_t size;
    int mapped; /* base belongs to us */
    uint32_t version;
    uint32_t alignment;
    struct hx_gguf_kv *kv;
    size_t n_kv;
    struct hx_gguf_tensor *tensors;
    size_t n_tensors;
    struct hx_gguf_index keys, names;
    uint64_t data_start; /* bytes from base */
    struct hx_gguf **parts; /* [n_parts] the files that the model goes on in: their tensors are among these */
    size_t n_parts;
};

/* How much of a file is looked at. */
enum hx_gguf_depth { HX_GGUF_KEYS, HX_GGUF_TENSORS };

/* One file, whatever it is a part of; as hx_gguf_open(). */
int hx_gguf_open_one(struct hx_gguf **out, const char *path, enum hx_gguf_depth depth, struct hx_error *err);

/* Fills g from base and size.  What it has allocated when it fails is the caller's to free. */
int hx_gguf_parse(struct hx_gguf *g, enum hx_gguf_depth depth, struct hx_error *err);

/* Over n records of `stride` bytes that begin with their name.  A name twice is refused, since nothing says which one
 * counts; `what` is what the message calls a record.  0, -ENOMEM, -EINVAL; index->at is the caller's to free in all cases. */
int hx_gguf_index_make(const struct hx_gguf *g, struct hx_gguf_index *index, const void *records,
                       size_t n, size_t stride, const char *what, struct hx_error *err);

/* The record's first member, or NULL. */
const struct hx_str *hx_gguf_look_up(const struct hx_gguf_index *index, const char *name);

#endif
