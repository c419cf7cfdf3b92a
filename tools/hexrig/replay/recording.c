/* Reading recordings line by line, so that what is wrong has a line. */
#include "recording_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_caller(const void *pa, const void *pb)
{
    const struct hx_recorded_call *a = pa, *b = pb;

    if (a->session != b->session || a->thread != b->thread)
        return (a->session != b->session ? a->session > b->session : a->thread > b->thread) ? 1 : -1;
    return a->at_ns != b->at_ns ? (a->at_ns > b->at_ns ? 1 : -1) : (a->line > b->line) - (a->line < b->line);
}

static int by_begin(const void *pa, const void *pb)
{
    const struct hx_recorded_call *a = pa, *b = pb;

    return a->at_ns != b->at_ns ? (a->at_ns > b->at_ns ? 1 : -1) : (a->line > b->line) - (a->line < b->line);
}

/* Puts calls in order; a thread's have to follow each other. */
static int check_order(struct hx_recording_reader *r)
{
    struct hx_recorded_call *at = r->r->at;

    if (!r->r->n)
        return hx_error_set(r->err, -EINVAL, "%s: no calls", r->file);
    qsort(at, r->r->n, sizeof(*at), by_caller);
    for (size_t i = 1; i < r->r->n; i++)
        if (at[i].session == at[i - 1].session && at[i].thread == at[i - 1].thread &&
            at[i].at_ns < at[i - 1].at_ns + hx_recorded_ns(&at[i - 1])) {
            r->line = at[i].line;
            return hx_recording_refuse(r, "%s begins at %.3f us, before the call of line %zu, by the same thread, ends at %.3f us",
                                       at[i].method, (double)at[i].at_ns / 1e3, at[i - 1].line,
                                       (double)(at[i - 1].at_ns + hx_recorded_ns(&at[i - 1])) / 1e3);
        }
    qsort(at, r->r->n, sizeof(*at), by_begin);
    return 0;
}

static int read_lines(struct hx_recording_reader *r, FILE *f)
{
    char *line = NULL;
    size_t room = 0;
    int rc = 0, is_json = 0;

    for (ssize_t n; !rc && (n = getline(&line, &room, f)) >= 0;) {
        if (n && line[n - 1] == '\n')
            line[--n] = '\0';
        if (r->line++ == 0)
            is_json = line[0] == '{';
        if (strlen(line) != (size_t)n)
            rc = hx_recording_refuse(r, "a byte 0");
        else
            rc = is_json ? hx_recording_json_line(r, line) : hx_recording_text_line(r, line);
    }
    if (!rc && !feof(f)) /* out of memory is no error of the stream's */
        rc = hx_error_set(r->err, -EIO, "%s: cannot be read", r->file);
    free(line);
    if (!rc && is_json && !r->has_end)
        return hx_recording_refuse(r, "the trace has no end");
    if (!rc && !r->version)
        return hx_recording_refuse(r, "version is missing; legal: %d", HX_RECORDING_VERSION);
    return rc;
}

int hx_recording_read(struct hx_recording *r, const char *file, struct hx_error *err)
{
    struct hx_recording_reader reader = {.r = r, .file = file, .err = err};
    FILE *f = fopen(file, "re");
    int rc;

    *r = (struct hx_recording){0};
    if (!f)
        return hx_error_set(err, -errno, "%s: %s", file, strerror(errno));
    rc = read_lines(&reader, f);
    fclose(f);
    return rc ? rc : check_order(&reader);
}

void hx_recording_free(struct hx_recording *r)
{
    free(r->at);
    *r = (struct hx_recording){0};
}
