/* What the slices of a trace add up to, by track and name. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "sections.h"

/* Slices of one name on tracks of one kind: those of all DSP threads together. */
struct group {
    const char *track, *name; /* in the trace; of track, `length` bytes */
    size_t length, slices, order;
    double us, longest_us, pcycles, stall_pcycles;
};

struct summary {
    struct group *group; /* [n] */
    size_t n, room, sessions;
    double end_us;
};

/* A track's name without its number: "DSP thread 3" is a DSP thread, "client calls (2)" client calls. */
static size_t kind(const char *track)
{
    size_t n = strlen(track);

    while (n && (isdigit((unsigned char)track[n - 1]) || strchr(" ()", track[n - 1])))
        n--;
    return n;
}

/* --- which track an event is of */

static const char *track_of(const json_t *tracks, const json_t *event)
{
    char key[48];

    snprintf(key, sizeof(key), "%.0f.%.0f", hx_page_number(event, "pid"), hx_page_number(event, "tid"));
    return hx_page_text(tracks, key);
}

/* {"PID.TID": name} */
static json_t *tracks_of(const json_t *events)
{
    json_t *tracks = json_object(), *e;
    char key[48];
    size_t i;

    json_array_foreach(events, i, e) {
        json_t *name = json_object_get(json_object_get(e, "args"), "name");

        if (strcmp(hx_page_text(e, "name"), "thread_name") != 0 || !json_is_string(name))
            continue;
        snprintf(key, sizeof(key), "%.0f.%.0f", hx_page_number(e, "pid"), hx_page_number(e, "tid"));
        json_object_set(tracks, key, name);
    }
    return tracks;
}

/* --- sums */

static struct group *group_of(struct summary *s, const char *track, const char *name)
{
    const size_t length = kind(track);
    struct group *g = s->group;

    for (size_t i = 0; i < s->n; i++, g++)
        if (g->length == length && strncmp(g->track, track, length) == 0 && strcmp(g->name, name) == 0)
            return g;
    if (s->n == s->room) {
        g = realloc(s->group, (2 * s->room + 16) * sizeof(*g));
        if (!g)
            return NULL;
        s->group = g;
        s->room = 2 * s->room + 16;
    }
    g = &s->group[s->n];
    *g = (struct group){.track = track, .name = name, .length = length, .order = s->n++};
    return g;
}

static int add(struct summary *s, const char *track, const json_t *event)
{
    const double us = hx_page_number(event, "dur"), end = hx_page_number(event, "ts") + us;
    struct group *g = group_of(s, track, hx_page_text(event, "name"));

    if (!g)
        return -ENOMEM;
    g->slices++;
    g->us += us;
    g->longest_us = us > g->longest_us ? us : g->longest_us;
    g->pcycles += hx_page_number(event, "args.pcycles");
    g->stall_pcycles += hx_page_number(event, "args.stall_pcycles");
    s->end_us = end > s->end_us ? end : s->end_us;
    return 0;
}

static int sum(struct summary *s, const json_t *events)
{
    json_t *tracks = tracks_of(events), *e;
    int rc = tracks ? 0 : -ENOMEM;
    size_t i;

    json_array_foreach(events, i, e) {
        if (strcmp(hx_page_text(e, "name"), "process_name") == 0)
            s->sessions++;
        if (!rc && strcmp(hx_page_text(e, "ph"), "X") == 0)
            rc = add(s, track_of(tracks, e), e);
    }
    json_decref(tracks);
    return rc;
}

/* --- the table */

static int same_track(const struct group *a, const struct group *b)
{
    return a->length == b->length && strncmp(a->track, b->track, a->length) == 0;
}

/* Tracks in the order of the trace; on one, what takes longest comes first. */
static int by_track_and_time(const void *x, const void *y)
{
    const struct group *a = x, *b = y;

    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->us > b->us ? -1 : a->us < b->us;
}

static void sort(struct summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (same_track(&s->group[i], &s->group[k])) {
                s->group[i].order = s->group[k].order;
                break;
            }
    if (s->n)
        qsort(s->group, s->n, sizeof(*s->group), by_track_and_time);
}

static void put_group(FILE *f, const struct group *g, const struct group *busiest)
{
    char track[64];

    snprintf(track, sizeof(track), "%.*s", (int)g->length, g->track);
    hx_page_row_begin(f);
    hx_page_cell_text(f, track);
    hx_page_cell_text(f, g->name);
    hx_page_cell(f, "%zu", g->slices);
    hx_page_cell(f, "%.3f", g->us / 1000);
    hx_page_cell_bar(f, busiest->us > 0 ? g->us / busiest->us : 0);
    hx_page_cell(f, "%.3f", g->us / (double)g->slices);
    hx_page_cell(f, "%.3f", g->longest_us);
    hx_page_cell(f, "%.0f", g->pcycles);
    hx_page_cell(f, "%.0f", g->stall_pcycles);
    hx_page_row_end(f);
}

static void put_groups(FILE *f, const struct summary *s)
{
    static const char *const heads[] = {"<track", "<slice", "slices", "ms", "<share",
                                        "mean us", "longest us", "pcycles", "of them stalled"};
    const struct group *busiest = s->group;

    hx_page_table_begin(f, "Slices by track and name; those inside another one count in both, threads add up", heads,
                        sizeof(heads) / sizeof(heads[0]));
    for (size_t i = 0; i < s->n; i++) {
        busiest = same_track(busiest, &s->group[i]) ? busiest : &s->group[i];
        put_group(f, &s->group[i], busiest);
    }
    hx_page_table_end(f);
}

int hx_section_trace(FILE *f, const json_t *trace)
{
    struct summary s = {.n = 0};
    int rc = sum(&s, json_object_get(trace, "traceEvents"));
    const double lost = hx_page_number(trace, "otherData.lost_events");

    sort(&s);
    hx_page_says(f, "%.3f ms on the modelled clock, %zu session%s.  With the calls that open the session and fill the cache before the "
                 "token.", s.end_us / 1000, s.sessions, s.sessions == 1 ? "" : "s");
    if (lost > 0)
        hx_page_says(f, "%.0f events of the DSP found no room, and are missing here.", lost);
    if (s.n)
        put_groups(f, &s);
    free(s.group);
    return rc;
}
