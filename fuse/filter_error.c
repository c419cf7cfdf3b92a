/* Filter `error`: makes calls fail, or their results wrong.
 *
 *   method=N    only calls of method N of a skel (calls on static handles do not match)
 *   nth=N       only the N-th matching call, from 1; default every one
 *   code=N      the result becomes N: an errno name (EPIPE), a number, or a DSP code (0x8000040e)
 *   corrupt=N   the first N bytes of each out buffer are inverted; `all` for all of them */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "remote_scalars.h"

struct state {
    long method;       /* -1 = any */
    unsigned long nth; /* 0 = every */
    unsigned long seen;
    int code;          /* 0 = leave the result */
    uint64_t corrupt;  /* bytes */
};

static const struct {
    const char *name;
    int value;
} errnos[] = {{"EPIPE", EPIPE}, {"EINVAL", EINVAL}, {"ENOMEM", ENOMEM}, {"EIO", EIO},
              {"EPERM", EPERM}, {"ENOSPC", ENOSPC}, {"EFAULT", EFAULT}, {"ETIMEDOUT", ETIMEDOUT}};

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
    int rc = 0;

    if (strcmp(key, "method") == 0) {
        rc = hx_filter_number(value, 0, 31, &v);
        s->method = (long)v;
    } else if (strcmp(key, "nth") == 0) {
        rc = hx_filter_number(value, 1, UINT32_MAX, &s->nth);
    } else if (strcmp(key, "code") == 0) {
        rc = parse_code(value, &s->code);
    } else if (strcmp(key, "corrupt") == 0 && strcmp(value, "all") == 0) {
        s->corrupt = UINT64_MAX;
    } else if (strcmp(key, "corrupt") == 0) {
        rc = hx_filter_number(value, 1, UINT32_MAX, &v);
        s->corrupt = v;
    } else if (strcmp(key, "op") != 0 || strcmp(value, "INVOKE") != 0) {
        rc = -EINVAL;
    }
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
    s->method = -1;
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

    if (s->method >= 0 && (call->inv.handle <= FASTRPC_HANDLE_MAX_STATIC ||
                           REMOTE_SCALARS_METHOD(call->inv.sc) != (unsigned long)s->method))
        return;
    s->seen++;
    if (s->nth && s->seen != s->nth)
        return;
    if (s->corrupt)
        corrupt(call, s->corrupt);
    if (s->code)
        *result = s->code;
}

const struct hx_filter hx_filter_error = {
    .name = "error",
    .help = "op=INVOKE method=0..31 nth=1.. code=EPIPE|EINVAL|...|NUMBER corrupt=BYTES|all",
    .load = load,
    .unload = free,
    .end = end,
};
