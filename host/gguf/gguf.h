/* Reader of GGUF files, the container of model weights: versions 2 and 3, little-endian.
 *
 * The file is mapped, not read: strings, arrays and tensor data point into the map and live until hx_gguf_close().
 * Opening it touches the header only (metadata and the tensor list); a tensor's pages come in when somebody uses them,
 * and go again when memory is short, so a file may be larger than the machine's memory.
 * Everything is validated at open, so later look-ups cannot leave the map.  The file must not shrink while it is open.
 * Tensor types: those of hx_quant_info().  Arrays of arrays, big-endian files, version 1 and names that are there twice
 * are refused.  Format: the GGUF specification of the ggml project.
 * Thread-safe after open. */
#ifndef HX_GGUF_H
#define HX_GGUF_H

#include <stddef.h>
#include <stdint.h>

#include "quant/quant.h"
#include "base/error.h"

enum hx_gguf_type {
    HX_GGUF_U8 = 0,
    HX_GGUF_I8 = 1,
    HX_GGUF_U16 = 2,
    HX_GGUF_I16 = 3,
    HX_GGUF_U32 = 4,
    HX_GGUF_I32 = 5,
    HX_GGUF_F32 = 6,
    HX_GGUF_BOOL = 7,
    HX_GGUF_STRING = 8,
    HX_GGUF_ARRAY = 9,
    HX_GGUF_U64 = 10,
    HX_GGUF_I64 = 11,
    HX_GGUF_F64 = 12,
    HX_GGUF_TYPES
};

struct hx_str {
    const char *p; /* not terminated */
    size_t n;      /* bytes */
};

struct hx_gguf_kv {
    struct hx_str key;   /* the first member, as a tensor's name */
    uint32_t type;       /* enum hx_gguf_type */
    uint32_t elem;       /* arrays: type of the elements (no array), else == type */
    uint64_t n;          /* arrays: number of elements, else 1 */
    const uint8_t *data; /* the value; arrays: the first element.  No alignment */
    size_t bytes;        /* of it, all elements */
};

struct hx_gguf_tensor {
    struct hx_str name;
    uint32_t n_dims;  /* 1..4 */
    uint64_t dims[4]; /* fastest first: dims[0] = columns, dims[1] = rows; unused ones are 1 */
    uint32_t type;    /* enum hx_quant */
    uint64_t bytes;
    const void *data; /* aligned to general.alignment within the file */
};

struct hx_gguf;

/* Maps and validates `path`, and of a model in several files (NAME-00001-of-00003.gguf) the others, too, whose tensors are then among
 * its own.  0, -errno of open/mmap, -ENOMEM, or -EINVAL (not a GGUF file, one that is not supported, truncated, sizes that overflow, a
 * tensor type that is not supported, a part that is not the first, parts that do not belong together). */
int hx_gguf_open(struct hx_gguf **out, const char *path, struct hx_error *err);

/* The metadata of `path` alone, without tensors, of which nothing has to be there; of a model in several files the first one's.  Errors
 * as above. */
int hx_gguf_open_keys(struct hx_gguf **out, const char *path, struct hx_error *err);

/* As hx_gguf_open() over n bytes (borrowed until close, 8-byte aligned); `name` is used in messages. */
int hx_gguf_open_bytes(struct hx_gguf **out, const char *name, const void *bytes, size_t n,
                       struct hx_error *err);

/* The weights will be used soon: the kernel begins to read them, in the background.  Nothing happens when they are more
 * than half of the machine's memory, where the first would be gone again before the last is there, and for bytes. */
void hx_gguf_will_need(const struct hx_gguf *g);

/* Bytes from the file's start, as hx_gguf_offset() counts them. */
struct hx_gguf_span {
    uint64_t from, to;
};

struct hx_gguf_released {
    uint64_t gone_bytes, kept_bytes; /* of whole pages */
};

/* Lets go of the file, or of all files of the model.  What `gone` [n] spans is dropped, page by page: any access to it ends the
 * process.  All else becomes a copy in memory at the same addresses, so that pointers into it stay.  No page of a file is mapped any
 * more; it may shrink or go.  The spans are sorted and joined in place.  Nobody may read the map meanwhile.
 * 0; -EINVAL: of bytes, not of a file; -ENOMEM: all that is not `gone` is as it was. */
int hx_gguf_release(struct hx_gguf *g, struct hx_gguf_span *gone, size_t n, struct hx_gguf_released *out,
                    struct hx_error *err);

/* Accepts NULL. */
void hx_gguf_close(struct hx_gguf *g);

const char *hx_gguf_name(const struct hx_gguf *g);

/* Where in the file lies what p, a pointer into the map, points at: bytes from its start, where the files of a model lie
 * one behind the other. */
uint64_t hx_gguf_offset(const struct hx_gguf *g, const void *p);

/* All that is in it, in the order of the file. */
struct hx_gguf_facts {
    uint32_t version, alignment;
    uint64_t file_bytes, data_start; /* bytes of all files, and from the first one's start */
    const struct hx_gguf_kv *kv;
    size_t n_kv;
    const struct hx_gguf_tensor *tensors;
    size_t n_tensors;
    size_t n_files; /* 1, or the parts of the model */
};
struct hx_gguf_facts hx_gguf_facts(const struct hx_gguf *g);

/* NULL when absent. */
const struct hx_gguf_kv *hx_gguf_find(const struct hx_gguf *g, const char *key);
const struct hx_gguf_tensor *hx_gguf_tensor(const struct hx_gguf *g, const char *name);

/* Typed values.  0; -ENOENT: no such key; -EINVAL: another type, or an integer that does not fit. */
int hx_gguf_u32(const struct hx_gguf *g, const char *key, uint32_t *out, struct hx_error *err);
int hx_gguf_f32(const struct hx_gguf *g, const char *key, float *out, struct hx_error *err);
int hx_gguf_str(const struct hx_gguf *g, const char *key, struct hx_str *out, struct hx_error *err);
int hx_gguf_array(const struct hx_gguf *g, const char *key, enum hx_gguf_type elem,
                  const struct hx_gguf_kv **out, struct hx_error *err);

/* Bytes of a value of a scalar type; 0 for strings and arrays. */
size_t hx_gguf_scalar_size(uint32_t type);

/* Walks the elements of a string array: *cursor starts at kv->data; call at most kv->n times. */
struct hx_str hx_gguf_next_str(const uint8_t **cursor);

int hx_str_is(struct hx_str s, const char *text);

/* The beginning of s for a message of one line: terminated, controls as '?'. */
struct hx_shown {
    char text[65];
};
struct hx_shown hx_str_shown(struct hx_str s);

#endif
