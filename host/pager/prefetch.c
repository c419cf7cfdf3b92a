/* The prefetch buffer: its plan, the thread that fills its slots, its life.
 *
 * The plan repeats, so its places are numbered on and on: sequence s is item s % n.  `next` is the sequence that the
 * plan expects to be asked for; it only grows, but for a miss that failed.  The thread always takes the lowest sequence
 * from `next` on that lies in no slot. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "prefetch_impl.h"

/* --- the thread -------------------------------------------------------------------------------------------------- */

/* The sequence to read next; no more than the slots can hold are looked at. */
static uint64_t lowest_missing(struct hx_prefetch *p)
{
    uint64_t seq = p->next;

    while (hx_slot_of(p, seq))
        seq++;
    return seq;
}

static void *run_reader(void *arg)
{
    struct hx_prefetch *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        struct hx_slot *s = hx_slot_in(p, HX_SLOT_EMPTY);
        uint64_t seq = lowest_missing(p), until = p->next + p->cfg.slots;

        if (!s) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        hx_slot_reserve(s, seq);
        pthread_mutex_unlock(&p->lock);
        p->announced = p->announced > seq ? p->announced : seq;
        hx_prefetch_announce(p, until);
        pthread_mutex_lock(&p->lock);
        hx_prefetch_fill(p, s, p->plan[seq % p->n], NULL);
        if (s->unwanted)
            hx_slot_drop(p, s);
        pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int start_reader(struct hx_prefetch *p, struct hx_error *err)
{
    sigset_t all, before;
    pthread_attr_t attr;
    char cpus[64];
    int rc = 0;

    pthread_attr_init(&attr);
    if (p->cfg.cpus)
        rc = pthread_attr_setaffinity_np(&attr, sizeof(*p->cfg.cpus), p->cfg.cpus);
    sigfillset(&all); /* signals are the business of the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!rc)
        rc = pthread_create(&p->thread, &attr, run_reader, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (rc)
        return hx_error_set(err, -rc, "%s: no thread that reads ahead on CPU %s: %s", p->path,
                            p->cfg.cpus ? hx_cpus_text(p->cfg.cpus, cpus, sizeof(cpus)) : "any", strerror(rc));
    pthread_setname_np(p->thread, "hx-prefetch");
    p->running = 1;
    return 0;
}

/* --- plan -------------------------------------------------------------------------------------------------------- */

/* *largest starts at 0. */
static int check_plan(const struct hx_prefetch *p, const struct hx_prefetch_item *items, size_t n,
                      size_t *largest, struct hx_error *err)
{
    if (n == 0)
        return hx_error_set(err, -EINVAL, "%s: a plan without items", p->path);
    for (size_t i = 0; i < n; i++) {
        const struct hx_prefetch_item *it = &items[i];

        if (it->bytes == 0)
            return hx_error_set(err, -EINVAL, "%s: item %zu of the plan is empty", p->path, i);
        if (it->offset > p->file_bytes || it->bytes > p->file_bytes - it->offset)
            return hx_error_set(err, -EINVAL, "%s: item %zu of the plan needs %zu bytes at %llu, the file "
                              "has %llu", p->path, i, it->bytes, (unsigned long long)it->offset,
                              (unsigned long long)p->file_bytes);
        *largest = it->bytes > *largest ? it->bytes : *largest;
    }
    return 0;
}

static int alloc_slots(struct hx_prefetch *p, size_t largest)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded, bytes;
    void *map;

    if (__builtin_add_overflow(largest, page - 1, &rounded))
        return -ENOMEM;
    p->slot_bytes = rounded & ~(page - 1);
    if (__builtin_mul_overflow(p->slot_bytes, p->cfg.slots, &bytes))
        return -ENOMEM;
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return -ENOMEM;
    hx_cpus_place_near(map, bytes); /* the computing thread reads them again and again */
    p->memory = map;
    for (unsigned i = 0; i < p->cfg.slots; i++)
        p->slot[i].bytes = p->memory + i * p->slot_bytes;
    return 0;
}

/* A file that is read from front to back is what the kernel's readahead is made for.  In any other order much of what it
 * fetches is dropped again before we want it, and the plan knows better: unless it may stay in the page cache. */
static void choose_readahead(struct hx_prefetch *p)
{
    p->sequential = 1;
    for (size_t i = 1; i < p->n; i++)
        p->sequential &= p->plan[i].offset == p->plan[i - 1].offset + p->plan[i - 1].bytes;
    if (p->fd >= 0)
        posix_fadvise(p->fd, 0, 0, p->cfg.kernel_readahead || p->cfg.from == HX_PREFETCH_FROM_FILE || (p->sequential && !p->cfg.no_reader)
                                       ? POSIX_FADV_NORMAL : POSIX_FADV_RANDOM);
}

/* Ends the thread and forgets plan and slots. */
static void stop(struct hx_prefetch *p)
{
    if (p->running) {
        pthread_mutex_lock(&p->lock);
        p->ending = 1;
        pthread_cond_signal(&p->work);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    p->running = 0;
    p->announced = 0;
    p->ending = 0;
    p->next = 0;
    p->busy_ns = 0;
    for (unsigned i = 0; i < p->cfg.slots; i++) {
        p->stats.dropped += p->slot[i].state == HX_SLOT_READY;
        p->slot[i] = (struct hx_slot){.state = HX_SLOT_EMPTY};
    }
    if (p->memory)
        munmap(p->memory, p->cfg.slots * p->slot_bytes);
    p->memory = NULL;
    p->slot_bytes = 0;
    free(p->plan);
    p->plan = NULL;
    p->n = 0;
}

static int holds(struct hx_prefetch *p)
{
    int held;

    pthread_mutex_lock(&p->lock);
    held = hx_slot_in(p, HX_SLOT_HELD) != NULL;
    pthread_mutex_unlock(&p->lock);
    return held;
}

int hx_prefetch_plan(struct hx_prefetch *p, const struct hx_prefetch_item *items, size_t n,
                     struct hx_error *err)
{
    size_t largest = 0;
    int rc = check_plan(p, items, n, &largest, err);

    if (rc)
        return rc;
    if (holds(p))
        return hx_error_set(err, -EBUSY, "%s: a new plan while an item is held", p->path);
    stop(p);
    p->plan = calloc(n, sizeof(*p->plan));
    if (!p->plan || alloc_slots(p, largest)) {
        stop(p);
        return hx_error_set(err, -ENOMEM, "%s: no memory for %u slots of %zu bytes", p->path,
                            p->cfg.slots, largest);
    }
    memcpy(p->plan, items, n * sizeof(*items));
    p->n = n;
    choose_readahead(p);
    rc = p->cfg.no_reader ? 0 : start_reader(p, err);
    if (rc)
        stop(p);
    return rc;
}

void hx_prefetch_forget(struct hx_prefetch *p)
{
    assert(!holds(p));
    stop(p);
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

void hx_prefetch_stats(struct hx_prefetch *p, struct hx_prefetch_stats *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->stats;
    pthread_mutex_unlock(&p->lock);
}

void hx_prefetch_add_stats(struct hx_prefetch_stats *to, const struct hx_prefetch_stats *from)
{
    to->gets += from->gets;
    to->hits += from->hits;
    to->late += from->late;
    to->misses += from->misses;
    to->failed += from->failed;
    to->wrong += from->wrong;
    to->dropped += from->dropped;
    to->bytes_read += from->bytes_read;
    to->read_ns += from->read_ns;
    hx_hist_add_all(&to->stall, &from->stall);
    hx_hist_add_all(&to->hit_stall, &from->hit_stall);
    hx_hist_add_all(&to->miss_stall, &from->miss_stall);
    hx_hist_add_all(&to->read, &from->read);
}

void hx_prefetch_clear_stats(struct hx_prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    p->stats = (struct hx_prefetch_stats){0};
    pthread_mutex_unlock(&p->lock);
}

/* --- life -------------------------------------------------------------------------------------------------------- */

static int open_file(struct hx_prefetch *p, struct hx_error *err)
{
    struct stat st;

    p->fd = open(p->path, O_RDONLY | O_CLOEXEC);
    if (p->fd < 0 || fstat(p->fd, &st))
        return hx_error_set(err, -errno, "%s: %s", p->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return hx_error_set(err, -EINVAL, "%s: not a regular file", p->path);
    p->file_bytes = (uint64_t)st.st_size;
    p->cfg.read = hx_prefetch_read_file;
    p->cfg.arg = p;
    return 0;
}

int hx_prefetch_open(struct hx_prefetch **out, const char *path, const struct hx_prefetch_cfg *cfg,
                     struct hx_error *err)
{
    struct hx_prefetch *p;
    int rc = 0;

    if (cfg->slots > HX_PREFETCH_SLOTS)
        return hx_error_set(err, -EINVAL, "%s: %u slots; 1 to %d are legal", path, cfg->slots,
                            HX_PREFETCH_SLOTS);
    p = calloc(1, sizeof(*p));
    if (!p)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    p->fd = -1;
    p->file_bytes = UINT64_MAX;
    p->cfg = *cfg;
    p->cfg.slots = cfg->slots ? cfg->slots : HX_PREFETCH_SLOTS;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->path = strdup(path);
    if (!p->path)
        rc = hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    else if (!cfg->read)
        rc = open_file(p, err);
    if (rc) {
        hx_prefetch_close(p);
        return rc;
    }
    *out = p;
    return 0;
}

void hx_prefetch_close(struct hx_prefetch *p)
{
    if (!p)
        return;
    stop(p);
    if (p->fd >= 0)
        close(p->fd);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p->path);
    free(p);
}
