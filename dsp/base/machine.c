/* The machine that all PDs of a rig share: its lock, waiting for what others give back, what the dead leave. */
#include "machine.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "HAP_farf.h"

/* The lock's word: somebody sleeps; the PD; a number that no other thread has at the time.  So the root PD knows what a dead PD
 * held, and a waiter whether it is still the same section that it waits for. */
#define SLEEPERS (1u << 31)
#define CLIENT_SHIFT 24
#define TURNS ((1u << CLIENT_SHIFT) - 1)
#define ROOT 127u /* client ids are smaller */

enum { STEP_MS = 50 }; /* a waiter looks again, whether it was woken or not */

static __thread uint32_t held; /* the word that this thread wrote */

static uint32_t client_bits(int32_t client)
{
    return (client > 0 ? (uint32_t)client & ROOT : ROOT) << CLIENT_SHIFT;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t seen, unsigned ms)
{
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000L};

    syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

static void wake(_Atomic uint32_t *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0);
}

static uint64_t real_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* What this process has lost lately by waiting for a lock that nobody gave back.  A skel that spoils the word again and again costs
 * it that once; from then on it waits for no longer than a holder may well be interrupted. */
enum { LOST_MS_MAX = 2 * HX_LOCK_PATIENCE_MS, LATELY_MS = 60000, HASTE_MS = 1 };
static _Atomic uint64_t lost_ms, last_loss_ms;

static unsigned patience_ms(uint64_t now)
{
    if (now - atomic_load(&last_loss_ms) >= LATELY_MS)
        atomic_store(&lost_ms, 0);
    return atomic_load(&lost_ms) < LOST_MS_MAX ? HX_LOCK_PATIENCE_MS : HASTE_MS;
}

static void take_over(uint32_t from, unsigned waited, uint64_t now)
{
    const uint64_t before = atomic_fetch_add(&lost_ms, waited);

    atomic_store(&last_loss_ms, now);
    if (before < LOST_MS_MAX) /* afterwards it would fill the log */
        FARF(ERROR, "the machine's lock was not to be had for %u ms, held by PD %u: taken over", waited,
             (from >> CLIENT_SHIFT) & ROOT);
}

/* Since the last time, and no more than a step of waiting: while we are stopped others are not slow. */
static unsigned past_ms(uint64_t *last)
{
    const uint64_t now = real_ms(), past = now - *last;

    *last = now;
    return past < STEP_MS ? (unsigned)past : STEP_MS;
}

/* Waits until it is free, was held by one and the same for too long, or was held by whomever for twice that, and takes it. */
static void lock_slowly(_Atomic uint32_t *lock, uint32_t me)
{
    uint64_t now = real_ms();
    const unsigned patience = patience_ms(now);
    unsigned waited = 0, since = 0;
    uint32_t whose = 0, seen;

    for (; waited < 2 * patience; waited += past_ms(&now)) {
        seen = atomic_load(lock);
        if ((seen & ~SLEEPERS) != whose) {
            whose = seen & ~SLEEPERS;
            since = waited;
        }
        if (!seen || waited - since >= patience) {
            if (!atomic_compare_exchange_strong(lock, &seen, me | SLEEPERS)) /* others may sleep there, too */
                continue;
            if (seen)
                take_over(seen, waited, now);
            return;
        }
        if ((seen & SLEEPERS) || atomic_compare_exchange_strong(lock, &seen, seen | SLEEPERS))
            sleep_on(lock, seen | SLEEPERS, patience < STEP_MS ? patience : STEP_MS);
    }
    seen = atomic_exchange(lock, me | SLEEPERS); /* who writes there all the time cannot make this fail */
    if (seen)
        take_over(seen, waited, now);
}

void hx_machine_lock(void)
{
    _Atomic uint32_t *lock = &hx_machine_shared->lock;
    uint32_t me = client_bits(hx_pd_client) | (atomic_fetch_add(&hx_machine_shared->turns, 1) & TURNS), none = 0;

    if (!atomic_compare_exchange_strong(lock, &none, me))
        lock_slowly(lock, me);
    held = me;
}

void hx_machine_unlock(void)
{
    _Atomic uint32_t *lock = &hx_machine_shared->lock;
    uint32_t seen = atomic_load(lock);

    while ((seen & ~SLEEPERS) == held) /* else it was taken over */
        if (atomic_compare_exchange_weak(lock, &seen, 0)) {
            if (seen & SLEEPERS)
                wake(lock, 1);
            return;
        }
}

void hx_machine_freed(void)
{
    atomic_fetch_add(&hx_machine_shared->freed, 1);
    wake(&hx_machine_shared->freed, INT32_MAX);
}

void hx_machine_wait(unsigned ms)
{
    uint32_t seen = atomic_load(&hx_machine_shared->freed);

    hx_machine_unlock();
    sleep_on(&hx_machine_shared->freed, seen, ms);
    hx_machine_lock();
}

void hx_machine_vacate(void)
{
    for (unsigned i = 0; i < HX_VTCM_GRAINS; i++)
        hx_machine->vtcm[i].client = 0;
    for (unsigned i = 0; i < HX_HVX_CONTEXTS_MAX; i++)
        hx_machine->hvx[i].client = 0;
    hx_machine->hmx_unit->client = 0;
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        hx_machine->crm->entry[i].client = 0;
    atomic_store(&hx_machine_shared->lock, 0);
}

/* Single stores, without the lock: to those who hold it now it looks as if the PD had given back a moment earlier. */
void hx_machine_reap(int32_t client)
{
    _Atomic uint32_t *lock = &hx_machine_shared->lock;
    uint32_t seen = atomic_load(lock);

    for (unsigned i = 0; i < HX_VTCM_GRAINS; i++)
        if (hx_machine->vtcm[i].client == client)
            hx_machine->vtcm[i].client = 0;
    for (unsigned i = 0; i < HX_HVX_CONTEXTS_MAX; i++)
        if (hx_machine->hvx[i].client == client)
            hx_machine->hvx[i].client = 0;
    if (hx_machine->hmx_unit->client == client)
        hx_machine->hmx_unit->client = 0;
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        if (hx_machine->crm->entry[i].client == client)
            hx_machine->crm->entry[i].client = 0;
    /* Of a dead PD's word only SLEEPERS changes, once: for who keeps writing there the root PD does not try again and again. */
    for (int tries = 0; tries < 2 && seen && (seen & ~(SLEEPERS | TURNS)) == client_bits(client); tries++)
        if (atomic_compare_exchange_strong(lock, &seen, 0)) {
            wake(lock, INT32_MAX);
            break;
        }
    hx_machine_freed();
}
