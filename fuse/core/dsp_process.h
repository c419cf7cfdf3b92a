/* The DSP process: started with the rig, started again when it dies (a subsystem restart, SSR). */
#ifndef HX_DSP_PROCESS_H
#define HX_DSP_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "channel.h"
#include "dsp_alive.h"
#include "base/loop.h"

struct hx_driver;

struct hx_dsp_process {
    pid_t pid; /* 0 = down */
    struct hx_channel channel; /* to the root PD */
    struct hx_ring_watch replies;
    struct hx_watch control;
    struct hx_dsp_alive alive;
    bool failed; /* killed by hx_dsp_fail(): goes down at the end of the round */
    unsigned restarts;        /* SSRs so far */
    unsigned quick_deaths;    /* in a row, each soon after its start and nobody's in particular */
    bool charged;             /* the crash to come is a client's own (blame.h) */
    uint64_t started_ms;
    uint64_t restart_ms;      /* down: start it then */
    unsigned backoff_ms;      /* after the last failed start; 0 = it did not fail */
    char why[128];            /* it is down; "" = it has only just died */
    void (*gone)(struct hx_driver *d); /* see hx_dsp_configure() */
    char program[4096], profile[4096], skel_path[8192];
};

/* Sets the paths and what to do at the end.  profile: path of the profile file.  gone() is called each time the DSP has
 * ended, by itself or by hx_dsp_stop(), to end what it ran; the channel to the root PD is still open then. */
void hx_dsp_configure(struct hx_dsp_process *p, const char *profile,
                      void (*gone)(struct hx_driver *d));

/* Starts it.  0 or negative errno. */
int hx_dsp_start(struct hx_driver *d);

/* Ends the DSP as if its root PD had crashed: everything goes down and comes up again, by way of the control socket.
 * charged: a client has done that, who answers for it; it is not counted as a death of the DSP's own. */
void hx_dsp_crash(struct hx_dsp_process *p, bool charged);

/* The same for a root PD that cannot be worked with any more; the log says why. */
void hx_dsp_fail(struct hx_driver *d, const char *why);

/* Restarts a crashed one when it is time.  Called in every round of the loop. */
void hx_dsp_revive(struct hx_driver *d);

/* Ends it and waits for it. */
void hx_dsp_stop(struct hx_driver *d);

/* User PDs whose root PD was killed become our children (main() makes us their subreaper): reaps those that have ended. */
void hx_dsp_reap_orphans(const struct hx_dsp_process *p);

/* Why it is down, and when it is tried again, in words; "" while it is up. */
const char *hx_dsp_why_down(const struct hx_dsp_process *p);

bool hx_dsp_is_up(const struct hx_dsp_process *p);

#endif
