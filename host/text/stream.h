/* The text of generated tokens while it grows: whole characters, up to a stop string.
 *
 * A stop string ends the text in front of it, wherever tokens begin and end; of several the one that starts first.  What
 * might still become a stop string waits, so `ready` bytes never have to be taken back.  One thread at a time. */
#ifndef HX_STREAM_H
#define HX_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "detok.h"
#include "tokenizer.h"

struct hx_stream {
    struct hx_detok detok;
    char *text;   /* [n], terminated: all text so far; without the stop string when `stopped` */
    size_t n, room;
    size_t ready; /* bytes of it that are final; n after the end or a stop */
    int stopped;  /* 1: a stop string came */
    const char *const *stops; /* [n_stops], borrowed until close; none is empty */
    size_t n_stops, longest;
};

/* whole_text: as hx_detok_open().  n_tokens: how many are expected, for the memory.  0 or -ENOMEM; s may be closed
 * either way. */
int hx_stream_open(struct hx_stream *s, const struct hx_tokenizer *t, int whole_text,
                   const char *const *stops, size_t n_stops, size_t n_tokens);

/* Frees; accepts an object of zeros. */
void hx_stream_close(struct hx_stream *s);

/* One token more.  After a stop it changes nothing.  0 or -ENOMEM (of a text much longer than n_tokens suggested). */
int hx_stream_push(struct hx_stream *s, uint32_t id);

/* No token follows: what waited is text, unless a stop string came.  0 or -ENOMEM. */
int hx_stream_end(struct hx_stream *s);

#endif
