/* A barrier of atomic counters, and threads around it. */
#include "spin_team.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "hexrig_asm.h"

enum { STACK_BYTES = 64 << 10, PAUSE = 255 };

static void arrive(struct spin_team *t, unsigned who)
{
    t->work(who, t->arg);
    atomic_fetch_sub(&t->left, 1);
}

static void stay(void *arg)
{
    const struct spin_member *m = arg;
    struct spin_team *t = m->team;
    unsigned seen = 0, done = 0;

    while (!atomic_load(&t->ended)) {
        const unsigned sequence = atomic_load(&t->sequence);

        if (sequence == seen) {
            if (atomic_load(&t->awake))
                hexrig_asm_pause(PAUSE);
            else
                qurt_futex_wait(&t->sequence, (int)seen);
            continue;
        }
        seen = sequence;
        if (atomic_load(&t->piece) != done) {
            done++;
            arrive(t, m->who);
        }
    }
}

static int start_one(struct spin_team *t, unsigned who)
{
    qurt_thread_attr_t a;

    t->stack[who] = memalign(128, STACK_BYTES);
    t->member[who] = (struct spin_member){t, who};
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_name(&a, "spins");
    qurt_thread_attr_set_stack_addr(&a, t->stack[who]);
    qurt_thread_attr_set_stack_size(&a, STACK_BYTES);
    return t->stack[who] && qurt_thread_create(&t->id[who], &a, stay, &t->member[who]) == QURT_EOK ? AEE_SUCCESS : AEE_ENOMEMORY;
}

int spin_team_start(struct spin_team *t, unsigned n)
{
    int rc = AEE_SUCCESS;

    memset(t, 0, sizeof(*t));
    for (t->n = 1; t->n < n && rc == AEE_SUCCESS; t->n++)
        rc = start_one(t, t->n);
    return rc;
}

static void raise_sequence(struct spin_team *t)
{
    atomic_fetch_add(&t->sequence, 1);
    qurt_futex_wake(&t->sequence, READER_THREADS);
}

void spin_team_stop(struct spin_team *t)
{
    int status;

    atomic_store(&t->ended, 1);
    raise_sequence(t);
    for (unsigned i = 1; i < t->n; i++) {
        qurt_thread_join(t->id[i], &status);
        free(t->stack[i]);
    }
}

void spin_team_wake(struct spin_team *t)
{
    atomic_store(&t->awake, 1);
    raise_sequence(t);
}

void spin_team_rest(struct spin_team *t)
{
    atomic_store(&t->awake, 0);
}

void spin_team_run(struct spin_team *t, void (*work)(unsigned who, void *arg), void *arg)
{
    t->work = work;
    t->arg = arg;
    atomic_store(&t->left, t->n);
    atomic_fetch_add(&t->piece, 1);
    atomic_fetch_add(&t->sequence, 1);
    arrive(t, 0);
    while (atomic_load(&t->left) > 0)
        hexrig_asm_pause(PAUSE);
}
