/* What PDs say (FARF, and whatever skels print): a pipe per PD, which its standard output and error are, read here and written
 * to the rig's log.  So no PD has the log's descriptor, each line says whose it is, and nobody fills a disk.
 *
 * A line is at most HX_PD_LINE bytes, a longer one becomes several.  Control characters and what is no UTF-8 appear as \xNN.
 * Each session number may write 1 MiB of the log at once and then 4 KiB per second, whoever uses it; what is beyond that is counted, and
 * the log says how many lines it was.  The pipe never blocks a PD: what does not fit is the PD's loss.  All functions are the
 * loop's thread's. */
#ifndef HX_PD_LOG_H
#define HX_PD_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "loop.h"

enum { HX_PD_LINE = 900 };

struct hx_pd_log { /* zeroed = closed; must not move while it is open */
    struct hx_watch watch; /* fd: read end */
    struct hx_loop *loop; /* NULL = closed */
    unsigned pd; /* session number, 0 = the root PD */
    char line[HX_PD_LINE]; /* [n] that has not ended yet */
    size_t n;
    unsigned long dropped; /* lines since the log last said so */
    uint64_t dropped_ms;   /* when the first of them was */
    struct hx_pd_log *next;
};

/* Makes the pipe and reads it from now on.  *write_end (non-blocking) is the caller's.  0 or negative errno. */
int hx_pd_log_open(struct hx_pd_log *l, struct hx_loop *loop, unsigned pd, int *write_end);

/* A line about the PD, among its own. */
void hx_pd_log_line(struct hx_pd_log *l, const char *text, size_t n);

/* Reads what is there. */
void hx_pd_log_read(struct hx_pd_log *l);

/* The same until nothing is left, then closes.  Accepts a closed one. */
void hx_pd_log_close(struct hx_pd_log *l);

/* Says what was dropped more than 10 s ago.  Called at the end of each round of the loop. */
void hx_pd_log_tick(void);

#endif
