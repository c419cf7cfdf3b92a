/* One open file on a node: its PD, its buffers, its figures. */
#ifndef HX_SESSION_H
#define HX_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "callers.h"
#include "channel.h"
#include "hx_msg.h"
#include "hx_session_stats.h"
#include "methods.h"
#include "base/loop.h"
#include "power/awake.h"
#include "queue_stats.h"

struct hx_buffer;
struct hx_crash_look;
struct hx_driver;
struct hx_watchdog;

enum hx_session_state {
    HX_SESSION_NEW,      /* open, no PD yet */
    HX_SESSION_CREATING, /* INIT_CREATE is on its way */
    HX_SESSION_UP,
    HX_SESSION_EXITED,   /* its PD died: calls give AEE_DSP(AEE_ECPUEXCEPTION) */
    HX_SESSION_DEAD,     /* the DSP died (SSR): calls give EPIPE until the file is closed */
    HX_SESSION_CLOSING,  /* file closed, RELEASE is on its way */
};

struct hx_session {
    struct hx_driver *driver;
    int32_t client_id; /* slot + 1 */
    uint32_t number;   /* counts sessions: who has the same client_id later is somebody else */
    pid_t pid;         /* who opened it, as the rig sees it; 0 = unknown */
    uid_t uid;         /* its user, or who answers for it: to whom limits of users apply */
    bool secure_node;
    bool unsigned_pd;
    bool poll_mode; /* SET_OPTION asked for it */
    unsigned pd;    /* HX_PD_ROOT, _USER or _SENSORS */
    bool used; /* it served a call */
    bool told_msm; /* that it sends ioctls of another driver, see dispatch.c */
    bool unreachable_logged; /* the log has said that the rig may not read the client's memory */
    enum hx_session_state state;
    bool pd_died; /* its channel broke, perhaps before INIT_CREATE was answered */
    bool release_due; /* closing: RELEASE could not be sent so far */
    bool pd_ends; /* closing: RELEASE is answered, the root PD will say when the PD is gone */
    struct hx_channel channel; /* to the user PD */
    struct hx_ring_watch replies;
    uint64_t reply_round; /* of the loop, in which a reply was taken last */
    struct hx_watch control;
    struct hx_buffer *buffers; /* list */
    int32_t next_buffer_id;
    unsigned n_buffers;
    unsigned idle_buffers; /* cached ones that nobody holds */
    struct hx_session_stats stats;
    struct hx_methods methods; /* the same by method */
    struct hx_queue_stats packets; /* the channel's sums as far as stats has them already */
    uint64_t epoch_ns; /* machine time at which the session's clock was 0 */
    struct hx_callers callers;
    struct hx_awake awake; /* the DSP, for this session's calls */
    struct hx_watchdog *stall;      /* a thread that hangs in the client's memory; NULL = none */
    struct hx_crash_look *crash_look; /* somebody looks at its PD, which crashes; crash.h */
    pid_t crash_pd;                   /* that PD, 0 = it has not said so */
    uint64_t crash_number;            /* of the report about it */
    bool crash_held;                  /* it waits for a debugger */
    struct hx_power_vote vote; /* as of the last reply; counts while the PD is up */
};

/* A file was opened.  0, or -EBUSY when every session of the profile is open, -EAGAIN when some of them are being closed (opener.h
 * waits for one), -ENOENT while the DSP is down, -ENOMEM. */
int hx_session_open(struct hx_session **out, struct hx_driver *d, pid_t pid, uid_t uid,
                    bool secure_node);

/* The file was closed: its calls end, the PD is released; the slot is free when the DSP has answered. */
void hx_session_close(struct hx_session *s);

/* Makes the channel of the user PD and announces it to the root PD.  0 or negative errno. */
int hx_session_make_channel(struct hx_session *s);

/* The root PD could not make the PD and has forgotten the channel: INIT_CREATE starts anew. */
void hx_session_drop_channel(struct hx_session *s);

/* Sends every RELEASE that could not be sent.  Called in every round of the loop. */
void hx_session_release_due(struct hx_driver *d);

/* The DSP died (a subsystem restart): pending calls of all sessions end with -EPIPE, and the sessions stay dead until they
 * are closed. */
void hx_session_ssr_all(struct hx_driver *d);

/* The root PD says that the PD of client `id`, session `number`, is gone.  False: nobody waits for that. */
bool hx_session_pd_ended(struct hx_driver *d, int32_t id, uint32_t number);

/* What INVOKE, MEM_MAP and the like get in this state: 0 when the PD is up.  The kernel's driver does not look whether there is a PD, so
 * without one this is what the DSP would say: as root_pd.c to a client that it does not know. */
int hx_session_error(const struct hx_session *s);

const char *hx_session_state_name(enum hx_session_state state);

#endif
