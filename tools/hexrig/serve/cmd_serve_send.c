/* Sending replies of hexrig serve: as a whole, or as a stream of events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_serve_exchange.h"

enum { BLOCK = 4096 };

int hx_socket_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

    return i ? i->connect_fd : -1;
}

/* --cors: pages of that origin, or of any, may read the reply. */
static void allow_origin(struct hx_exchange *x, struct MHD_Response *r)
{
    const char *cors = x->s->cors, *origin = MHD_lookup_connection_value(x->c, MHD_HEADER_KIND, "Origin");

    if (!cors)
        return;
    if (strcmp(cors, "*") != 0)
        MHD_add_response_header(r, "Vary", "Origin");
    if (strcmp(cors, "*") == 0 || (origin && strcmp(cors, origin) == 0))
        MHD_add_response_header(r, "Access-Control-Allow-Origin", cors);
}

static enum MHD_Result queue(struct hx_exchange *x, unsigned status, struct MHD_Response *r)
{
    enum MHD_Result rc;

    allow_origin(x, r);
    rc = MHD_queue_response(x->c, status, r);
    MHD_destroy_response(r);
    return rc;
}

static struct MHD_Response *response(const char *type, char *bytes, size_t n)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE);

    if (!r)
        free(bytes);
    else
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    return r;
}

enum MHD_Result hx_send_bytes(struct hx_exchange *x, unsigned status, const char *type, char *bytes, size_t n)
{
    struct MHD_Response *r = response(type, bytes, n);

    return r ? queue(x, status, r) : MHD_NO;
}

enum MHD_Result hx_send_json(struct hx_exchange *x, unsigned status, json_t *j, const char *header, const char *value)
{
    char *bytes = j ? json_dumps(j, JSON_COMPACT) : NULL;
    struct MHD_Response *r = bytes ? response("application/json", bytes, strlen(bytes)) : NULL;

    json_decref(j);
    if (r && header)
        MHD_add_response_header(r, header, value);
    return r ? queue(x, status, r) : MHD_NO;
}

/* Clients send headers of their own making, so what a browser asks for is allowed. */
enum MHD_Result hx_send_preflight(struct hx_exchange *x)
{
    const char *headers = MHD_lookup_connection_value(x->c, MHD_HEADER_KIND, "Access-Control-Request-Headers");
    struct MHD_Response *r = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    MHD_add_response_header(r, "Access-Control-Allow-Headers", headers ? headers : "Content-Type, Authorization");
    MHD_add_response_header(r, "Access-Control-Max-Age", "600");
    return queue(x, MHD_HTTP_NO_CONTENT, r);
}

enum MHD_Result hx_send_error(struct hx_exchange *x, const struct hx_serve_error *e)
{
    const int later = e->status == MHD_HTTP_SERVICE_UNAVAILABLE;

    return hx_send_json(x, e->status, hx_serve_error_json(e), later ? "Retry-After" : NULL, "1");
}

/* --- a stream of events: what has been made goes out as soon as it is asked for */

enum phase { PHASE_ROLE, PHASE_TEXT, PHASE_END, PHASE_USAGE, PHASE_LAST, PHASE_OVER };

struct stream {
    struct hx_serve *s;
    struct MHD_Connection *c;
    struct hx_serve_choices all;
    size_t current; /* the choice that is sent: one after the other, while all are computed */
    enum phase phase;
    size_t seen;  /* bytes of the job's text in events */
    int broken;   /* 1: a choice failed, or was cancelled */
    size_t told;  /* tokens whose log-probabilities were in events */
    char *event;  /* [n], of which `at` are out; NULL: none */
    size_t n, at;
};

static struct hx_serve_job *job_of(const struct stream *st)
{
    return st->all.job[st->current];
}

/* While its thread waits for text a connection is not idle. */
static void wait_for_text(struct stream *st)
{
    MHD_set_connection_option(st->c, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    hx_job_wait(job_of(st), st->seen);
    MHD_set_connection_option(st->c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)HX_IDLE_S);
}

/* [n] bytes of text, and the tokens that no event had so far. */
static struct hx_serve_part next_part(struct stream *st, const char *text, size_t n)
{
    const struct hx_serve_part part = {text, n, st->told, hx_job_made(job_of(st))};

    st->told = part.end;
    return part;
}

static json_t *end_event(struct stream *st)
{
    const struct hx_serve_part part = next_part(st, "", 0);
    const struct hx_serve_job *job = job_of(st);

    if (st->current + 1 < st->all.n) {
        st->current++;
        st->seen = st->told = 0;
        st->phase = job->req.chat ? PHASE_ROLE : PHASE_TEXT;
    } else {
        st->phase = job->req.include_usage ? PHASE_USAGE : PHASE_LAST;
    }
    return hx_serve_chunk(&st->s->model, job, HX_CHUNK_END, &part);
}

static json_t *text_event(struct stream *st)
{
    struct hx_serve_job *job = job_of(st);
    json_t *j;
    size_t n;
    int done;
    char *text;

    wait_for_text(st);
    text = hx_job_text(job, st->seen, &n, &done);
    if (!text)
        return NULL;
    st->seen += n;
    if (done)
        st->phase = PHASE_END;
    if (done && (job->error.status || job->cancelled)) {
        st->phase = PHASE_OVER;
        st->broken = 1;
        j = job->error.status ? hx_serve_error_json(&job->error) : NULL;
    } else if (n) {
        const struct hx_serve_part part = next_part(st, text, n);

        j = hx_serve_chunk(&st->s->model, job, HX_CHUNK_TEXT, &part);
    } else {
        j = end_event(st);
    }
    free(text);
    return j;
}

