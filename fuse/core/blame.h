/* Who crashed the root PD.  A client that has attached to it takes the whole DSP down when it crashes there.  That happens; but a
 * user whose clients do it three times, each within a minute of the one before, attaches no more for a minute after the last one,
 * and the crashes are not counted as deaths of the DSP, five of which in a row would keep it down for everybody. */
#ifndef HX_BLAME_H
#define HX_BLAME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { HX_BLAMES = 16, HX_BLAME_CRASHES = 3, HX_BLAME_MS = 60000 };

struct hx_blame {
    uid_t uid;
    unsigned crashes; /* 0 = free entry */
    uint64_t last_ms;
};

/* [HX_BLAMES]; a client of `uid` has crashed the root PD now.  Returns how often in the last minute. */
unsigned hx_blame_add(struct hx_blame *b, uid_t uid);

/* Whether this user has to wait. */
bool hx_blame_bars(const struct hx_blame *b, uid_t uid);

#endif
