/* The filter stack: adding and removing filters, and running each through its steps. */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct hx_filter *const known[] = {
    &hx_filter_count,
    &hx_filter_cost,
    &hx_filter_error,
    &hx_filter_delay,
    &hx_filter_log,
    &hx_filter_trace,
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static const struct hx_filter *find(const char *name, size_t n)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strlen(known[i]->name) == n && memcmp(known[i]->name, name, n) == 0)
            return known[i];
    return NULL;
}

/* Index of f among the filters that are always there; HX_FILTERS_FIXED: it is not one of them. */
static unsigned find_fixed(const struct hx_filter_stack *s, const struct hx_filter *f)
{
    unsigned i = 0;

    while (i < HX_FILTERS_FIXED && !(i < s->n && s->at[i].filter == f))
        i++;
    return i;
}

int hx_filter_push(struct hx_filter_stack *s, const char *spec, const struct hx_profile *profile,
                   char *why, size_t why_bytes)
{
    size_t n = strcspn(spec, ":");
    const struct hx_filter *f = find(spec, n);
    unsigned at_fixed = f ? find_fixed(s, f) : HX_FILTERS_FIXED;
    void *state = NULL;
    int rc;

    if (!f) {
        int at = snprintf(why, why_bytes, "unknown filter '%.*s', there are:", (int)n, spec);
        for (size_t i = 0; i < N_KNOWN && at > 0 && (size_t)at < why_bytes; i++)
            at += snprintf(why + at, why_bytes - (size_t)at, " %s", known[i]->name);
        return -EINVAL;
    }
    if (s->n == HX_FILTERS_MAX && at_fixed == HX_FILTERS_FIXED) {
        snprintf(why, why_bytes, "filter '%s': %d filters are the limit", spec, HX_FILTERS_MAX);
        return -E2BIG;
    }
    rc = f->load(&state, spec[n] ? spec + n + 1 : "", profile, why, why_bytes);
    if (rc)
        return rc;
    if (at_fixed == HX_FILTERS_FIXED)
        at_fixed = s->n++;
    else if (f->unload)
        f->unload(s->at[at_fixed].state);
    s->at[at_fixed].filter = f;
    s->at[at_fixed].state = state;
    return 0;
}

int hx_filter_remove(struct hx_filter_stack *s, const char *name, char *why, size_t why_bytes)
{
    for (unsigned i = s->n; i-- > HX_FILTERS_FIXED;)
        if (strcmp(s->at[i].filter->name, name) == 0) {
            if (s->at[i].filter->unload)
                s->at[i].filter->unload(s->at[i].state);
            s->n--;
            memmove(&s->at[i], &s->at[i + 1], (s->n - i) * sizeof(s->at[0]));
            return 0;
        }
    snprintf(why, why_bytes, "no filter '%s' that could be removed", name);
    return -ENOENT;
}

void hx_filter_unload(struct hx_filter_stack *s)
{
    while (s->n) {
        s->n--;
        if (s->at[s->n].filter->unload)
            s->at[s->n].filter->unload(s->at[s->n].state);
    }
}

int hx_filter_begin(struct hx_filter_stack *s, struct hx_call *call)
{
    int rc = 0;

    for (unsigned i = 0; i < s->n && !rc; i++)
        if (s->at[i].filter->begin)
            rc = s->at[i].filter->begin(s->at[i].state, call);
    return rc;
}

void hx_filter_send(struct hx_filter_stack *s, struct hx_call *call)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].filter->send)
            s->at[i].filter->send(s->at[i].state, call);
}

void hx_filter_end(struct hx_filter_stack *s, struct hx_call *call, int *result)
{
    for (unsigned i = s->n; i-- > 0;)
        if (s->at[i].filter->end)
            s->at[i].filter->end(s->at[i].state, call, result);
}

void hx_filter_packets(struct hx_filter_stack *s, struct hx_session *session,
                       const struct hx_queue_stats *news)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].filter->packets)
            s->at[i].filter->packets(s->at[i].state, session, news);
}

void hx_filter_done(struct hx_filter_stack *s, const struct hx_call *call, int result)
{
    for (unsigned i = s->n; i-- > 0;)
        if (s->at[i].filter->done)
            s->at[i].filter->done(s->at[i].state, call, result);
}
