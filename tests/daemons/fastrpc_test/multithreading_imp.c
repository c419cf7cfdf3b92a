/* A skel for libmultithreading.so, whose own is Hexagon code: threads that add up parts of an array, meet, and share a sum. */
#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "multithreading.h"
#include "qurt.h"

enum { THREADS = 4, NUMBERS = 1000, STACK = 16 << 10 };

struct team {
    qurt_mutex_t lock;
    qurt_barrier_t meet;
    int parts[THREADS];
    int total, seen_by_all; /* under lock */
};

struct member {
    struct team *team;
    int who;
};

static void add_part(void *arg)
{
    struct member *m = arg;
    struct team *t = m->team;
    int all = 0;

    for (int i = m->who; i < NUMBERS; i += THREADS)
        t->parts[m->who] += i;
    qurt_barrier_wait(&t->meet);
    for (int i = 0; i < THREADS; i++)
        all += t->parts[i];
    qurt_mutex_lock(&t->lock);
    t->total += t->parts[m->who];
    t->seen_by_all += all == NUMBERS * (NUMBERS - 1) / 2;
    qurt_mutex_unlock(&t->lock);
    qurt_thread_exit(QURT_EOK);
}

static int sum_by(struct team *t, struct member *members, char (*stacks)[STACK])
{
    qurt_thread_t ids[THREADS];
    int n = 0, status;

    for (; n < THREADS; n++) {
        qurt_thread_attr_t attr;

        qurt_thread_attr_init(&attr);
        qurt_thread_attr_set_stack_addr(&attr, stacks[n]);
        qurt_thread_attr_set_stack_size(&attr, STACK);
        members[n] = (struct member){t, n};
        if (qurt_thread_create(&ids[n], &attr, add_part, &members[n]) != QURT_EOK)
            return AEE_ENOMEMORY; /* those that are there wait for ever: the client is told, and closes the session */
    }
    while (n-- > 0)
        qurt_thread_join(ids[n], &status);
    return t->total == NUMBERS * (NUMBERS - 1) / 2 && t->seen_by_all == THREADS ? AEE_SUCCESS : AEE_EFAILED;
}

int multithreading_parallel_sum(remote_handle64 h)
{
    static char stacks[THREADS][STACK];
    static struct member members[THREADS];
    static struct team t;
    int rc;

    (void)h;
    t = (struct team){0};
    qurt_mutex_init(&t.lock);
    qurt_barrier_init(&t.meet, THREADS);
    rc = sum_by(&t, members, stacks);
    FARF(ALWAYS, "multithreading: %d threads: %d", THREADS, t.total);
    if (rc != AEE_ENOMEMORY) {
        qurt_barrier_destroy(&t.meet);
        qurt_mutex_destroy(&t.lock);
    }
    return rc;
}

int multithreading_open(const char *uri, remote_handle64 *h)
{
    (void)uri;
    *h = 1;
    return AEE_SUCCESS;
}

int multithreading_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

/* What that library has stubs for and does not call. */
int multithreading_barriers(remote_handle64 h)
{
    (void)h;
    return AEE_EUNSUPPORTED;
}

int multithreading_mutexes(remote_handle64 h)
{
    return multithreading_barriers(h);
}
