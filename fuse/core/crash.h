/* Crashes of user PDs: where it was, in the log and in the node `crashes`.
 *
 * A PD that crashes says so before it ends (rpc/wire/hx_crash.h) and waits.  A process of its own, hexrig-crash (fuse/crash), then
 * reads the PD's map, asks addr2line for functions and lines, writes a core file where limits ask for one, and prints what it
 * found; when it has ended, or cannot be had, the PD goes on to its end.  With HEXRIG_CRASH=hold in the rig's environment that waits until
 * a debugger is attached.  The loop's thread. */
#ifndef HX_FUSE_CRASH_H
#define HX_FUSE_CRASH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct hx_driver;
struct hx_session;

enum { HX_CRASHES_KEPT = 8, HX_CRASH_TEXT = 6000, HX_CRASH_LOOKS = 4 };

struct hx_crashes { /* zeroed = none so far */
    uint64_t n; /* reports; number i, from 1 on, is in at[(i - 1) % HX_CRASHES_KEPT] */
    struct hx_crash_report {
        int session;
        pid_t client, pd;
        bool held;                /* a debugger may come */
        char text[HX_CRASH_TEXT]; /* lines */
    } at[HX_CRASHES_KEPT];
    struct hx_crash_look *look[HX_CRASH_LOOKS]; /* processes that look at a PD now; NULL: free */
};

/* The session's control socket is readable.  True: it was the PD's word that it has crashed, the first one, and is dealt with. */
bool hx_crash_taken(struct hx_session *s);

/* The session ends, or its PD has. */
void hx_crash_forget(struct hx_session *s);

/* Lets PDs go on that a debugger holds now.  Called in each round of the loop. */
void hx_crash_tick(struct hx_driver *d);

/* The driver ends: nobody waits for those who still look. */
void hx_crash_stop(struct hx_driver *d);

/* "crash=1 session=1 pid=2 pd_pid=3 held=0", then its lines, each behind two spaces; of all that are kept.  Before them "log=PATH": where
 * the log is, "" when it is the rig's standard error. */
void hx_crash_print(const struct hx_driver *d, FILE *f);

#endif
