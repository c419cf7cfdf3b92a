/* Filter `error`: makes calls fail, or their results wrong.
 *
 *   code=C      the result becomes C: an errno's name (EPIPE), a number, or a DSP code (0x8000040e)
 *   corrupt=N   of INVOKE, the first N bytes of each out buffer are inverted; `all` for all of them
 * and the keys of filter_match.h.  An INVOKE still runs on the DSP; other calls are answered before anything is done. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/call_result.h"
#include "core/driver.h"
#include "filter_keys.h"
#include "filter_match.h"
#include "filter_text.h"
#include "remote_scalars.h"

struct state {
    struct hx_filter_match match; /* first, for hx_filter_load_keys() */
    int code;         /* 0 = leave the result */
    uint64_t corrupt; /* bytes */
};

enum { LAST_ERRNO = EHWPOISON };

/* Second names; glibc knows the first ones. */
static const struct {
    const char *name;
    int value;
} aliases[] = {{"EWOULDBLOCK", EWOULDBLOCK}, {"EDEADLOCK", EDEADLOCK}, {"ENOTSUP", ENOTSUP}};

/* 0: there is no errno of that name. */
static int errno_by_name(const char *text)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(aliases[i].name, text) == 0)
            return aliases[i].value;
    for (int e = 1; e <= LAST_ERRNO; e++) {
        const char *name = strerrorname_np(e);

        if (name && strcmp(name, text) == 0)
            return e;
    }
    return 0;
}

static int parse_code(const char *text, int *code)
{
    unsigned long v;

    *code = -errno_by_name(text);
    if (*code)
        return 0;
    if (hx_filter_number(text, 1, UINT32_MAX, &v))
        return -EINVAL;
    *code = (int)v;
    return 0;
}

static int set(void *state, const char *key, const char *value)
{
    struct state *s = state;
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

static const char *missing(const void *state)
{
    const struct state *s = state;

    return s->code || s->corrupt ? NULL : "needs code= or corrupt=";
}

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    (void)profile;
    return hx_filter_load_keys(state, sizeof(struct state), &hx_filter_error, config, set, missing,
                               why, why_bytes);
}

static int begin(void *state, struct hx_call *call)
{
    struct state *s = state;

    if (call->cmd == FASTRPC_IOCTL_INVOKE || !s->code)
        return 0;
    return hx_filter_matches(&s->match, call) ? s->code : 0;
}

static void invert(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)~bytes[i];
}

static void corrupt(struct hx_call *call, uint64_t bytes)
{
    for (unsigned i = 0; i < REMOTE_SCALARS_OUTBUFS(call->inv.sc); i++) {
        int rc = hx_call_alter_out(call, i, bytes, invert);

        if (rc)
            hx_log("error: client %d: out buffer %u is not corrupted, or not all of it: %s",
                   call->session->client_id, i, strerror(-rc));
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
    .help = "code=ERRNO_NAME|NUMBER corrupt=BYTES|all " HX_FILTER_MATCH_HELP,
    .load = load,
    .unload = free,
    .begin = begin,
    .end = end,
};
