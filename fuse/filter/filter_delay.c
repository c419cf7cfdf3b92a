/* Filter `delay`: holds answers back.  Other calls are served in the meantime.
 *
 *   us=N   microseconds, 1..10000000
 * and the keys of filter_match.h, of which `ops` is INVOKE only. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter_keys.h"
#include "filter_match.h"
#include "filter_text.h"

enum { LONGEST_US = 10 * 1000 * 1000 };

struct state {
    struct hx_filter_match match; /* first, for hx_filter_load_keys() */
    unsigned long us;
};

static int set(void *state, const char *key, const char *value)
{
    struct state *s = state;

    if (strcmp(key, "us") == 0)
        return hx_filter_number(value, 1, LONGEST_US, &s->us);
    if (strcmp(key, "ops") == 0 && strcmp(value, "INVOKE") != 0)
        return -EINVAL;
    return hx_filter_match_key(&s->match, key, value) == 1 ? 0 : -EINVAL;
}

static const char *missing(const void *state)
{
    const struct state *s = state;

    return s->us ? NULL : "needs us=1..10000000";
}

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    (void)profile;
    return hx_filter_load_keys(state, sizeof(struct state), &hx_filter_delay, config, set, missing,
                               why, why_bytes);
}

static void end(void *state, struct hx_call *call, int *result)
{
    struct state *s = state;

    (void)result;
    if (hx_filter_matches(&s->match, call))
        call->delay_us += s->us;
}

const struct hx_filter hx_filter_delay = {
    .name = "delay",
    .help = "us=1..10000000 ops=INVOKE method=0.. nth=1.. rate=0..100%",
    .load = load,
    .unload = free,
    .end = end,
};
