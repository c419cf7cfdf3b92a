/* Filter `trace`: every INVOKE as slices of a Chrome / Perfetto trace, on the machine's virtual time (model, so it repeats).
 *
 *   events=N    room for so many events of the DSP per call; 0: the DSP records nothing
 *   file=PATH   the last key; the file is complete when the filter is removed or the rig ends
 *
 * Per session: the client's calls, and inside them dispatch, marshal, queue and exec; the DSP threads that worked for them, their
 * DMA engines, and the HVX contexts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/call_result.h"
#include "core/driver.h"
#include "filter_text.h"
#include "trace_dsp.h"

enum { EVENTS = 16384, EVENTS_MAX = 1 << 20 };

struct state {
    struct hx_trace_file file;
    char path[1024]; /* of it, for the log */
    unsigned long events;
    uint64_t lost;
    unsigned session[FASTRPC_MAX_SESSIONS + 1]; /* by client id: its number in the file, or 0 */
    unsigned n_sessions;
};

/* --- configuration ---------------------------------------------------------------------------- */

/* The path may hold commas, so it ends the configuration.  NULL: not understood. */
static const char *parse(const char *config, unsigned long *events)
{
    char key[8], value[16];

    while (strncmp(config, "file=", 5) != 0)
        if (!hx_filter_next_key(&config, key, sizeof(key), value, sizeof(value)) ||
            strcmp(key, "events") != 0 || hx_filter_number(value, 0, EVENTS_MAX, events))
            return NULL;
    return config[5] ? config + 5 : NULL;
}

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    struct state *s = calloc(1, sizeof(*s));
    const char *path;
    int rc;

    if (!s)
        return -ENOMEM;
    s->events = EVENTS;
    path = parse(config, &s->events);
    rc = path ? hx_trace_file_open(&s->file, path) : -EINVAL;
    if (rc) {
        if (path)
            snprintf(why, why_bytes, "filter trace: %s: %s", path, strerror(-rc));
        else
            snprintf(why, why_bytes, "filter trace: '%s' is not %s", config, hx_filter_trace.help);
        free(s);
        return rc;
    }
    s->file.profile = profile;
    snprintf(s->path, sizeof(s->path), "%s", path);
    *state = s;
    return 0;
}

static void unload(void *state)
{
    struct state *s = state;
    int rc = hx_trace_file_close(&s->file, s->lost);

    if (rc)
        hx_log("filter trace: %s: the file is not complete: %s", s->path, strerror(-rc));
    if (s->lost)
        hx_log("filter trace: %llu events of the DSP were lost; events=%lu is the room of a call",
               (unsigned long long)s->lost, s->events);
    free(s);
}

/* --- calls ------------------------------------------------------------------------------------ */

static unsigned session_of(struct state *s, const struct hx_session *session)
{
    unsigned *n = &s->session[session->client_id];

    if (!*n) {
        *n = ++s->n_sessions;
        hx_trace_file_session(&s->file, *n, session->client_id);
    }
    return *n;
}

static int begin(void *state, struct hx_call *call)
{
    struct state *s = state;

    if (!call->session->used) /* client ids are reused */
        s->session[call->session->client_id] = 0;
    /* without a model everything would have length 0 */
    if (strcmp(hx_cost_time(&call->driver->filters), "off") != 0 && s->events > call->trace_events)
        call->trace_events = (uint32_t)s->events;
    return 0;
}

/* The DSP's events are gone before `done`. */
static void end(void *state, struct hx_call *call, int *result)
{
    const struct hx_invoke_view *v = &call->inv;
    struct state *s = state;
    uint32_t capacity;
    const struct hx_trace *block = hx_call_trace(call, &capacity);
    struct hx_trace_call c = {
        .start_ns = call->session->epoch_ns + v->arrive_ns,
        .pcycles = HX_TRACE_PCYCLES_MAX,
        .clock_khz = v->clock_khz > 1000 ? v->clock_khz : 1000,
    };
    int64_t lost;
    char name[HX_METHOD_TITLE];

    (void)result;
    if (!block)
        return;
    if (v->exec_pcycles < c.pcycles && v->queue_pcycles < c.pcycles - v->exec_pcycles)
        c.pcycles = v->exec_pcycles + v->queue_pcycles;
    hx_method_title(call, name);
    c.name = name;
    c.session = session_of(s, call->session);
    lost = hx_trace_dsp_write(&s->file, &c, block, capacity);
    s->lost += lost > 0 ? (uint64_t)lost : 0;
    if (lost < 0)
        hx_log("filter trace: client %d: %s", call->session->client_id, strerror((int)-lost));
}

/* A call and its parts, at `start` on the machine's clock. */
static void write_call(struct state *s, const struct hx_call *call, uint64_t start, int result)
{
    const struct hx_invoke_view *v = &call->inv;
    const char *const name[] = {"lock", "dispatch", "marshal", "queue", "exec", "return"};
    const uint64_t ns[] = {v->lock_ns, v->dispatch_ns, v->marshal_ns, v->queue_ns, v->exec_ns, v->return_ns};
    uint64_t end = start + ns[0] + ns[1] + ns[2] + ns[3] + ns[4] + ns[5];
    unsigned track = hx_trace_file_track(&s->file, session_of(s, call->session), HX_TRACK_CALLS, 0,
                                         "client calls", start, end);
    const struct hx_traffic *t = &v->traffic;
    char title[HX_METHOD_TITLE], args[480];

    hx_method_title(call, title); /* without handle and result, so that viewers add up the calls of a method */
    snprintf(args, sizeof(args),
             "\"handle\": \"0x%x\", \"method\": %u, \"result\": \"0x%x\", \"copied_bytes\": %llu, \"shared_bytes\": %llu, "
             "\"shared_buffers\": %u, \"hvx_ops\": %llu, \"ddr_bytes\": %llu, \"dma_bytes\": %llu, "
             "\"l2_bytes\": %llu, \"vtcm_bytes\": %llu, \"hit_bytes\": %llu, \"miss_bytes\": %llu",
             v->handle, v->method, (unsigned)result, (unsigned long long)(v->bytes_in + v->bytes_out),
             (unsigned long long)v->bytes_shared, v->n_shared,
             (unsigned long long)v->hvx_ops, (unsigned long long)hx_traffic_at(t, HX_PLACE_DDR),
             (unsigned long long)hx_traffic_at(t, HX_PLACE_DMA), (unsigned long long)hx_traffic_at(t, HX_PLACE_L2),
             (unsigned long long)hx_traffic_at(t, HX_PLACE_VTCM), (unsigned long long)t->hit_bytes,
             (unsigned long long)t->miss_bytes);
    hx_trace_file_slice(&s->file, track, title, start, end, args);
    for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); start += ns[i++])
        if (ns[i])
            hx_trace_file_slice(&s->file, track, name[i], start, start + ns[i], "");
}

static void done(void *state, const struct hx_call *call, int result)
{
    const struct hx_invoke_view *v = &call->inv;

    if (call->is_invoke)
        write_call(state, call,
                   call->session->epoch_ns + v->arrive_ns - v->marshal_ns - v->dispatch_ns - v->lock_ns, result);
}

const struct hx_filter hx_filter_trace = {
    .name = "trace",
    .help = "events=0..1048576,file=PATH",
    .load = load,
    .unload = unload,
    .begin = begin,
    .end = end,
    .done = done,
};
