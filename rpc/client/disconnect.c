/* The end of a connection: queues, sessions and then the rig; and the figures of a session, which the rig's driver keeps. */
#include "hx_export.h"

#include <errno.h>

#include "hx_queues.h"
#include "hx_rig_internal.h"
#include "hx_session.h"

static int ask_driver(unsigned long cmd, void *arg)
{
    struct hx_client_session *s = hx_session_get(0);
    int rc;

    if (!s)
        return -ENOTCONN;
    rc = hx_session_ioctl(s, cmd, arg);
    hx_session_put(s);
    return rc;
}

int hx_rig_session_stats(struct hx_session_stats *out)
{
    return ask_driver(HX_IOCTL_SESSION_STATS, out);
}

int hx_rig_own_clock(void)
{
    return ask_driver(HX_IOCTL_OWN_CLOCK, NULL);
}

void hx_rig_disconnect(void)
{
    for (unsigned i = 0; i < HX_SESSIONS; i++) {
        hx_queues_disconnect(i);
        hx_session_drop(i);
    }
    hx_rig_leave();
}

/* What needs an answer of the DSP is left out: the process's end does it. */
__attribute__((destructor)) static void at_exit(void)
{
    hx_session_at_exit();
    for (unsigned i = 0; i < HX_SESSIONS; i++)
        hx_session_drop(i);
    hx_rig_leave();
    hx_rig_free_cfg();
}
