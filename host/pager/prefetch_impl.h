/* Inside the prefetch buffer: its state, and what its files have of each other.  prefetch.c has plan, thread and life, prefetch_get.c what
 * the caller gets, prefetch_slots.c the slots, prefetch_read.c the reads that fill them. */
#ifndef HX_PREFETCH_IMPL_H
#define HX_PREFETCH_IMPL_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "prefetch.h"

#define HX_SLOT_UNPLANNED UINT64_MAX /* sequence of a slot whose item is not in the plan */

enum hx_slot_state { HX_SLOT_EMPTY, HX_SLOT_READING, HX_SLOT_READY, HX_SLOT_FAILED /* to read ahead */, HX_SLOT_HELD };

struct hx_slot {
    enum hx_slot_state state;
    int unwanted;  /* 1: the plan has moved on while the item is HX_SLOT_READING */
    uint64_t seq;
    uint64_t there_ns; /* when the modelled storage has it, once it is HX_SLOT_READY; 0: it has */
    uint8_t *bytes; /* [slot_bytes], page-aligned */
};

struct hx_prefetch {
    char *path;
    int fd; /* -1 with cfg.read */
    uint64_t file_bytes;
    struct hx_prefetch_cfg cfg;
    struct hx_prefetch_item *plan; /* [n] */
    size_t n, slot_bytes;
    uint8_t *memory; /* [cfg.slots][slot_bytes] */
    pthread_t thread;
    int running; /* there is a thread */
    int sequential; /* each item of the plan lies right behind the one before */
    uint64_t announced; /* sequences below it the kernel knows of; the thread's own */

    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t work;  /* the thread waits: a slot became free, or the plan moved on */
    pthread_cond_t done;  /* the caller waits: the thread has finished a read */
    int ending;
    uint64_t next;
    uint64_t busy_ns; /* of the modelled storage */
    struct hx_slot slot[HX_PREFETCH_SLOTS];
    struct hx_prefetch_stats stats;
};

static inline uint64_t hx_prefetch_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- reading */

/* cfg.read of a file; arg: the buffer. */
ssize_t hx_prefetch_read_file(void *arg, void *buf, size_t n, uint64_t offset);

/* Without the lock: tells the kernel which items follow up to the sequence `until`, where it cannot guess them, so that the disk has more
 * than one request at a time.  They need not fit a slot yet. */
void hx_prefetch_announce(struct hx_prefetch *p, uint64_t until);

/* With the lock, which is given up meanwhile: fills the slot, which is HX_SLOT_READY or HX_SLOT_FAILED then.  Until it returns others
 * look at `state`, `seq` and `unwanted` alone. */
int hx_prefetch_fill(struct hx_prefetch *p, struct hx_slot *s, struct hx_prefetch_item item, struct hx_error *err);

/* --- slots, all with the lock */

/* The slot that has, or is to have, this sequence; one that is in this state.  NULL: none. */
struct hx_slot *hx_slot_of(struct hx_prefetch *p, uint64_t seq);
struct hx_slot *hx_slot_in(struct hx_prefetch *p, enum hx_slot_state state);

void hx_slot_reserve(struct hx_slot *s, uint64_t seq); /* for a read */
void hx_slot_release(struct hx_prefetch *p, struct hx_slot *s);
void hx_slot_drop(struct hx_prefetch *p, struct hx_slot *s); /* nobody will ask for it */

/* Moves the plan on to seq: items before it will not be asked for any more. */
void hx_slots_move_to(struct hx_prefetch *p, uint64_t seq);

/* A slot for a read that the plan did not foresee; NULL: all are held. */
struct hx_slot *hx_slots_make_room(struct hx_prefetch *p);

#endif
