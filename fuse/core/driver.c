/* The text nodes: what the driver reports about itself, its sessions and its DSP. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_version.h"

static unsigned open_sessions(const struct hx_driver *d)
{
    unsigned n = 0;

    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        n += d->session[i] != NULL;
    return n;
}

static void print_status(const struct hx_driver *d, FILE *f)
{
    fprintf(f,
            "state=%s\nfront_end=%s\nprofile=%s\ntime=%s\npid=%d\ndsp_pid=%d\n"
            "dsp_restarts=%u\ndsp_why=%s\nmount=%s\nsockets=%s\nsessions=%u\nsessions_max=%u\nstrict_pd=%d\nversion=%s\n",
            hx_dsp_is_up(&d->dsp) ? "up" : "dsp-down", d->front_end, d->profile.name,
            hx_cost_time(&d->filters), getpid(),
            d->dsp.pid, d->dsp.restarts, hx_dsp_why_down(&d->dsp), d->mount, d->sockets ? d->sockets : "", open_sessions(d),
            d->profile.sessions, d->strict_pd, hx_version);
    for (unsigned i = 0; i < d->filters.n; i++)
        fprintf(f, "%s%s", i ? "+" : "filters=", d->filters.at[i].filter->name);
    fputc('\n', f);
}

/* "ddr_bytes=1 dma_bytes=2 ...", then of what has a purpose, where there is any: "weights_ddr_bytes=1 ..." */
static void print_traffic(FILE *f, const struct hx_traffic *t)
{
    static const char *const place[] = HX_PLACE_NAMES, *const purpose[] = HX_PURPOSE_NAMES;

    for (int k = 0; k < HX_PLACES; k++)
        fprintf(f, " %s_bytes=%llu", place[k], (unsigned long long)hx_traffic_at(t, (enum hx_traffic_place)k));
    for (int i = HX_PURPOSE_OTHER + 1; i < HX_PURPOSES; i++)
        for (int k = 0; k < HX_PLACES; k++)
            if (t->bytes[i][k])
                fprintf(f, " %s_%s_bytes=%llu", purpose[i], place[k], (unsigned long long)t->bytes[i][k]);
    fprintf(f, " hit_bytes=%llu miss_bytes=%llu", (unsigned long long)t->hit_bytes, (unsigned long long)t->miss_bytes);
}

static void print_stats_line(FILE *f, const struct hx_session_stats *s, unsigned uncosted)
{
    fprintf(f,
            " invokes=%llu kernel_calls=%llu maps=%llu errors=%llu packets=%llu bytes_copied=%llu"
            " bytes_shared=%llu hvx_ops=%llu model_dispatch_ns=%llu model_marshal_ns=%llu"
            " model_queue_ns=%llu model_exec_ns=%llu model_sum_ns=%llu model_clock_ns=%llu slow_path_calls=%llu uncosted=%u",
            (unsigned long long)s->invokes, (unsigned long long)s->kernel_calls,
            (unsigned long long)s->maps, (unsigned long long)s->errors,
            (unsigned long long)s->packets, (unsigned long long)s->bytes_copied,
            (unsigned long long)s->bytes_shared,
            (unsigned long long)s->hvx_ops, (unsigned long long)s->dispatch_ns,
            (unsigned long long)s->marshal_ns, (unsigned long long)s->queue_ns,
            (unsigned long long)s->exec_ns,
            (unsigned long long)(s->dispatch_ns + s->marshal_ns + s->queue_ns + s->exec_ns), (unsigned long long)s->clock_ns,
            (unsigned long long)s->slow_path_calls, uncosted);
    print_traffic(f, &s->traffic);
    fputc('\n', f);
}

static void print_stats(const struct hx_driver *d, FILE *f)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i]) {
            fprintf(f, "session=%d pid=%d", d->session[i]->client_id, d->session[i]->pid);
            print_stats_line(f, &d->session[i]->stats, hx_uncosted_count(d->session[i]));
        }
    fprintf(f, "closed_sessions=%llu", (unsigned long long)d->sessions_closed);
    print_stats_line(f, &d->closed, hx_uncosted_count_sums(&d->closed_uncosted));
}

static void print_sessions(const struct hx_driver *d, FILE *f)
{
    static const char *const kinds[] = {"root", "user", "sensors"};

    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++) {
        const struct hx_session *s = d->session[i];
        bool has_pd = s && s->state != HX_SESSION_NEW && s->state != HX_SESSION_CREATING;

        if (s)
            fprintf(f, "session=%d pid=%d node=%s state=%s pd=%s unsigned=%d poll=%d\n",
                    s->client_id, s->pid, s->secure_node ? "fastrpc-cdsp-secure" : "fastrpc-cdsp",
                    hx_session_state_name(s->state), has_pd ? kinds[s->pd] : "none",
                    s->unsigned_pd, s->poll_mode);
    }
}

static void print_thermal(const struct hx_driver *d, FILE *f)
{
    hx_thermal_print(&d->thermal, &d->profile, f);
}

static void print_vtcm(const struct hx_driver *d, FILE *f)
{
    hx_vtcm_view_print(&d->vtcm, d->profile.vtcm_kib, f);
}

static void print_uncosted(const struct hx_driver *d, FILE *f)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i])
            hx_uncosted_print(d->session[i], f);
    hx_uncosted_print_sums(&d->closed_uncosted, f);
}

static void print_methods(const struct hx_driver *d, FILE *f)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i])
            hx_methods_print(d->session[i], f);
    hx_methods_print_closed(&d->closed_methods, f);
}

const char *const hx_driver_nodes[] = {"status", "stats", "sessions", "clock", "thermal", "vtcm", "uncosted", "methods", "crashes", NULL};

enum { TEXT_BYTES = 128 << 10, METHODS_BYTES = 768 << 10 };

static const struct node {
    void (*print)(const struct hx_driver *d, FILE *f);
    size_t bytes; /* of the text, at most; several times what it takes */
} printers[] = { /* in the order of hx_driver_nodes */
    {print_status, TEXT_BYTES}, {print_stats, TEXT_BYTES}, {print_sessions, TEXT_BYTES}, {hx_clock_print, TEXT_BYTES},
    {print_thermal, TEXT_BYTES}, {print_vtcm, TEXT_BYTES}, {print_uncosted, TEXT_BYTES}, {print_methods, METHODS_BYTES},
    {hx_crash_print, TEXT_BYTES},
};

/* A buffer of our own: of memory that open_memstream() could not get in the middle neither ferror() nor fclose() tells anything, and
 * the text would lack a piece. */
static char *text_of(const struct node *node, const struct hx_driver *d)
{
    static char text[METHODS_BYTES];
    FILE *f = fmemopen(text, node->bytes, "w");

    if (!f)
        return NULL;
    text[0] = '\0'; /* where nothing is written, nothing ends it */
    node->print(d, f);
    if (ferror(f) | fclose(f)) /* what does not fit is an error of the one or the other */
        return NULL;
    return strdup(text);
}

char *hx_driver_node_text(struct hx_driver *d, const char *node)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i])
            hx_queue_stats_collect(d->session[i]);
    for (unsigned i = 0; hx_driver_nodes[i]; i++)
        if (strcmp(hx_driver_nodes[i], node) == 0)
            return text_of(&printers[i], d);
    return NULL;
}
