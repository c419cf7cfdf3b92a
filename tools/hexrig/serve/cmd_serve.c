/* hexrig serve: an OpenAI-compatible HTTP server.  This file has its options, opens the engines and says where it listens. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cmd_serve.h"
#include "methods/cog/miku.h"
#include "options/engine_opts.h"

enum { OPT_HOST = HX_OPT_FREE, OPT_PORT, OPT_PARALLEL, OPT_QUEUE, OPT_NAME, OPT_CHAT, OPT_CORS, OPT_STATE };

/* A prompt is run in pieces of MAX_BATCH tokens, between which others take their steps. */
enum { MAX_BATCH = 128, MOST_CTX = 4096 };

static const struct argp_option options[] = {
    {"host", OPT_HOST, "ADDR", 0, "to listen on (127.0.0.1: this machine alone); there is no authentication", 0},
    {"port", OPT_PORT, "N", 0, "0 = any free one (8080)", 0},
    {"parallel", OPT_PARALLEL, "N", 0, "requests that are computed at a time, each with a cache of its own (4)", 0},
    {"queue", OPT_QUEUE, "N", 0, "requests that may wait for one of them; more get status 503 (64)", 0},
    {"name", OPT_NAME, "NAME", 0, "of the model, as clients call it (its file's)", 0},
    {"cors", OPT_CORS, "ORIGIN", 0, "pages of this origin may use it, as http://localhost:3000; * = any (none)", 0},
    {"state", OPT_STATE, "FILE", 0,
     "of hexrig isagi: replies say how near its questions are; it is read at the start and stays as it is (none)", 0},
    {"chat", OPT_CHAT, "FAMILY", 0, "template of chats instead of the model's", 0},
    {0},
};

/* The families are the templates' own list. */
static char *option_help(int key, const char *text, void *input)
{
    char *all;

    (void)input;
    return key == OPT_CHAT && asprintf(&all, "%s: %s", text, hx_chat_families()) >= 0 ? all : (char *)text;
}

static const char doc[] =
    "Answers /v1/completions, /v1/chat/completions, /v1/models and /health over HTTP as OpenAI's API does, until SIGINT or "
    "SIGTERM.  Prints url=... when it listens.  --ctx is of each cache (the model's context, at most 4096)."
    "\vExample: hexrig serve --kv f32 --port 8080 &\n"
    "curl http://127.0.0.1:8080/v1/completions -H 'Content-Type: application/json' \\\n"
    "    -d '{\"prompt\": \"The king was\", \"max_tokens\": 16, \"temperature\": 0}'";

struct serve {
    struct hx_engine_opts o;
    struct hx_serve s;
    size_t parallel, queue, port;
    const char *name, *family, *state;
    struct hx_cog memory;      /* of the state */
    char *file_name;           /* of the model, when it is the name */
    struct hx_engine **engines; /* [n_engines], the first with the model */
    size_t n_engines;
};

static int option(struct serve *v, int c, const char *arg)
{
    const char *cmd = v->o.cmd;

    switch (c) {
    case OPT_HOST:
        v->s.host = arg;
        return 0;
    case OPT_PORT:
        return hx_opt_size(cmd, "port", arg, 0, 65535, &v->port);
    case OPT_PARALLEL:
        return hx_opt_size(cmd, "parallel", arg, 1, HX_SERVE_MAX_PARALLEL, &v->parallel);
    case OPT_QUEUE:
        return hx_opt_size(cmd, "queue", arg, 0, HX_SERVE_MAX_QUEUE, &v->queue);
    case OPT_NAME:
        v->name = arg;
        return *arg ? 0 : hx_cmd_usage(cmd, "--name: the name is empty");
    case OPT_CORS:
        v->s.cors = arg;
        return *arg ? 0 : hx_cmd_usage(cmd, "--cors: the origin is empty");
    case OPT_CHAT:
        v->family = arg;
        return 0;
    case OPT_STATE:
        v->state = arg;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct serve *v = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &v->o;
    return hx_opt_error(option(v, key, arg));
}

static int parse(struct serve *v, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&v->o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, option_help, NULL};
    int rc = hx_opt_parse(v->o.cmd, &argp, argc, argv, v);

    if (!rc)
        rc = hx_engine_opts_done(&v->o);
    if (!rc && hx_plan_given(v->o.plan, "calibrate-on")) /* given or chosen: each cache would make its own */
        rc = hx_cmd_usage(v->o.cmd, "--calibrate-on is for one run; make a file (hexrig block calibrate) for --cal");
    return rc;
}

