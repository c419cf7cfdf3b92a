/* Asks the cost model: makes the call in question on a rig and reads back what it was charged. */
#include "timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "hx_rig.h"

const struct hx_timing_kernel *hx_timing_kernel(const char *name)
{
    for (size_t i = 0; i < hx_timing_n_kernels; i++)
        if (strcmp(hx_timing_kernels[i].name, name) == 0)
            return &hx_timing_kernels[i];
    return NULL;
}

int hx_timing_run(remote_handle64 h, const struct hx_timing_ask *ask, silicon_cycles *c)
{
    const struct hx_timing_kernel *k = hx_timing_kernel(ask->kernel);

    return k && k->run ? k->run(h, ask, c) : AEE_EBADPARM;
}

/* The client's own work before each call is a key of the filter that models time. */
int hx_timing_pause(uint64_t idle_us)
{
    char text[64], why[256];

    snprintf(text, sizeof(text), "filter +cost:host_us=%" PRIu64, idle_us);
    return hx_rig_write(NULL, "control", text, why, sizeof(why)) ? AEE_EFAILED : 0;
}

/* A call that does nothing loads the kernels. */
int hx_timing_open(const struct hx_timing_ask *ask, remote_handle64 *h)
{
    struct remote_rpc_control_unsigned_module m = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    const struct hx_timing_ask nothing = {.kernel = "null"};
    const struct hx_timing_kernel *k = hx_timing_kernel(ask->kernel);
    silicon_cycles c;
    int rc;

    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &m, sizeof(m));
    rc = silicon_open(silicon_URI CDSP_DOMAIN, h);
    if (rc)
        return rc;
    rc = k && k->setup ? k->setup(*h, ask, &c) : 0;
    if (!rc)
        rc = hx_timing_run(*h, &nothing, &c);
    if (rc)
        silicon_close(*h);
    return rc;
}

/* What comes before decides who is asleep: a long pause, or calls like that which is asked for, of which the first may have
 * more to do, where there is no setup that has done it. */
static int prepare(remote_handle64 h, const struct hx_timing_ask *ask)
{
    const struct hx_timing_kernel *k = hx_timing_kernel(ask->kernel);
    silicon_cycles c;
    int rc = 0;

    if (ask->first)
        return hx_timing_pause(HX_TIMING_LONG_PAUSE_US);
    for (int i = k && k->setup ? 1 : 0; !rc && i < 2; i++)
        rc = hx_timing_run(h, ask, &c);
    return rc;
}

void hx_timing_charged(const struct hx_session_stats *before, const struct hx_session_stats *after, struct hx_timing *out)
{
    out->dispatch_us = (double)(after->dispatch_ns - before->dispatch_ns) / 1e3;
    out->marshal_us = (double)(after->marshal_ns - before->marshal_ns) / 1e3;
    out->queue_us = (double)(after->queue_ns - before->queue_ns) / 1e3;
    out->exec_us = (double)(after->exec_ns - before->exec_ns) / 1e3;
    out->wall_us = out->dispatch_us + out->marshal_us + out->queue_us + out->exec_us;
}

static int measure(remote_handle64 h, const struct hx_timing_ask *ask, struct hx_timing *out)
{
    struct hx_session_stats before, after;
    silicon_cycles c = {0};
    int rc = prepare(h, ask);

    if (!rc)
        rc = hx_rig_session_stats(&before);
    if (!rc)
        rc = hx_timing_run(h, ask, &c);
    if (!rc)
        rc = hx_rig_session_stats(&after);
    if (rc)
        return rc;
    *out = (struct hx_timing){
        .handler = (double)c.handler,
        .worker = (double)c.worker,
        .once = (double)c.once,
        .total = (double)c.total,
        .copies = (double)c.copies,
    };
    hx_timing_charged(&before, &after, out);
    return 0;
}

