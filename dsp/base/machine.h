/* What all PDs of a rig share: who holds VTCM and HVX contexts, the virtual clock's profile.
 *
 * The state lies in memory that the root PD maps before it forks, so a user PD sees the same machine at the same address.
 * A PD may die at any point, and a skel may write whatever it likes there: so the root PD takes no lock, follows no pointer and no
 * index that lies in it, and only frees what names a PD that is gone; a user PD takes a lock that is held for ever from its holder,
 * and checks ranges that it finds there. */
#ifndef HX_MACHINE_H
#define HX_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "machine/compute_res_state.h"
#include "hx_profile.h"
#include "hx_vtcm_table.h"

enum { HX_HVX_CONTEXTS_MAX = 16 };

/* An HVX context, or HMX. */
struct hx_unit_grant {
    int32_t client;   /* PD that holds it, 0 = free */
    uint64_t free_at; /* pcycle at which its last holder gave it back */
};

/* What lies in the shared memory. */
struct hx_machine_shared {
    _Atomic uint32_t lock;    /* 0, or who holds it, see machine.c; protects everything below */
    _Atomic uint32_t turns;   /* times that somebody wanted the lock */
    _Atomic uint32_t freed;   /* counts what was given back; a futex, because a condition breaks when a waiter is killed */
    _Atomic uint64_t pcycles; /* the machine's counter: the latest end of a call */
    struct hx_unit_grant hvx[HX_HVX_CONTEXTS_MAX], hmx;
    struct hx_vtcm_table own;
    int32_t vtcm_last[HX_VTCM_GRAINS]; /* PD that holds the grain or was the last to hold it, as in the table */
    struct hx_crm crm;
};

/* Each PD has a copy of its own: what nobody changes once the root PD forks. */
struct hx_machine {
    struct hx_machine_shared *shared;
    double clock_mhz;     /* pcycles per us */
    struct hx_cost cost;
    double dispatch_us; /* of a call, either way */
    unsigned hvx_contexts;
    unsigned hw_threads;
    unsigned issue_threads; /* of these, how many have an issue slot in each of their cycles; 0: all */
    unsigned vtcm_grains;  /* that there are, at most HX_VTCM_GRAINS */
    unsigned capabilities; /* 0: the root PD does not tell them */
    unsigned dspqueue; /* 0: this DSP has none */
    unsigned arch;     /* 69: V69 */
    unsigned hmx;      /* 0: skels have none */
    struct hx_unit_grant *hvx;   /* [HX_HVX_CONTEXTS_MAX], shared */
    struct hx_unit_grant *hmx_unit; /* shared */
    struct hx_vtcm_grain *vtcm; /* [HX_VTCM_GRAINS], shared; the driver sees it, too, unless it is shared->own */
    struct hx_crm *crm;         /* shared */
};

extern struct hx_machine *hx_machine; /* NULL until hx_machine_init() */
extern struct hx_machine_shared *hx_machine_shared; /* the same as hx_machine->shared */
/* HX_VTCM_BYTES, at 0xFF000000 except in ASan builds.  Each PD has a VTCM of its own, of which the grains that it holds can be
 * touched.  A grain has what this PD left there, or zeroes when another one has held it since. */
extern uint8_t *hx_vtcm;
extern int32_t hx_pd_client;          /* the PD that this process is; 0 = root */

/* Builds the machine.  Returns 0 or negative errno.  Call once, before the first fork. */
int hx_machine_init(const struct hx_profile *profile);

/* From now on the VTCM's table lies in this file (rpc/wire/hx_vtcm_table.h), which is closed.  Before the first grant and the
 * first fork.  0 or negative errno. */
int hx_machine_share_vtcm_table(int fd);

/* Short sections only.  Who finds the lock with one holder for HX_LOCK_PATIENCE_MS, or waits for twice that whoever holds it, takes it:
 * nothing else can be done about a PD that is stopped inside, or one that writes there.  A PD that has lost twice that to it waits for
 * 1 or 2 ms only, until it has lost nothing for a minute: then sections of several PDs may overlap. */
enum { HX_LOCK_PATIENCE_MS = 2000 };
void hx_machine_lock(void);
void hx_machine_unlock(void);

/* Wakes every waiter: something was given back, or somebody now waits for VTCM. */
void hx_machine_freed(void);

/* Waits for hx_machine_freed(), `ms` at most.  The lock is held before and after, but not while waiting.  Callers check
 * again in a loop, in steps of 50 ms or so. */
void hx_machine_wait(unsigned ms);

/* The architecture as DSPs tell it: 0x69. */
static inline unsigned hx_arch_version(void)
{
    const unsigned arch = hx_machine ? hx_machine->arch : HX_ARCH_MIN;

    return arch / 10 << 4 | arch % 10;
}

/* 1 when p points into VTCM, whoever holds it. */
static inline int hx_in_vtcm(const void *p)
{
    return hx_vtcm && (uintptr_t)p - (uintptr_t)hx_vtcm < HX_VTCM_BYTES;
}

/* 1 when all of p[bytes], in VTCM, lies in what this PD got by one request. */
int hx_vtcm_granted(const void *p, size_t bytes);

/* Gives back all that PD `client` held, the lock included; the root PD calls it when a user PD has ended.  Never waits. */
void hx_machine_reap(int32_t client);

/* The same for everything, whoever it names: for a machine without user PDs, so that nothing outlasts what a skel wrote there. */
void hx_machine_vacate(void);

/* 1 while the calling thread holds an HVX context. */
int hx_hvx_context_held(void);

/* HVX operations of the call on this thread that ran while it held no context: on the device each is a fault.  Operations are
 * counted in skels built with -DHEXRIG_COUNT; hx_hvx_call_begin() starts anew, when the counters are 0. */
void hx_hvx_call_begin(void);
uint64_t hx_hvx_unlocked_ops(void);

/* Gives back an HVX context that the thread still holds; 1 when it had asked for it (a skel's bug). */
int hx_hvx_release_leaked(void);

/* The calling thread need not ask for a context: as QuRT does, it is given one because it runs HVX code.  That is found out when it next
 * does something that others notice, and ends when it waits.  Threads that serve calls have to ask. */
void hx_hvx_lazy(void);
/* Such a thread is about to do something that others notice; not in an operation.  It gets its context here, and may wait for one. */
void hx_hvx_settle(void);
/* In an operation: it is about to wait. */
void hx_hvx_thread_waits(void);

/* Which HVX contexts this PD's threads have been given since the last begin: how many.  Threads that hold one side by side in virtual
 * time have different ones, however they really ran. */
void hx_hvx_contexts_begin(void);
unsigned hx_hvx_contexts_used(void);

#endif
