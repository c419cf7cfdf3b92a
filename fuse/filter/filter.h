/* Filters: small pieces that stand in front of the ioctl core and see every call.
 *
 * Each is one file with one table.  They are stacked in the order in which they are given; `count` and `cost` are always
 * there, first.  begin() and send() run in that order, end() in the reverse order. */
#ifndef HX_FILTER_H
#define HX_FILTER_H

#include <stddef.h>

#include "core/call.h"
#include "hx_profile.h"
#include "core/queue_stats.h"

struct hx_filter {
    const char *name;
    const char *help; /* one line: the keys */
    /* Parses "key=value,..." ("" = none) into *state.  0, or negative errno with one line in why. */
    int (*load)(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes);
    void (*unload)(void *state);
    /* An ioctl arrived.  Non-zero = its result, and it goes no further. */
    int (*begin)(void *state, struct hx_call *call);
    /* An INVOKE was accepted: its arguments are known, it goes to the DSP now. */
    void (*send)(void *state, struct hx_call *call);
    /* The result is known, nothing was written back yet; *result may be changed. */
    void (*end)(void *state, struct hx_call *call, int *result);
    /* The DSP took dspqueue packets, which are not calls; `news` is what was added since the last time. */
    void (*packets)(void *state, struct hx_session *session, const struct hx_queue_stats *news);
    /* Any ioctl is answered with `result` now.  Runs in the reverse order. */
    void (*done)(void *state, const struct hx_call *call, int result);
};

extern const struct hx_filter hx_filter_count, hx_filter_cost, hx_filter_error, hx_filter_delay,
    hx_filter_log, hx_filter_trace;

enum { HX_FILTERS_MAX = 16, HX_FILTERS_FIXED = 2 /* count, cost */ };

struct hx_filter_stack {
    struct {
        const struct hx_filter *filter;
        void *state;
    } at[HX_FILTERS_MAX];
    unsigned n;
};

/* Adds "name" or "name:key=value,...".  One of the first HX_FILTERS_FIXED is not added again: it gets these keys, and the others
 * their defaults.  0, or negative errno with one line in why. */
int hx_filter_push(struct hx_filter_stack *s, const char *spec, const struct hx_profile *profile,
                   char *why, size_t why_bytes);
/* Removes the last filter of that name, not one of the first HX_FILTERS_FIXED.  0, or -ENOENT with a reason. */
int hx_filter_remove(struct hx_filter_stack *s, const char *name, char *why, size_t why_bytes);

/* The mode of the `cost` filter: "virtual", "real" or "off". */
const char *hx_cost_time(const struct hx_filter_stack *s);

void hx_filter_unload(struct hx_filter_stack *s);

int hx_filter_begin(struct hx_filter_stack *s, struct hx_call *call);
void hx_filter_send(struct hx_filter_stack *s, struct hx_call *call);
void hx_filter_end(struct hx_filter_stack *s, struct hx_call *call, int *result);
void hx_filter_packets(struct hx_filter_stack *s, struct hx_session *session,
                       const struct hx_queue_stats *news);
void hx_filter_done(struct hx_filter_stack *s, const struct hx_call *call, int result);

#endif
