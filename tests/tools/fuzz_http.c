/* Fuzz target: a connection to `hexrig serve`, its requests in pieces, with the real routes, JSON, jobs and a tiny model behind them.
 *
 * The input is a list of operations (tests/lib/http_stream.h) that write requests, raw bytes and damage, and cut what they have written
 * into pieces.  libmicrohttpd runs in this thread, after every piece, and the clock is the fuzzer's: time passes between pieces.
 *
 * Checked: each whole request gets one reply, well-formed and with a status that docs/serve.md has for what a client does, so neither
 * 500 nor 503; the replies to the same bytes in one piece are the same; who takes too long is dropped, and who does not is not; and no
 * job is left when the connection is gone. */
#include <errno.h>
#include <linux/sockios.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gen_model.h"
#include "http_stream.h"
#include "serve/cmd_serve.h"

enum { SOON_S = HX_CONN_HEAD_S - 1 /* no deadline is shorter */, LATE_S = 31 /* none is longer */, QUIET_TURNS = 3, MOST_TURNS = 100000 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

static struct MHD_Daemon *daemon_here; /* the server's */
static struct hx_serve server;
static struct hx_conns *conns; /* the server's */
static _Atomic unsigned ahead_s; /* of the real time */

static void finding(const char *what, const char *text)
{
    fprintf(stderr, "http: %s: %.2000s\n", what, text);
    abort();
}

/* In the place of libmicrohttpd's own: the server's daemon, but without threads, so that MHD_run() does all its work. */
struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept, void *accept_arg,
                                    MHD_AccessHandlerCallback handler, void *handler_arg, ...)
{
    va_list ap;

    (void)flags;
    va_start(ap, handler_arg);
    daemon_here = MHD_start_daemon_va(MHD_NO_FLAG, port, accept, accept_arg, handler, handler_arg, ap);
    va_end(ap);
    return daemon_here;
}

/* Everybody's clock. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    const int rc = (int)syscall(SYS_clock_gettime, id, t);

    if (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE)
        t->tv_sec += ahead_s;
    return rc;
}

int __wrap_hx_conns_open(struct hx_conns **out, size_t most);
int __real_hx_conns_open(struct hx_conns **out, size_t most);

int __wrap_hx_conns_open(struct hx_conns **out, size_t most)
{
    int rc = __real_hx_conns_open(out, most);

    conns = *out;
    return rc;
}

static int no_engines(void *arg, struct hx_error *err)
{
    (void)arg;
    return hx_error_set(err, -EIO, "there is no other DSP");
}

static struct hx_engine *open_engine(void)
{
    static const char *const settings[] = {"linear=ref", "attn=ref", "kv=f32", NULL};
    struct hx_engine_cfg cfg = {.settings = settings, .threads = 1, .max_batch = 16};
    struct hx_engine *e;
    struct hx_error err;
    struct gen_model g;
    char path[64];
    int fd = memfd_create("model", MFD_CLOEXEC);

    gen_init(&g, "llama");
    g.ffn = 32;
    gen_build(&g);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cfg.model = path;
    if (write(fd, g.file, g.n_file) != (ssize_t)g.n_file)
        abort();
    if (hx_engine_open(&e, &cfg, &err))
        finding("no engine", err.text);
    gen_free(&g);
    close(fd);
    return e;
}

static void set_up(void)
{
    static struct hx_engine *engine;
    struct hx_http *http;
    struct hx_error err = {""};

    if (daemon_here)
        return;
    engine = open_engine();
    server = (struct hx_serve){.model = {.name = "tiny", .e = engine, .since = 1}, .host = "127.0.0.1", .connections = 4 + HX_CONNS_SPARE};
    pthread_rwlock_init(&server.model.lock, NULL);
    if (hx_vocab_open(&server.model.vocab, engine->model->tok, &server.model.vocab_err))
        server.model.vocab = NULL;
    server.model.has_chat = !hx_chat_init(&server.model.chat, engine->model->tok, engine->model->file, "alpaca", &server.model.err);
    if (hx_jobs_open(&server.jobs, &(struct hx_jobs_engines){&engine, 1, &server.model.vocab, no_engines, NULL}, 4) ||
        hx_http_open(&http, &server, &err))
        finding("no server", err.text);
}

/* --- a connection */

struct replies {
    char *bytes; /* [n], owned */
    size_t n;
    int over; /* 1: the server has closed the connection */
};

