/* What a run used, and its report as key=value lines or as JSON. */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "hx_rig.h"

/* Jansson's functions that build something take NULL for a value and leave it out, so that one that did not get its memory is
 * seen here only. */
static _Atomic int json_lost;

static void *json_alloc(size_t bytes)
{
    void *p = malloc(bytes);

    if (!p)
        json_lost = 1;
    return p;
}

void hx_json_watch(void)
{
    json_set_alloc_funcs(json_alloc, free);
}

int hx_json_lost(void)
{
    return json_lost;
}

int hx_report_now(struct hx_session_stats *now)
{
    int rc = hx_rig_front_end() ? hx_rig_session_stats(now) : -ENOTCONN;

    if (rc)
        memset(now, 0, sizeof(*now));
    return rc == -ENOTCONN ? 0 : rc; /* no session: there were no calls */
}

static struct hx_traffic traffic_diff(const struct hx_traffic *after, const struct hx_traffic *before)
{
    const uint64_t *a = (const uint64_t *)after, *b = (const uint64_t *)before;
    struct hx_traffic diff;

    for (size_t i = 0; i < sizeof(diff) / sizeof(*a); i++)
        ((uint64_t *)&diff)[i] = a[i] - b[i];
    return diff;
}

struct hx_session_stats hx_report_diff(const struct hx_session_stats *after,
                                       const struct hx_session_stats *before)
{
    return (struct hx_session_stats){
        .invokes = after->invokes - before->invokes,
        .kernel_calls = after->kernel_calls - before->kernel_calls,
        .maps = after->maps - before->maps,
        .errors = after->errors - before->errors,
        .packets = after->packets - before->packets,
        .bytes_copied = after->bytes_copied - before->bytes_copied,
        .bytes_shared = after->bytes_shared - before->bytes_shared,
        .hvx_ops = after->hvx_ops - before->hvx_ops,
        .dispatch_ns = after->dispatch_ns - before->dispatch_ns,
        .marshal_ns = after->marshal_ns - before->marshal_ns,
        .queue_ns = after->queue_ns - before->queue_ns,
        .exec_ns = after->exec_ns - before->exec_ns,
        .clock_ns = after->clock_ns - before->clock_ns,
        .traffic = traffic_diff(&after->traffic, &before->traffic),
        .slow_path_calls = after->slow_path_calls - before->slow_path_calls,
    };
}

double hx_report_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

size_t hx_report_peak_rss(void)
{
    struct rusage use;

    return getrusage(RUSAGE_SELF, &use) ? 0 : (size_t)use.ru_maxrss << 10; /* KiB */
}

json_t *hx_report_model_us(const struct hx_session_stats *s, double by)
{
    const double us = by > 0 ? 1e-3 / by : 0;
    const uint64_t total = s->dispatch_ns + s->marshal_ns + s->queue_ns + s->exec_ns;

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "dispatch", us * (double)s->dispatch_ns,
                     "marshal", us * (double)s->marshal_ns, "queue", us * (double)s->queue_ns,
                     "exec", us * (double)s->exec_ns, "total", us * (double)total,
                     "wall", us * (double)s->clock_ns);
}

static const char *const places[] = HX_PLACE_NAMES, *const purposes[] = HX_PURPOSE_NAMES;

json_t *hx_report_places(const struct hx_session_stats *s, double by)
{
    json_t *j = json_object();

    for (int k = 0; k < HX_PLACES; k++)
        json_object_set_new(j, places[k], json_real(by > 0 ? (double)hx_traffic_at(&s->traffic, (enum hx_traffic_place)k) / by : 0));
    return j;
}

json_t *hx_report_purposes(const struct hx_session_stats *s, double by)
{
    json_t *j = json_object();

    for (int i = 0; i < HX_PURPOSES; i++) {
        json_t *of = json_object();

        for (int k = 0; k < HX_PLACES; k++)
            if (s->traffic.bytes[i][k] && by > 0)
                json_object_set_new(of, places[k], json_real((double)s->traffic.bytes[i][k] / by));
        if (json_object_size(of))
            json_object_set(j, purposes[i], of);
        json_decref(of);
    }
    return j;
}

json_t *hx_report_resident(const struct hx_session_stats *s, double by)
{
    return json_pack("{s:f, s:f}", "hit", by > 0 ? (double)s->traffic.hit_bytes / by : 0.0, "miss",
                     by > 0 ? (double)s->traffic.miss_bytes / by : 0.0);
}

