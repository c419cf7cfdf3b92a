/* Requests of an HTTP connection, written by operations, and the replies to them read strictly: fuzz_http.c. */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { HTTP_BYTES = 1 << 16, HTTP_CUTS = 256, HTTP_REQUESTS = 64 };

struct http_stream {
    char bytes[HTTP_BYTES + 1]; /* [n], terminated */
    size_t n;
    size_t cut[HTTP_CUTS]; /* [n_cuts], ascending: where a piece ends */
    unsigned wait_s[HTTP_CUTS]; /* after each piece: seconds that pass before the next */
    size_t n_cuts;
    unsigned waits_s; /* all of them */
    bool leaves; /* in pieces: the client goes without waiting for replies to the last one */
    bool head[HTTP_REQUESTS]; /* [n_requests]: the request's reply has no body */
    size_t n_requests; /* whole ones */
    bool uneven; /* the replies may depend on the pieces, as libmicrohttpd 0.9.75's buffer does: with a line that may go on the one
                  * before it loses heads when the buffer grows, and what is left of the buffer decides whether a long head behind
                  * another request is refused or the connection closed */
    bool wild;         /* something in it is no request, so it is not known how many replies there have to be */
};

/* What the operations in data [n] write. */
void http_stream_write(struct http_stream *s, const uint8_t *data, size_t n);

struct http_reading {
    const char *at, *end;
    int status;
    bool closes; /* it says that the connection ends with it */
    const char *why; /* of a failure */
};

/* Reads the next reply and writes what of it does not change from time to time into f.  head: 1: to HEAD, 0: to something else,
 * -1: unknown.  0, or -1: it is not as it has to be. */
int http_read_reply(struct http_reading *h, int head, FILE *f);

#endif
