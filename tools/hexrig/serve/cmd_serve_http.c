/* HTTP of hexrig serve, on libmicrohttpd: connections and bodies.
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

#include "cmd_serve_exchange.h"

enum { HARD_LIMIT = 8 * HX_SERVE_MAX_BODY };

struct hx_http {
    struct hx_serve *s;
    struct hx_conns *conns;
    struct MHD_Daemon *daemon;
};

static enum MHD_Result too_large(struct hx_exchange *x)
{
    struct hx_serve_error e;

    hx_serve_fail(&e, 413, NULL, NULL, "the body is larger than %d bytes", HX_SERVE_MAX_BODY);
    return hx_send_error(x, &e);
}

/* A body that says how large it is is refused before it is sent, another one behind its end, if that comes. */
static enum MHD_Result take_body(struct hx_exchange *x, const char *data, size_t n)
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

        *entry = hx_conns_add(h->conns, hx_socket_of(c), i ? i->client_addr : NULL);
    } else {
        hx_conns_del(h->conns, *entry);
        *entry = NULL;
    }
}

static enum MHD_Result first_call(struct hx_http *h, struct MHD_Connection *c, void **state)
{
    const char *length =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    struct hx_exchange *x = calloc(1, sizeof(*x));

    if (!x)
        return MHD_NO;
    x->s = h->s;
    x->c = c;
    x->too_much = hx_conns_set(h->conns, entry_of(c), HX_CONN_BODY);
    *state = x;
    return length && strtoull(length, NULL, 10) > HX_SERVE_MAX_BODY ? too_large(x) : MHD_YES;
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
    struct hx_exchange *x = *state;
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
    return x->n > HX_SERVE_MAX_BODY ? too_large(x) : hx_answer(x, method, path);
}

static void on_end(void *arg, struct MHD_Connection *c, void **state,
                   enum MHD_RequestTerminationCode code)
{
    struct hx_exchange *x = *state;

    (void)code;
    hx_conns_set(((struct hx_http *)arg)->conns, entry_of(c), HX_CONN_NEXT);
    if (!x)
        return;
    hx_serve_leave(&x->all);
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
                            (unsigned)HX_IDLE_S, MHD_OPTION_END);
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
