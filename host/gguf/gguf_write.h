/* Writer of GGUF version 3 files.
 *
 * Calls in this order: open; metadata (kv, u32); tensors, by name, shape and type; their data, in the same order; finish.
 * The file grows under another name, PATH.PID.part, and gets its own when it is complete, so that there is never half a
 * file at PATH; a file that was there stays until then and may be the one that is read from.
 * One thread at a time. */
#ifndef HX_GGUF_WRITE_H
#define HX_GGUF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "gguf.h"

struct hx_gguf_writer;

/* alignment: of the tensors, in bytes; the caller writes general.alignment when it is not 32.  0, -errno of the file
 * system, -EINVAL when PATH is something else than a file, -ENOMEM. */
int hx_gguf_writer_open(struct hx_gguf_writer **out, const char *path, uint32_t alignment,
                        struct hx_error *err);

/* Metadata: a copy of kv, or a number. */
void hx_gguf_writer_kv(struct hx_gguf_writer *w, const struct hx_gguf_kv *kv);
void hx_gguf_writer_u32(struct hx_gguf_writer *w, const char *key, uint32_t v);

/* Announces a tensor: name, dims (n_dims of them) and type of t count.  Rows are whole blocks of a type that has an
 * hx_quant_info(). */
void hx_gguf_writer_tensor(struct hx_gguf_writer *w, const struct hx_gguf_tensor *t);

/* The next n bytes of data, of one tensor; the gaps between tensors are filled here.  0, or negative errno: nothing more
 * will be written. */
int hx_gguf_writer_data(struct hx_gguf_writer *w, const void *bytes, size_t n, struct hx_error *err);

/* 0: the file is complete and at its place.  Negative errno: also of anything that failed before; -EINVAL: data is
 * missing. */
int hx_gguf_writer_finish(struct hx_gguf_writer *w, struct hx_error *err);

/* What was not finished is removed.  Accepts NULL. */
void hx_gguf_writer_close(struct hx_gguf_writer *w);

#endif
