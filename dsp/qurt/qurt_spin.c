/* Which words are spun on, who has written them, and who waits for that. */
#include "qurt_spin.h"

#include <pthread.h>

#include "base/machine.h"
#include "cost/shared.h"
#include "cost/turns.h"
#include "cost/vtime.h"
#include "qurt_wait.h"

enum {
    MORE_CYCLES = 8,   /* pause(#n) takes up to n and so many: "Pauses" in the V73 Programmer's Reference Manual */
    LONGEST = 4,       /* a look comes after 2^LONGEST pauses at the latest */
    NAPS = 16,         /* pauses of a thread that nobody can end, before they take no time, or before they are slept through, */
    NAP_US = 1000,     /* for so long */
    POLL_LOOK = 255 + MORE_CYCLES /* a loop without pause looks as often as one with a long one, when nobody has said anything */
};

_Atomic uintptr_t hx_spin_known[HX_SPIN_WORDS];
__thread struct hx_spin_loads hx_spin_loads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct word {
    uint64_t version;         /* another one for each write */
    struct hx_vt_origin from; /* the last writer, then */
} words[HX_SPIN_WORDS];
static uint64_t versions;

/* A thread that waits for any of its words to be written. */
struct dozer {
    struct dozer *next;
    struct hx_place *place;
    unsigned slot[HX_SPIN_LOADS], n;
    struct hx_vt_origin mine;
    int follows;              /* it may work for a later call */
    double period;            /* pcycles of a pause, or of a round of a loop without, */
    double look;              /* and after how many it looks again when nobody has said anything */
    struct hx_vt_origin from; /* of a later call, whose thread has written: it works for that now */
    int moves;
};
static struct dozer *dozers;

/* What the thread has seen of known words since its last pause. */
static __thread struct {
    unsigned n; /* may be more than there is room for */
    struct {
        unsigned slot;
        uint64_t version;
    } word[HX_SPIN_LOADS];
    unsigned in_vain; /* looks in a row without a change */
    unsigned alone;   /* pauses in a row */
    struct {
        uint64_t version, began; /* what the word had, and since which pcycle */
        unsigned n;              /* loads since then without any other access */
        double round;            /* pcycles from one to the next */
    } poll;
} thread;

/* --- accesses -------------------------------------------------------------------------------------------------- */

static void note_seen(unsigned slot, uint64_t version)
{
    if (thread.n < HX_SPIN_LOADS) {
        thread.word[thread.n].slot = slot;
        thread.word[thread.n].version = version;
    }
    thread.n++;
}

/* What a thread did since its call was over carries no time. */
static uint64_t time_after(const struct hx_vt_origin *from)
{
    const uint64_t now = hx_shared_is_open() ? hx_vt_now() : 0;

    return now > from->start_pcycles ? now : from->start_pcycles + 1;
}

static int watches(const struct dozer *d, unsigned slot)
{
    for (unsigned i = 0; i < d->n; i++)
        if (d->slot[i] == slot)
            return 1;
    return 0;
}

/* The end of the pause in which something happens at pcycle `at`, and a look too early for it. */
static uint64_t end_of_pause(const struct dozer *d, uint64_t at)
{
    const uint64_t base = d->mine.start_pcycles;
    const double since = at > base ? (double)(at - base) : 0;

    return base + (uint64_t)(((double)(uint64_t)(since / d->period) + 1) * d->period + 0.5);
}

/* Under the lock: `from` has written what `d` waits for. */
static void rouse(struct dozer *d, const struct hx_vt_origin *from)
{
    if (d->moves)
        return;
    if (from->party == d->mine.party) {
        hx_turns_rouse(d->place, end_of_pause(d, from->start_pcycles), 0);
    } else if (d->follows && from->party > d->mine.party) {
        d->moves = 1;
        d->from = *from;
        hx_turns_rouse(d->place, from->start_pcycles + 1, from->party);
    } else {
        hx_turns_rouse(d->place, d->mine.start_pcycles, 0);
    }
}

static void store(uintptr_t word, unsigned slot)
{
    const struct hx_vt_origin from = hx_vt_origin();

    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&hx_spin_known[slot], memory_order_relaxed) == word) {
        words[slot] = (struct word){++versions, from};
        for (struct dozer *d = dozers; d; d = d->next)
            if (watches(d, slot))
                rouse(d, &from);
    }
    pthread_mutex_unlock(&lock);
}

/* --- pauses ---------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static void get_to_know(uintptr_t word)
{
    const unsigned slot = word % HX_SPIN_WORDS;

    if (atomic_exchange_explicit(&hx_spin_known[slot], word, memory_order_relaxed) != word)
        words[slot] = (struct word){.version = ++versions};
}

static void get_to_know_loads(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < hx_spin_loads.n; i++)
        get_to_know(hx_spin_loads.word[i]);
    pthread_mutex_unlock(&lock);
}

void hx_spin_poll(uintptr_t word)
{
    pthread_mutex_lock(&lock);
    get_to_know(word);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void join_line(struct dozer *d)
{
    d->next = dozers;
    dozers = d;
    hx_turns_doze_begin();
}

/* Stands in line when nothing that the thread has seen since its last pause has been written; 1 then. */
static int stand_in_line(struct dozer *d)
{
    int is_current = thread.n > 0 && thread.n <= HX_SPIN_LOADS && hx_spin_loads.n == 0;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; is_current && i < thread.n; i++) {
        d->slot[d->n++] = thread.word[i].slot;
        is_current = words[thread.word[i].slot].version == thread.word[i].version;
    }
    if (is_current)
        join_line(d);
    pthread_mutex_unlock(&lock);
    return is_current;
}

