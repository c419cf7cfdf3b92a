/* The inverse of encoding, for round trips.  The engine itself turns tokens into text one by one (host/text/detok.h). */
#ifndef HXT_DECODE_H
#define HXT_DECODE_H

#include "text/tokenizer.h"

/* The pieces of n ids, one behind the other, in a malloc'ed, terminated string; NULL: out of memory.  The space that
 * SentencePiece puts before a text stays. */
char *hxt_decode(const struct hx_tokenizer *t, const uint32_t *ids, size_t n);

#endif
