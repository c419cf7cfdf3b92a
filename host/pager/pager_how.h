/* Who reads ahead, and from what: of weights (pager.h) and of caches (spill.h). */
#ifndef HX_PAGER_HOW_H
#define HX_PAGER_HOW_H

#include <jansson.h>
#include <sched.h>

#include "prefetch.h"

/* All zero: from the file as the kernel has it, by a thread on whichever CPU. */
struct hx_pager_how {
    int no_oracle;           /* 1: no thread; each page is read when it is needed */
    int from_disk;           /* 1: what was read leaves the page cache */
    const cpu_set_t *cpus;   /* the thread's, borrowed until close; NULL: those of who opens */
    struct hx_storage storage;
};

/* For opening a buffer.  Its thread is woken for half of the slots: it reads several pages at a time then, and as many others are
 * there meanwhile. */
struct hx_prefetch_cfg hx_pager_buffer(const struct hx_pager_how *how);

/* Adds "oracle_cpus", "storage", and what a buffer has counted, to a report.  0, or -1 without memory. */
int hx_pager_how_report(const struct hx_pager_how *how, const struct hx_prefetch_stats *s, json_t *j);

#endif