static void receive(int fd, struct replies *r)
{
    char chunk[4096];
    ssize_t n;

    while ((n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0) {
        r->bytes = realloc(r->bytes, r->n + (size_t)n + 1);
        if (!r->bytes)
            abort();
        memcpy(r->bytes + r->n, chunk, (size_t)n);
        r->n += (size_t)n;
        r->bytes[r->n] = '\0';
    }
    r->over |= n == 0 || errno != EAGAIN;
}

/* Until the server has nothing more to do for what it has got. */
static void settle(int fd, struct replies *r)
{
    size_t before;
    int waiting = 0, was;

    for (unsigned quiet = 0, turns = 0; quiet < QUIET_TURNS && !r->over; turns++) {
        before = r->n;
        was = waiting;
        MHD_run(daemon_here);
        receive(fd, r);
        if (ioctl(fd, SIOCOUTQ, &waiting))
            waiting = 0;
        quiet = r->n == before && waiting == was ? quiet + 1 : 0;
        if (turns == MOST_TURNS)
            finding("no end", r->bytes ? r->bytes : "");
    }
}

/* Seconds pass in which the client does nothing. */
static void wait(int fd, struct replies *r, unsigned seconds)
{
    if (!seconds)
        return;
    settle(fd, r);
    ahead_s += seconds;
    hx_conns_look(conns);
    settle(fd, r);
    if (seconds >= LATE_S && !r->over)
        finding("a connection may take as long as it likes", r->bytes ? r->bytes : "");
}

/* The connection is closed: soon nobody computes for it. */
static void expect_no_job(void)
{
    struct hx_jobs_counts n;
    unsigned turns = 0;

    do {
        MHD_run(daemon_here);
        n = hx_jobs_count(server.jobs);
        if (turns++ == MOST_TURNS)
            finding("a job is left", "");
    } while (turns < QUIET_TURNS || n.active || n.queued);
    if (n.failing || n.failed)
        finding("a job has failed", "");
}

/* The replies to a stream that is sent in pieces, or as a whole. */
static struct replies exchange(const struct http_stream *s, int in_pieces)
{
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct replies r = {0};
    size_t at = 0;
    int pair[2], room = 1 << 20;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
        setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) ||
        MHD_add_connection(daemon_here, pair[0], (const struct sockaddr *)&from, sizeof(from)) != MHD_YES)
        abort();
    for (unsigned i = 0; at < s->n && !r.over; i++) {
        const size_t end = in_pieces && i < s->n_cuts ? s->cut[i] : s->n;

        while (at < end && !r.over) {
            ssize_t n = send(pair[1], s->bytes + at, end - at, MSG_DONTWAIT | MSG_NOSIGNAL);

            at += n > 0 ? (size_t)n : 0;
            r.over |= n < 0 && errno != EAGAIN;
            if (n <= 0 || at < s->n)
                settle(pair[1], &r);
        }
        if (in_pieces && i < s->n_cuts)
            wait(pair[1], &r, s->wait_s[i]);
    }
    if (!in_pieces || !s->leaves)
        settle(pair[1], &r);
    receive(pair[1], &r);
    close(pair[1]);
    expect_no_job();
    ahead_s = 0;
    return r;
}

/* --- replies */

/* What has to be the same however the requests came: statuses and bodies without times and counters.  malloc'ed. */
static char *digest(const struct http_stream *s, const struct replies *r, bool wild)
{
    struct http_reading h = {.at = r->bytes, .end = r->n ? r->bytes + r->n : r->bytes};
    size_t n = 0, bytes;
    char *text = NULL;
    FILE *f = open_memstream(&text, &bytes);

    if (!f)
        abort();
    for (; h.at < h.end; n++) {
        if (http_read_reply(&h, wild ? -1 : n < s->n_requests && s->head[n], f))
            finding(h.why, r->bytes);
        if (h.status == 100) /* it depends on whether the body was there already */
            n--;
    }
    fclose(f);
    if (!wild && n > s->n_requests)
        finding("more replies than requests", r->bytes);
    if (!wild && n < s->n_requests && (!r->over || !h.closes))
        finding("a request without a reply", r->bytes ? r->bytes : "");
    return text;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    static struct http_stream s;
    struct replies pieces, whole;
    char *a, *b;

    set_up();
    http_stream_write(&s, data, n);
    pieces = exchange(&s, 1);
    whole = exchange(&s, 0);
    b = digest(&s, &whole, s.wild);
    a = s.leaves ? strdup(b) : digest(&s, &pieces, s.wild || s.waits_s > SOON_S);
    if (!a)
        abort();
    if (!s.uneven && s.waits_s <= SOON_S && strcmp(a, b) != 0) {
        fprintf(stderr, "http: in pieces:\n%s\nwhole:\n%s\n", a, b);
        finding("it depends on the pieces", s.bytes);
    }
    free(a);
    free(b);
    free(pieces.bytes);
    free(whole.bytes);
    return 0;
}
