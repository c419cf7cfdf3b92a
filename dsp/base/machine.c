/* The machine that all PDs of a rig share: its lock, waiting for what others give back, what the dead leave. */
#include "machine.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct hx_machine *hx_machine;
uint8_t *hx_vtcm;
int32_t hx_pd_client;

void hx_machine_lock(void)
{
    /* A PD died inside: the tables are consistent between any two stores, so go on. */
    if (pthread_mutex_lock(&hx_machine->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&hx_machine->lock);
}

void hx_machine_unlock(void)
{
    pthread_mutex_unlock(&hx_machine->lock);
}

void hx_machine_freed(void)
{
    atomic_fetch_add(&hx_machine->freed, 1);
    syscall(SYS_futex, &hx_machine->freed, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void hx_machine_wait(unsigned ms)
{
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000L};
    uint32_t seen = atomic_load(&hx_machine->freed);

    hx_machine_unlock();
    syscall(SYS_futex, &hx_machine->freed, FUTEX_WAIT, seen, &t, NULL, 0);
    hx_machine_lock();
}

void hx_machine_reap(int32_t client)
{
    hx_machine_lock();
    for (unsigned i = 0; i < HX_VTCM_GRAINS; i++)
        if (hx_machine->vtcm[i].client == client)
            hx_machine->vtcm[i].client = 0;
    for (unsigned i = 0; i < hx_machine->hvx_contexts; i++)
        if (hx_machine->hvx[i].client == client)
            hx_machine->hvx[i].client = 0;
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        if (hx_machine->crm.entry[i].client == client)
            hx_machine->crm.entry[i] = (struct hx_crm_entry){0};
    hx_machine_freed();
    hx_machine_unlock();
}
