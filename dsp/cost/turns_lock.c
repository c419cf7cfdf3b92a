/* The lock of all parties, what it wakes when it is given back, and where the calling thread is. */
#include "turns_state.h"

__thread struct hx_place_fast *hx_turns_fast;
__thread struct hx_party_fast *hx_turns_party;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
enum { CALLED = 8 };
static struct hx_place *called[CALLED]; /* those to wake when it is given back, so that they find it free */
static unsigned n_called;

void hx_turns_enter(void)
{
    pthread_mutex_lock(&lock);
}

void hx_turns_exit(void)
{
    struct hx_place *now[CALLED];
    unsigned n = n_called;

    for (unsigned i = 0; i < n; i++)
        now[i] = called[i];
    n_called = 0;
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < n; i++)
        sem_post(&now[i]->go);
}

void hx_turns_call_up(struct hx_place *p)
{
    if (p == hx_turns_me())
        return;
    if (n_called < CALLED)
        called[n_called++] = p;
    else
        sem_post(&p->go);
}
