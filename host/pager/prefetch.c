/* The prefetch buffer: slots, the thread that fills them, and the place in the plan.
 *
 * The plan repeats, so its places are numbered on and on: sequence s is item s % n.  `next` is the sequence that the
 * plan expects to be asked for; it only grows, but for a miss that failed.  The thread always takes the lowest sequence
 * from `next` on that lies in no slot. */
#include "prefetch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"

#define UNPLANNED UINT64_MAX /* sequence of a slot whose item is not in the plan */

enum state { EMPTY, READING, READY, FAILED /* to read ahead */, HELD };

struct slot {
    enum state state;
    int unwanted;  /* 1: the plan has moved on while the item is READING */
    uint64_t seq;
    uint64_t there_ns; /* when the modelled storage has it, once it is READY; 0: it has */
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
    struct slot slot[HX_PREFETCH_SLOTS];
    struct hx_prefetch_stats stats;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static ssize_t read_file(void *arg, void *buf, size_t n, uint64_t offset)
{
    const struct hx_prefetch *p = arg;
    ssize_t got = pread(p->fd, buf, n, (off_t)offset);

    if (got < 0)
        return -errno;
    if (p->cfg.from == HX_PREFETCH_FROM_DISK)
        posix_fadvise(p->fd, (off_t)offset, got, POSIX_FADV_DONTNEED); /* a copy is enough */
    return got;
}

/* The whole item to buf.  *got: bytes read, also when it fails. */
static int read_item(struct hx_prefetch *p, const struct hx_prefetch_item *item, uint8_t *buf,
                     size_t *got, struct hx_error *err)
{
    for (*got = 0; *got < item->bytes;) {
        ssize_t rc = p->cfg.read(p->cfg.arg, buf + *got, item->bytes - *got, item->offset + *got);

        if (rc == -EINTR)
            continue;
        if (rc < 0)
            return hx_error_set(err, (int)rc, "%s: %zu bytes at %llu: %s", p->path, item->bytes,
                                (unsigned long long)item->offset, strerror((int)-rc));
        if (rc == 0)
            return hx_error_set(err, -EIO, "%s: truncated: %zu bytes at %llu are needed, the file ends "
                              "at %llu", p->path, item->bytes, (unsigned long long)item->offset,
                              (unsigned long long)(item->offset + *got));
        *got += (size_t)rc;
    }
    return 0;
}

/* Without the lock: tells the kernel which items follow, where it cannot guess them, so that the disk has more than one
 * request at a time.  They need not fit a slot yet. */
static void announce(struct hx_prefetch *p, uint64_t until)
{
    if (p->fd < 0 || p->sequential)
        return;
    for (; p->announced < until; p->announced++) {
        const struct hx_prefetch_item *it = &p->plan[p->announced % p->n];

        posix_fadvise(p->fd, (off_t)it->offset, (off_t)it->bytes, POSIX_FADV_WILLNEED);
    }
}

/* With the lock: when the bytes, which have just been read, are there. */
static void note_arrival(struct hx_prefetch *p, struct slot *s, uint64_t asked, size_t bytes)
{
    const uint64_t now = now_ns();

    s->there_ns = 0;
    if (hx_storage_is_modelled(&p->cfg.storage))
        s->there_ns = hx_storage_arrival(&p->cfg.storage, &p->busy_ns, asked, bytes);
    hx_hist_add(&p->stats.read, (s->there_ns > now ? s->there_ns : now) - asked);
}

/* With the lock, which is given up meanwhile: fills the slot, which is READY or FAILED then.  Until it returns others
 * look at `state`, `seq` and `unwanted` alone. */
static int fill(struct hx_prefetch *p, struct slot *s, struct hx_prefetch_item item, struct hx_error *err)
{
    const uint64_t asked = now_ns();
    size_t got;
    int rc;

    pthread_mutex_unlock(&p->lock);
    rc = read_item(p, &item, s->bytes, &got, err);
    pthread_mutex_lock(&p->lock);
    p->stats.bytes_read += got;
    p->stats.read_ns += now_ns() - asked;
    s->state = rc ? FAILED : READY;
    if (!rc)
        note_arrival(p, s, asked, item.bytes);
    return rc;
}

/* --- slots, all with the lock ------------------------------------------------------------------------------------ */

static struct slot *find_seq(struct hx_prefetch *p, uint64_t seq)
{
    for (unsigned i = 0; i < p->cfg.slots; i++)
        if (p->slot[i].state != EMPTY && p->slot[i].seq == seq)
            return &p->slot[i];
    return NULL;
}

static struct slot *find_state(struct hx_prefetch *p, enum state state)
{
    for (unsigned i = 0; i < p->cfg.slots; i++)
        if (p->slot[i].state == state)
            return &p->slot[i];
    return NULL;
}

static unsigned n_empty(const struct hx_prefetch *p)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->cfg.slots; i++)
        n += p->slot[i].state == EMPTY;
    return n;
}

