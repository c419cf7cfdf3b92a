/* A prefetch buffer over a gate instead of a file: it lets through as many reads as a test allows, and notes who read
 * what.  A file of the gate has ITEMS items of ITEM bytes. */
#ifndef PREFETCH_GATE_H
#define PREFETCH_GATE_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include "hxt.h"
#include "hxt_proc.h"
#include "prefetch_readers.h"
#include "pager/prefetch.h"

enum { ITEM = 5000, ITEMS = 40, LOG = 256, ALL = 1 << 30 };

struct gate {
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t opened;
    int permits;          /* reads that may pass */
    size_t chunk;         /* most bytes of a read */
    uint64_t end;         /* of the file */
    uint64_t bad;         /* offset of the item that fails with `error` */
    int error, interrupts; /* interrupts: so many reads give -EINTR first */
    int waiting;          /* reads that may not pass yet */
    int n;                /* reads that have passed */
    uint64_t offset[LOG];
    pid_t reader[LOG];
    cpu_set_t cpus;       /* of the last reader */
};

static struct gate gate;

static inline uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + offset / 251);
}

static inline ssize_t gate_read(void *arg, void *buf, size_t n, uint64_t offset)
{
    struct gate *g = arg;
    ssize_t rc;

    pthread_mutex_lock(&g->lock);
    g->waiting++;
    while (g->permits == 0)
        pthread_cond_wait(&g->opened, &g->lock);
    g->waiting--;
    g->permits--;
    n = n < g->chunk ? n : g->chunk;
    n = offset < g->end && n > g->end - offset ? g->end - offset : n;
    rc = offset >= g->end ? 0 : (ssize_t)n;
    if (g->error && offset / ITEM == g->bad / ITEM)
        rc = g->error;
    if (g->interrupts > 0) {
        g->interrupts--;
        rc = -EINTR;
    }
    for (ssize_t i = 0; i < rc; i++)
        ((uint8_t *)buf)[i] = byte_at(offset + (uint64_t)i);
    g->offset[g->n % LOG] = offset;
    g->reader[g->n % LOG] = gettid();
    g->n++;
    sched_getaffinity(0, sizeof(g->cpus), &g->cpus);
    pthread_mutex_unlock(&g->lock);
    return rc;
}

static inline void gate_open(int permits)
{
    pthread_mutex_lock(&gate.lock);
    gate.permits = permits;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
}

static inline void gate_error(uint64_t item, int error)
{
    pthread_mutex_lock(&gate.lock);
    gate.bad = item * ITEM;
    gate.error = error;
    pthread_mutex_unlock(&gate.lock);
}

static inline int gate_reads(void)
{
    int n;

    pthread_mutex_lock(&gate.lock);
    n = gate.n;
    pthread_mutex_unlock(&gate.lock);
    return n;
}

static inline int reads_reached(void *want)
{
    return gate_reads() >= *(int *)want;
}

/* For hxt_until(): a read stands at the gate. */
static inline int read_waits(void *arg)
{
    int n;

    (void)arg;
    pthread_mutex_lock(&gate.lock);
    n = gate.waiting;
    pthread_mutex_unlock(&gate.lock);
    return n > 0;
}

static inline int is_asleep(pid_t tid)
{
    char line[256] = "";
    FILE *f = fopen(hxt_path("/proc/self/task/%d/stat", tid), "r");
    char *after;

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    fclose(f);
    after = strrchr(line, ')');
    return after && after[2] == 'S';
}

/* 1 when the last reader has slept for some looks in a row: what it read is in its slot, and it wants no more. */
static inline int reader_rests(void *looks)
{
    pid_t reader = gate.reader[(gate_reads() - 1) % LOG];
    int *n = looks;

    if (reader == getpid())
        return 1;
    *n = is_asleep(reader) ? *n + 1 : 0;
    return *n == 3;
}

/* Waits for `want` reads in all, and makes sure that no more follow. */
static inline void expect_reads(int want)
{
    int looks = 0;

    assert_true(hxt_until(reads_reached, &want, 20));
    assert_true(hxt_until(reader_rests, &looks, 20));
    assert_int_equal(gate_reads(), want);
}

static inline struct hx_prefetch_item item(uint64_t i)
{
    return (struct hx_prefetch_item){i * ITEM, ITEM};
}

static inline struct hx_prefetch *open_gate(int permits, struct hx_prefetch_cfg cfg, size_t n_items)
{
    struct hx_prefetch_item items[ITEMS];
    struct hx_prefetch *p;
    struct hx_error err;

    gate = (struct gate){.permits = permits, .chunk = SIZE_MAX, .end = UINT64_MAX,
                         .lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    for (size_t i = 0; i < n_items; i++)
        items[i] = item(i);
    cfg.read = gate_read;
    cfg.arg = &gate;
    assert_int_equal(hx_prefetch_open(&p, "gate", &cfg, &err), 0);
    assert_int_equal(hx_prefetch_plan(p, items, n_items, &err), 0);
    return p;
}

static const struct hx_prefetch_cfg anywhere = {.slots = 0};
static const struct hx_prefetch_cfg four = {.slots = 4};

static inline const void *get(struct hx_prefetch *p, uint64_t i)
{
    const struct hx_prefetch_item it = item(i);
    const void *bytes = NULL;
    struct hx_error err = {""};
    int rc = hx_prefetch_get(p, &it, &bytes, &err);

    if (rc)
        fail_msg("item %d: %d: %s", (int)i, rc, err.text);
    assert_int_equal((uintptr_t)bytes % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    for (size_t b = 0; b < ITEM; b++)
        if (((const uint8_t *)bytes)[b] != byte_at(it.offset + b))
            fail_msg("item %d, byte %zu: %d", (int)i, b, ((const uint8_t *)bytes)[b]);
    return bytes;
}

static inline void get_put(struct hx_prefetch *p, uint64_t i)
{
    hx_prefetch_put(p, get(p, i));
}

static inline void get_fails(struct hx_prefetch *p, uint64_t i, int rc, const char *part)
{
    const struct hx_prefetch_item it = item(i);
    const void *bytes = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_prefetch_get(p, &it, &bytes, &err), rc);
    if (!strstr(err.text, part))
        fail_msg("message '%s' (want '%s')", err.text, part);
}

static inline void expect_stats(struct hx_prefetch *p, uint64_t hits, uint64_t late, uint64_t misses,
                         uint64_t wrong, uint64_t dropped, uint64_t failed)
{
    struct hx_prefetch_stats s;

    hx_prefetch_stats(p, &s);
    if (s.hits != hits || s.late != late || s.misses != misses || s.wrong != wrong ||
        s.dropped != dropped || s.failed != failed)
        fail_msg("hits %d late %d misses %d wrong %d dropped %d failed %d", (int)s.hits, (int)s.late,
                 (int)s.misses, (int)s.wrong, (int)s.dropped, (int)s.failed);
    assert_int_equal(s.gets, hits + late + misses + failed);
    assert_int_equal(s.stall.n, hits + late + misses);
}

/* Opens the gate when the test's main thread waits. */
static inline void *opens_when_asked(void *arg)
{
    int quiet = 0;

    (void)arg;
    for (int ms = 0; ms < 20000 && quiet < 20; ms++) {
        quiet = is_asleep(getpid()) ? quiet + 1 : 0;
        usleep(1000);
    }
    gate_open(ALL);
    return NULL;
}

#endif
