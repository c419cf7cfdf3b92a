/* Opening a skel from the engine, see skel.h. */
#include "skel.h"

#include <stdio.h>
#include <string.h>

#include "AEEStdErr.h"
#include "dsp_error.h"
#include "hx_rig.h"
#include "packets.h"

int hx_skel_open(struct hx_skel *s, const char *who, const char *uri, struct hx_error *err)
{
    struct remote_rpc_control_unsigned_module unsigned_pd = {CDSP_DOMAIN_ID, 1};
    char reason[sizeof(err->text)] = "", on_cdsp[256];
    int code = hx_rig_connect(reason, sizeof(reason)); /* first, for its reason in words */

    if (code)
        return hx_error_set(err, code, "%s: no rig: %s", who, *reason ? reason : strerror(-code));
    hx_dsp_node(s->node, sizeof(s->node));
    code = remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &unsigned_pd,
                                  sizeof(unsigned_pd));
    if (code && code != AEE_EALREADY) /* another method of this process has asked */
        return hx_dsp_error(err, HX_DSP_OPEN, s->node, code, "%s: cannot ask for an unsigned PD", who);
    snprintf(on_cdsp, sizeof(on_cdsp), "%s" CDSP_DOMAIN, uri);
    code = remote_handle64_open(on_cdsp, &s->handle);
    if (code)
        return hx_dsp_error(err, HX_DSP_OPEN, s->node, code, "%s: cannot open %s", who, on_cdsp);
    s->opened = 1;
    return 0;
}

void hx_skel_close(struct hx_skel *s)
{
    hx_packets_close(s->packets);
    s->packets = NULL;
    if (s->opened)
        remote_handle64_close(s->handle);
    s->opened = 0;
}
