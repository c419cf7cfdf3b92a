/* What the PDs say of code that their cost model could only estimate, or not cost at all (rpc/wire/hx_uncosted.h). */
#ifndef HX_FUSE_UNCOSTED_H
#define HX_FUSE_UNCOSTED_H

#include <stdio.h>
#include <sys/types.h>

#include "hx_uncosted.h"

struct hx_session;

/* A copy of one entry, or the sum of several of one name and reason; texts have no control characters. */
struct hx_uncosted_line {
    char name[HX_UNCOSTED_NAME], reason[HX_UNCOSTED_REASON];
    pid_t pid;
    unsigned long long pcycles, hvx_ops, host_ns;
};

enum { HX_UNCOSTED_CLOSED = 64 };

/* What sessions that are closed have left, by process; the oldest goes when there is no room. */
struct hx_uncosted_sums {
    uint64_t added; /* lines, those that went included; line i is in line[i % HX_UNCOSTED_CLOSED] */
    struct hx_uncosted_line line[HX_UNCOSTED_CLOSED];
};

/* How many entries there are. */
unsigned hx_uncosted_count(const struct hx_session *s);
unsigned hx_uncosted_count_sums(const struct hx_uncosted_sums *sums);

/* A line for each: "session=1 pid=2 name=... pcycles=0 hvx_ops=0 host_us=0 reason=...", the reason up to the line's end; of closed
 * sessions "session=0 pid=2 ...". */
void hx_uncosted_print(const struct hx_session *s, FILE *f);
void hx_uncosted_print_sums(const struct hx_uncosted_sums *sums, FILE *f);

/* The session ends. */
void hx_uncosted_add(struct hx_uncosted_sums *sums, const struct hx_session *s);

#endif
