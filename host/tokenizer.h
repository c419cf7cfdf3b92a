/* Byte-level BPE tokenizer (GPT-2's), built from GGUF metadata.
 *
 * Text is cut into words by the pre-tokenizer (`tokenizer.ggml.pre` = "gpt-2"; regex of GPT-2 with Unicode classes),
 * each word's bytes are mapped to the 256 byte tokens, and pairs are merged by rank, leftmost first.  No BOS is added;
 * the text of special tokens is encoded as ordinary text.  Bytes that are not UTF-8 are encoded as they are, and
 * decoding returns exactly the bytes that were encoded.
 * Immutable after open: all functions may be called from any thread. */
#ifndef HX_TOKENIZER_H
#define HX_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "gguf.h"
#include "why.h"

struct hx_tokenizer;

/* 0, -ENOMEM, -ENOENT (a key is missing), -EINVAL (unsupported tokenizer, damaged tables).  g is
 * borrowed for the call: what is needed is copied. */
int hx_tokenizer_open(struct hx_tokenizer **out, const struct hx_gguf *g, struct hx_why *why);

/* Accepts NULL. */
void hx_tokenizer_close(struct hx_tokenizer *t);

size_t hx_tokenizer_vocab(const struct hx_tokenizer *t);

/* Encodes n bytes.  *ids is malloc'ed and belongs to the caller (NULL when *n_ids is 0).  0 or -ENOMEM. */
int hx_tokenizer_encode(const struct hx_tokenizer *t, const char *text, size_t n, uint32_t **ids,
                        size_t *n_ids);

/* The bytes of one token, which may be part of a character: use hx_utf8_whole() before printing a stream.  Control
 * tokens have none.  id must be below the vocabulary's size.  Borrowed from t. */
struct hx_str hx_tokenizer_piece(const struct hx_tokenizer *t, uint32_t id);

/* Decodes n ids into a malloc'ed, terminated string that belongs to the caller; NULL: out of memory. */
char *hx_tokenizer_decode(const struct hx_tokenizer *t, const uint32_t *ids, size_t n);

#endif