static json_t *next_json(struct stream *st)
{
    static const struct hx_serve_part nothing = {"", 0, 0, 0};
    struct hx_serve_model *m = &st->s->model;

    switch (st->phase) {
    case PHASE_ROLE:
        st->phase = PHASE_TEXT;
        return hx_serve_chunk(m, job_of(st), HX_CHUNK_ROLE, &nothing);
    case PHASE_TEXT:
        return text_event(st);
    case PHASE_END:
        return end_event(st);
    case PHASE_USAGE:
        st->phase = PHASE_LAST;
        return hx_serve_usage_chunk(m, &st->all);
    default:
        return NULL;
    }
}

/* The next event's bytes; 0, or -1: the stream is broken. */
static int next_event(struct stream *st)
{
    json_t *j = st->phase == PHASE_LAST ? NULL : next_json(st);
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    int n = -1;

    if (text)
        n = asprintf(&st->event, "data: %s\n\n", text);
    else if (st->phase == PHASE_LAST)
        n = asprintf(&st->event, "data: [DONE]\n\n");
    if (!text && st->phase == PHASE_LAST)
        st->phase = PHASE_OVER;
    free(text);
    json_decref(j);
    if (n < 0) {
        st->event = NULL;
        return -1;
    }
    st->n = (size_t)n;
    st->at = 0;
    return 0;
}

static ssize_t read_stream(void *arg, uint64_t pos, char *buf, size_t max)
{
    struct stream *st = arg;
    size_t n;

    (void)pos;
    if (!st->event && st->phase == PHASE_OVER)
        return st->broken ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    if (!st->event && next_event(st))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    n = st->n - st->at < max ? st->n - st->at : max;
    memcpy(buf, st->event + st->at, n);
    st->at += n;
    if (st->at == st->n) {
        free(st->event);
        st->event = NULL;
    }
    return (ssize_t)n;
}

void hx_serve_leave(struct hx_serve_choices *all)
{
    while (all->n)
        hx_job_leave(all->job[--all->n]);
}

static void free_stream(void *arg)
{
    struct stream *st = arg;

    hx_serve_leave(&st->all);
    free(st->event);
    free(st);
}

enum MHD_Result hx_send_stream(struct hx_exchange *x)
{
    struct stream *st = calloc(1, sizeof(*st));
    struct MHD_Response *r;
    char known[HX_SERVE_GUARD_TEXT];
    int knows;

    if (!st)
        return MHD_NO;
    *st = (struct stream){.s = x->s, .c = x->c, .all = x->all, .phase = x->all.job[0]->req.chat ? PHASE_ROLE : PHASE_TEXT};
    r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, st, free_stream);
    if (!r) {
        free(st);
        return MHD_NO;
    }
    knows = hx_serve_guard_text(&x->s->model, &x->all, 0, known, sizeof(known));
    x->all.n = 0; /* left in free_stream() */
    if (knows)
        MHD_add_response_header(r, HX_SERVE_GUARD_HEADER, known);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    return queue(x, MHD_HTTP_OK, r);
}

static enum MHD_Result send_texts(struct hx_exchange *x)
{
    struct hx_serve_part parts[HX_SERVE_CHOICES] = {{NULL, 0, 0, 0}};
    enum MHD_Result rc = MHD_NO;
    char seen[HX_SERVE_GUARD_TEXT];
    int done, fine = 1;

    if (x->all.job[0]->req.embedding.n)
        return hx_send_json(x, MHD_HTTP_OK, hx_serve_embedding_reply(&x->s->model, x->all.job[0]), NULL, NULL);
    for (size_t i = 0; i < x->all.n; i++) {
        parts[i].text = hx_job_text(x->all.job[i], 0, &parts[i].n, &done);
        parts[i].end = hx_job_made(x->all.job[i]);
        fine &= parts[i].text != NULL;
    }
    if (fine)
        rc = hx_send_json(x, MHD_HTTP_OK, hx_serve_reply(&x->s->model, &x->all, parts),
                          hx_serve_guard_text(&x->s->model, &x->all, 1, seen, sizeof(seen)) ? HX_SERVE_GUARD_HEADER : NULL, seen);
    for (size_t i = 0; i < x->all.n; i++)
        free((char *)parts[i].text);
    return rc;
}

enum MHD_Result hx_send_whole(struct hx_exchange *x)
{
    int cancelled = 0;

    MHD_set_connection_option(x->c, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    for (size_t i = 0; i < x->all.n; i++)
        hx_job_wait_done(x->all.job[i]);
    MHD_set_connection_option(x->c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)HX_IDLE_S);
    for (size_t i = 0; i < x->all.n; i++) {
        if (x->all.job[i]->error.status)
            return hx_send_error(x, &x->all.job[i]->error);
        cancelled |= x->all.job[i]->cancelled;
    }
    return cancelled ? MHD_NO : send_texts(x);
}
