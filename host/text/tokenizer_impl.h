/* What the parts of the tokenizer share; see tokenizer.h for what it is. */
#ifndef HX_TOKENIZER_IMPL_H
#define HX_TOKENIZER_IMPL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "pretok.h"
#include "tokenizer.h"
#include "tokenizer_merge.h"
#include "base/error.h"

/* A growing list of ids. */
struct hx_ids {
    uint32_t *p;
    size_t n, cap;
};

/* Everything that one encoding allocates. */
struct hx_encode_work {
    struct hx_ids out;
    struct hx_merge_work merge;
    char *text; /* a kind's scratch: the text as it is cut */
    size_t text_cap;
};

struct hx_tokenizer_kind {
    const char *model;      /* value of tokenizer.ggml.model */
    uint32_t bos, eos, unk; /* where the file names none; dropped when the vocabulary is smaller */
    int adds_bos, adds_eos, space_prefix; /* where the file does not say */
    int spaces_escaped;     /* U+2581 stands for a space; else spellings are GPT-2's stand-ins for bytes */
    /* Reads what the kind needs beyond vocabulary, types and scores. */
    int (*load)(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err);
    /* Appends the ids of a text (n >= 1 bytes) to w->out.  fresh: it starts the text or follows a special token. */
    int (*encode)(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s, size_t n,
                  int fresh);
    void (*close)(struct hx_tokenizer *t);
};

extern const struct hx_tokenizer_kind hx_tokenizer_bpe, hx_tokenizer_spm, hx_tokenizer_unigram;

/* Special tokens of one length, see tokenizer_special.c. */
struct hx_special_group {
    uint32_t from, n;   /* in hx_tokenizer.special, by bytes */
    size_t bytes;
    int user;           /* one of them is user-defined */
    uint64_t first[4], last[4]; /* bit sets of their first and last bytes */
};

/* A rule of byte-level BPE: the pair (left, right) becomes `made`.  Lower ranks go first. */
struct hx_bpe_rule {
    uint32_t left, right, made, rank;
};

struct hx_tokenizer {
    const struct hx_tokenizer_kind *kind;
    size_t n_vocab, longest;  /* longest: bytes of a piece */
    char *bytes;              /* all tokens' bytes, one after the other: as they decode */
    uint32_t *start;          /* [n_vocab + 1] offsets into bytes */
    uint8_t *type;            /* [n_vocab] enum hx_token_type */
    uint8_t *ends;            /* [n_vocab] 1: ends a generated text */
    float *score;             /* [n_vocab]; NULL for kinds without */
    uint32_t byte_id[256];    /* HX_NO_TOKEN: none */
    uint32_t bos, eos, unk;
    int adds_bos, adds_eos, space_prefix;
    int cuts_spaces; /* unigram: runs of spaces become one */

    uint32_t *by_text; /* open addressing: ids of the tokens that text can become, HX_NO_TOKEN is a free place */
    size_t by_text_mask;

    uint32_t *special; /* control, unknown and user-defined tokens: longest first, then by bytes */
    size_t n_special;
    struct hx_special_group *group; /* by falling length */
    size_t n_group;

    /* byte-level BPE */
    const struct hx_pretok *pre;
    struct hx_bpe_rule *rules; /* open addressing, made == HX_NO_TOKEN is a free place */
    size_t rule_mask;

    /* SentencePiece BPE: which pairs of characters lie beside each other inside a token, see tokenizer_spm.c */
    uint64_t *inner;

    /* unigram */
    float unknown_score;
    uint64_t *starts;  /* what tokens start with, see tokenizer_unigram.c */
    uint8_t *charsmap; /* normalisation, see tokenizer_unigram.c; NULL: none */
    size_t charsmap_nodes, charsmap_bytes;
};

/* Bytes of a token, whatever its type. */
static inline struct hx_str hx_token_bytes(const struct hx_tokenizer *t, uint32_t id)
{
    return (struct hx_str){t->bytes + t->start[id], t->start[id + 1] - t->start[id]};
}

/* FNV-1a, byte by byte; hx_hash_end() makes an index of it. */
#define HX_HASH_START 0xcbf29ce484222325u

static inline uint64_t hx_hash_add(uint64_t h, char c)
{
    return (h ^ (unsigned char)c) * 0x100000001b3u;
}

static inline size_t hx_hash_end(uint64_t h)
{
    return (size_t)(h ^ h >> 32);
}

static inline int hx_tokenizer_no_memory(struct hx_error *err)
{
    return hx_error_set(err, -ENOMEM, "tokenizer: out of memory");
}

/* --- tokenizer_table.c */

/* The token that these n bytes of text can become, or HX_NO_TOKEN; _hashed: with the unfinished hash of the
 * bytes. */
uint32_t hx_tokenizer_lookup(const struct hx_tokenizer *t, const char *s, size_t n);
uint32_t hx_tokenizer_lookup_hashed(const struct hx_tokenizer *t, const char *s, size_t n,
                                    uint64_t hash);

/* Enters the text of a token, unless another token has it already. */
void hx_tokenizer_add_text(struct hx_tokenizer *t, uint32_t id);

/* Places of an open-addressing table for n entries: a power of two, at least twice n. */
size_t hx_table_size(size_t n);

/* --- tokenizer_load.c */

/* Fills everything of t but what kind->load() reads; calls that, too.  t is zero before; close copes with a
 * half-loaded one. */
int hx_tokenizer_load(struct hx_tokenizer *t, const struct hx_gguf *g, struct hx_error *err);

/* --- tokenizer_unspell.c: the bytes that a spelling in the file stands for; never more than s.n of them */
size_t hx_unspell_bytes(char *out, struct hx_str s);  /* GPT-2's stand-ins; other characters stay as they are */
size_t hx_unspell_spaces(char *out, struct hx_str s); /* U+2581 */
int hx_unspell_hex(char *out, struct hx_str s);       /* "<0x41>": 1 and one byte; else 0 */

/* --- tokenizer_special.c */

/* Builds t->special and t->group; -ENOMEM. */
int hx_special_load(struct hx_tokenizer *t);

/* Appends the ids of a text: special tokens, and between them what the kind makes of it.  *fresh as for
 * kind->encode(). */
int hx_special_encode(const struct hx_tokenizer *t, struct hx_encode_work *w, const char *s,
                      size_t n, unsigned flags, int *fresh);

/* --- tokenizer_work.c */

/* Makes room for n more ids; 0 or -ENOMEM. */
int hx_ids_reserve(struct hx_ids *ids, size_t n);

/* Makes w->text hold n bytes; what it held is lost.  0 or -ENOMEM. */
int hx_encode_text_room(struct hx_encode_work *w, size_t n);

#endif
