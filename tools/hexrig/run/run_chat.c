/* Conversations of `hexrig run --chat`: a line of stdin is a turn, and the cache keeps those before it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "run_break.h"
#include "run_line.h"

struct talk {
    struct hx_chat_message *messages; /* [n], texts malloc'ed */
    size_t n;
    uint32_t *past; /* [n_past] ids that the cache holds, at their positions */
    size_t n_past;
};

int hx_run_render(const struct hx_run *r, const struct hx_chat_message *messages, size_t n,
                  uint32_t **ids, size_t *n_ids)
{
    struct hx_error err = {""};

    if (hx_chat_render(&r->template, messages, n, 1, ids, n_ids, &err))
        return hx_cmd_fail(r->o.cmd, "%s", err.text);
    return HX_EXIT_OK;
}

/* The talk gets a copy of the text. */
static int say(struct hx_run *r, struct talk *t, const char *role, const char *text, size_t n)
{
    struct hx_chat_message *more = reallocarray(t->messages, t->n + 1, sizeof(*more));
    char *copy = malloc(n + 1);

    if (more)
        t->messages = more;
    if (!more || !copy) {
        free(copy);
        return hx_cmd_fail(r->o.cmd, "out of memory");
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    t->messages[t->n++] = (struct hx_chat_message){role, {copy, n}};
    return HX_EXIT_OK;
}

static size_t common_start(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
    size_t n = 0;

    while (n < n_a && n < n_b && a[n] == b[n])
        n++;
    return n;
}

/* The cache holds what the completion ran; its ids change hands. */
static void keep_past(struct talk *t, struct hx_completion *c)
{
    free(t->past);
    t->past = c->ids;
    t->n_past = c->n_run;
    c->ids = NULL;
}

static int reply(struct hx_run *r, struct talk *t)
{
    uint32_t *ids;
    size_t n;
    int rc = hx_run_render(r, t->messages, t->n, &ids, &n);

    if (rc)
        return rc;
    hx_completion_close(&r->c);
    rc = hx_run_open(r, ids, n, common_start(ids, n, t->past, t->n_past));
    free(ids);
    hx_break_begin();
    if (!rc)
        rc = hx_run_complete(r);
    hx_break_end();
    if (!rc)
        rc = say(r, t, "assistant", r->c.text.text, r->c.text.n);
    if (!rc)
        keep_past(t, &r->c);
    return rc;
}

static int turns(struct hx_run *r, struct talk *t, struct hx_lines *lines)
{
    int rc = r->system ? say(r, t, "system", r->system, strlen(r->system)) : HX_EXIT_OK;

    while (!rc) {
        const char *line;
        const ssize_t n = hx_lines_next(lines, &line);

        if (n < 0)
            return errno ? hx_cmd_fail(r->o.cmd, "cannot read stdin: %s", strerror(errno)) : HX_EXIT_OK;
        if (n == 0)
            continue;
        rc = say(r, t, "user", line, (size_t)n);
        if (!rc)
            rc = reply(r, t);
    }
    return rc;
}

int hx_run_conversation(struct hx_run *r)
{
    const int person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    struct hx_lines *lines = hx_lines_open(person);
    struct talk t = {0};
    int rc = lines ? HX_EXIT_OK : hx_cmd_fail(r->o.cmd, "out of memory");

    r->stream = 1;
    if (!rc)
        rc = turns(r, &t, lines);
    if (person)
        putchar('\n');
    hx_lines_close(lines);
    while (t.n)
        free((char *)t.messages[--t.n].text.p);
    free(t.messages);
    free(t.past);
    return rc;
}