static void leave_line(const struct dozer *d)
{
    struct dozer **at = &dozers;

    pthread_mutex_lock(&lock);
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    pthread_mutex_unlock(&lock);
}

/* When the thread looks again, whether it has heard of a change or not. */
static uint64_t limit_of(const struct dozer *d, enum hx_turns_company company)
{
    const unsigned pauses = company != HX_TURNS_ALONE ? 1u << thread.in_vain : thread.alone <= NAPS ? 1 : 0;

    return d->mine.start_pcycles + (uint64_t)(d->look * pauses + 0.5);
}

/* In an operation, before and after.  Who has no company that could end the wait waits for another program, or for a later call. */
static void doze(struct dozer *d)
{
    const enum hx_turns_company company = hx_turns_company();
    uint64_t limit, at;

    thread.alone = company == HX_TURNS_AWAKE ? 0 : thread.alone + 1;
    limit = limit_of(d, company);
    if (company == HX_TURNS_ALONE || thread.alone > NAPS)
        at = hx_turns_nap(limit, NAP_US);
    else
        at = hx_turns_doze(limit);

    leave_line(d);
    if (d->moves)
        hx_qurt_join(&d->from, time_after(&d->from)); /* it may have got its turn when it was told */
    else
        hx_vt_reach(HX_VT_SYNC, at);
    if (at < limit || d->moves)
        thread.in_vain = 0;
    else if (thread.in_vain < LONGEST)
        thread.in_vain++;
}

void hx_spin_pause(unsigned cycles)
{
    struct dozer d = {
        .follows = hx_qurt_self()->created && !hx_shared_serves(), .period = cycles + MORE_CYCLES, .look = cycles + MORE_CYCLES};

    hx_hvx_settle();
    hx_vt_order_begin();
    hx_hvx_thread_waits();
    if (hx_spin_loads.n <= HX_SPIN_LOADS)
        get_to_know_loads();
    d.place = hx_turns_place();
    d.mine = hx_vt_origin();
    if (stand_in_line(&d)) {
        doze(&d);
    } else {
        thread.in_vain = 0;
        hx_vt_spend(HX_VT_SYNC, d.period);
    }
    thread.n = hx_spin_loads.n = 0;
    hx_vt_order_end();
}

/* --- loads without pause ----------------------------------------------------------------------------------------- */

/* In an operation: the word has that version, and nothing happens until it gets another one. */
static void wait_for_word(unsigned slot, uint64_t version)
{
    struct dozer d = {.follows = hx_qurt_self()->created && !hx_shared_serves(), .period = thread.poll.round, .look = POLL_LOOK};
    int is_current;

    if (d.period < 1)
        d.period = 1;
    hx_hvx_thread_waits();
    d.place = hx_turns_place();
    d.mine = hx_vt_origin();
    d.slot[d.n++] = slot;
    pthread_mutex_lock(&lock);
    is_current = words[slot].version == version;
    if (is_current)
        join_line(&d);
    pthread_mutex_unlock(&lock);
    if (is_current)
        doze(&d);
}

static struct word seen(uintptr_t word, unsigned slot)
{
    struct word w = {0};

    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&hx_spin_known[slot], memory_order_relaxed) == word)
        w = words[slot];
    pthread_mutex_unlock(&lock);
    return w;
}

/* One more load of a word that has that version; 1: the thread does nothing else for so long that it waits for another one. */
static int polls_in_vain(uint64_t version, int again)
{
    const uint64_t now = hx_vt_now();

    if (!again || thread.poll.version != version) {
        thread.poll.version = version;
        thread.poll.began = now;
        thread.poll.n = 0;
    }
    if (++thread.poll.n == HX_SPIN_POLLS)
        thread.poll.round = (double)(now - thread.poll.began) / (HX_SPIN_POLLS - 1);
    return thread.poll.n >= HX_SPIN_POLLS;
}

/* again: the thread's latest access was a load of the word, too. */
static void load(uintptr_t word, unsigned slot, int again)
{
    struct word w = seen(word, slot);

    if (polls_in_vain(w.version, again)) {
        wait_for_word(slot, w.version);
        w = seen(word, slot);
    }
    if (hx_qurt_is_to_follow(&w.from))
        hx_qurt_join(&w.from, time_after(&w.from));
    note_seen(slot, w.version);
}

void hx_spin_touch(uintptr_t word, int is_store)
{
    const int again = !is_store && hx_spin_loads.last == word;

    hx_spin_loads.last = is_store ? 0 : word;
    hx_qurt_self();
    hx_hvx_settle();
    hx_vt_order_begin();
    if (is_store)
        store(word, word % HX_SPIN_WORDS);
    else
        load(word, word % HX_SPIN_WORDS, again);
    hx_vt_order_end();
}
