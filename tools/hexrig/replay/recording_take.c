/* What stands in a recording, checked and taken: numbers, the head, whole calls. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording_impl.h"

static const double clock_most = 100000;

int hx_recording_refuse(const struct hx_recording_reader *r, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return hx_error_set(r->err, -EINVAL, "%s:%zu: %s", r->file, r->line, text);
}

int hx_recording_refuse_number(const struct hx_recording_reader *r, const struct hx_recording_number *n, const char *value)
{
    return hx_recording_refuse(r, "%s: '%.64s' is no %s; legal: 0 to %.0f", n->key, value, n->whole ? "integer" : "number", n->most);
}

int hx_recording_take_number(const struct hx_recording_reader *r, const struct hx_recording_number *n, struct hx_recording_draft *d,
                             double number, const char *value)
{
    if (!(number >= 0 && number <= n->most) || (n->whole && number != floor(number)))
        return hx_recording_refuse_number(r, n, value);
    if (n->at != HX_RECORDING_UNUSED)
        memcpy((char *)d + n->at, &number, sizeof(number));
    return 0;
}

int hx_recording_take_version(struct hx_recording_reader *r, double version, const char *value)
{
    if (version != HX_RECORDING_VERSION)
        return hx_recording_refuse(r, "version '%.64s'; legal: %d", value, HX_RECORDING_VERSION);
    r->version = 1;
    return 0;
}

int hx_recording_take_profile(struct hx_recording_reader *r, const char *value)
{
    if (!*value || strlen(value) >= sizeof(r->r->profile))
        return hx_recording_refuse(r, "profile: '%.64s' is no name of 1 to %zu characters", value, sizeof(r->r->profile) - 1);
    snprintf(r->r->profile, sizeof(r->r->profile), "%s", value);
    return 0;
}

int hx_recording_take_clock(struct hx_recording_reader *r, double mhz, const char *value)
{
    if (!(mhz > 0 && mhz <= clock_most))
        return hx_recording_refuse(r, "clock_mhz: '%.64s' is no number; legal: more than 0, to %.0f", value, clock_most);
    r->r->clock_mhz = mhz;
    return 0;
}

static uint64_t ns(double us)
{
    return (uint64_t)llround(us * 1e3);
}

int hx_recording_add(struct hx_recording_reader *r, const struct hx_recording_draft *d, const char *method)
{
    const uint64_t parts = ns(d->exec_us) + ns(d->queue_us) + ns(d->marshal_us), total = ns(d->total_us);
    struct hx_recording *to = r->r;
    struct hx_recorded_call *more;

    if (parts > total)
        return hx_recording_refuse(r, "%s: what it executed, queued and marshalled is more than all of it, %.3f us", method, d->total_us);
    if (to->n == to->room) {
        more = realloc(to->at, (to->room * 2 + 64) * sizeof(*more));
        if (!more)
            return hx_error_set(r->err, -ENOMEM, "out of memory");
        to->at = more;
        to->room = to->room * 2 + 64;
    }
    to->at[to->n] = (struct hx_recorded_call){
        .session = (unsigned)d->session, .thread = (unsigned)d->thread, .service = d->service != 0, .at_ns = ns(d->at_us),
        .dispatch_ns = total - parts, .marshal_ns = ns(d->marshal_us), .queue_ns = ns(d->queue_us), .exec_ns = ns(d->exec_us),
        .copied_bytes = (uint64_t)d->copied_bytes, .shared_bytes = (uint64_t)d->shared_bytes,
        .shared_buffers = (uint64_t)d->shared_buffers, .line = r->line};
    snprintf(to->at[to->n++].method, HX_RECORDED_NAME, "%s", method);
    return 0;
}
