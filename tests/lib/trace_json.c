/* Reading a trace, and checking its rules. */
#include "trace_json.h"

#include <math.h>
#include <stdlib.h>

static double trace_json_real(const json_t *e, const char *key)
{
    const json_t *v = json_object_get(e, key);

    if (!json_is_number(v) || json_number_value(v) < 0)
        fail_msg("no number '%s' in %s", key, json_dumps(e, 0));
    return json_number_value(v);
}

int trace_json_int(const json_t *e, const char *key)
{
    return (int)trace_json_real(e, key);
}

/* The name that metadata `kind` gives; NULL: none. */
static const char *trace_json_meta(const struct trace_json *t, const char *kind, int pid, int tid)
{
    size_t i;
    json_t *e;

    json_array_foreach(json_object_get(t->root, "traceEvents"), i, e)
        if (strcmp(json_string_value(json_object_get(e, "ph")), "M") == 0 &&
            strcmp(json_string_value(json_object_get(e, "name")), kind) == 0 && trace_json_int(e, "pid") == pid &&
            (tid == 0 || trace_json_int(e, "tid") == tid))
            return json_string_value(json_object_get(json_object_get(e, "args"), "name"));
    return NULL;
}

static void trace_json_take(struct trace_json *t, const json_t *e)
{
    struct trace_slice *s = &t->slice[t->n++];

    assert_string_equal(json_string_value(json_object_get(e, "ph")), "X");
    *s = (struct trace_slice){.pid = trace_json_int(e, "pid"), .tid = trace_json_int(e, "tid"),
                              .ts = trace_json_real(e, "ts"), .dur = trace_json_real(e, "dur"),
                              .name = json_string_value(json_object_get(e, "name")),
                              .args = json_object_get(e, "args")};
    assert_non_null(s->name);
    s->track = trace_json_meta(t, "thread_name", s->pid, s->tid);
    assert_non_null(s->track);
    assert_non_null(trace_json_meta(t, "process_name", s->pid, 0));
}

/* In whole ns, so that sums are exact. */
static long long trace_json_ns(double us)
{
    return llround(us * 1000);
}

static int trace_json_by_time(const void *pa, const void *pb)
{
    const struct trace_slice *a = *(struct trace_slice *const *)pa, *b = *(struct trace_slice *const *)pb;

    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    if (a->dur != b->dur)
        return a->dur > b->dur ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void trace_json_check_track(const struct trace_json *t, int pid, int tid)
{
    struct trace_slice **s = calloc(t->n + 1, sizeof(*s));
    long long *end = calloc(t->n + 1, sizeof(*end));
    size_t n = 0, depth = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->slice[i].pid == pid && t->slice[i].tid == tid)
            s[n++] = &t->slice[i];
    qsort(s, n, sizeof(*s), trace_json_by_time);
    for (size_t i = 0; i < n; i++) {
        long long start = trace_json_ns(s[i]->ts), stop = start + trace_json_ns(s[i]->dur);

        while (depth && end[depth - 1] <= start)
            depth--;
        if (depth && stop > end[depth - 1])
            fail_msg("%s: '%s' at %.3f sticks out of what is around it", s[i]->track, s[i]->name, s[i]->ts);
        end[depth++] = stop;
    }
    free(s);
    free(end);
}

void trace_json_load(struct trace_json *t, const char *text)
{
    json_error_t err;
    json_t *events, *e;
    size_t i;

    *t = (struct trace_json){.root = json_loads(text, JSON_REJECT_DUPLICATES, &err)};
    if (!t->root)
        fail_msg("not JSON: line %d: %s", err.line, err.text);
    events = json_object_get(t->root, "traceEvents");
    assert_true(json_is_array(events));
    t->slice = calloc(json_array_size(events) + 1, sizeof(*t->slice));
    json_array_foreach(events, i, e)
        if (strcmp(json_string_value(json_object_get(e, "ph")), "M") != 0)
            trace_json_take(t, e);
    for (i = 0; i < t->n; i++)
        if (i == 0 || t->slice[i].tid != t->slice[i - 1].tid)
            trace_json_check_track(t, t->slice[i].pid, t->slice[i].tid);
}

void trace_json_free(struct trace_json *t)
{
    free(t->slice);
    json_decref(t->root);
}

size_t trace_json_count(const struct trace_json *t, const char *track, const char *name, int prefix)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += strcmp(t->slice[i].track, track) == 0 &&
             (prefix ? strncmp(t->slice[i].name, name, strlen(name)) == 0 : strcmp(t->slice[i].name, name) == 0);
    return n;
}

const struct trace_slice *trace_json_find(const struct trace_json *t, const char *track,
                                          const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->slice[i].track, track) == 0 && strcmp(t->slice[i].name, name) == 0)
            return &t->slice[i];
    return NULL;
}

double trace_json_lost(const struct trace_json *t)
{
    return trace_json_real(json_object_get(t->root, "otherData"), "lost_events");
}
