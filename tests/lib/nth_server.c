/* A server whose calls fail, and goes on serving; see nth_server.h. */
#include "nth_server.h"

#include <poll.h>
#include <signal.h>

#include "nth_failure.h"
#include "serve_client.h"

enum { ANSWER_S = 30 };
#define REQUEST "{\"prompt\": \"the\", \"max_tokens\": 2, \"temperature\": 0, \"ignore_eos\": true}"

struct asked {
    const struct hxt_child *child;
    int port;
    char *text; /* NULL: no answer, or another status than 200 */
};

static int has_ended(const struct hxt_child *c)
{
    return poll(&(struct pollfd){.fd = c->pidfd, .events = POLLIN}, 1, 0) > 0;
}

/* The port that its first line tells, or 0: it ended without. */
static int port_of(const struct hxt_child *c)
{
    char line[256] = "", *at;
    size_t n = 0;

    while (!strchr(line, '\n') && n + 1 < sizeof(line)) {
        struct pollfd p[2] = {{.fd = c->out_fd, .events = POLLIN}, {.fd = c->pidfd, .events = POLLIN}};
        ssize_t got = poll(p, 2, ANSWER_S * 4000) > 0 && p[0].revents ? read(c->out_fd, line + n, sizeof(line) - 1 - n) : 0;

        if (got <= 0)
            return 0;
        n += (size_t)got;
        line[n] = '\0';
    }
    at = strrchr(line, ':');
    return strncmp(line, "url=http://", 11) == 0 && at ? atoi(at + 1) : 0;
}

/* 1: there is nothing more to wait for. */
static int ask(void *asked)
{
    struct asked *a = asked;

    a->text = http_text(a->port, "/v1/completions", REQUEST);
    return a->text || has_ended(a->child);
}

static char *answers(const char *first, const char *last)
{
    char *out = NULL;
    int is_other = first && (!last || strcmp(first, last) != 0);

    if (asprintf(&out, "%s%s%stext=%s\n", is_other ? "text=" : "", is_other ? first : "", is_other ? "\n" : "", last ? last : "(none)") < 0)
        abort();
    return out;
}

int nth_server_run(struct hxt_result *res, const struct hxt_cmd *cmd)
{
    struct hxt_child c;
    int rc = hxt_start(&c, cmd);
    struct asked first = {.child = &c}, last = first;

    if (rc)
        return rc;
    first.port = last.port = port_of(&c);
    if (first.port) {
        ask(&first);
        nth_disarm();
        hxt_until(ask, &last, ANSWER_S);
        hxt_signal(&c, SIGTERM);
    }
    rc = hxt_wait(&c, res);
    if (!rc) {
        free(res->out);
        res->out = answers(first.text, last.text);
    }
    free(first.text);
    free(last.text);
    return rc;
}
