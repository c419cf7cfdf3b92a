/* Pre-tokenizers: cut text into the words that byte-level BPE never merges across.
 *
 * Each is one published regular expression, or several that are applied in turn, each inside the pieces of the one
 * before it (what lies between two matches is a piece, too).  They are matched by hand; classes are Unicode's (unicode.h).
 *   gpt-2      's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *   llama-bpe  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *   qwen2      the same with \p{N} in the place of \p{N}{1,3}
 *   smollm     \p{N}, then gpt-2
 *   default    [\p{P}$+<=>^~|]+, then gpt-2, then \p{N}+, then [0-9][0-9][0-9]
 * (?i:) folds ASCII letters only.  gpt-2, and with it olmo and gpt-neox, is from Radford et al. 2019; the others are those of the
 * models' tokenizer.json files and, `default` alone, of llama.cpp.  Names are those of `tokenizer.ggml.pre`. */
#ifndef HX_PRETOK_H
#define HX_PRETOK_H

#include <stddef.h>

enum { HX_PRETOK_STEPS = 4 };

/* Length in bytes (>= 1) of the piece at the start of s (n >= 1 bytes). */
typedef size_t hx_pretok_step(const char *s, size_t n);

struct hx_pretok {
    hx_pretok_step *steps[HX_PRETOK_STEPS]; /* NULL: no more */
    int whole_words; /* a word that is a token as a whole is that token, whatever the merges say */
    int adds_bos;    /* whether the model wants BOS where the file does not say */
};

/* By the n bytes of a name; NULL: unknown. */
const struct hx_pretok *hx_pretok_find(const char *name, size_t n);

/* All names, "gpt-2, olmo, ...", cut to n bytes with the terminator. */
void hx_pretok_names(char *out, size_t n);

/* A walk over the words of a text, which is borrowed. */
struct hx_pretok_cursor {
    const struct hx_pretok *how;
    const char *s;
    size_t n, at;
    size_t end[HX_PRETOK_STEPS]; /* where the piece of each step that holds `at` ends */
};

void hx_pretok_start(struct hx_pretok_cursor *c, const struct hx_pretok *how, const char *s,
                     size_t n);

/* Length of the next word, which starts at c->s + c->at before the call; 0 at the end. */
size_t hx_pretok_next(struct hx_pretok_cursor *c);

#endif