static void close_engines(struct serve *v)
{
    while (v->n_engines) /* the first one's model last */
        hx_engine_close(v->engines[--v->n_engines]);
}

/* Files of taps are complete, or that is said. */
static int finish_engines(struct serve *v)
{
    struct hx_error err = {""};

    for (size_t i = 0; i < v->n_engines; i++)
        if (hx_engine_finish(v->engines[i], &err))
            return hx_cmd_fail(v->o.cmd, "%s", err.text);
    return HX_EXIT_OK;
}

/* The engines: one model, and a cache for each request that is computed.  0 or negative errno. */
static int make_engines(struct serve *v, struct hx_error *err)
{
    struct hx_engine_cfg cfg = hx_engine_opts_cfg(&v->o);
    int rc = 0;

    while (!rc && v->n_engines < v->parallel) {
        rc = hx_engine_open(&v->engines[v->n_engines], &cfg, err);
        v->n_engines += !rc;
        cfg.share_with = v->engines[0];
    }
    return rc;
}

static int open_engines(struct serve *v)
{
    struct hx_error err = {""};
    int rc = hx_engine_opts_prepare(&v->o);

    if (rc)
        return rc;
    v->o.max_batch = MAX_BATCH;
    v->o.n_ctx_most = MOST_CTX;
    v->engines = calloc(v->parallel, sizeof(*v->engines));
    if (!v->engines)
        return hx_cmd_fail(v->o.cmd, "out of memory");
    if (make_engines(v, &err))
        return hx_cmd_fail(v->o.cmd, "%s", err.text);
    if (v->engines[0]->kv->n_ctx > v->engines[0]->model->n_ctx)
        return hx_cmd_fail(v->o.cmd, "--ctx %zu: the model's context is %zu", v->o.n_ctx,
                           v->engines[0]->model->n_ctx);
    return HX_EXIT_OK;
}

/* Requests are read for the first one's model. */
static void use_engines(struct serve *v)
{
    struct hx_serve_model *m = &v->s.model;

    m->e = v->engines[0];
    if (hx_vocab_open(&m->vocab, m->e->model->tok, &m->vocab_err))
        m->vocab = NULL;
}

/* All of them, since their sessions are gone.  In the computing thread; requests that come wait to be read. */
static int reopen_engines(void *arg, struct hx_error *err)
{
    struct serve *v = arg;
    struct hx_serve_model *m = &v->s.model;
    int rc;

    pthread_rwlock_wrlock(&m->lock);
    m->e = NULL;
    hx_vocab_close(m->vocab);
    m->vocab = NULL;
    close_engines(v);
    rc = make_engines(v, err);
    if (!rc && m->has_chat)
        rc = hx_chat_init(&m->chat, v->engines[0]->model->tok, v->engines[0]->model->file, v->family, err);
    if (!rc)
        use_engines(v);
    pthread_rwlock_unlock(&m->lock);
    return rc;
}

/* "dir/NAME.gguf" is called NAME. */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);

    return strndup(name, n > 5 && strcmp(name + n - 5, ".gguf") == 0 ? n - 5 : n);
}

static int remember(struct serve *v)
{
    const struct hx_model *m = v->engines[0]->model;
    struct hx_error err = {""};

    if (!v->state)
        return HX_EXIT_OK;
    if (hx_miku_read(&v->memory, v->state, m->fingerprint, &err))
        return hx_cmd_fail(v->o.cmd, "%s", err.text);
    if (v->memory.d != m->width)
        return hx_cmd_fail(v->o.cmd, "%s: states of %zu; the model's are %zu wide", v->state, v->memory.d, m->width);
    v->s.model.memory = &v->memory;
    return HX_EXIT_OK;
}

static int describe_model(struct serve *v)
{
    struct hx_serve_model *m = &v->s.model;
    const struct hx_model *model = v->engines[0]->model;
    int rc = hx_chat_init(&m->chat, model->tok, model->file, v->family, &m->err);

    if (rc && v->family)
        return hx_cmd_fail(v->o.cmd, "%s", m->err.text);
    m->has_chat = rc == 0;
    if (rc)
        fprintf(stderr, "hexrig serve: no chats: %s\n", m->err.text);
    v->file_name = name_of_file(v->o.model);
    m->name = v->name ? v->name : v->file_name;
    use_engines(v);
    pthread_rwlock_init(&m->lock, NULL);
    m->since = time(NULL);
    return m->name ? HX_EXIT_OK : hx_cmd_fail(v->o.cmd, "out of memory");
}

