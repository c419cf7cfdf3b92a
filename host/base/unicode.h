/* UTF-8 and the character classes that pre-tokenizers ask for. */
#ifndef HX_UNICODE_H
#define HX_UNICODE_H

#include <stddef.h>
#include <stdint.h>

struct hx_unicode_range {
    uint32_t first, last; /* inclusive */
};

enum hx_char_class { HX_CHAR_OTHER, HX_CHAR_LETTER, HX_CHAR_NUMBER, HX_CHAR_SPACE };

/* Class of a code point: letter = L*, number = N*, space = White_Space. */
enum hx_char_class hx_char_class(uint32_t c);

/* Whether a code point is punctuation, P*: those are of class other. */
int hx_char_is_punct(uint32_t c);

/* Decodes the character at s (n >= 1 bytes).  Returns its length in bytes; a byte that starts no valid UTF-8 sequence
 * is a character of its own: length 1, *c = 0xFFFD. */
size_t hx_utf8_next(const char *s, size_t n, uint32_t *c);

/* Number of bytes at the start of s that make whole characters: what may be printed now when more may follow.  Bytes
 * that can never become valid count as whole, so at most 3 are held back. */
size_t hx_utf8_whole(const char *s, size_t n);

#endif
