/* Pre-tokenizer of GPT-2: cuts text into the words that BPE never merges across. */
#ifndef HX_PRETOK_H
#define HX_PRETOK_H

#include <stddef.h>

/* Length in bytes (>= 1) of the word at the start of s (n >= 1 bytes), as this expression matches:
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * Source: Radford et al. 2019 (GPT-2), its published encoder. */
size_t hx_pretok_gpt2(const char *s, size_t n);

#endif
