/* Filter `log`: one line per call in the rig's log.  Keys of filter_match.h; `ops` is ALL unless given. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/driver.h"
#include "filter_keys.h"
#include "filter_match.h"

static int set(void *match, const char *key, const char *value)
{
    return hx_filter_match_key(match, key, value) == 1 ? 0 : -EINVAL;
}

static int load(void **state, const char *config, const struct hx_profile *profile, char *why,
                size_t why_bytes)
{
    struct hx_filter_match *m = malloc(sizeof(*m));
    int rc;

    (void)profile;
    if (!m)
        return -ENOMEM;
    hx_filter_match_init(m);
    hx_filter_match_key(m, "ops", "ALL");
    rc = hx_filter_set_keys(&hx_filter_log, config, set, m, why, why_bytes);
    if (rc)
        free(m);
    else
        *state = m;
    return rc;
}

static void done(void *state, const struct hx_call *call, int result)
{
    const struct hx_invoke_view *v = &call->inv;

    if (!hx_filter_matches(state, call))
        return;
    if (call->cmd != FASTRPC_IOCTL_INVOKE) {
        hx_log("log: client=%d op=%s nr=%u result=%d", call->session->client_id,
               hx_filter_op_name(call->cmd), _IOC_NR(call->cmd), result);
        return;
    }
    hx_log("log: client=%d op=INVOKE tid=%d handle=0x%x method=%u sc=0x%08x in=%llu out=%llu"
           " shared=%llu pcycles=%llu result=0x%x",
           call->session->client_id, call->tid, v->handle, v->method, v->sc,
           (unsigned long long)v->bytes_in, (unsigned long long)v->bytes_out,
           (unsigned long long)v->bytes_shared, (unsigned long long)v->exec_pcycles,
           (unsigned)result);
}

const struct hx_filter hx_filter_log = {
    .name = "log",
    .help = HX_FILTER_MATCH_HELP,
    .load = load,
    .unload = free,
    .done = done,
};
