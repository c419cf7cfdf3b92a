/* Threads of a skel that meet in every way, see hxt_threads.idl.  Its loads and stores are traced as a user's are. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_perf.h"
#include "hexagon_protos.h"
#include "hvx_hexagon_protos.h"
#include "hxt_threads.h"
#include "qurt.h"

enum { THREADS = 16, STACK_BYTES = 32 << 10, WORDS = 8 << 10, VECTORS = 64, JOBS = 24, SHARED_LINES = 256, LINE = 128 };

/* One call's. */
struct team {
    int what, rounds;
    unsigned n;
    qurt_mutex_t mutex;
    qurt_barrier_t barrier;
    int next_job;     /* plain memory */
    uint64_t trail;
    uint8_t shared[SHARED_LINES][LINE];
    /* HXT_UNSEEN: how many threads have gone */
    atomic_int spun;
    int waited;       /* under plain_lock */
    pthread_mutex_t plain_lock;
    pthread_cond_t plain_cond;
};

struct member {
    struct team *team;
    unsigned who;
    uint32_t sum;
    HVX_Vector acc;
    HVX_Vector vector[VECTORS];
    uint32_t word[WORDS];
    char stack[STACK_BYTES] __attribute__((aligned(16)));
};

static void note(struct team *t, unsigned what)
{
    t->trail = (t->trail ^ what) * 0x100000001b3u;
}

/* Each line of 32 bytes once, from a buffer of twice the first cache. */
static void load_words(struct member *m)
{
    for (int i = 0; i < WORDS; i += 8)
        m->sum += m->word[i];
}

static void add_vectors(struct member *m)
{
    if (qurt_hvx_lock(QURT_HVX_MODE_128B))
        return;
    for (int i = 0; i < VECTORS; i++)
        m->acc = Q6_Vw_vadd_VwVw(m->acc, m->vector[i]);
    qurt_hvx_unlock();
}

static void do_job(struct member *m, int job)
{
    struct team *t = m->team;

    for (int i = 0; i < 16 + job % 7; i++)
        m->sum += t->shared[(job * 37 + i * 5) % SHARED_LINES][m->who]++;
}

static void take_jobs(struct member *m, int end)
{
    struct team *t = m->team;

    while (t->next_job < end) {
        const int job = t->next_job++;

        note(t, (unsigned)job * THREADS + m->who);
        do_job(m, job);
    }
}

static void do_all(struct member *m, int round)
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
static void wait_unseen(struct member *m)
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

static void work(void *arg)
{
    struct member *m = arg;

    for (int round = 0; round < m->team->rounds; round++)
        switch (m->team->what) {
        case HXT_MIXED:
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

static int start(struct member *m, qurt_thread_t *id)
{
    qurt_thread_attr_t a;

    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_name(&a, "member");
    qurt_thread_attr_set_stack_addr(&a, m->stack);
    qurt_thread_attr_set_stack_size(&a, sizeof(m->stack));
    qurt_thread_attr_set_detachstate(&a, QURT_THREAD_ATTR_CREATE_JOINABLE);
    return qurt_thread_create(id, &a, work, m) == QURT_EOK ? AEE_SUCCESS : AEE_EFAILED;
}

static int run_team(struct team *t, struct member *m, int64_t *pcycles)
{
    const uint64_t t0 = HAP_perf_get_pcycles();
    qurt_thread_t id[THREADS];
    unsigned n = 0;

    while (n < t->n && !start(&m[n], &id[n]))
        n++;
    for (unsigned i = 0; i < n; i++)
        qurt_thread_join(id[i], NULL);
    *pcycles = (int64_t)(HAP_perf_get_pcycles() - t0);
    return n == t->n ? AEE_SUCCESS : AEE_EFAILED;
}

int hxt_threads_run(remote_handle64 h, hxt_work what, int threads, int rounds, int64_t *pcycles, int64_t *trail)
{
    struct team *t = aligned_alloc(LINE, (sizeof(*t) + LINE - 1) & ~(size_t)(LINE - 1));
    struct member *m = NULL;
    int rc = AEE_ENOMEMORY;

    (void)h;
    if (threads < 1 || threads > THREADS || rounds < 0)
        rc = AEE_EBADPARM;
    else if (t)
        m = aligned_alloc(LINE, (size_t)threads * sizeof(*m));
    if (m) {
        memset(t, 0, sizeof(*t));
        memset(m, 0, (size_t)threads * sizeof(*m));
        t->what = (int)what;
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
        rc = run_team(t, m, pcycles);
        *trail = (int64_t)t->trail;
    }
    free(m);
    free(t);
    return rc;
}
