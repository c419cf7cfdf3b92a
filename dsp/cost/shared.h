/* What the threads of one call share of the memory system: caches, translations, the way to DDR.
 *
 * Each call has its own and begins with empty caches, because calls of several callers overlap in an order that nobody controls; so what a
 * call costs does not depend on what others run.  A thread belongs to the call in which it was created or which it serves; one that
 * outlives that call (a pool's) belongs to the latest one that is in flight. */
#ifndef HX_COST_SHARED_H
#define HX_COST_SHARED_H

#include <pthread.h>
#include <stdint.h>

#include "base/cache.h"
#include "base/line_set.h"
#include "hx_traffic.h"
#include "path.h"

enum { HX_BOXES = 8 };

/* Lines that are prefetched; those of the last HX_BOXES may still be under way. */
struct hx_box {
    uint64_t from;                  /* address of the first line */
    uint32_t width, height, stride; /* lines of a row, rows, bytes from row to row */
    double begins, ends;            /* pcycles since the call began: of the first and the last line */
};

struct hx_shared_memory {
    struct hx_shared_memory *next;
    _Atomic uint64_t call; /* which call it belongs to; changes when another one takes it over */
    _Atomic int open;      /* that call is in flight */
    pthread_mutex_t lock;  /* protects what follows */
    uint64_t began;        /* pcycle at which the call began */
    double cold;           /* pcycles from there on in which DDR is slow */
    struct hx_cache l1, l2, pages;
    struct hx_line_set image; /* lines of static data that were touched */
    struct hx_path demand; /* lines that loads and stores miss, to L2 */
    struct hx_box box[HX_BOXES];
    unsigned n_boxes;      /* that there were in this call */
    struct hx_path ddr;    /* all that DDR moves, DMA and prefetches as well */
    struct hx_traffic traffic; /* what its threads have moved, as far as they have said so */
    uint64_t hvx_ops;          /* likewise */
};

/* A call begins on this thread, which leaves the one that it was in. */
void hx_shared_open(uint64_t began);

/* The call on this thread is over; it took `pcycles`. */
void hx_shared_close(double pcycles);

/* The number of the calling thread's call, and a thread that belongs to it begins. */
uint64_t hx_shared_call(void);
void hx_shared_join(uint64_t call);

/* Whether that call is in flight. */
int hx_shared_is_open(void);

/* Whether the calling thread has opened it. */
int hx_shared_serves(void);

/* What the calling thread's call has, locked; NULL without memory.  Give back with hx_shared_leave(). */
struct hx_shared_memory *hx_shared_enter(void);
void hx_shared_leave(struct hx_shared_memory *m);

#endif
