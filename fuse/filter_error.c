/* Filter `error`: makes calls fail, or their results wrong.
 *
 *   code=C      the result becomes C: an errno name (EPIPE), a number, or a DSP code (0x8000040e)
 *   corrupt=N   of INVOKE, the first N bytes of each out buffer are inverted; `all` for all of them
 * and the keys of filter_match.h.  An INVOKE still runs on the DSP; other calls are answered before anything is done. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "filter_match.h"
#include "remote_scalars.h"

struct state {
    struct hx_filter_match match;
    int code;         /* 0 = leave the result */
    uint64_t corrupt; /* bytes */
};

static const struct {
    const char *name;
    int value;
} errnos[] = {{"EPIPE", EPIPE}, {"EINVAL", EINVAL}, {"ENOMEM", ENOMEM}, {"EIO", EIO},
              {"EPERM", EPERM}, {"ENOSPC", ENOSPC}, {"EFAULT", EFAULT}, {"ETIMEDOUT", ETIMEDOUT},
              {"EBUSY", EBUSY}, {"ECONNREFUSED", ECONNREFUSED}};

static int parse_code(const char *text, int *code)
{
    unsigned long v;

    for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
        if (strcmp(errnos[i].name, text) == 0) {
            *code = -errnos[i].value;
            return 0;
        }
    if (hx_filter_number(text, 1, UINT32_MAX, &v))
        return -EINVAL;
    *code = (int)v;
    return 0;
}

static int set(struct state *s, const char *key, const char *value)
{
    unsigned long v;
    int rc = hx_filter_match_key(&s->match, key, value);

    if (rc)
        return rc < 0 ? rc : 0;
    if (strcmp(key, "code") == 0)
        return parse_code(value, &s->code);
    if (strcmp(key, "corrupt") != 0)
        return -EINVAL;
    if (strcmp(value, "all") == 0) {
        s->corrupt = UINT64_MAX;
        return 0;
    }
    rc = hx_filter_number(value, 1, UINT32_MAX, &v);
    s->corrupt = v;
    return rc;
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
            snprintf(why, why_bytes, "filter error: '%s=%s' is not one of: %s", key, value,
                     hx_filter_error.help);
            free(s);
            return -EINVAL;
        }
    if (!s->code && !s->corrupt) {
        snprintf(why, why_bytes, "filter error: needs code= or corrupt=");
        free(s);
        return -EINVAL;
    }
    *state = s;
    return 0;
}

static int begin(void *state, struct hx_call *call)
{
    struct state *s = state;

    if (call->cmd == FASTRPC_IOCTL_INVOKE || !s->code)
        return 0;
    return hx_filter_matches(&s->match, call) ? s->code : 0;
}

static void corrupt(struct hx_call *call, uint64_t bytes)
{
    for (unsigned i = 0; i < REMOTE_SCALARS_OUTBUFS(call->inv.sc); i++) {
        uint64_t len;
        uint8_t *out = hx_call_out(call, i, &len);
        for (uint64_t j = 0; out && j < len && j < bytes; j++)
            out[j] = (uint8_t)~out[j];
    }
}

static void end(void *state, struct hx_call *call, int *result)
{
    struct state *s = state;

    if (!hx_filter_matches(&s->match, call))
        return;
    if (s->corrupt)
        corrupt(call, s->corrupt);
    if (s->code)
        *result = s->code;
}

const struct hx_filter hx_filter_error = {
    .name = "error",
    .help = "code=EPIPE|EINVAL|...|NUMBER corrupt=BYTES|all " HX_FILTER_MATCH_HELP,
    .load = load,
    .unload = free,
    .begin = begin,
    .end = end,
};
