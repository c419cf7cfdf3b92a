/* The table of the PD's queues: created by the host through the queue service, imported by skels. */
#include "dspqueue_slots.h"

#include <errno.h>

#include "pd/bindings.h"
#include "cost/queue_cost.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the slots' id, host_fd, imported */
static struct dspqueue slots[DSPQUEUE_MAX_PROCESS_QUEUES];
static uint64_t last_id;

/* Under lock. */
static struct dspqueue *find(uint64_t id)
{
    for (unsigned i = 0; id && i < DSPQUEUE_MAX_PROCESS_QUEUES; i++)
        if (slots[i].id == id)
            return &slots[i];
    return NULL;
}

static int ref_buffer(void *ctx, uint32_t fd, int delta, void **va, uint64_t *size)
{
    int rc = hx_bindings_ref((int32_t)fd, delta, va, size);

    (void)ctx;
    return rc == -EINVAL ? AEE_EBADPARM : rc ? AEE_ENOSUCHMAP : AEE_SUCCESS;
}

static void signal_host(void *ctx, unsigned which)
{
    struct dspqueue *d = ctx;

    d->signal((unsigned)(d - slots), which);
}

static int create(struct dspqueue *d, int32_t host_fd, hx_slots_signal *signal)
{
    struct hx_dspq_cfg cfg = {.is_dsp = 1, .ref = ref_buffer, .signal = signal_host,
                              .packet = hx_queue_cost_note, .none = hx_queue_cost_none, .ctx = d};
    int rc;

    if (hx_bindings_ref(host_fd, 1, &cfg.block, &cfg.block_bytes))
        return AEE_ENOSUCHMAP;
    d->signal = signal;
    rc = hx_dspq_init(&d->q, &cfg);
    if (rc)
        hx_bindings_ref(host_fd, -1, NULL, NULL);
    return rc;
}

int hx_slots_create(uint32_t slot, int32_t host_fd, hx_slots_signal *signal, uint64_t *id)
{
    int rc;

    if (slot >= DSPQUEUE_MAX_PROCESS_QUEUES)
        return AEE_EBADPARM;
    pthread_mutex_lock(&lock);
    rc = slots[slot].id ? AEE_EITEMBUSY : create(&slots[slot], host_fd, signal);
    if (rc == AEE_SUCCESS) {
        slots[slot].host_fd = host_fd;
        slots[slot].id = *id = ++last_id << 8 | slot;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_slots_have_doorbells(uint64_t id)
{
    struct dspqueue *d;
    int have;

    pthread_mutex_lock(&lock);
    d = find(id);
    have = d && d->q.doorbells;
    pthread_mutex_unlock(&lock);
    return have;
}

int hx_slots_destroy(uint64_t id)
{
    struct dspqueue *d;
    int rc = AEE_SUCCESS;

    pthread_mutex_lock(&lock);
    d = find(id);
    if (!d) {
        rc = AEE_ENOSUCH;
    } else if (d->imported) {
        rc = AEE_EITEMBUSY;
    } else {
        hx_dspq_fini(&d->q);
        hx_bindings_ref(d->host_fd, -1, NULL, NULL);
        d->id = 0;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_slots_imported(uint64_t id, int32_t *imported)
{
    struct dspqueue *d;

    pthread_mutex_lock(&lock);
    d = find(id);
    if (d)
        *imported = d->imported;
    pthread_mutex_unlock(&lock);
    return d ? AEE_SUCCESS : AEE_ENOSUCH;
}

struct dspqueue *hx_slots_import(uint64_t id, int *rc)
{
    struct dspqueue *d;

    pthread_mutex_lock(&lock);
    d = find(id);
    *rc = !d ? AEE_ENOSUCH : d->imported ? AEE_EITEMBUSY : AEE_SUCCESS;
    if (*rc)
        d = NULL;
    else
        d->imported = 1;
    pthread_mutex_unlock(&lock);
    return d;
}

void hx_slots_release(struct dspqueue *d)
{
    pthread_mutex_lock(&lock);
    d->imported = 0;
    pthread_mutex_unlock(&lock);
}

void hx_slots_poke_all(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < DSPQUEUE_MAX_PROCESS_QUEUES; i++)
        if (slots[i].id)
            hx_dspq_poke(&slots[i].q);
    pthread_mutex_unlock(&lock);
}
