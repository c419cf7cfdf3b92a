/* Whole text files in memory. */
#ifndef HX_TEXT_H
#define HX_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer.h"
#include "base/error.h"

/* Reads a file of any bytes.  *text is malloc'ed, terminated beyond n, and belongs to the caller. */
int hx_text_read(const char *path, char **text, size_t *n, struct hx_error *err);

/* Reads and encodes a file.  *ids is malloc'ed and belongs to the caller. */
int hx_text_encode(const struct hx_tokenizer *t, const char *path, uint32_t **ids, size_t *n_ids,
                   struct hx_error *err);

#endif
