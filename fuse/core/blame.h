/* Who has held everybody up, by user and offence.  That happens; but a user whose clients do it three times, each within a minute of
 * the one before, is barred from where it happened for a minute after the last one.
 *
 * HX_BLAME_CRASH: a client that has attached to the root PD takes the whole DSP down when it crashes there.  Its user attaches no
 * more, and the crashes are not counted as deaths of the DSP, five of which in a row would keep it down for everybody.
 *
 * HX_BLAME_HANG: the driver's loop waited for memory that did not answer (client_watchdog.h).  The user's memory is not touched.
 * Not for the rig's owner, who can stop the rig in easier ways. */
#ifndef HX_BLAME_H
#define HX_BLAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { HX_BLAMES = 16, HX_BLAME_TIMES = 3, HX_BLAME_MS = 60000 };
enum hx_offence { HX_BLAME_CRASH, HX_BLAME_HANG, HX_OFFENCES };

struct hx_blame {
    struct {
        uid_t uid;
        unsigned times; /* 0 = free entry */
        uint64_t last_ms;
    } user[HX_OFFENCES][HX_BLAMES];
};

/* A client of `uid` has done it now.  Returns how often in the last minute. */
unsigned hx_blame_add(struct hx_blame *b, enum hx_offence o, uid_t uid);

/* Whether this user has to wait. */
bool hx_blame_bars(const struct hx_blame *b, enum hx_offence o, uid_t uid);

/* A loop's thread has hung in memory of this user; the log says when that bars them. */
void hx_blame_hang(struct hx_blame *b, uid_t uid);

/* Whether the loop may wait for memory of this user: not barred, and fewer than HX_HANGING_OF_USER threads hang in it. */
bool hx_blame_may_touch(const struct hx_blame *b, uid_t uid);

#endif