static void release(struct hx_prefetch *p, struct slot *s)
{
    s->state = EMPTY;
    if (n_empty(p) >= p->cfg.wake)
        pthread_cond_signal(&p->work);
}

static void reserve(struct slot *s, uint64_t seq)
{
    s->state = READING;
    s->unwanted = 0;
    s->seq = seq;
}

static void drop(struct hx_prefetch *p, struct slot *s)
{
    if (s->state == READING) {
        s->unwanted = 1; /* its reader drops it */
        return;
    }
    p->stats.dropped += s->state == READY;
    release(p, s);
}

/* Moves the plan on to seq: items before it will not be asked for any more. */
static void move_to(struct hx_prefetch *p, uint64_t seq)
{
    for (unsigned i = 0; i < p->cfg.slots; i++) {
        struct slot *s = &p->slot[i];

        if (s->seq < seq && s->state != EMPTY && s->state != HELD)
            drop(p, s);
    }
    p->next = seq;
}

/* What the plan needs last. */
static struct slot *furthest(struct hx_prefetch *p)
{
    struct slot *last = NULL;

    for (unsigned i = 0; i < p->cfg.slots; i++) {
        struct slot *s = &p->slot[i];

        if ((s->state == READY || s->state == FAILED) && (!last || s->seq > last->seq))
            last = s;
    }
    return last;
}

/* A slot for a read that the plan did not foresee; NULL: all are held. */
static struct slot *make_room(struct hx_prefetch *p)
{
    struct slot *s;

    while (!(s = find_state(p, EMPTY))) {
        s = furthest(p);
        if (s) {
            drop(p, s);
            return s;
        }
        if (!find_state(p, READING))
            return NULL;
        pthread_cond_wait(&p->done, &p->lock);
    }
    return s;
}

/* --- the thread -------------------------------------------------------------------------------------------------- */

/* The sequence to read next; no more than the slots can hold are looked at. */
static uint64_t lowest_missing(struct hx_prefetch *p)
{
    uint64_t seq = p->next;

    while (find_seq(p, seq))
        seq++;
    return seq;
}

