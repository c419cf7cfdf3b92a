/* Filter `delay`: answers come later than they could.  Others are served meanwhile.
 *
 *   us=N   microseconds, 1..10000000
 * and the keys of filter_match.h, of which `ops` is INVOKE only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "filter_match.h"

enum { LONGEST_US = 10 * 1000 * 1000 };

struct state {
    struct hx_filter_match match;
    unsigned long us;
};

static int set(struct state *s, const char *key, const char *value)
{
    if (strcmp(key, "us") == 0)
        return hx_filter_number(value, 1, LONGEST_US, &s->us);
    if (strcmp(key, "ops") == 0 && strcmp(value, "INVOKE") != 0)
        return -EINVAL;
    return hx_filter_match_key(&s->match, key, value) == 1 ? 0 : -EINVAL;
}

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    struct state *s = calloc(1, sizeof(*s));
    char key[32], value[64];

    (void)profile;
    if (!s)
        return -ENOMEM;
    hx_filter_match_init(&s->match);
    while (hx_filter_next_key(&config, key, sizeof(key), value, sizeof(value)))
        if (set(s, key, value)) {
            snprintf(why, why_bytes, "filter delay: '%s=%s' is not one of: %s", key, value,
                     hx_filter_delay.help);
            free(s);
            return -EINVAL;
        }
    if (!s->us) {
        snprintf(why, why_bytes, "filter delay: needs us=1..%d", LONGEST_US);
        free(s);
        return -EINVAL;
    }
    *state = s;
    return 0;
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
    .help = "us=1..10000000 ops=INVOKE method=0..31 nth=1.. rate=0..100%",
    .load = load,
    .unload = free,
    .end = end,
};