/* --- signals end the server through a pipe: any thread may get them */

static int end_pipe[2] = {-1, -1};

static void on_signal(int sig)
{
    const int saved = errno;

    (void)sig;
    (void)!write(end_pipe[1], "", 1);
    errno = saved;
}

static int catch_signals(void)
{
    struct sigaction end = {.sa_handler = on_signal};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    if (pipe2(end_pipe, O_CLOEXEC))
        return -errno;
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    return 0;
}

static int wait_for_end(const struct serve *v)
{
    char byte;
    ssize_t n;

    do
        n = read(end_pipe[0], &byte, 1);
    while (n < 0 && errno == EINTR);
    return n < 0 ? hx_cmd_fail(v->o.cmd, "cannot wait for signals: %s", strerror(errno)) : HX_EXIT_OK;
}

static int is_loopback(const char *host)
{
    struct in6_addr six;

    return strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0 ||
           (inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

static int say_url(const struct serve *v)
{
    const char *host = v->s.host, *left = strchr(host, ':') ? "[" : "", *right = *left ? "]" : "";

    if (!is_loopback(host))
        fprintf(stderr, "hexrig serve: --host %s: other machines can use this server; it asks nobody "
                "who they are\n", host);
    printf(v->o.json ? "{\"url\": \"http://%s%s%s:%u\"}\n" : "url=http://%s%s%s:%u\n", left, host,
           right, v->s.port);
    if (!fflush(stdout))
        return HX_EXIT_OK;
    hx_cmd_fail(v->o.cmd, "cannot write the url: %s", strerror(errno));
    __fpurge(stdout); /* main() would say so again */
    clearerr(stdout);
    return HX_EXIT_FAILED;
}

static int listen_until_end(struct serve *v)
{
    struct hx_http *http;
    struct hx_error err = {""};
    int rc;

    if (hx_http_open(&http, &v->s, &err)) {
        hx_jobs_stop(v->s.jobs);
        return hx_cmd_fail(v->o.cmd, "%s", err.text);
    }
    rc = say_url(v);
    if (!rc)
        rc = wait_for_end(v);
    hx_http_quiet(http);
    hx_jobs_stop(v->s.jobs); /* ends every wait for text */
    hx_http_close(http);
    return rc;
}

/* A connection is one. */
static void raise_descriptors(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

static int serve(struct serve *v)
{
    int rc;

    raise_descriptors();
    mallopt(M_ARENA_MAX, 2); /* or each connection's thread gets one, and keeps what was freed there */
    v->s.port = (unsigned)v->port;
    v->s.connections = v->parallel + v->queue + HX_CONNS_SPARE;
    rc = catch_signals();
    if (!rc)
        rc = hx_jobs_open(&v->s.jobs, &(struct hx_jobs_engines){v->engines, v->n_engines, &v->s.model.vocab, reopen_engines, v},
                          v->queue);
    if (rc)
        return hx_cmd_fail(v->o.cmd, "cannot start: %s", strerror(-rc));
    rc = listen_until_end(v);
    hx_jobs_close(v->s.jobs);
    return rc;
}

int hx_cmd_serve(int argc, char **argv)
{
    struct serve v = {.s = {.host = "127.0.0.1"}, .port = 8080, .parallel = 4, .queue = 64};
    int rc = hx_engine_opts_init(&v.o, "serve", HX_PLAN_KV_AUTO);

    if (rc == 0)
        rc = parse(&v, argc, argv);
    if (rc == 0)
        rc = open_engines(&v);
    if (rc == 0)
        rc = remember(&v);
    if (rc == 0)
        rc = describe_model(&v);
    if (rc == 0)
        rc = serve(&v);
    if (rc == 0)
        rc = finish_engines(&v);
    hx_vocab_close(v.s.model.vocab);
    close_engines(&v);
    free(v.engines);
    free(v.file_name);
    hx_cog_free(&v.memory);
    hx_engine_opts_free(&v.o);
    return rc;
}
