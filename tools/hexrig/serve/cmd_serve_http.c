/* HTTP of hexrig serve, on libmicrohttpd: connections, routes, bodies, replies.
 *
 * Each connection has a thread of its own, which may wait: for a job's text, or for a client that reads slowly. */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd_serve.h"

enum { IDLE_S = 30, BLOCK = 4096, HARD_LIMIT = 8 * HX_SERVE_MAX_BODY };

struct hx_http {
    struct hx_serve *s;
    struct hx_conns *conns;
    struct MHD_Daemon *daemon;
};

/* One request on its way in, and its jobs. */
struct exchange {
    struct hx_serve *s;
    char *body; /* [n] */
    size_t n;
    struct hx_serve_choices all; /* until a stream takes them */
    int too_much; /* 1: for this one there is nothing but /health */
};

/* --- replies */

static enum MHD_Result send_bytes(struct MHD_Connection *c, unsigned status, char *bytes, size_t n,
                                  const char *header, const char *value)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result rc;

    if (!r) {
        free(bytes);
        return MHD_NO;
    }
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    if (header)
        MHD_add_response_header(r, header, value);
    rc = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return rc;
}

/* Takes j. */
static enum MHD_Result send_json(struct MHD_Connection *c, unsigned status, json_t *j,
                                 const char *header, const char *value)
{
    char *bytes = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    return bytes ? send_bytes(c, status, bytes, strlen(bytes), header, value) : MHD_NO;
}

static enum MHD_Result send_error(struct MHD_Connection *c, const struct hx_serve_error *e)
{
    const int later = e->status == MHD_HTTP_SERVICE_UNAVAILABLE;

    return send_json(c, e->status, hx_serve_error_json(e), later ? "Retry-After" : NULL, "1");
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
    MHD_set_connection_option(st->c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_S);
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

static void leave(struct hx_serve_choices *all)
{
    while (all->n)
        hx_job_leave(all->job[--all->n]);
}

static void free_stream(void *arg)
{
    struct stream *st = arg;

    leave(&st->all);
    free(st->event);
    free(st);
}

static enum MHD_Result send_stream(struct MHD_Connection *c, struct exchange *x)
{
    struct stream *st = calloc(1, sizeof(*st));
    struct MHD_Response *r;
    enum MHD_Result rc;

    if (!st)
        return MHD_NO;
    *st = (struct stream){.s = x->s, .c = c, .all = x->all, .phase = x->all.job[0]->req.chat ? PHASE_ROLE : PHASE_TEXT};
    r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, st, free_stream);
    if (!r) {
        free(st);
        return MHD_NO;
    }
    x->all.n = 0; /* left in free_stream() */
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    rc = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return rc;
}

static enum MHD_Result send_texts(struct MHD_Connection *c, struct exchange *x)
{
    struct hx_serve_part parts[HX_SERVE_CHOICES] = {{NULL, 0, 0, 0}};
    enum MHD_Result rc = MHD_NO;
    int done, fine = 1;

    for (size_t i = 0; i < x->all.n; i++) {
        parts[i].text = hx_job_text(x->all.job[i], 0, &parts[i].n, &done);
        parts[i].end = hx_job_made(x->all.job[i]);
        fine &= parts[i].text != NULL;
    }
    if (fine)
        rc = send_json(c, MHD_HTTP_OK, hx_serve_reply(&x->s->model, &x->all, parts), NULL, NULL);
    for (size_t i = 0; i < x->all.n; i++)
        free((char *)parts[i].text);
    return rc;
}

/* The reply as a whole; MHD_NO breaks the connection, of which the other end is closed. */
static enum MHD_Result send_whole(struct MHD_Connection *c, struct exchange *x)
{
    int cancelled = 0;

    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    for (size_t i = 0; i < x->all.n; i++)
        hx_job_wait_done(x->all.job[i]);
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_S);
    for (size_t i = 0; i < x->all.n; i++) {
        if (x->all.job[i]->error.status)
            return send_error(c, &x->all.job[i]->error);
        cancelled |= x->all.job[i]->cancelled;
    }
    return cancelled ? MHD_NO : send_texts(c, x);
}

