/* Threads of a skel that meet in every way, see hxt_threads.idl.  Its loads and stores are traced as a user's are.
 *
 * Each function has a table of packets, which pays for HXT_LISTED.  They are made up: what counts is that they are the same whatever
 * the host's compiler does. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "hexagon_protos.h"
#include "hvx_hexagon_protos.h"
#include "hxt_threads.h"
#include "hxt_threads/team.h"
#include "qurt.h"

enum { WORDS = 8 << 10, VECTORS = 64, JOBS = 24, SHARED_LINES = 256 };

static const struct hx_vliw_packet load_and_add[2] = {{{0}, 0, 0}, {{HX_WAIT(HX_UNIT_LOAD, 0, 1)}, 0, 0}};
static const struct hx_vliw_packet vector_add[1] = {{{HX_WAIT(HX_UNIT_HVX, 0, 1), HX_WAIT(HX_UNIT_VLOAD, 0, 1)}, 1, 1}};
static const struct hx_vliw_packet count_up[4] = {
    {{0}, 0, 0}, {{HX_WAIT(HX_UNIT_ALU, 1, 1)}, 0, 0}, {{HX_WAIT(HX_UNIT_LOAD, 0, 1)}, 0, 0}, {{0}, 0, 0}};
TEAM_TABLE(load_words, load_and_add, 2);
TEAM_TABLE(add_vectors, vector_add, 1);
TEAM_TABLE(do_job, count_up, 4);
TEAM_TABLE(glue, NULL, 0);

/* One call's. */
struct team {
    int what, rounds;
    unsigned n;
    qurt_mutex_t mutex;
    qurt_barrier_t barrier;
    int next_job;     /* plain memory */
    uint64_t trail;
    uint8_t shared[SHARED_LINES][TEAM_LINE];
    /* HXT_UNSEEN: how many threads have gone */
    atomic_int spun;
    int waited;       /* under plain_lock */
    pthread_mutex_t plain_lock;
    pthread_cond_t plain_cond;
};

/* What a thread owns. */
struct member {
    struct team *team;
    unsigned who;
    uint32_t sum;
    HVX_Vector acc;
    HVX_Vector vector[VECTORS];
    uint32_t word[WORDS];
};

/* The same on its stack, where it costs nothing to look it up again, as a compiler does that keeps nothing in registers. */
struct self {
    struct team *team;
    struct member *member;
    unsigned who;
    int what, rounds, listed;
};

static void note(struct team *t, unsigned what)
{
    t->trail = (t->trail ^ what) * 0x100000001b3u;
}

/* Each line of 32 bytes once, from a buffer of twice the first cache. */
static void load_words(const struct self *m)
{
    const uint32_t *word = m->member->word;
    uint32_t sum = 0;

    TEAM_CODE(m->listed, load_words);
    HX_TRIPS(1, WORDS / 8);
    for (int i = 0; i < WORDS; i += 8)
        sum += word[i];
    m->member->sum += sum;
}

static void add_vectors(const struct self *m)
{
    const HVX_Vector *vector = m->member->vector;
    HVX_Vector acc = Q6_V_vzero();

    TEAM_CODE(m->listed, add_vectors);
    if (qurt_hvx_lock(QURT_HVX_MODE_128B))
        return;
    HX_TRIPS(1, VECTORS);
    for (int i = 0; i < VECTORS; i++)
        acc = Q6_Vw_vadd_VwVw(acc, vector[i]);
    m->member->acc = acc;
    qurt_hvx_unlock();
}

/* What a compiler that does not optimise has more of: loads of what was loaded already. */
static void load_again(const volatile uint8_t *a, const volatile uint8_t *b)
{
#ifndef __OPTIMIZE__
    for (int i = 0; i < 5; i++)
        (void)*a, (void)*b;
#else
    (void)a, (void)b;
#endif
}

