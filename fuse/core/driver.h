/* The driver: what the kernel's fastrpc.c is on a phone.  Sessions, contexts, buffers and the channel to the DSP, behind
 * any front end. */
#ifndef HX_DRIVER_H
#define HX_DRIVER_H

#include "front/access.h"
#include "blame.h"
#include "buffer.h"
#include "call.h"
#include "channel.h"
#include "power/clock.h"
#include "context.h"
#include "control.h"
#include "crash.h"
#include "dsp_process.h"
#include "filter/filter.h"
#include "hx_profile.h"
#include "hx_session_stats.h"
#include "methods.h"
#include "uncosted.h"
#include "base/log.h"
#include "base/loop.h"
#include "opener.h"
#include "session.h"
#include "base/client_watchdog.h"
#include "power/thermal.h"
#include "power/holds.h"
#include "turns.h"
#include "vtcm_view.h"

struct hx_driver {
    struct hx_loop loop;
    struct hx_profile profile;
    struct hx_thermal thermal;
    struct hx_holds channel_holds, thread_holds, hvx_holds; /* by calls, on the virtual clock */
    struct hx_vtcm_view vtcm;
    struct hx_filter_stack filters;
    struct hx_dsp_process dsp;
    struct hx_blame blame;
    struct hx_session *session[FASTRPC_MAX_SESSIONS]; /* NULL = free slot */
    struct hx_opener *openers; /* list of those that wait for a slot; the first one is next */
    uint64_t openers_ms;       /* when they were last looked at */
    bool (*has_leavers)(void); /* some session's client has gone, and its end is not served yet; NULL = it always is */
    struct hx_context *context[FASTRPC_CTX_MAX];      /* index = id; [0] unused */
    unsigned last_ctx_id;
    struct hx_context *copying; /* list of those that wait for the next piece of a copy; the first one is next */
    uint64_t copy_bytes;        /* of a piece; 0 = everything is copied at once */
    unsigned n_expiring;  /* contexts that can time out */
    uint64_t expiry_ms;   /* when they were last looked at */
    uint64_t round;       /* of the loop, from 1 on */
    struct hx_session_stats closed; /* sums over closed sessions */
    struct hx_uncosted_sums closed_uncosted;
    struct hx_methods_closed closed_methods;
    struct hx_crashes crashes;
    uint32_t sessions_opened; /* number of the last one */
    uint64_t sessions_closed; /* how many of them had served a call */
    uint32_t capability[FASTRPC_MAX_DSP_ATTRIBUTES];
    bool have_capabilities;
    const char *front_end; /* name of the one in use */
    const char *log;       /* file of the log; NULL = standard error */
    const char *mount;     /* folder in which the nodes appear */
    const char *sockets;   /* folder whose nodes are sockets; NULL = there is none */
    struct hx_access access;
    unsigned maps_max;     /* buffers that a session may have imported */
    bool strict_pd;        /* skels are opened in unsigned PDs only */
    bool remove_dir;       /* remove `mount` at the end */
};

/* Text of a node (hx_driver_nodes), whole and malloc'ed, or NULL when there is no such node or memory, or it would be longer than
 * 128 KiB (`methods`: 768 KiB). */
char *hx_driver_node_text(struct hx_driver *d, const char *node);
extern const char *const hx_driver_nodes[]; /* NULL-terminated */

#endif
