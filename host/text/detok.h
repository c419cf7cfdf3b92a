/* Tokens to text as they come: bytes wait until they make whole characters.
 *
 * A token may end in the middle of a UTF-8 character; what is handed out never does, unless the stream ends
 * there or the bytes can never become a character.  One stream per object, one thread at a time. */
#ifndef HX_DETOK_H
#define HX_DETOK_H

#include <stddef.h>
#include <stdint.h>

#include "tokenizer.h"

struct hx_detok {
    const struct hx_tokenizer *tok; /* borrowed */
    int at_start;                   /* the next text loses the space that the tokenizer put before it */
    char *buf;                      /* held bytes, then those of the token: longest piece + 3 */
    size_t held;                    /* bytes of an unfinished character at the start of buf, 0..3 */
    size_t given;                   /* bytes of buf that the last call handed out */
};

/* whole_text: 1 when the tokens are a text from its start, 0 when they go on where a prompt ended; then a
 * leading space is text.  0 or -ENOMEM.  t is borrowed until close; no later call allocates. */
int hx_detok_open(struct hx_detok *d, const struct hx_tokenizer *t, int whole_text);

/* Frees; accepts an object of zeros. */
void hx_detok_close(struct hx_detok *d);

/* Takes one token (id below the vocabulary's size) and gives the text that is complete now, possibly none.
 * Borrowed until the next call on d. */
struct hx_str hx_detok_push(struct hx_detok *d, uint32_t id);

/* What is still held, whole or not, at the end of the stream; d then starts afresh as a text that goes on. */
struct hx_str hx_detok_flush(struct hx_detok *d);

#endif