int hx_report_add_traffic(json_t *to, const struct hx_session_stats *s, double tokens)
{
    int rc = json_object_set_new(to, "dsp_bytes_per_token", hx_report_places(s, tokens));

    rc |= json_object_set_new(to, "dsp_bytes_per_token_by_purpose", hx_report_purposes(s, tokens));
    return rc | json_object_set_new(to, "dsp_resident_bytes_per_token", hx_report_resident(s, tokens));
}

/* One line of the node `uncosted`: key=value, the reason last; added to the entry of that name and reason, which another session of
 * this process may have made. */
static void add_uncosted(json_t *lines, const char *line)
{
    char name[128];
    long long pcycles, hvx_ops;
    int reason = 0;
    json_t *have = NULL;
    size_t i;

    if (sscanf(line, "session=%*d pid=%*d name=%127s pcycles=%lld hvx_ops=%lld host_us=%*d reason=%n", name, &pcycles, &hvx_ops,
               &reason) != 3 || !reason)
        return;
    json_array_foreach(lines, i, have)
        if (strcmp(json_string_value(json_object_get(have, "name")), name) == 0 &&
            strcmp(json_string_value(json_object_get(have, "reason")), line + reason) == 0)
            break;
    if (i == json_array_size(lines)) {
        json_array_append_new(lines, json_pack("{s:s, s:s, s:I, s:I}", "name", name, "reason", line + reason, "pcycles",
                                               (json_int_t)pcycles, "hvx_ops", (json_int_t)hvx_ops));
        return;
    }
    pcycles += json_integer_value(json_object_get(have, "pcycles"));
    hvx_ops += json_integer_value(json_object_get(have, "hvx_ops"));
    json_object_set_new(have, "pcycles", json_integer(pcycles));
    json_object_set_new(have, "hvx_ops", json_integer(hvx_ops));
}

json_t *hx_report_uncosted(void)
{
    char *text = NULL, *line, *rest, pid[32];
    json_t *lines;

    if (!hx_rig_front_end() || hx_rig_read(NULL, "uncosted", &text))
        return NULL;
    lines = json_array();
    rest = text;
    snprintf(pid, sizeof(pid), " pid=%d ", (int)getpid());
    while ((line = strsep(&rest, "\n")))
        if (strstr(line, pid))
            add_uncosted(lines, line);
    free(text);
    return lines;
}

static void print_value(FILE *f, const json_t *v)
{
    if (json_is_string(v))
        fprintf(f, "%s", json_string_value(v));
    else if (json_is_integer(v))
        fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_real(v))
        fprintf(f, "%.12g", json_real_value(v));
    else if (json_is_boolean(v))
        fprintf(f, "%d", json_is_true(v));
}

static void print_array(FILE *f, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i)
            putc(',', f);
        print_value(f, json_array_get(array, i));
    }
}

static void print_object(FILE *f, const json_t *object, const char *prefix)
{
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)object, key, v) {
        char path[512];

        snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_is_object(v)) {
            print_object(f, v, path);
            continue;
        }
        fprintf(f, "%s=", path);
        if (json_is_array(v))
            print_array(f, v);
        else
            print_value(f, v);
        putc('\n', f);
    }
}

void hx_json_print(const json_t *object)
{
    print_object(stdout, object, "");
}

int hx_report_print_aside(const char *cmd, json_t *report)
{
    int rc = HX_EXIT_OK;

    if (!report || hx_json_lost())
        rc = hx_cmd_fail(cmd, "out of memory");
    else
        print_object(stderr, report, "");
    json_decref(report);
    return rc;
}

int hx_report_print(const char *cmd, json_t *report, int json)
{
    int rc = HX_EXIT_OK;

    if (!report || hx_json_lost()) {
        json_decref(report);
        return hx_cmd_fail(cmd, "out of memory");
    }
    if (json) {
        json_t *uncosted = hx_report_uncosted();

        if (uncosted && !json_object_get(report, "uncosted"))
            json_object_set(report, "uncosted", uncosted);
        json_decref(uncosted);
        if (json_dumpf(report, stdout, JSON_REAL_PRECISION(12)) && !ferror(stdout))
            rc = hx_cmd_fail(cmd, "out of memory");
        putchar('\n');
    } else {
        hx_json_print(report);
    }
    json_decref(report);
    return rc;
}
