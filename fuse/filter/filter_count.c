/* Filter `count`: how many calls and packets, how many bytes copied and shared.  No keys. */
#include <errno.h>
#include <stdio.h>

#include "filter.h"
#include "core/session.h"

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    (void)state;
    (void)profile;
    if (!*config)
        return 0;
    snprintf(why, why_bytes, "filter count takes no keys, got '%s'", config);
    return -EINVAL;
}

static void add(struct hx_traffic *sum, const struct hx_traffic *more)
{
    const uint64_t *from = (const uint64_t *)more;
    uint64_t *to = (uint64_t *)sum;

    for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
        to[i] += from[i];
}

static void send(void *state, struct hx_call *call)
{
    struct hx_session_stats *s = &call->session->stats;

    (void)state;
    s->invokes++;
    s->bytes_copied += call->inv.bytes_in + call->inv.bytes_out;
    s->bytes_shared += call->inv.bytes_shared;
}

static void end(void *state, struct hx_call *call, int *result)
{
    (void)state;
    call->session->stats.hvx_ops += call->inv.hvx_ops;
    add(&call->session->stats.traffic, &call->inv.traffic);
    call->session->stats.errors += *result != 0;
    call->session->stats.slow_path_calls += call->inv.slow_path;
    hx_methods_count(call, *result); /* `cost` and whoever changes the result come before `count` on the way back */
}

static void packets(void *state, struct hx_session *session, const struct hx_queue_stats *news)
{
    struct hx_session_stats *s = &session->stats;

    (void)state;
    s->packets += news->packets;
    s->bytes_copied += news->bytes_copied;
    s->bytes_shared += news->bytes_shared;
    s->hvx_ops += news->hvx_ops;
    add(&s->traffic, &news->traffic);
    s->slow_path_calls += news->slow_path_packets;
}

const struct hx_filter hx_filter_count = {
    .name = "count",
    .help = "(no keys) counts calls and bytes; always there",
    .load = load,
    .send = send,
    .end = end,
    .packets = packets,
};
