/* Tokenizers built from GGUF metadata: text to token ids and back.
 *
 * `tokenizer.ggml.model` chooses the kind, and every kind keeps the file's own ids:
 *   gpt2    byte-level BPE (Radford et al. 2019).  `tokenizer.ggml.pre` names the expression that cuts text
 *           into words (pretok.h); each word's bytes become byte tokens, and pairs are merged by rank,
 *           leftmost first.  Bytes that are not UTF-8 are encoded as they are; decoding gives back exactly the
 *           bytes that were encoded.
 *   llama   SentencePiece BPE (Kudo & Richardson 2018) of llama, mistral and gemma.  A space becomes U+2581,
 *           one space goes before the text when `tokenizer.ggml.add_space_prefix` says so (and behind every
 *           special token), and the pair whose union has the highest score is merged first, leftmost among
 *           equals.  A character without token falls back to its bytes' tokens <0x00>..<0xFF>.
 *   t5      SentencePiece unigram: the segmentation with the highest sum of scores (Viterbi).  What no token covers
 *           is the unknown token.
 *
 * Token types are `tokenizer.ggml.token_type`.  User-defined tokens are found in any text before it is cut.
 * Control tokens are found only where the caller asks for them, so text from a stranger cannot open or close a
 * turn.  Tokens whose text is a known mark of a chat format (<|im_start|>, <end_of_turn>, ...) count as
 * control tokens even where the file calls them user-defined.
 * Immutable after open: all functions may be called from any thread. */
#ifndef HX_TOKENIZER_H
#define HX_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "gguf/gguf.h"
#include "base/error.h"

#define HX_NO_TOKEN UINT32_MAX

enum hx_token_type { /* GGUF's numbers */
    HX_TOKEN_NORMAL = 1,
    HX_TOKEN_UNKNOWN = 2,
    HX_TOKEN_CONTROL = 3, /* has no text of its own when decoded */
    HX_TOKEN_USER_DEFINED = 4,
    HX_TOKEN_UNUSED = 5,
    HX_TOKEN_BYTE = 6, /* "<0x41>": one byte */
};

struct hx_tokenizer;

/* 0, -ENOMEM, -ENOENT (a key is missing), -EINVAL (unsupported tokenizer, damaged tables).  g is
 * borrowed for the call: what is needed is copied. */
int hx_tokenizer_open(struct hx_tokenizer **out, const struct hx_gguf *g, struct hx_error *err);

/* Accepts NULL. */
void hx_tokenizer_close(struct hx_tokenizer *t);

size_t hx_tokenizer_vocab(const struct hx_tokenizer *t);

/* Encodes n bytes: nothing is added, and the text of control tokens is ordinary text.  *ids is malloc'ed and
 * belongs to the caller (NULL when *n_ids is 0).  0 or -ENOMEM. */
int hx_tokenizer_encode(const struct hx_tokenizer *t, const char *text, size_t n, uint32_t **ids,
                        size_t *n_ids);

enum hx_encode_flags {
    HX_ENCODE_BOS = 1,     /* BOS in front where the file says that the model wants it */
    HX_ENCODE_EOS = 2,     /* EOS behind, likewise */
    HX_ENCODE_SPECIAL = 4, /* the text of a control token is that token */
};

/* The same with flags: HX_ENCODE_BOS | HX_ENCODE_SPECIAL is what a completion's prompt wants. */
int hx_tokenizer_encode_with(const struct hx_tokenizer *t, const char *text, size_t n,
                             unsigned flags, uint32_t **ids, size_t *n_ids);

/* A piece of what is encoded: one token, or a stretch of text when `token` is HX_NO_TOKEN.  Neighbouring
 * stretches read as one text. */
struct hx_text_part {
    struct hx_str text;
    uint32_t token;
};

/* Encodes the parts, one behind the other, with the flags of hx_tokenizer_encode_with().  A token that is
 * given as such needs no trust in the text around it: chat.h writes its marks that way. */
int hx_tokenizer_encode_parts(const struct hx_tokenizer *t, const struct hx_text_part *parts,
                              size_t n_parts, unsigned flags, uint32_t **ids, size_t *n_ids);

/* The bytes of one token, which may be part of a character: detok.h makes text of a stream of them.  Control tokens
 * have none; U+2581 of a SentencePiece token is a space.  id must be below the vocabulary's size.  Borrowed
 * from t. */
struct hx_str hx_tokenizer_piece(const struct hx_tokenizer *t, uint32_t id);

enum hx_token_type hx_tokenizer_type(const struct hx_tokenizer *t, uint32_t id);

/* Id of the control or user-defined token with exactly this text, or HX_NO_TOKEN. */
uint32_t hx_tokenizer_special(const struct hx_tokenizer *t, const char *text);

/* Ids from the metadata, or HX_NO_TOKEN. */
uint32_t hx_tokenizer_bos(const struct hx_tokenizer *t);
uint32_t hx_tokenizer_eos(const struct hx_tokenizer *t);

/* Whether HX_ENCODE_BOS adds it: `tokenizer.ggml.add_bos_token`; where absent, what the kind of tokenizer (and the
 * expression, for gpt2) is known to want.  For HX_ENCODE_EOS `add_eos_token` says the same. */
int hx_tokenizer_adds_bos(const struct hx_tokenizer *t);

/* Whether a token ends a generated text: EOS, EOT, EOM of the metadata, and control tokens that are known to end a
 * turn: <|im_end|>, <|eot_id|>, <|eom_id|>, <end_of_turn>, <|end|>, <|endoftext|>, ... */
int hx_tokenizer_ends(const struct hx_tokenizer *t, uint32_t id);

/* Whether the tokenizer puts a space before a text, see detok.h. */
int hx_tokenizer_space_prefix(const struct hx_tokenizer *t);

/* Bytes of the longest piece. */
size_t hx_tokenizer_longest(const struct hx_tokenizer *t);

#endif
