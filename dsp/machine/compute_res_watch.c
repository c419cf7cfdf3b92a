/* Release callbacks: one thread per PD checks whether somebody more urgent waits for what the PD's contexts hold.
 *
 * Callbacks run without any lock, so they may release; a context may therefore end between the check and the call, as on
 * the device. */
#include <pthread.h>

#include "HAP_farf.h"
#include "compute_res.h"
#include "base/low_memory.h"
#include "cost/vtime.h"

enum { STACK_BYTES = 1 << 20, STEP_MS = 200 };

struct watch {
    uint32_t context; /* 0: free */
    int (*callback)(unsigned int context_id, void *client_context);
    void *client_context;
};

/* Protected by the machine's lock, as the contexts are. */
static struct watch watches[HX_CRM_ENTRIES];
static int running;

/* Marks one context that should be released as asked, and returns its watch; when there is none, the callback is NULL.
 * *at: pcycle from which on it is both held and wanted. */
static struct watch next_wanted(uint64_t *at)
{
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++) {
        struct hx_crm_entry *e = &hx_machine->crm->entry[i];
        const struct hx_crm_entry *by = e->client == hx_vtcm_owner() ? hx_crm_wanted_by(e) : NULL;

        if (!by || e->asked)
            continue;
        *at = by->since > e->since ? by->since : e->since;
        for (unsigned k = 0; k < HX_CRM_ENTRIES; k++)
            if (watches[k].context == e->id) {
                e->asked = 1;
                return watches[k];
            }
    }
    return (struct watch){0};
}

static void *watch(void *arg)
{
    (void)arg;
    hx_machine_lock();
    for (;;) {
        uint64_t at = 0;
        struct watch w = next_wanted(&at);

        if (!w.callback) {
            hx_machine_wait(STEP_MS);
            continue;
        }
        hx_machine_unlock();
        hx_vt_thread_begin(&(struct hx_vt_origin){.start_pcycles = at, .call_pcycles = at});
        w.callback(w.context, w.client_context);
        hx_machine_lock();
    }
    return NULL;
}

/* 0, or -1: the thread cannot be started. */
static int start(void)
{
    void *stack = hx_low_map(STACK_BYTES, -1);
    pthread_attr_t a;
    pthread_t t;
    int rc;

    if (!stack)
        return -1;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    rc = pthread_attr_setstack(&a, stack, STACK_BYTES);
    if (!rc)
        rc = pthread_create(&t, &a, watch, NULL);
    pthread_attr_destroy(&a);
    if (rc)
        hx_low_unmap(stack, STACK_BYTES);
    return rc ? -1 : 0;
}

int hx_crm_watch(uint32_t context, int (*callback)(unsigned int context_id, void *client_context),
                 void *client_context)
{
    unsigned i = 0;
    int rc = 0;

    hx_machine_lock();
    while (i < HX_CRM_ENTRIES && watches[i].context)
        i++;
    if (i == HX_CRM_ENTRIES || (!running && start()))
        rc = -1;
    else
        watches[i] = (struct watch){context, callback, client_context};
    running |= !rc;
    hx_machine_unlock();
    return rc;
}

void hx_crm_unwatch(uint32_t context)
{
    hx_machine_lock();
    for (unsigned i = 0; i < HX_CRM_ENTRIES; i++)
        if (watches[i].context == context)
            watches[i].context = 0;
    hx_machine_unlock();
}
