/* What hexrig serve answers where. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd_serve_exchange.h"

static enum MHD_Result health(struct hx_exchange *x, const char *rest)
{
    const struct hx_jobs_counts n = hx_jobs_count(x->s->jobs);

    (void)rest;
    return hx_send_json(x, n.failing ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
                     json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "status",
                               n.failing ? "failing" : "ok", "active",
                               (json_int_t)n.active, "queued", (json_int_t)n.queued, "done",
                               (json_int_t)n.done, "cancelled", (json_int_t)n.cancelled, "failed",
                               (json_int_t)n.failed, "refused", (json_int_t)n.refused, "tokens",
                               (json_int_t)n.tokens, "restarts", (json_int_t)n.restarts),
                     NULL, NULL);
}

static enum MHD_Result models(struct hx_exchange *x, const char *rest)
{
    (void)rest;
    return hx_send_json(x, MHD_HTTP_OK, json_pack("{s:s, s:[o]}", "object", "list", "data",
                                               hx_serve_model_json(&x->s->model)), NULL, NULL);
}

static enum MHD_Result one_model(struct hx_exchange *x, const char *rest)
{
    struct hx_serve_error e;

    if (strcmp(rest, x->s->model.name) == 0)
        return hx_send_json(x, MHD_HTTP_OK, hx_serve_model_json(&x->s->model), NULL, NULL);
    hx_serve_fail(&e, 404, "model", "model_not_found", "there is no model '%.100s'; this server has "
                  "'%.100s'", rest, x->s->model.name);
    return hx_send_error(x, &e);
}

/* A page of another site can make a browser send a body here, but not with this type. */
static int is_json(struct MHD_Connection *c)
{
    static const char json[] = "application/json";
    const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    const size_t n = sizeof(json) - 1;

    return type && strncasecmp(type, json, n) == 0 && strchr("; \t", type[n]);
}

static int not_json(struct hx_serve_error *e)
{
    return hx_serve_fail(e, 415, NULL, NULL, "the Content-Type has to be application/json");
}

static int restarting(struct hx_serve_error *e)
{
    return hx_serve_fail(e, 503, NULL, "server_restarts", "the DSP is gone; it is tried again and again");
}

enum what { WHAT_TEXT, WHAT_CHAT, WHAT_EMBEDDING };

static int parse(struct hx_exchange *x, enum what what, struct hx_serve_request *req, struct hx_serve_error *e)
{
    const char *body = x->body ? x->body : "";

    return what == WHAT_EMBEDDING ? hx_serve_parse_embedding(req, &x->s->model, body, x->n, e)
                                  : hx_serve_parse(req, &x->s->model, what == WHAT_CHAT, body, x->n, e);
}

/* Waits while the engines are made anew. */
static int read_request(struct hx_exchange *x, enum what what, struct hx_serve_request *req, struct hx_serve_error *e)
{
    struct hx_serve_model *m = &x->s->model;
    int rc;

    if (hx_jobs_count(x->s->jobs).down)
        return restarting(e);
    pthread_rwlock_rdlock(&m->lock);
    rc = m->e ? parse(x, what, req, e) : restarting(e);
    pthread_rwlock_unlock(&m->lock);
    return rc;
}

/* One more choice: the body is read once more, as each has a request of its own. */
static int add_choice(struct hx_exchange *x, enum what what, struct hx_serve_error *e)
{
    const size_t i = x->all.n, room = hx_jobs_room(x->s->jobs);
    struct hx_serve_request req = {0};
    struct hx_serve_job *job;
    size_t n;

    if (read_request(x, what, &req, e)) {
        hx_serve_request_free(&req);
        return -1;
    }
    n = req.n;
    req.index = i;
    req.cfg.sampling.seed += i;
    job = n <= room ? hx_job_submit(x->s->jobs, &req, hx_socket_of(x->c), e) : NULL;
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

static enum MHD_Result complete(struct hx_exchange *x, enum what what)
{
    struct hx_serve_error e = {0};
    int more;

    if (!is_json(x->c)) {
        not_json(&e);
        return hx_send_error(x, &e);
    }
    do
        more = add_choice(x, what, &e);
    while (more > 0);
    if (more < 0) {
        hx_serve_leave(&x->all);
        return hx_send_error(x, &e);
    }
    return x->all.job[0]->req.stream ? hx_send_stream(x) : hx_send_whole(x);
}

static enum MHD_Result completions(struct hx_exchange *x, const char *rest)
{
    (void)rest;
    return complete(x, WHAT_TEXT);
}

static enum MHD_Result chat_completions(struct hx_exchange *x,
                                        const char *rest)
{
    (void)rest;
    return complete(x, WHAT_CHAT);
}

static enum MHD_Result embeddings(struct hx_exchange *x, const char *rest)
{
    (void)rest;
    return complete(x, WHAT_EMBEDDING);
}

/* What needs the model's tokenizer alone, and no turn of the computing thread. */
static enum MHD_Result with_tokenizer(struct hx_exchange *x,
                                      json_t *(*make)(const struct hx_exchange *, const struct hx_tokenizer *, struct hx_serve_error *))
{
    struct hx_serve_model *m = &x->s->model;
    struct hx_serve_error e = {0};
    json_t *j = NULL;

    if (!is_json(x->c)) {
        not_json(&e);
        return hx_send_error(x, &e);
    }
    if (!hx_jobs_count(x->s->jobs).down) {
        pthread_rwlock_rdlock(&m->lock);
        j = m->e ? make(x, m->e->model->tok, &e) : NULL;
        pthread_rwlock_unlock(&m->lock);
    }
    if (!j && !e.status)
        restarting(&e);
    return e.status ? hx_send_error(x, &e) : hx_send_json(x, MHD_HTTP_OK, j, NULL, NULL);
}

static enum MHD_Result tokenize(struct hx_exchange *x, const char *rest)
{
    (void)rest;
    return with_tokenizer(x, hx_serve_tokenize);
}

static enum MHD_Result detokenize(struct hx_exchange *x, const char *rest)
{
    (void)rest;
    return with_tokenizer(x, hx_serve_detokenize);
}

static const struct route {
    const char *method, *path; /* a path that ends in / stands for all below it */
    enum MHD_Result (*answer)(struct hx_exchange *x, const char *rest);
} routes[] = {
    {"GET", "/health", health},
    {"GET", "/metrics", hx_metrics},
    {"GET", "/v1/models", models},
    {"GET", "/v1/models/", one_model},
    {"POST", "/v1/completions", completions},
    {"POST", "/v1/chat/completions", chat_completions},
    {"POST", "/v1/embeddings", embeddings},
    {"POST", "/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
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

enum MHD_Result hx_answer(struct hx_exchange *x, const char *method,
                              const char *path)
{
    const struct route *r = find_route(path);
    struct hx_serve_error e = {0};

    if (x->too_much && !(r && r->answer == health)) {
        hx_serve_fail(&e, 503, NULL, "server_overloaded", "too many requests at a time");
        return hx_send_error(x, &e);
    }
    if (r && (strcmp(method, r->method) == 0 ||
              (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0)))
        return r->answer(x, path + strlen(r->path));
    if (r && x->s->cors && strcmp(method, "OPTIONS") == 0)
        return hx_send_preflight(x);
    if (!r) {
        hx_serve_fail(&e, 404, NULL, NULL, "there is no %.100s here", path);
        return hx_send_error(x, &e);
    }
    hx_serve_fail(&e, 405, NULL, NULL, "%s wants %s", r->path, r->method);
    return hx_send_json(x, e.status, hx_serve_error_json(&e), MHD_HTTP_HEADER_ALLOW, r->method);
}