static void *run_reader(void *arg)
{
    struct hx_prefetch *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        struct slot *s = find_state(p, EMPTY);
        uint64_t seq = lowest_missing(p), until = p->next + p->cfg.slots;

        if (!s) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        reserve(s, seq);
        pthread_mutex_unlock(&p->lock);
        p->announced = p->announced > seq ? p->announced : seq;
        announce(p, until);
        pthread_mutex_lock(&p->lock);
        fill(p, s, p->plan[seq % p->n], NULL);
        if (s->unwanted)
            drop(p, s);
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
        p->stats.dropped += p->slot[i].state == READY;
        p->slot[i] = (struct slot){.state = EMPTY};
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
    held = find_state(p, HELD) != NULL;
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

/* --- get and put, with the lock ---------------------------------------------------------------------------------- */

/* The first place from `next` on where the plan has the item; UNPLANNED: nowhere. */
static uint64_t find_planned(const struct hx_prefetch *p, const struct hx_prefetch_item *item)
{
    for (uint64_t seq = p->next; seq < p->next + p->n; seq++) {
        const struct hx_prefetch_item *it = &p->plan[seq % p->n];

        if (it->offset == item->offset && it->bytes == item->bytes)
            return seq;
    }
    return UNPLANNED;
}

/* What the plan said next: the thread has it, is reading it, or takes it as soon as it can; returns the slot when it is
 * finished.  NULL: there is no slot that the thread could take. */
static struct slot *await(struct hx_prefetch *p, uint64_t seq)
{
    struct slot *s;

    while (!(s = find_seq(p, seq)) || s->state == READING) {
        if (!s && !find_state(p, EMPTY) && !find_state(p, READING))
            return NULL;
        pthread_cond_signal(&p->work); /* it may sleep over fewer free slots than it is woken for */
        pthread_cond_wait(&p->done, &p->lock);
    }
    return s;
}

/* Reads by ourselves; the thread is told to go on behind. */
static int read_now(struct hx_prefetch *p, const struct hx_prefetch_item *item, uint64_t seq,
                    struct slot **out, struct hx_error *err)
{
    struct slot *s = make_room(p);
    int rc;

    if (!s)
        return hx_error_set(err, -EBUSY, "%s: all %u slots are held", p->path, p->cfg.slots);
    if (seq != UNPLANNED)
        p->next = seq + 1;
    reserve(s, seq);
    rc = fill(p, s, *item, err);
    pthread_cond_signal(&p->work);
    *out = s;
    if (!rc)
        return 0;
    if (seq != UNPLANNED)
        p->next = seq;
    p->stats.gets++;
    p->stats.failed++;
    release(p, s);
    return rc;
}

/* Finds or makes a READY slot with the item; *how: what to count it as. */
static int obtain(struct hx_prefetch *p, const struct hx_prefetch_item *item, struct slot **out,
                  uint64_t **how, struct hx_error *err)
{
    const uint64_t expected = p->next, seq = find_planned(p, item);
    struct slot *s = NULL;

    p->stats.wrong += seq != expected;
    if (seq != UNPLANNED) {
        move_to(p, seq);
        s = find_seq(p, seq);
        *how = s && s->state != READING ? &p->stats.hits : &p->stats.late;
        if (s || (seq == expected && !p->cfg.no_reader))
            s = await(p, seq);
    }
    *out = s;
    if (s && s->state == READY)
        return 0;
    if (s)
        release(p, s); /* what failed ahead of time may succeed now, and if not, we know why */
    *how = &p->stats.misses;
    return read_now(p, item, seq, out, err);
}

static int take(struct hx_prefetch *p, const struct hx_prefetch_item *item, struct slot **out,
                uint64_t **how, struct hx_error *err)
{
    int rc = obtain(p, item, out, how, err);
    struct slot *s = *out;

    if (rc)
        return rc;
    if (s->seq != UNPLANNED)
        p->next = s->seq + 1;
    s->state = HELD;
    if (*how == &p->stats.hits && s->there_ns > now_ns())
        *how = &p->stats.late;
    return 0;
}

/* Without the lock: what the modelled storage takes beyond what was waited for already. */
static void await_storage(const struct hx_prefetch *p, const struct slot *s, int hit, uint64_t start)
{
    const uint64_t hit_ns = hit ? start + (uint64_t)(1e3 * p->cfg.storage.hit_us) : 0;

    if (hx_storage_is_modelled(&p->cfg.storage))
        hx_storage_wait(s->there_ns > hit_ns ? s->there_ns : hit_ns);
}

static void count(struct hx_prefetch *p, uint64_t *how, uint64_t ns)
{
    struct hx_prefetch_stats *s = &p->stats;

    s->gets++;
    ++*how;
    hx_hist_add(&s->stall, ns);
    if (how != &s->late)
        hx_hist_add(how == &s->hits ? &s->hit_stall : &s->miss_stall, ns);
}

int hx_prefetch_get(struct hx_prefetch *p, const struct hx_prefetch_item *item, const void **bytes,
                    struct hx_error *err)
{
    const uint64_t start = now_ns();
    struct slot *s = NULL;
    uint64_t *how = NULL;
    int rc;

    if (item->bytes == 0 || item->bytes > p->slot_bytes)
        return hx_error_set(err, -EINVAL, "%s: %zu bytes; 1 to %zu fit a slot", p->path, item->bytes,
                          p->slot_bytes);
    pthread_mutex_lock(&p->lock);
    rc = take(p, item, &s, &how, err);
    pthread_mutex_unlock(&p->lock);
    if (rc)
        return rc;
    await_storage(p, s, how == &p->stats.hits, start); /* a slot that is held nobody else touches */
    pthread_mutex_lock(&p->lock);
    count(p, how, now_ns() - start);
    pthread_mutex_unlock(&p->lock);
    *bytes = s->bytes;
    return 0;
}

void hx_prefetch_put(struct hx_prefetch *p, const void *bytes)
{
    size_t i = (size_t)((const uint8_t *)bytes - p->memory) / p->slot_bytes;

    pthread_mutex_lock(&p->lock);
    assert(i < p->cfg.slots && p->slot[i].state == HELD);
    release(p, &p->slot[i]);
    pthread_mutex_unlock(&p->lock);
}

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
    p->cfg.read = read_file;
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
