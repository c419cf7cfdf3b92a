/* A GGUF file in parts that can be changed one by one and put together again, right or wrong: fuzz_gguf_fields.c. */
#ifndef GGUF_PARTS_H
#define GGUF_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gguf/gguf.h"

enum { GGUF_ITEMS = 512, GGUF_EDIT_BYTES = 12 };

struct gguf_kv {
    struct hx_str key;
    uint32_t type, elem;
    uint64_t n; /* as the file says */
    const uint8_t *data;
    size_t bytes;
    bool lies; /* what type, elem and n say is not what data is */
};

struct gguf_tensor {
    struct hx_str name;
    uint32_t n_dims, type;
    uint64_t dims[4], offset;
};

/* Keys, names and values are borrowed. */
struct gguf_parts {
    uint32_t version;
    int64_t more_kv, more_tensors; /* by how much the counts lie */
    struct gguf_kv kv[GGUF_ITEMS];
    struct gguf_tensor tensors[GGUF_ITEMS];
    size_t n_kv, n_tensors;
    const uint8_t *weights;
    size_t n_weights;
    uint64_t end; /* the file ends there, if it is longer */
};

/* One change; in an input its members follow each other without holes, GGUF_EDIT_BYTES.  `what` counts through edits of keys, of
 * tensors and of the file, again and again. */
struct gguf_edit {
    uint8_t what, which; /* which: a dimension, an entry of a table, a length; odd: a wilder variant */
    uint16_t at;         /* which key or tensor */
    uint64_t value;
};

/* What an edit was about: a tensor's record is refused by the tensor's name, the rest by whatever does not fit to it. */
enum gguf_about { GGUF_ABOUT_KEY, GGUF_ABOUT_TENSOR, GGUF_ABOUT_RECORD, GGUF_ABOUT_FILE };

/* g: a valid file of at most GGUF_ITEMS keys and tensors, borrowed until p is put together.  Ends what edits of an earlier p had
 * made. */
void gguf_take_apart(struct gguf_parts *p, const struct hx_gguf *g);

/* Sets *name to the field's, "" when it has none. */
enum gguf_about gguf_edit(struct gguf_parts *p, const struct gguf_edit *e, struct hx_str *name);

/* malloc'ed, [*n]; NULL: no memory. */
uint8_t *gguf_put_together(const struct gguf_parts *p, size_t *n);

#endif
