/* What recorded calls cost before and after, as a table or as JSON. */
#include "cmd_replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "cli/share.h"
#include "replay.h"

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void print_line(const struct hx_replay_line *l, int width)
{
    const uint64_t before = hx_replay_ns(&l->before), after = hx_replay_ns(&l->after);

    printf("%-*s %8llu %8llu %10.3f %10.3f %9.3f %9.3f %10.3f %10.3f %7.3f\n", width, l->method, (unsigned long long)l->before.calls,
           (unsigned long long)l->after.calls, ms(l->before.dispatch_ns + l->before.marshal_ns + l->before.queue_ns),
           ms(l->after.dispatch_ns + l->after.marshal_ns + l->after.queue_ns), ms(l->before.exec_ns), ms(l->after.exec_ns), ms(before),
           ms(after), before ? (double)after / (double)before : 1);
}

static const char *profile_before(const struct hx_recording *r)
{
    return *r->profile ? r->profile : "unknown";
}

static int print(const struct hx_recording *r, const struct hx_replay_how *how, const struct hx_replay *p)
{
    int width = 6;

    for (size_t i = 0; i < p->n; i++)
        width = (int)strlen(p->method[i].method) > width ? (int)strlen(p->method[i].method) : width;
    printf("before: as recorded, profile %s   after: profile %s, %s, up to %zu in one   times in ms, after: modelled\n", profile_before(r),
           how->profile->name, how->packets ? "packets" : "calls", how->batch);
    printf("%-*s %17s %21s %19s %21s\n", width, "", "calls", "overhead", "exec", "all");
    printf("%-*s %8s %8s %10s %10s %9s %9s %10s %10s %7s\n", width, "method", "before", "after", "before", "after", "before", "after",
           "before", "after", "ratio");
    for (size_t i = 0; i < p->n; i++)
        print_line(&p->method[i], width);
    print_line(&p->total, width);
    printf("first call to last, with the host's own work: before %.3f ms, after %.3f ms\n", ms(p->wall_before_ns), ms(p->wall_after_ns));
    return HX_EXIT_OK;
}

static json_t *sum_json(const struct hx_replay_sum *s)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "calls", (json_int_t)s->calls, "dispatch_ms", ms(s->dispatch_ns), "marshal_ms",
                     ms(s->marshal_ns), "queue_ms", ms(s->queue_ns), "exec_ms", ms(s->exec_ns), "total_ms", ms(hx_replay_ns(s)));
}

static json_t *line_json(const struct hx_replay_line *l)
{
    return json_pack("{s:o, s:o, s:o}", "method", hx_json_text(l->method), "before", sum_json(&l->before), "after", sum_json(&l->after));
}

static int print_json(const char *cmd, const struct hx_recording *r, const struct hx_replay_how *how, const struct hx_replay *p)
{
    json_t *methods = json_array(), *before = json_pack("{s:o, s:f}", "profile", hx_json_text(profile_before(r)), "wall_ms",
                                                        ms(p->wall_before_ns));
    json_t *after = json_pack("{s:o, s:s, s:I, s:f}", "profile", hx_json_text(how->profile->name), "transport",
                              how->packets ? "packet" : "invoke", "batch", (json_int_t)how->batch, "wall_ms", ms(p->wall_after_ns));

    for (size_t i = 0; i < p->n; i++)
        json_array_append_new(methods, line_json(&p->method[i]));
    return hx_report_print(cmd, json_pack("{s:i, s:o, s:o, s:o, s:o}", "version", HX_RECORDING_VERSION, "before", before, "after", after,
                                          "methods", methods, "total", line_json(&p->total)), 1);
}

/* Where the recording does not say it, or says a name that is not here, it has to be given. */
static int load_profile(const char *cmd, const struct hx_replay_args *a, const struct hx_recording *r, struct hx_profile *p)
{
    const char *name = a->profile ? a->profile : r->profile;
    char *folder = hx_share("profiles"), why[512] = "out of memory";
    int rc = -ENOMEM;

    if (!*name) {
        free(folder);
        return hx_cmd_usage(cmd, "%s does not say its profile; --profile says whose prices to take", a->file);
    }
    if (folder)
        rc = hx_profile_load(p, folder, name, why, sizeof(why));
    free(folder);
    return rc ? hx_cmd_refused(cmd, rc == -ENOENT ? -EINVAL : rc, why) : HX_EXIT_OK;
}

static int price(const char *cmd, const struct hx_replay_args *a, const struct hx_recording *r)
{
    struct hx_profile profile;
    const struct hx_replay_how how = {&profile, a->batch, a->packets};
    struct hx_replay p = {0};
    int rc = load_profile(cmd, a, r, &profile);

    if (rc)
        return rc;
    if (a->packets && !profile.dspqueue)
        return hx_cmd_usage(cmd, "--transport packet: profile %s has no dspqueue; legal: invoke", profile.name);
    rc = hx_replay_price(&p, r, &how) ? hx_cmd_fail(cmd, "out of memory")
         : a->json ? print_json(cmd, r, &how, &p) : print(r, &how, &p);
    hx_replay_free(&p);
    return rc;
}

int hx_cmd_replay(const char *cmd, const struct hx_replay_args *a)
{
    struct hx_recording r;
    struct hx_error err = {""};
    int rc = hx_recording_read(&r, a->file, &err);

    if (rc)
        rc = rc == -EINVAL ? hx_cmd_usage(cmd, "%s", err.text) : hx_cmd_fail(cmd, "%s", err.text);
    else
        rc = price(cmd, a, &r);
    hx_recording_free(&r);
    return rc;
}
