/* A server of `hexrig serve`, and an HTTP client for it. */
#include "serve_client.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

void server_start(struct server *s, const char *options, double seconds)
{
    char line[256] = "", *at;
    size_t n = 0;

    e2e_command(&s->run, hxt_path("serve --port 0 %s", options));
    s->run.cmd.timeout_s = seconds;
    assert_int_equal(hxt_start(&s->child, &s->run.cmd), 0);
    while (!strchr(line, '\n')) {
        struct pollfd p = {.fd = s->child.out_fd, .events = POLLIN};
        ssize_t got = poll(&p, 1, E2E_TIMEOUT_S * 1000) == 1
                          ? read(p.fd, line + n, sizeof(line) - 1 - n)
                          : -1;

        if (got <= 0)
            fail_msg("hexrig serve %s does not start, stdout '%s'", options, line);
        n += (size_t)got;
        line[n] = '\0';
    }
    at = strrchr(line, ':');
    assert_true(strncmp(line, "url=http://", 11) == 0 && at);
    s->port = atoi(at + 1);
}

void server_stop(struct server *s)
{
    struct hxt_result res;

    hxt_signal(&s->child, SIGTERM);
    assert_int_equal(hxt_wait(&s->child, &res), 0);
    if (res.exit_code != 0)
        fail_msg("the server ended with exit code %d, signal %d: %s", res.exit_code, res.signal, res.err);
    hxt_result_free(&res);
}

long server_rss_kib(const struct server *s)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/status", s->child.pid), NULL);
    char *at = text ? strstr(text, "VmRSS:") : NULL;
    long kib = at ? atol(at + 6) : -1;

    free(text);
    return kib;
}

int server_entries(const struct server *s, const char *folder)
{
    DIR *d = opendir(hxt_path("/proc/%d/%s", s->child.pid, folder));
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

int http_connect(int port)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval limit = {.tv_sec = E2E_TIMEOUT_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
                    connect(fd, (const struct sockaddr *)&to, sizeof(to)))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int http_write(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t now = send(fd, bytes, n, MSG_NOSIGNAL);

        if (now <= 0)
            return 0;
        bytes += now;
        n -= (size_t)now;
    }
    return 1;
}

int http_send(int port, const char *method, const char *path, const char *type, const char *body)
{
    int fd = http_connect(port);
    char *text = NULL;
    int n = asprintf(&text, "%s %s HTTP/1.1\r\nHost: hexrig\r\nConnection: close\r\nContent-Type: %s\r\n"
                     "Content-Length: %zu\r\n\r\n%s", method, path, type, body ? strlen(body) : 0,
                     body ? body : "");

    if (fd >= 0 && (n < 0 || !http_write(fd, text, (size_t)n))) {
        close(fd);
        fd = -1;
    }
    free(text);
    return fd;
}

