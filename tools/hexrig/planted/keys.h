/* Metadata of a planted model. */
#ifndef HX_PLANTED_KEYS_H
#define HX_PLANTED_KEYS_H

#include "gguf/gguf_write.h"
#include "planted.h"

/* What there is of a tokenizer. */
struct hx_planted_words {
    size_t n;        /* tokens */
    uint32_t bos, eos;
};

/* 0, or -EINVAL or -ENOENT: it has no tokens, BOS or EOS. */
int hx_planted_words_read(struct hx_planted_words *w, const struct hx_gguf *tokenizer, struct hx_error *err);

/* Writes all keys of p, whose vocabulary is set.  0 or -ENOMEM. */
int hx_planted_keys_write(struct hx_gguf_writer *out, const struct hx_planted *p, const struct hx_gguf *tokenizer,
                          struct hx_error *err);

#endif
