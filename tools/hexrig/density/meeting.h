/* Where the ranks of a sweep meet: FILE.ranks, which rank 0 writes.  Its first byte is locked while rank 0 lives, and one for each share of
 * work by the rank that does it. */
#ifndef HX_DENSITY_MEETING_H
#define HX_DENSITY_MEETING_H

#include "launcher.h"
#include "resume.h"

struct hx_meeting {
    const struct hx_sweep *s;
    char path[PATH_MAX];
    int fd;
    char *wanted; /* [points]: 1: to be measured by somebody */
    size_t *unit; /* [points]: hx_sweep_units() */
};

/* Rank 0: wanted is borrowed for the call.  Returns an enum hx_exit after a message; close it either way. */
int hx_meeting_host(struct hx_meeting *m, const struct hx_sweep *s, const char *base, const struct hx_launcher *l, const char *wanted);

/* Waits for rank 0, for HX_RESUME_WAIT_S at most.  Likewise. */
int hx_meeting_join(struct hx_meeting *m, const struct hx_sweep *s, const char *base, const struct hx_launcher *l);

/* For struct hx_density_claims; arg: a meeting. */
int hx_meeting_claim(void *m, size_t point);

void hx_meeting_close(struct hx_meeting *m);

#endif
