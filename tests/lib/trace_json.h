/* Reads a trace as a viewer would, strictly: every slice lies on a named track of a named session, and slices of a track
 * nest or follow each other. */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "hxt.h"

struct trace_slice {
    int pid, tid;
    double ts, dur;
    const char *name, *track;
    json_t *args;
};

struct trace_json {
    json_t *root;
    struct trace_slice *slice; /* [n], in the file's order */
    size_t n;
};

int trace_json_int(const json_t *e, const char *key);

void trace_json_load(struct trace_json *t, const char *text);

void trace_json_free(struct trace_json *t);

/* Slices on tracks of that name that are called `name`, or whose name begins with it. */
size_t trace_json_count(const struct trace_json *t, const char *track, const char *name, int prefix);

/* The first slice of that name on a track of that name; NULL: none. */
const struct trace_slice *trace_json_find(const struct trace_json *t, const char *track,
                                          const char *name);

double trace_json_lost(const struct trace_json *t);

#endif