/* --- routes */

static enum MHD_Result health(struct MHD_Connection *c, struct exchange *x, const char *rest)
{
    const struct hx_jobs_counts n = hx_jobs_count(x->s->jobs);

    (void)rest;
    return send_json(c, n.failing ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
                     json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "status",
                               n.failing ? "failing" : "ok", "active",
                               (json_int_t)n.active, "queued", (json_int_t)n.queued, "done",
                               (json_int_t)n.done, "cancelled", (json_int_t)n.cancelled, "failed",
                               (json_int_t)n.failed, "refused", (json_int_t)n.refused, "tokens",
                               (json_int_t)n.tokens, "restarts", (json_int_t)n.restarts),
                     NULL, NULL);
}

static enum MHD_Result models(struct MHD_Connection *c, struct exchange *x, const char *rest)
{
    (void)rest;
    return send_json(c, MHD_HTTP_OK, json_pack("{s:s, s:[o]}", "object", "list", "data",
                                               hx_serve_model_json(&x->s->model)), NULL, NULL);
}

static enum MHD_Result one_model(struct MHD_Connection *c, struct exchange *x, const char *rest)
{
    struct hx_serve_error e;

    if (strcmp(rest, x->s->model.name) == 0)
        return send_json(c, MHD_HTTP_OK, hx_serve_model_json(&x->s->model), NULL, NULL);
    hx_serve_fail(&e, 404, "model", "model_not_found", "there is no model '%.100s'; this server has "
                  "'%.100s'", rest, x->s->model.name);
    return send_error(c, &e);
}

static int socket_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

    return i ? i->connect_fd : -1;
}

/* A page of another site can make a browser send a body here, but not with this type. */
static int is_json(struct MHD_Connection *c)
{
    static const char json[] = "application/json";
    const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    const size_t n = sizeof(json) - 1;

    return type && strncasecmp(type, json, n) == 0 && strchr("; \t", type[n]);
}

/* Waits while the engines are made anew. */
static int read_request(struct exchange *x, int chat, struct hx_serve_request *req, struct hx_serve_error *e)
{
    struct hx_serve_model *m = &x->s->model;
    int rc;

    if (hx_jobs_count(x->s->jobs).down)
        return hx_serve_fail(e, 503, NULL, "server_restarts", "the DSP is gone; it is tried again and again");
    pthread_rwlock_rdlock(&m->lock);
    rc = m->e ? hx_serve_parse(req, m, chat, x->body ? x->body : "", x->n, e)
              : hx_serve_fail(e, 503, NULL, "server_restarts", "the DSP is gone; it is tried again and again");
    pthread_rwlock_unlock(&m->lock);
    return rc;
}

/* One more choice: the body is read once more, as each has a request of its own. */
static int add_choice(struct MHD_Connection *c, struct exchange *x, int chat, struct hx_serve_error *e)
{
    const size_t i = x->all.n, room = hx_jobs_room(x->s->jobs);
    struct hx_serve_request req = {0};
    struct hx_serve_job *job;
    size_t n;

    if (read_request(x, chat, &req, e)) {
        hx_serve_request_free(&req);
        return -1;
    }
    n = req.n;
    req.index = i;
    req.cfg.sampling.seed += i;
    job = n <= room ? hx_job_submit(x->s->jobs, &req, socket_of(c), e) : NULL;
    hx_serve_request_free(&req);
    if (n > room)
        return hx_serve_fail(e, 400, "n", NULL, "n: this server takes %zu requests at a time, and each choice is one", room);
    if (!job)
        return -1;
    x->all.job[x->all.n++] = job;
    job->number = x->all.job[0]->number;
    job->created = x->all.job[0]->created;
    return i + 1 < n;
}

static enum MHD_Result complete(struct MHD_Connection *c, struct exchange *x, int chat)
{
    struct hx_serve_error e = {0};
    int more;

