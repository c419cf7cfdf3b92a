/* Generated text up to a stop string, which may begin in one token and end in another. */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_TOKEN = 8 }; /* most text needs less */

int hx_stream_open(struct hx_stream *s, const struct hx_tokenizer *t, int whole_text,
                   const char *const *stops, size_t n_stops, size_t n_tokens)
{
    memset(s, 0, sizeof(*s));
    s->stops = stops;
    s->n_stops = n_stops;
    for (size_t i = 0; i < n_stops; i++)
        if (strlen(stops[i]) > s->longest)
            s->longest = strlen(stops[i]);
    s->room = n_tokens * BYTES_PER_TOKEN + hx_tokenizer_longest(t) + 1;
    s->text = calloc(1, s->room);
    return s->text ? hx_detok_open(&s->detok, t, whole_text) : -ENOMEM;
}

void hx_stream_close(struct hx_stream *s)
{
    hx_detok_close(&s->detok);
    free(s->text);
    s->text = NULL;
}

static int append(struct hx_stream *s, struct hx_str more)
{
    if (more.n >= s->room - s->n) {
        size_t room = 2 * (s->room + more.n);
        char *text = realloc(s->text, room);

        if (!text)
            return -ENOMEM;
        s->text = text;
        s->room = room;
    }
    memcpy(s->text + s->n, more.p, more.n);
    s->n += more.n;
    s->text[s->n] = '\0';
    return 0;
}

/* Where the first stop string starts in text[from..], or n. */
static size_t find_stop(const struct hx_stream *s, size_t from)
{
    size_t first = s->n;

    for (size_t i = 0; i < s->n_stops; i++) {
        const char *at = memmem(s->text + from, s->n - from, s->stops[i], strlen(s->stops[i]));

        if (at && (size_t)(at - s->text) < first)
            first = (size_t)(at - s->text);
    }
    return first;
}

/* Whether the text from `at` on is the beginning of a stop string. */
static int may_stop(const struct hx_stream *s, size_t at)
{
    for (size_t i = 0; i < s->n_stops; i++)
        if (s->n - at < strlen(s->stops[i]) &&
            memcmp(s->text + at, s->stops[i], s->n - at) == 0)
            return 1;
    return 0;
}

/* After text was added behind `old` bytes: ends it at a stop string, and sets how much of it is final. */
static void check_stops(struct hx_stream *s, size_t old)
{
    const size_t from = old > s->longest ? old - s->longest : 0;
    const size_t stop = find_stop(s, from > s->ready ? from : s->ready);

    if (stop < s->n) {
        s->n = s->ready = stop;
        s->text[stop] = '\0';
        s->stopped = 1;
        return;
    }
    for (s->ready = s->n > s->longest ? s->n - s->longest : 0; s->ready < s->n; s->ready++)
        if (may_stop(s, s->ready))
            break;
}

static int add(struct hx_stream *s, struct hx_str more)
{
    const size_t old = s->n;
    int rc = append(s, more);

    if (!rc)
        check_stops(s, old);
    return rc;
}

int hx_stream_push(struct hx_stream *s, uint32_t id)
{
    return s->stopped ? 0 : add(s, hx_detok_push(&s->detok, id));
}

int hx_stream_end(struct hx_stream *s)
{
    int rc = s->stopped ? 0 : add(s, hx_detok_flush(&s->detok));

    s->ready = s->n;
    return rc;
}
