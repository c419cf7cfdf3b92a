/* Writing requests and reading replies, see http_stream.h. */
#include "http_stream.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* --- requests */

struct writer {
    struct http_stream *s;
    const uint8_t *p, *end;
};

static uint8_t next(struct writer *w)
{
    return w->p < w->end ? *w->p++ : 0;
}

static void put_bytes(struct http_stream *s, const char *bytes, size_t n)
{
    if (n > HTTP_BYTES - s->n)
        s->wild = true;
    else
        memcpy(s->bytes + s->n, bytes, n);
    s->n += n > HTTP_BYTES - s->n ? 0 : n;
    s->bytes[s->n] = '\0';
}

static void put(struct http_stream *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct http_stream *s, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    put_bytes(s, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static const char *const fields[] = {
    "prompt", "messages", "max_tokens", "temperature", "top_p", "top_k", "min_p", "repeat_penalty", "repeat_last_n", "seed", "stop",
    "stream", "stream_options", "ignore_eos", "n", "logprobs", "logit_bias", "user", "model", "best_of", "echo", "tools",
    "max_completion_tokens", "response_format", "top_logprobs",
    "presence_penalty", "content", "tokens", "with_pieces", "input", "nonsense", "",
};

static const char *const values[] = {
    "\"the\"", "1", "0", "-1", "3", "0.5", "2.5", "1e-400", "1e400", "99999999999999999999", "9007199254740993", "true", "false",
    "null", "\"\"", "\"tiny\"", "[]", "{}", "[1,2,3]", "[1,\"x\"]", "[-1]", "[257]", "[258]", "[\"a\"]", "[\"a\",\"b\",\"c\",\"d\",\"e\"]",
    "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\u0000\"", "\"\xff\"", "[[[[[[[[[[1]]]]]]]]]]", "{\"include_usage\":true}",
    "{\"type\":\"text\"}", "{\"type\":\"json_object\"}",
    "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":"
    "{\"type\":\"array\",\"items\":{\"enum\":[1,\"x\"]},\"maxItems\":3}}}",
    "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"null\"}]}}}",
    "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"pattern\":1}}}",
    "[{\"role\":\"user\",\"content\":\"he\"}]", "[{\"role\":\"user\"}]",
    "[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"h\"}]},{\"role\":\"user\",\"content\":\"t\"}]",
    "[{\"role\":\"tool\",\"content\":\"x\"}]", "[{}]", "nul", "\"open", "1.", "{\"a\":1,\"a\":2}",
    "\"the the the the the the the the the the the the the the the the the the\"",
};

/* A JSON object of fields and values of the input's choice, [room]. */
static size_t write_body(struct writer *w, char *body, size_t room)
{
    size_t n = 0;

    n += (size_t)snprintf(body, room, "{");
    for (unsigned k = next(w) % 6, i = 0; i < k && n < room - 300; i++) {
        const char *field = fields[next(w) % LEN(fields)], *value = values[next(w) % LEN(values)];

        n += (size_t)snprintf(body + n, room - n, "%s\"%s\":%s", i ? "," : "", field, value);
    }
    return n + (size_t)snprintf(body + n, room - n, "}");
}

static void put_chunked(struct writer *w, const char *body, size_t n)
{
    const size_t most = next(w) % 64 + 1;

    put(w->s, "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0; at < n; at += most) {
        const size_t len = n - at < most ? n - at : most;

        put(w->s, "%zx\r\n", len);
        put_bytes(w->s, body + at, len);
        put(w->s, "\r\n");
    }
    put(w->s, "0\r\n\r\n");
}

enum { HAS_TYPE = 1, CLOSES = 2, CHUNKED = 4, EXPECTS = 8, OTHER_TYPE = 16 };

static void op_request(struct writer *w)
{
    static const char *const methods[] = {"POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS"};
    static const char *const paths[] = {"/v1/completions", "/v1/chat/completions", "/health", "/v1/models", "/v1/models/tiny",
                                        "/v1/models/x", "/metrics",
                                        "/tokenize", "/detokenize", "/v1/embeddings",
                                        "/", "/v1/completions/", "/%2e%2e/health", "/health?x=1", "*"};
    struct http_stream *s = w->s;
    const unsigned method = next(w) % LEN(methods), path = next(w) % LEN(paths), how = next(w);
    char body[4096];
    size_t n = 0;

    if (s->n_requests == HTTP_REQUESTS)
        return;
    put(s, "%s %s HTTP/1.1\r\nHost: h\r\n", methods[method], paths[path]);
    if (how & HAS_TYPE)
        put(s, "Content-Type: application/json%s\r\n", how & OTHER_TYPE ? "; charset=utf-8" : "");
    if (how & CLOSES)
        put(s, "Connection: close\r\n");
    if (how & EXPECTS)
        put(s, "Expect: 100-continue\r\n");
    if (method == 0 || method == 3)
        n = write_body(w, body, sizeof(body));
    if (n && how & CHUNKED) {
        put_chunked(w, body, n);
    } else {
        if (n)
            put(s, "Content-Length: %zu\r\n", n);
        put(s, "\r\n");
        put_bytes(s, body, n);
    }
    s->head[s->n_requests++] = method == 2;
}

/* Beginnings, ends and middles that are not as they should be. */
static void op_odd(struct writer *w)
{
    static const char *const odd[] = {
        "GET /health HTTP/1.0\r\n\r\n", "GET /health HTTP/2.0\r\nHost: h\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\r\n", "\n",
        "GET /health\r\n\r\n", "GET  /health HTTP/1.1\r\nHost: h\r\n\r\n", "GET /health HTTP/1.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: h\r\n folded: x\r\n\r\n", "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000000000000000000000000\r\n\r\n",
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n{",
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/completions HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", "Host: h\r\n", "X-A: b\r\n", "\r\n\r\n",
        "Content-Length: 5\r\n", "ffffffffffffffffffffff\r\n", "0\r\n\r\n", "5;ext=1\r\nhello\r\n", "-1\r\n", "{}", "GET ", "\"",
    };

    put(w->s, "%s", odd[next(w) % LEN(odd)]);
    w->s->wild = true;
}

static void op_raw(struct writer *w)
{
    for (unsigned n = next(w) % 64; n; n--)
        put_bytes(w->s, (const char *)&(uint8_t){next(w)}, 1);
    w->s->wild = true;
}

/* A header, or a path, of up to 64 KiB. */
static void op_long(struct writer *w)
{
    const unsigned what = next(w), n = next(w) * 64;

    w->s->uneven |= w->s->n > 0;
    put(w->s, what & 1 ? "GET /health HTTP/1.1\r\nHost: h\r\nX-Long: " : "GET /");
    for (unsigned i = 0; i < n; i++)
        put_bytes(w->s, "x", 1);
    put(w->s, what & 1 ? "\r\n\r\n" : " HTTP/1.1\r\nHost: h\r\n\r\n");
    w->s->wild = true;
}

static void op_damage(struct writer *w)
{
    const size_t back = next(w) + 1u;
    const uint8_t byte = next(w);

    if (back > w->s->n)
        return;
    w->s->bytes[w->s->n - back] = (char)byte;
    w->s->wild = true;
}

/* A piece ends so many bytes back, if that is behind the last. */
static void op_cut(struct writer *w)
{
    struct http_stream *s = w->s;
    const size_t back = next(w), last = s->n_cuts ? s->cut[s->n_cuts - 1] : 0;

    if (s->n_cuts < HTTP_CUTS && s->n > last + back)
        s->cut[s->n_cuts++] = s->n - back;
}

/* The last bytes one by one. */
static void op_drip(struct writer *w)
{
    struct http_stream *s = w->s;
    const size_t last = s->n_cuts ? s->cut[s->n_cuts - 1] : 0, back = next(w);

    for (size_t at = s->n > last + back ? s->n - back : last + 1; at < s->n && s->n_cuts < HTTP_CUTS; at++)
        s->cut[s->n_cuts++] = at;
}

/* Time passes behind the last piece. */
static void op_wait(struct writer *w)
{
    struct http_stream *s = w->s;
    const unsigned seconds = next(w) % 64;

    if (!s->n_cuts)
        return;
    s->wait_s[s->n_cuts - 1] += seconds;
    s->waits_s += seconds;
}

static void op_leave(struct writer *w)
{
    w->s->leaves = true;
}

void http_stream_write(struct http_stream *s, const uint8_t *data, size_t n)
{
    static void (*const ops[])(struct writer *) = {op_request, op_cut, op_request, op_drip, op_odd,
                                                   op_raw, op_long, op_damage, op_leave, op_wait};
    struct writer w = {s, data, data + n};

    s->n = s->n_cuts = s->n_requests = s->waits_s = 0;
    memset(s->wait_s, 0, sizeof(s->wait_s));
    s->wild = s->leaves = s->uneven = false;
    s->bytes[0] = '\0';
    for (unsigned i = 0; w.p < w.end && i < 64; i++)
        ops[next(&w) % LEN(ops)](&w);
    s->uneven |= memmem(s->bytes, s->n, "\n ", 2) || memmem(s->bytes, s->n, "\n\t", 2);
}

/* --- replies */

static int fail(struct http_reading *h, const char *why)
{
    h->why = why;
    return -1;
}

/* Of a head [at, end), or NULL; up to its line's end. */
static const char *header(const char *at, const char *end, const char *name)
{
    const size_t n = strlen(name);

    for (; at < end; at++)
        if (strncasecmp(at, name, n) == 0 && at[n] == ':')
            return at + n + 1 + strspn(at + n + 1, " ");
        else if (!(at = memchr(at, '\n', (size_t)(end - at))))
            break;
    return NULL;
}

/* A chunked body without its frame.  malloc'ed, [*n]; NULL: it is not whole. */
static char *join_chunks(struct http_reading *h, size_t *n)
{
    char *body = malloc((size_t)(h->end - h->at) + 1), *after;

    for (*n = 0; body;) {
        const size_t len = strtoull(h->at, &after, 16);

        if (after == h->at || strncmp(after, "\r\n", 2) != 0 || len > (size_t)(h->end - after) || h->end - after - (long)len < 4)
            break;
        memcpy(body + *n, after + 2, len);
        *n += len;
        h->at = after + 2 + len;
        if (strncmp(h->at, "\r\n", 2) != 0)
            break;
        h->at += 2;
        if (!len) {
            body[*n] = '\0';
            return body;
        }
    }
    free(body);
    return NULL;
}

/* Without what differs from one time to the next. */
static void digest_json(json_t *j, FILE *f)
{
    json_object_del(j, "id");
    json_object_del(j, "created");
    json_object_del(json_object_get(j, "usage"), "prompt_tokens_details"); /* what was cached */
    if (json_object_get(j, "queued")) /* /health */
        json_object_clear(j);
    json_dumpf(j, f, JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

/* How a text is divided among events is nobody's promise: what is theirs together. */
static int digest_events(const char *body, FILE *f)
{
    int done = 0, error = 0;

    for (const char *end; *body; body = end + 2) {
        json_t *j, *choice, *text;

        end = strstr(body, "\n\n");
        if (done || error || strncmp(body, "data: ", 6) != 0 || !end)
            return -1;
        done = strncmp(body + 6, "[DONE]", 6) == 0;
        if (done)
            continue;
        j = json_loadb(body + 6, (size_t)(end - body - 6), 0, NULL);
        error = json_object_get(j, "error") != NULL;
        choice = json_array_get(json_object_get(j, "choices"), 0);
        text = json_object_get(choice, "text");
        text = text ? text : json_object_get(json_object_get(choice, "delta"), "content");
        if (!j)
            return -1;
        fprintf(f, "%s%s", text ? json_string_value(text) : "", json_is_string(json_object_get(choice, "finish_reason")) ? "." : "");
        json_decref(j);
    }
    return done || error ? 0 : -1;
}

static int digest_body(struct http_reading *h, const char *type, const char *body, size_t n, FILE *f)
{
    json_t *j;
    int rc = 0;

    if (type && strncmp(type, "text/event-stream", 17) == 0) {
        rc = digest_events(body, f);
    } else if (type && strncmp(type, "application/json", 16) == 0) {
        j = json_loadb(body, n, JSON_REJECT_DUPLICATES, NULL);
        rc = j && (h->status == 200) == !json_object_get(j, "error") ? 0 : -1;
        if (!rc)
            digest_json(j, f);
        json_decref(j);
    }
    return rc ? fail(h, "a body that is no reply of the server's") : 0;
}

int http_read_reply(struct http_reading *h, int head, FILE *f)
{
    static const int legal[] = {100, 200, 400, 404, 405, 408, 413, 414, 415, 431, 505};
    const char *end = strstr(h->at, "\r\n\r\n"), *length, *chunked, *type, *close, *start;
    bool known = false;
    size_t n = 0;
    int rc;

    if (!end || strncmp(h->at, "HTTP/1.", 7) != 0 || strlen(h->at) < 13)
        return fail(h, "what is no reply");
    h->status = atoi(h->at + 9);
    for (size_t i = 0; i < LEN(legal); i++)
        known |= h->status == legal[i];
    if (!known)
        return fail(h, "a status that no client should see");
    start = h->at;
    h->at = end + 4;
    if (h->status == 100)
        return 0;
    fprintf(f, "\n%d ", h->status);
    length = header(start, end, "Content-Length");
    chunked = header(start, end, "Transfer-Encoding");
    type = header(start, end, "Content-Type");
    close = header(start, end, "Connection");
    h->closes = close && strncasecmp(close, "close", 5) == 0;
    if (head == 1 || (head < 0 && (h->at == h->end || strncmp(h->at, "HTTP/1.", 7) == 0)))
        return 0;
    if (chunked) {
        char *body = join_chunks(h, &n);

        rc = body ? digest_body(h, type, body, n, f) : fail(h, "chunks that do not end");
        free(body);
        return rc;
    }
    n = length ? strtoull(length, NULL, 10) : 0;
    if (!length || n > (size_t)(h->end - h->at))
        return fail(h, "a body that is not whole");
    rc = digest_body(h, type, h->at, n, f);
    h->at += n;
    return rc;
}