    if (!is_json(c)) {
        hx_serve_fail(&e, 415, NULL, NULL, "the Content-Type has to be application/json");
        return send_error(c, &e);
    }
    do
        more = add_choice(c, x, chat, &e);
    while (more > 0);
    if (more < 0) {
        leave(&x->all);
        return send_error(c, &e);
    }
    return x->all.job[0]->req.stream ? send_stream(c, x) : send_whole(c, x);
}

static enum MHD_Result completions(struct MHD_Connection *c, struct exchange *x, const char *rest)
{
    (void)rest;
    return complete(c, x, 0);
}

static enum MHD_Result chat_completions(struct MHD_Connection *c, struct exchange *x,
                                        const char *rest)
{
    (void)rest;
    return complete(c, x, 1);
}

static const struct route {
    const char *method, *path; /* a path that ends in / stands for all below it */
    enum MHD_Result (*answer)(struct MHD_Connection *c, struct exchange *x, const char *rest);
} routes[] = {
    {"GET", "/health", health},
    {"GET", "/v1/models", models},
    {"GET", "/v1/models/", one_model},
    {"POST", "/v1/completions", completions},
    {"POST", "/v1/chat/completions", chat_completions},
};

static const struct route *find_route(const char *path)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        const size_t n = strlen(routes[i].path);

        if (strncmp(path, routes[i].path, n) == 0 &&
            (routes[i].path[n - 1] == '/' ? path[n] != '\0' : path[n] == '\0'))
            return &routes[i];
    }
    return NULL;
}

static enum MHD_Result answer(struct MHD_Connection *c, struct exchange *x, const char *method,
                              const char *path)
{
    const struct route *r = find_route(path);
    struct hx_serve_error e = {0};

    if (x->too_much && !(r && r->answer == health)) {
        hx_serve_fail(&e, 503, NULL, "server_overloaded", "too many requests at a time");
        return send_error(c, &e);
    }
    if (r && (strcmp(method, r->method) == 0 ||
              (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0)))
        return r->answer(c, x, path + strlen(r->path));
    if (!r) {
        hx_serve_fail(&e, 404, NULL, NULL, "there is no %.100s here", path);
        return send_error(c, &e);
    }
    hx_serve_fail(&e, 405, NULL, NULL, "%s wants %s", r->path, r->method);
    return send_json(c, e.status, hx_serve_error_json(&e), MHD_HTTP_HEADER_ALLOW, r->method);
}

/* --- libmicrohttpd's side */

static enum MHD_Result too_large(struct MHD_Connection *c)
{
    struct hx_serve_error e;

    hx_serve_fail(&e, 413, NULL, NULL, "the body is larger than %d bytes", HX_SERVE_MAX_BODY);
    return send_error(c, &e);
}

/* A body that says how large it is is refused before it is sent, another one behind its end, if that comes. */
static enum MHD_Result take_body(struct exchange *x, const char *data, size_t n)
{
    char *body;

    if (x->n + n > HX_SERVE_MAX_BODY) {
        x->n += n;
        return x->n > HARD_LIMIT ? MHD_NO : MHD_YES;
    }
    body = realloc(x->body, x->n + n);
    if (!body)
        return MHD_NO;
    memcpy(body + x->n, data, n);
    x->body = body;
    x->n += n;
    return MHD_YES;
}

static struct hx_conn_entry *entry_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return i ? i->socket_context : NULL;
}

static void on_connection(void *arg, struct MHD_Connection *c, void **entry,
                          enum MHD_ConnectionNotificationCode code)
{
    struct hx_http *h = arg;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

        *entry = hx_conns_add(h->conns, socket_of(c), i ? i->client_addr : NULL);
    } else {
        hx_conns_del(h->conns, *entry);
        *entry = NULL;
    }
}

static enum MHD_Result first_call(struct hx_http *h, struct MHD_Connection *c, void **state)
{
    const char *length =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    struct exchange *x = calloc(1, sizeof(*x));