int hx_timing_ask(const struct hx_timing_ask *ask, struct hx_timing *out)
{
    const struct hx_timing_kernel *k = hx_timing_kernel(ask->kernel);
    remote_handle64 h;

    if (k && k->answer)
        return k->answer(ask, hx_timing_ask, out);
    int rc = hx_timing_open(ask, &h);
    if (rc)
        return rc;
    if (ask->idle_us)
        rc = hx_timing_pause(ask->idle_us);
    if (!rc)
        rc = measure(h, ask, out);
    silicon_close(h);
    if ((ask->idle_us || ask->first) && hx_timing_pause(0))
        rc = rc ? rc : AEE_EFAILED;
    return rc;
}

double hx_timing_figure(const struct hx_timing_row *row, const struct hx_timing *t)
{
    switch (row->figure) {
    case HX_TIMING_HANDLER: return t->handler;
    case HX_TIMING_WORKER: return t->worker;
    case HX_TIMING_TOTAL: return t->total;
    case HX_TIMING_REST: return t->total - t->handler;
    case HX_TIMING_EXEC: return t->exec_us;
    default: return t->wall_us;
    }
}

const char *hx_timing_unit(const struct hx_timing_row *row)
{
    return row->figure == HX_TIMING_WALL || row->figure == HX_TIMING_EXEC ? "us" : "pcycles";
}

static int same(const struct hx_timing_ask *a, const struct hx_timing_ask *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->shape, b->shape, sizeof(a->shape)) == 0 &&
           memcmp(&a->how, &b->how, sizeof(a->how)) == 0 && a->shared == b->shared && a->first == b->first &&
           a->in_bytes == b->in_bytes && a->out_bytes == b->out_bytes && a->idle_us == b->idle_us;
}

size_t hx_timing_same_question(size_t i)
{
    size_t first = 0;

    while (first < i && !same(&hx_timing_rows[first].ask, &hx_timing_rows[i].ask))
        first++;
    return first;
}

int hx_timing_is_pass(const struct hx_timing_row *row)
{
    return hx_timing_kernel(row->ask.kernel)->answer != NULL;
}

int hx_timing_predict(double *predicted, double *of_calls, const int *skip, int brief, const struct hx_timing_row **failed)
{
    struct hx_timing *answers = calloc(hx_timing_n_rows, sizeof(*answers));
    int rc = answers ? 0 : AEE_ENOMEMORY;

    *failed = &hx_timing_rows[0];
    for (size_t i = 0; !rc && i < hx_timing_n_rows; i++) {
        const struct hx_timing_row *row = *failed = &hx_timing_rows[i];
        const struct hx_timing *t = &answers[hx_timing_same_question(i)];
        struct hx_timing_ask ask = row->ask;

        ask.brief = brief;
        if (skip && skip[i])
            continue;
        if (t == &answers[i])
            rc = hx_timing_ask(&ask, &answers[i]);
        predicted[i] = hx_timing_figure(row, t);
        if (of_calls)
            of_calls[i] = (t->dispatch_us + t->marshal_us + t->queue_us) / t->wall_us;
    }
    free(answers);
    return rc;
}

void hx_timing_print_ask(const struct hx_timing_ask *ask, char *text, size_t bytes)
{
    static const char *const placement[] = {
        [SILICON_DDR] = "", [SILICON_VTCM] = " --placement vtcm", [SILICON_DMA] = " --placement dma"};
    char shape[64] = "", threads[24] = "", idle[40] = "";

    for (int d = 0; d < HX_TIMING_SHAPE && ask->shape[d]; d++)
        snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), "%s%ld", d ? "x" : " --shape ",
                 ask->shape[d]);
    if (ask->how.threads > 1)
        snprintf(threads, sizeof(threads), " --threads %d", ask->how.threads);
    if (ask->idle_us)
        snprintf(idle, sizeof(idle), " --idle-us %" PRIu64, ask->idle_us);
    snprintf(text, bytes, "--kernel %s%s%s%s%s%s%s%s", ask->kernel, shape, placement[ask->how.placement],
             threads, ask->how.build == SILICON_DEBUG ? " --build debug" : "", ask->shared ? " --shared" : "",
             ask->first ? " --cold" : "", idle);
}
