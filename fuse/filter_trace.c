/* Filter `trace`: every INVOKE as events of a Chrome / Perfetto trace, on the virtual clock (model, so it repeats).
 *
 *   file=PATH   where to; the file is complete when the filter is removed or the rig ends
 * One track per client: the call, and inside it dispatch, marshal, queue and exec. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "remote_scalars.h"
#include "session.h"

struct state {
    FILE *f;
    const char *comma; /* before the next event */
};

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    struct state *s;

    (void)profile;
    if (strncmp(config, "file=", 5) != 0 || !config[5]) {
        snprintf(why, why_bytes, "filter trace: '%s' is not file=PATH", config);
        return -EINVAL;
    }
    s = calloc(1, sizeof(*s));
    if (s)
        s->f = fopen(config + 5, "we");
    if (!s || !s->f) {
        int rc = -errno;
        snprintf(why, why_bytes, "filter trace: %s: %s", config + 5, strerror(-rc));
        free(s);
        return rc;
    }
    s->comma = "";
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", s->f);
    *state = s;
    return 0;
}

static void unload(void *state)
{
    struct state *s = state;

    fputs("\n]}\n", s->f);
    fclose(s->f);
    free(s);
}

static void event(struct state *s, const struct hx_call *call, const char *name, uint64_t start_ns,
                  uint64_t ns)
{
    fprintf(s->f,
            "%s\n{\"ph\": \"X\", \"cat\": \"model\", \"pid\": 1, \"tid\": %d, \"name\": \"%s\","
            " \"ts\": %llu.%03u, \"dur\": %llu.%03u}",
            s->comma, call->session->client_id, name, (unsigned long long)(start_ns / 1000),
            (unsigned)(start_ns % 1000), (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
    s->comma = ",";
}

static void done(void *state, const struct hx_call *call, int result)
{
    const struct hx_invoke_view *v = &call->inv;
    uint64_t total = v->dispatch_ns + v->marshal_ns + v->queue_ns + v->exec_ns, at;
    char name[64];

    if (!call->is_invoke)
        return;
    at = v->arrive_ns - v->dispatch_ns - v->marshal_ns;
    snprintf(name, sizeof(name), "handle 0x%x method %u result 0x%x", v->handle,
             REMOTE_SCALARS_METHOD(v->sc), (unsigned)result);
    event(state, call, name, at, total);
    event(state, call, "dispatch", at, v->dispatch_ns);
    event(state, call, "marshal", at + v->dispatch_ns, v->marshal_ns);
    event(state, call, "queue", v->arrive_ns, v->queue_ns);
    event(state, call, "exec", v->arrive_ns + v->queue_ns, v->exec_ns);
}

const struct hx_filter hx_filter_trace = {
    .name = "trace",
    .help = "file=PATH",
    .load = load,
    .unload = unload,
    .done = done,
};
