/* Writing trace files in JSON. */
#include "trace_file.h"

#include <errno.h>
#include <stdlib.h>

#include "hx_profile.h"

enum { LANES = 1 << 16 };

int hx_trace_file_open(struct hx_trace_file *t, const char *path)
{
    *t = (struct hx_trace_file){.f = fopen(path, "we")};
    if (!t->f)
        return -errno;
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", t->f);
    return 0;
}

/* As a JSON string.  Names come from skels. */
static void put_text(struct hx_trace_file *t, const char *text)
{
    putc('"', t->f);
    for (; *text; text++)
        putc(*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\' ? *text : '?', t->f);
    putc('"', t->f);
}

static void put_end(struct hx_trace_file *t, uint64_t lost)
{
    fprintf(t->f, "\n], \"otherData\": {\"version\": %d, \"clock\": \"modelled\", \"lost_events\": %llu", HX_TRACE_FILE_VERSION,
            (unsigned long long)lost);
    if (t->profile) {
        fputs(", \"profile\": ", t->f);
        put_text(t, t->profile->name);
        fprintf(t->f, ", \"clock_mhz\": %.3f", t->profile->clock_mhz);
    }
    fputs("}}\n", t->f);
}

int hx_trace_file_close(struct hx_trace_file *t, uint64_t lost)
{
    int failed;

    errno = EIO; /* errno of an earlier failure is lost */
    if (!ferror(t->f)) /* a file with an end is whole */
        put_end(t, lost);
    failed = ferror(t->f);
    failed |= fclose(t->f);
    free(t->track);
    *t = (struct hx_trace_file){0};
    return failed ? -errno : 0;
}

static void next_event(struct hx_trace_file *t)
{
    fputs(t->has_events ? ",\n" : "\n", t->f);
    t->has_events = true;
}

void hx_trace_file_session(struct hx_trace_file *t, unsigned session, int client_id)
{
    next_event(t);
    fprintf(t->f,
            "{\"ph\": \"M\", \"pid\": %u, \"name\": \"process_name\","
            " \"args\": {\"name\": \"session %u (client %d)\"}}",
            session, session, client_id);
}

static void put_track(struct hx_trace_file *t, const struct hx_track *k, unsigned number,
                      const char *name)
{
    char text[96];

    snprintf(text, sizeof(text), k->copy > 1 ? "%s (%u)" : "%s", name, k->copy);
    next_event(t);
    fprintf(t->f,
            "{\"ph\": \"M\", \"pid\": %u, \"tid\": %u, \"name\": \"thread_name\","
            " \"args\": {\"name\": ",
            k->session, number);
    put_text(t, text);
    fprintf(t->f,
            "}},\n{\"ph\": \"M\", \"pid\": %u, \"tid\": %u, \"name\": \"thread_sort_index\","
            " \"args\": {\"sort_index\": %u}}",
            k->session, number, (unsigned)k->kind * LANES + k->lane);
}

unsigned hx_trace_file_track(struct hx_trace_file *t, unsigned session, enum hx_track_kind kind,
                             unsigned lane, const char *name, uint64_t start_ns, uint64_t end_ns)
{
    unsigned copy = 1;
    struct hx_track *more;

    for (unsigned i = 0; i < t->n_tracks; i++) {
        struct hx_track *k = &t->track[i];

        if (k->session != session || k->kind != kind || k->lane != lane)
            continue;
        if (k->busy_until <= start_ns) {
            k->busy_until = end_ns;
            return i + 1;
        }
        copy++;
    }
    more = realloc(t->track, (t->n_tracks + 1) * sizeof(*more));
    if (!more)
        return 0;
    t->track = more;
    more += t->n_tracks++;
    *more = (struct hx_track){session, kind, lane, copy, end_ns};
    put_track(t, more, t->n_tracks, name);
    return t->n_tracks;
}

/* Microseconds, with nanoseconds behind the point. */
static void put_time(struct hx_trace_file *t, const char *key, uint64_t ns)
{
    fprintf(t->f, ", \"%s\": %llu.%03u", key, (unsigned long long)(ns / 1000),
            (unsigned)(ns % 1000));
}

void hx_trace_file_slice(struct hx_trace_file *t, unsigned track, const char *name,
                         uint64_t start_ns, uint64_t end_ns, const char *args)
{
    if (!track)
        return;
    next_event(t);
    fprintf(t->f, "{\"ph\": \"X\", \"cat\": \"model\", \"pid\": %u, \"tid\": %u, \"name\": ",
            t->track[track - 1].session, track);
    put_text(t, name);
    put_time(t, "ts", start_ns);
    put_time(t, "dur", end_ns - start_ns);
    fprintf(t->f, *args ? ", \"args\": {%s}}" : "%s}", args);
}