    if (!x)
        return MHD_NO;
    x->s = h->s;
    x->too_much = hx_conns_set(h->conns, entry_of(c), HX_CONN_BODY);
    *state = x;
    return length && strtoull(length, NULL, 10) > HX_SERVE_MAX_BODY ? too_large(c) : MHD_YES;
}

/* An `Expect: 100-continue` without a body.  libmicrohttpd (0.9.75) would send the 100, call for the body's data if another request
 * is there already, and close the connection because it takes no reply in that call; so the reply comes before. */
static int expects_in_vain(struct MHD_Connection *c)
{
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT) &&
           !MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) &&
           (!length || strtoull(length, NULL, 10) == 0);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_size, void **state)
{
    struct exchange *x = *state;
    enum MHD_Result rc;

    (void)version;
    if (!x) {
        rc = first_call(arg, c, state);
        if (rc != MHD_YES || !expects_in_vain(c))
            return rc;
        x = *state;
    }
    if (*data_size) {
        rc = take_body(x, data, *data_size);
        *data_size = 0;
        return rc;
    }
    hx_conns_set(((struct hx_http *)arg)->conns, entry_of(c), HX_CONN_WHOLE);
    return x->n > HX_SERVE_MAX_BODY ? too_large(c) : answer(c, x, method, path);
}

static void on_end(void *arg, struct MHD_Connection *c, void **state,
                   enum MHD_RequestTerminationCode code)
{
    struct exchange *x = *state;

    (void)code;
    hx_conns_set(((struct hx_http *)arg)->conns, entry_of(c), HX_CONN_NEXT);
    if (!x)
        return;
    leave(&x->all);
    free(x->body);
    free(x);
    *state = NULL;
}

static struct MHD_Daemon *start(struct hx_http *h, const struct addrinfo *a)
{
    const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                           MHD_USE_POLL | MHD_USE_ITC |
                           (a->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);

    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, a->ai_addr,
                            MHD_OPTION_NOTIFY_COMPLETED, on_end, h, MHD_OPTION_NOTIFY_CONNECTION,
                            on_connection, h, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)h->s->connections + HX_CONNS_HALF + HX_CONNS_BURST, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)IDLE_S, MHD_OPTION_END);
}

static int listen_on(struct hx_http *h, const struct addrinfo *a, struct hx_error *err)
{
    const union MHD_DaemonInfo *info;

    errno = 0;
    h->daemon = start(h, a);
    if (!h->daemon)
        return hx_error_set(err, errno ? -errno : -EIO, "cannot listen on %s, port %u: %s", h->s->host,
                          h->s->port, errno ? strerror(errno) : "the HTTP server does not start");
    info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    h->s->port = info ? info->port : h->s->port;
    return 0;
}

int hx_http_open(struct hx_http **out, struct hx_serve *s, struct hx_error *err)
{
    const struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found;
    char port[16];
    int rc;

    snprintf(port, sizeof(port), "%u", s->port);
    rc = getaddrinfo(s->host, port, &want, &found);
    if (rc)
        return hx_error_set(err, -EINVAL, "--host %s: %s", s->host, gai_strerror(rc));
    *out = calloc(1, sizeof(**out));
    if (*out) {
        (*out)->s = s;
        rc = hx_conns_open(&(*out)->conns, s->connections);
        rc = rc ? hx_error_set(err, rc, "no thread can be started") : listen_on(*out, found, err);
    } else {
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    }
    freeaddrinfo(found);
    if (rc && *out) {
        hx_conns_close((*out)->conns);
        free(*out);
        *out = NULL;
    }
    return rc;
}

void hx_http_quiet(struct hx_http *h)
{
    int fd = MHD_quiesce_daemon(h->daemon);

    if (fd >= 0)
        close(fd);
}

void hx_http_close(struct hx_http *h)
{
    if (!h)
        return;
    MHD_stop_daemon(h->daemon);
    hx_conns_close(h->conns);
    free(h);
}
