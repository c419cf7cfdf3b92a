/* A prefetch buffer: 16 slots that a background thread fills from a file in the order in which its bytes will be asked
 * for.
 *
 * The order is known (a forward pass asks for its layers in the same order again and again), so the plan is an oracle:
 * a list of items, repeated without end.  The thread reads ahead as far as there are free slots; hx_prefetch_get()
 * finds the bytes ready (a hit), waits for the thread (late), or reads by itself (a miss: the plan was wrong and the
 * bytes lie in no slot).  A get of something else than the plan says next counts as `wrong` and moves the plan on to
 * that item; what lies between is dropped.  An item that the plan does not have is a miss and leaves the plan where it
 * is.
 *
 * Where reading ahead fails, the get reads by itself (a miss), and an error is that of its own read.
 *
 * With HX_PREFETCH_FROM_DISK what was read leaves the page cache again
 * (posix_fadvise, DONTNEED), so bytes really come from there each time.
 *
 * One thread calls the functions below.  A wait lasts as long as the read that it waits for. */
#ifndef HX_PREFETCH_H
#define HX_PREFETCH_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hist.h"
#include "base/error.h"
#include "storage.h"

enum { HX_PREFETCH_SLOTS = 16 };

enum hx_prefetch_from {
    HX_PREFETCH_FROM_DISK, /* what was read leaves the page cache again */
    HX_PREFETCH_FROM_FILE, /* the page cache keeps it as long as the kernel likes */
};

struct hx_prefetch_item {
    uint64_t offset; /* in the file */
    size_t bytes;    /* >= 1 */
};

struct hx_prefetch_cfg {
    unsigned slots; /* 1..HX_PREFETCH_SLOTS; 0: HX_PREFETCH_SLOTS */
    unsigned wake;  /* slots that are free before the thread, once asleep, is woken for them: 0 is 1.  Waking costs the caller of
                     * put() microseconds.  A get() that finds its item not even being read wakes it in any case */
    int no_reader;  /* 1: no thread, every get is a miss: what the buffer is measured against */
    const cpu_set_t *cpus; /* the thread's, borrowed until close; NULL: those of who makes the plan */
    enum hx_prefetch_from from;
    struct hx_storage storage; /* modelled on top of what reads take here; all zero: nothing is */
    int kernel_readahead; /* 1: leave the kernel's own on also where the plan is not the file from front to back */

    /* Instead of reading the file: up to n bytes from `offset` to buf; returns how many, 0 at the end, or negative
     * errno.  Called by the background thread and, for misses, by the caller's.  NULL: the file. */
    ssize_t (*read)(void *arg, void *buf, size_t n, uint64_t offset);
    void *arg;
};

struct hx_prefetch_stats {
    uint64_t gets; /* = hits + late + misses + failed */
    uint64_t hits, late, misses;
    uint64_t failed;     /* gets that returned an error of the read */
    uint64_t wrong;      /* gets of another item than the plan said next */
    uint64_t dropped;    /* items that were read and given up, unasked */
    uint64_t bytes_read; /* by the thread and by misses */
    uint64_t read_ns;    /* that this took here, whatever storage is modelled */
    struct hx_hist stall; /* ns that each get took, without the failed ones */
    struct hx_hist hit_stall, miss_stall; /* those of the hits and of the misses alone */
    struct hx_hist read;  /* ns of each read, whoever waited for it: from asking for the item until it is there */
};

struct hx_prefetch;

/* Opens `path` (with cfg->read: a name for messages).  0; -EINVAL: cfg->slots, or not a regular file; -errno of
 * open(); -ENOMEM. */
int hx_prefetch_open(struct hx_prefetch **out, const char *path, const struct hx_prefetch_cfg *cfg,
                     struct hx_error *err);

/* Sets the plan (items [n], copied), allocates the slots, each as large as the largest item, and starts the thread.  A
 * later call replaces plan, slots and thread, and keeps the figures.  0; -EINVAL: n == 0, an empty item, or one beyond
 * the end of the file; -EBUSY: an item is held; -ENOMEM; -EAGAIN, or -EINVAL for a CPU that this process may not use:
 * no thread. */
int hx_prefetch_plan(struct hx_prefetch *p, const struct hx_prefetch_item *items, size_t n,
                     struct hx_error *err);

/* Ends the thread and forgets the plan, as if there had never been one; what was counted stays.  Nothing may be held. */
void hx_prefetch_forget(struct hx_prefetch *p);

/* Adds what one buffer has counted to what another one has. */
void hx_prefetch_add_stats(struct hx_prefetch_stats *to, const struct hx_prefetch_stats *from);

/* The item's bytes, page-aligned, until hx_prefetch_put(); after hx_prefetch_plan().  0; -EBUSY: all slots are held;
 * -EINVAL: the item is empty or larger than a slot; -EIO: the file ends before the item does; other errors of the
 * read.  After an error the same item may be asked for again. */
int hx_prefetch_get(struct hx_prefetch *p, const struct hx_prefetch_item *item, const void **bytes,
                    struct hx_error *err);

/* Gives back what hx_prefetch_get() returned, in any order. */
void hx_prefetch_put(struct hx_prefetch *p, const void *bytes);

/* What was counted since hx_prefetch_open(), or since the figures were cleared. */
void hx_prefetch_stats(struct hx_prefetch *p, struct hx_prefetch_stats *out);
void hx_prefetch_clear_stats(struct hx_prefetch *p);

/* Ends the thread (after the read that it is in) and frees everything, also what is held.  Accepts NULL. */
void hx_prefetch_close(struct hx_prefetch *p);

#endif