static void do_job(const struct self *m, int job)
{
    uint8_t (*shared)[TEAM_LINE] = m->team->shared;
    const unsigned who = m->who;
    uint32_t sum = 0;

    TEAM_CODE(m->listed, do_job);
    HX_TRIPS(1, 16 + job % 7);
    for (int i = 0; i < 16 + job % 7; i++) {
        uint8_t *at = &shared[(job * 37 + i * 5) % SHARED_LINES][who];

        sum += (*at)++;
        load_again(at, &shared[job * 37 % SHARED_LINES][who]);
    }
    m->member->sum += sum;
}

static void take_jobs(const struct self *m, int end)
{
    struct team *t = m->team;

    while (t->next_job < end) {
        const int job = t->next_job++;

        note(t, (unsigned)job * TEAM_THREADS + m->who);
        do_job(m, job);
    }
}

static void do_all(const struct self *m, int round)
{
    struct team *t = m->team;

    load_words(m);
    qurt_mutex_lock(&t->mutex);
    note(t, m->who);
    do_job(m, round);
    qurt_mutex_unlock(&t->mutex);
    take_jobs(m, JOBS * (round + 1));
    add_vectors(m);
    qurt_barrier_wait(&t->barrier);
}

/* The last thread goes first: against the order of turns. */
static void wait_unseen(const struct self *m)
{
    struct team *t = m->team;
    const int turn = (int)(t->n - 1 - m->who);

    while (atomic_load(&t->spun) < turn)
        ;
    atomic_fetch_add(&t->spun, 1);
    qurt_mutex_lock(&t->mutex);
    qurt_mutex_unlock(&t->mutex);
    pthread_mutex_lock(&t->plain_lock);
    while (t->waited < turn)
        pthread_cond_wait(&t->plain_cond, &t->plain_lock);
    t->waited++;
    pthread_cond_broadcast(&t->plain_cond);
    pthread_mutex_unlock(&t->plain_lock);
}

static void do_round(const struct self *m, int round)
{
    switch (m->what) {
    case HXT_MIXED:
    case HXT_LISTED:
        do_all(m, round);
        break;
    case HXT_SCALAR:
        load_words(m);
        break;
    case HXT_VECTOR:
        add_vectors(m);
        break;
    default:
        wait_unseen(m);
    }
}

static void work(void *member)
{
    struct member *m = member;
    struct team *t = m->team;
    const struct self self = {t, m, m->who, t->what, t->rounds, t->what == HXT_LISTED};

    TEAM_CODE(self.listed, glue);
    for (int round = 0; round < self.rounds; round++)
        do_round(&self, round);
}

int hxt_threads_open(const char *uri, remote_handle64 *h)
{
    (void)uri;
    *h = 1;
    return AEE_SUCCESS;
}

int hxt_threads_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

static void make_team(struct team *t, struct member *m, int what, int threads, int rounds)
{
    memset(t, 0, sizeof(*t));
    memset(m, 0, (size_t)threads * sizeof(*m));
    t->what = what;
    t->rounds = rounds;
    t->n = (unsigned)threads;
    pthread_mutex_init(&t->plain_lock, NULL);
    pthread_cond_init(&t->plain_cond, NULL);
    qurt_mutex_init(&t->mutex);
    qurt_barrier_init(&t->barrier, t->n);
    for (unsigned i = 0; i < t->n; i++) {
        m[i].team = t;
        m[i].who = i;
    }
}

int hxt_threads_run(remote_handle64 h, hxt_work what, int threads, int rounds, int64_t *pcycles, int64_t *trail)
{
    struct team *t = aligned_alloc(TEAM_LINE, (sizeof(*t) + TEAM_LINE - 1) & ~(size_t)(TEAM_LINE - 1));
    struct member *m = NULL;
    int rc = AEE_ENOMEMORY;

    (void)h;
    TEAM_CODE(what == HXT_LISTED, glue);
    if (threads < 1 || threads > TEAM_THREADS || rounds < 0)
        rc = AEE_EBADPARM;
    else if (t)
        m = aligned_alloc(TEAM_LINE, (size_t)threads * sizeof(*m));
    if (m) {
        make_team(t, m, (int)what, threads, rounds);
        rc = team_run(t->n, work, m, sizeof(*m), pcycles);
        *trail = (int64_t)t->trail;
    }
    free(m);
    free(t);
    return rc;
}
