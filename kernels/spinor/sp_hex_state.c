/* Handles of interface sp_hex: what belongs to each, and the corrupt blocks that its calls met. */
#include "sp_hex_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "HAP_farf.h"
#include "skel/parallel.h"

void hx_sp_drop_tables(struct hx_sp_state *s)
{
    hx_sp_tables_close(s->hvx);
    free(s->codec);
    free(s->steps);
    s->hvx = NULL;
    s->codec = NULL;
    s->steps = NULL;
    s->shape = NULL;
}

/* --- handles */

static void drop(struct hx_handle *h)
{
    struct hx_sp_state *s = (struct hx_sp_state *)h;

    hx_sp_drop_tables(s);
    pthread_rwlock_destroy(&s->lock);
    pthread_mutex_destroy(&s->corrupt_lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pool);
}

static struct hx_handles handles = HX_HANDLES("sp_hex", drop, idle);

int hx_sp_open(const char *uri, remote_handle64 *h)
{
    struct hx_sp_state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    pthread_rwlock_init(&s->lock, NULL);
    pthread_mutex_init(&s->corrupt_lock, NULL);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int hx_sp_close(remote_handle64 h)
{
    return hx_handle_close(&handles, h);
}

struct hx_sp_state *hx_sp_get(remote_handle64 h)
{
    return (struct hx_sp_state *)hx_handle_get(&handles, h);
}

void hx_sp_put(struct hx_sp_state *s)
{
    hx_handle_put(&handles, &s->handle);
}

/* --- corrupt blocks */

void hx_sp_note_corrupt(struct hx_sp_state *s, const char *what, size_t first, size_t n_slots,
                        const struct hx_spinor_faults *faults)
{
    const size_t listed = faults->n < HX_SPINOR_FAULTS ? faults->n : HX_SPINOR_FAULTS;
    char text[64 * HX_SPINOR_FAULTS];
    size_t used = 0;

    for (size_t i = 0; i < listed; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "; slot %zu, position %zu",
                                 first + faults->at[i] % n_slots, faults->at[i] / n_slots);
    FARF(ERROR, "sp_hex: %s: %zu corrupt blocks (CRC-8, fill or a non-finite field)%s%s", what,
         faults->n, text, faults->n > listed ? "; ..." : "");
    pthread_mutex_lock(&s->corrupt_lock);
    s->corrupt.total += faults->n;
    s->corrupt.slot = (uint32_t)(first + faults->at[0] % n_slots);
    s->corrupt.position = (uint32_t)(faults->at[0] / n_slots);
    pthread_mutex_unlock(&s->corrupt_lock);
}

void hx_sp_merge_faults(struct hx_spinor_faults *all, const struct hx_spinor_faults *part)
{
    size_t listed = all->n < HX_SPINOR_FAULTS ? all->n : HX_SPINOR_FAULTS;

    for (size_t i = 0; i < part->n && i < HX_SPINOR_FAULTS; i++) {
        size_t to = listed < HX_SPINOR_FAULTS ? listed++ : HX_SPINOR_FAULTS;

        for (; to > 0 && all->at[to - 1] > part->at[i]; to--)
            if (to < HX_SPINOR_FAULTS)
                all->at[to] = all->at[to - 1];
        if (to < HX_SPINOR_FAULTS)
            all->at[to] = part->at[i];
    }
    all->n += part->n;
}

struct hx_sp_corrupt hx_sp_corrupt_of(struct hx_sp_state *s)
{
    pthread_mutex_lock(&s->corrupt_lock);
    const struct hx_sp_corrupt c = s->corrupt;
    pthread_mutex_unlock(&s->corrupt_lock);
    return c;
}