/* All that comes until the other end closes, terminated; NULL: it broke, or took too long.  Closes fd. */
static char *http_read_all(int fd)
{
    size_t n = 0, room = 4096;
    char *text = malloc(room);
    ssize_t got = fd < 0 || !text ? -1 : 1;

    while (got > 0) {
        if (n + 1 == room) {
            char *more = realloc(text, room *= 2);

            if (!more) {
                got = -1;
                break;
            }
            text = more;
        }
        got = recv(fd, text + n, room - 1 - n, 0);
        n += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

/* Chunks to bytes, in place; 0: the last chunk is missing, the reply was broken off. */
static int http_join_chunks(char *body)
{
    char *out = body, *in = body, *end;
    unsigned long n;

    while ((n = strtoul(in, &end, 16)) && end != in && strncmp(end, "\r\n", 2) == 0) {
        if (strlen(end + 2) < n + 2)
            return 0;
        memmove(out, end + 2, n);
        out += n;
        in = end + 2 + n + 2;
    }
    if (n || end == in)
        return 0;
    *out = '\0';
    return 1;
}

int http_receive(int fd, struct http_reply *r)
{
    char *end;

    r->text = http_read_all(fd);
    end = r->text ? strstr(r->text, "\r\n\r\n") : NULL;
    if (!end || sscanf(r->text, "HTTP/1.1 %d", &r->status) != 1) {
        free(r->text);
        r->text = NULL;
        return 0;
    }
    *end = '\0';
    r->body = end + 4;
    return !strcasestr(r->text, "\r\nTransfer-Encoding: chunked") || http_join_chunks(r->body);
}

json_t *http_json(int port, const char *method, const char *path, const char *body, int *status)
{
    struct http_reply r = {0};
    json_t *j = NULL;

    if (http_receive(http_send(port, method, path, "application/json", body), &r))
        j = json_loads(r.body, 0, NULL);
    if (status)
        *status = r.status;
    free(r.text);
    return j;
}

const char *choice_text(const json_t *j, const char *member)
{
    const json_t *c = json_array_get(json_object_get(j, "choices"), 0);
    const json_t *inner = json_object_get(c, "message");

    inner = inner ? inner : json_object_get(c, "delta");
    c = json_is_string(json_object_get(c, member)) ? c : inner;
    return json_string_value(json_object_get(c, member));
}

/* What an event stream says: its texts joined.  The last event has to be [DONE], and one before it has to tell the reason
 * of the end.  malloc'ed, or NULL. */
static char *events_text(const char *body)
{
    char *text = calloc(1, strlen(body) + 1);
    int ended = 0, done = 0;

    while (text && strncmp(body, "data: ", 6) == 0 && strstr(body, "\n\n")) {
        const char *end = strstr(body, "\n\n");
        json_t *j = json_loadb(body + 6, (size_t)(end - body - 6), 0, NULL);
        const char *more = choice_text(j, "text");

        more = more ? more : choice_text(j, "content");
        if (more)
            strcat(text, more);
        ended |= choice_text(j, "finish_reason") != NULL;
        done = strncmp(body, "data: [DONE]\n\n", 14) == 0;
        json_decref(j);
        body = end + 2;
    }
    if (!done || !ended || *body) {
        free(text);
        return NULL;
    }
    return text;
}

char *http_text(int port, const char *path, const char *body)
{
    struct http_reply r = {0};
    char *text = NULL;

    if (http_receive(http_send(port, "POST", path, "application/json", body), &r) && r.status == 200) {
        if (strcasestr(r.text, "\r\nContent-Type: text/event-stream")) {
            text = events_text(r.body);
        } else {
            json_t *j = json_loads(r.body, 0, NULL);
            const char *got = choice_text(j, "text");

            got = got ? got : choice_text(j, "content");
            text = got ? strdup(got) : NULL;
            json_decref(j);
        }
    }
    free(r.text);
    return text;
}

double health(const struct server *s, const char *field)
{
    json_t *j = http_json(s->port, "GET", "/health", NULL, NULL);
    double v = json_is_number(json_object_get(j, field)) ? json_number_value(json_object_get(j, field))
                                                         : -1;

    json_decref(j);
    return v;
}

int http_wait_for(int fd, const char *what)
{
    char buf[4096];
    size_t n = 0;

    while (n + 1 < sizeof(buf)) {
        ssize_t got = recv(fd, buf + n, sizeof(buf) - 1 - n, 0);

        if (got <= 0)
            return 0;
        n += (size_t)got;
        buf[n] = '\0';
        if (strstr(buf, what))
            return 1;
    }
    return 0;
}

json_t *run_json(const char *words, const char *prompt)
{
    struct hxt_result res;
    struct e2e_run r;
    json_t *j;

    e2e_command(&r, hxt_path("run --json -p PROMPT %s", words));
    r.argv[4] = prompt;
    assert_int_equal(hxt_run(&res, &r.cmd), 0);
    if (res.exit_code != 0)
        fail_msg("hexrig run %s: exit %d: %s", words, res.exit_code, res.err);
    j = json_loads(res.out, 0, NULL);
    assert_non_null(j);
    hxt_result_free(&res);
    return j;
}

json_t *chat_message(const char *role, const char *text)
{
    return json_pack("{s:s, s:s}", "role", role, "content", text);
}
