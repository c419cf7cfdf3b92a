/* Tables of a handle in VTCM, or in DDR with windows that DMA fills, see sp_hex_tables.h. */
#include "sp_hex_tables.h"

#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_dma.h"
#include "hexrig_purpose.h"
#include "qurt_mutex.h"

enum { SIDES = 2, ALIGN = sizeof(HVX_Vector) };

static const enum hx_spinor_use use_of[HX_SP_USES] = {
    [HX_SP_ENCODE] = HX_SPINOR_ENCODE,
    [HX_SP_DECODE] = HX_SPINOR_DECODE,
    [HX_SP_DECODE_V] = HX_SPINOR_DECODE,
};

struct window {
    struct hx_spinor *k;
    size_t first, n; /* slots that it holds */
};

/* The two windows of a use. */
struct pair {
    struct window side[SIDES];
    unsigned recent;           /* the side that was used last; the other one is fetched into */
    size_t expected;           /* first slot of the next call, if calls go through the slots in order */
    struct hx_dma_type0 *chain; /* room for a window's descriptors */
};

struct hx_sp_tables {
    struct hx_spinor *all; /* in VTCM, or in DDR when there are windows */
    size_t all_bytes;
    void *vtcm;
    size_t vtcm_bytes;
    size_t slots;               /* of a window; 0: there are none */
    qurt_mutex_t lock;          /* held by a walk over windows; protects what follows */
    struct pair pair[HX_SP_USES];
    struct hx_dma_type0 *tail;  /* last descriptor of what is under way; NULL: nothing is */
};

const struct hx_spinor *hx_sp_tables_of(const struct hx_sp_tables *t)
{
    return t->all;
}

size_t hx_sp_tables_vtcm(const struct hx_sp_tables *t)
{
    return t->vtcm_bytes;
}

/* --- memory */

static void *request_vtcm(struct hx_sp_tables *t, size_t bytes, size_t n_slots)
{
    unsigned block = 0, page = 0, pages = 0;

    t->vtcm = HAP_request_VTCM((unsigned)bytes, 1);
    t->vtcm_bytes = t->vtcm ? bytes : 0;
    hx_purpose_set(t->vtcm, t->vtcm_bytes, HX_PURPOSE_TABLES);
    if (!t->vtcm) {
        HAP_query_avail_VTCM(&block, &page, &pages);
        FARF(ERROR, "sp_hex: vtcm: need %zu bytes for %zu slots, largest free block is %u", bytes,
             n_slots, block);
    }
    return t->vtcm;
}

/* Bytes of VTCM that there are, whoever holds them. */
static size_t all_vtcm(void)
{
    unsigned page = 0, pages = 0;

    HAP_query_total_VTCM(&page, &pages);
    return (size_t)page * pages;
}

static void *heap(size_t bytes)
{
    void *p = aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);

    if (!p)
        FARF(ERROR, "sp_hex: heap: need %zu bytes", bytes);
    return p;
}

/* Bytes of one slot in all windows. */
static size_t slot_bytes(const struct hx_spinor *all)
{
    size_t bytes = 0;

    for (int u = 0; u < HX_SP_USES; u++)
        bytes += SIDES * hx_spinor_window_slot(all, use_of[u]);
    return bytes;
}

static size_t fixed_bytes(const struct hx_spinor *all)
{
    return SIDES * HX_SP_USES * hx_spinor_common() + all->slot_at - hx_spinor_common();
}

/* VTCM: the windows' heads, what all slots have in common, then the windows' slots. */
static void place_windows(struct hx_sp_tables *t)
{
    const size_t head = hx_spinor_common();
    uint8_t *common = (uint8_t *)t->vtcm + SIDES * HX_SP_USES * head;
    uint8_t *slots = common + t->all->slot_at - head;

    memcpy(common, (const uint8_t *)t->all + head, t->all->slot_at - head);
    for (int u = 0; u < HX_SP_USES; u++) {
        for (int side = 0; side < SIDES; side++) {
            struct window *w = &t->pair[u].side[side];

            w->k = (void *)((uint8_t *)t->vtcm + (size_t)(SIDES * u + side) * head);
            hx_spinor_window(t->all, use_of[u], t->slots, common, slots, w->k);
            slots += t->slots * w->k->slot_bytes;
        }
    }
}

static int open_windows(struct hx_sp_tables *t)
{
    const size_t each = slot_bytes(t->all), fixed = fixed_bytes(t->all), room = all_vtcm() / 2;

    t->slots = fixed + each < room ? (room - fixed) / each : 1;
    t->slots = t->slots < t->all->n_slots ? t->slots : t->all->n_slots;
    if (!request_vtcm(t, fixed + t->slots * each, t->slots))
        return AEE_ENOMEMORY;
    for (int u = 0; u < HX_SP_USES; u++) {
        t->pair[u].chain = heap(t->slots * HX_SPINOR_PIECES * sizeof(struct hx_dma_type0));
        if (!t->pair[u].chain)
            return AEE_ENOMEMORY;
    }
    place_windows(t);
    FARF(HIGH, "sp_hex: tables of %u slots stay in DDR, %zu at a time come to VTCM by DMA",
         t->all->n_slots, t->slots);
    return AEE_SUCCESS;
}

static int build(struct hx_sp_tables *t, const struct hx_codec_format *f, const void *bytes,
                 size_t n_slots)
{
    const size_t need = hx_spinor_bytes(f, n_slots);
    int rc = AEE_SUCCESS;

    qurt_mutex_init(&t->lock);
    if (need == 0) {
        FARF(ERROR, "sp_hex: the tables of %zu slots need more than 4 GiB", n_slots);
        return AEE_ENOMEMORY;
    }
    t->all = need > all_vtcm() ? heap(need) : request_vtcm(t, need, n_slots);
    if (!t->all)
        return AEE_ENOMEMORY;
    t->all_bytes = need;
    hx_purpose_set(t->all, need, HX_PURPOSE_TABLES);
    rc = hx_spinor_init(t->all, need, f, bytes, n_slots);
    return rc || t->vtcm ? rc : open_windows(t);
}

int hx_sp_tables_open(struct hx_sp_tables **t, const struct hx_codec_format *f, const void *bytes,
                      size_t n_slots)
{
    int rc;

    *t = calloc(1, sizeof(**t));
    if (!*t)
        return AEE_ENOMEMORY;
    rc = build(*t, f, bytes, n_slots);
    if (rc) {
        hx_sp_tables_close(*t);
        *t = NULL;
    }
    return rc;
}

void hx_sp_tables_close(struct hx_sp_tables *t)
{
    if (!t)
        return;
    for (int u = 0; u < HX_SP_USES; u++)
        free(t->pair[u].chain);
    hx_purpose_set(t->all, t->all_bytes, HX_PURPOSE_OTHER);
    hx_purpose_set(t->vtcm, t->vtcm_bytes, HX_PURPOSE_OTHER);
    if (t->all != t->vtcm)
        free(t->all);
    if (t->vtcm)
        HAP_release_VTCM(t->vtcm);
    qurt_mutex_destroy(&t->lock);
    free(t);
}

/* --- fetching */

static int is_low(const void *p)
{
    return (uintptr_t)p <= UINT32_MAX;
}

/* DMA has 32-bit addresses.  Memory of a DSP lies below 4 GiB; that of a program built with a sanitizer does not, and is
 * copied. */
static void move(struct hx_sp_tables *t, struct hx_dma_type0 *d, const uint8_t *from, uint8_t *to,
                 size_t bytes)
{
    if (!is_low(d) || !is_low(from) || !is_low(to)) {
        memcpy(to, from, bytes);
        return;
    }
    *d = (struct hx_dma_type0){.length = (uint32_t)bytes,
                               .src = (uint32_t)(uintptr_t)from,
                               .dst = (uint32_t)(uintptr_t)to};
    Q6_dmlink_AA(t->tail, d);
    t->tail = d;
}

/* Starts fetching n slots, at most a window, into the side that is not in use. */
static void fetch(struct hx_sp_tables *t, enum hx_sp_use use, size_t first, size_t n)
{
    struct pair *p = &t->pair[use];
    struct window *w = &p->side[1 - p->recent];
    struct hx_spinor_piece piece[HX_SPINOR_PIECES];
    const size_t pieces = hx_spinor_window_parts(t->all, use_of[use], piece);

    w->first = first;
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *from = (const uint8_t *)t->all + t->all->slot_at +
                              (first + i) * t->all->slot_bytes;
        uint8_t *to = (uint8_t *)w->k + w->k->slot_at + i * w->k->slot_bytes;

        for (size_t j = 0; j < pieces; j++)
            move(t, &p->chain[i * pieces + j], from + piece[j].from, to + piece[j].to,
                 piece[j].bytes);
    }
}

static void forget_all(struct hx_sp_tables *t)
{
    for (int u = 0; u < HX_SP_USES; u++)
        for (int side = 0; side < SIDES; side++)
            t->pair[u].side[side].n = 0;
}

static int wait_for_fetches(struct hx_sp_tables *t)
{
    if (!t->tail)
        return AEE_SUCCESS;
    t->tail = NULL;
    const int status = Q6_R_dmwait();
    if ((status & HX_DMA_STATUS_MASK) == HX_DMA_IDLE)
        return AEE_SUCCESS;
    forget_all(t);
    FARF(ERROR, "sp_hex: DMA of tables failed, status 0x%08x", (unsigned)status);
    return AEE_EFAILED;
}

/* The side that holds a slot, or SIDES. */
static unsigned side_of(const struct pair *p, size_t slot)
{
    unsigned side = 0;

    while (side < SIDES &&
           (slot < p->side[side].first || slot >= p->side[side].first + p->side[side].n))
        side++;
    return side;
}

/* --- walks */

void hx_sp_walk_begin(struct hx_sp_walk *w, struct hx_sp_tables *t, size_t n_slots, unsigned n_uses,
                      const enum hx_sp_use *use, const size_t *first)
{
    *w = (struct hx_sp_walk){.t = t, .n_uses = n_uses, .n_slots = n_slots};
    for (unsigned i = 0; i < n_uses; i++) {
        w->use[i] = use[i];
        w->first[i] = first[i];
    }
    if (t->slots)
        qurt_mutex_lock(&t->lock);
}

/* The step needs the tables of w->n slots of a use. */
static void needed(const struct hx_sp_walk *w, unsigned i, int was_there)
{
    const size_t bytes = w->n * hx_spinor_window_slot(w->t->all, use_of[w->use[i]]);

    hx_purpose_needed(was_there ? bytes : 0, was_there ? 0 : bytes);
}

/* Has the slots from w->done on in windows; w->n becomes how many all uses have there. */
static int arrive(struct hx_sp_walk *w)
{
    struct hx_sp_tables *t = w->t;
    int was_there[2] = {1, 1}, rc;

    for (unsigned i = 0; i < w->n_uses; i++)
        was_there[i] = side_of(&t->pair[w->use[i]], w->first[i] + w->done) != SIDES;
    for (unsigned i = 0; i < w->n_uses; i++)
        if (!was_there[i])
            fetch(t, w->use[i], w->first[i] + w->done, w->n < t->slots ? w->n : t->slots);
    rc = wait_for_fetches(t);
    for (unsigned i = 0; i < w->n_uses && !rc; i++) {
        struct pair *p = &t->pair[w->use[i]];
        const size_t slot = w->first[i] + w->done;

        p->recent = side_of(p, slot);
        const struct window *now = &p->side[p->recent];
        const size_t there = now->first + now->n - slot;
        w->at[i].k = now->k;
        w->at[i].first = slot - now->first;
        w->n = there < w->n ? there : w->n;
    }
    for (unsigned i = 0; i < w->n_uses && !rc; i++)
        needed(w, i, was_there[i]);
    return rc;
}

/* Starts fetching what follows this step: more of the call, or what the next call wants if it goes on from here as this one
 * went on from the one before. */
static void look_ahead(struct hx_sp_walk *w)
{
    struct hx_sp_tables *t = w->t;
    const size_t all = t->all->n_slots, behind = w->done + w->n;

    for (unsigned i = 0; i < w->n_uses; i++) {
        struct pair *p = &t->pair[w->use[i]];
        size_t slot = w->first[i] + behind, n = w->n_slots - behind;

        if (n == 0) {
            const size_t step = w->n_uses == 1 ? w->n_slots : 2 * w->n_slots;
            const int in_order = w->first[i] == p->expected;

            slot = p->expected = w->first[i] + step < all ? w->first[i] + step
                                                          : (w->first[i] + step) % all;
            n = in_order ? w->n_slots : 0;
            n = n < all - slot ? n : all - slot;
        }
        if (n > 0 && side_of(p, slot) == SIDES)
            fetch(t, w->use[i], slot, n < t->slots ? n : t->slots);
    }
}

int hx_sp_walk_step(struct hx_sp_walk *w)
{
    struct hx_sp_tables *t = w->t;
    int rc = AEE_SUCCESS;

    w->done += w->n;
    w->n = w->n_slots - w->done;
    if (t->slots == 0) {
        for (unsigned i = 0; i < w->n_uses; i++) {
            w->at[i].k = t->all;
            w->at[i].first = w->first[i];
            needed(w, i, 1);
        }
        return AEE_SUCCESS;
    }
    rc = w->n ? arrive(w) : wait_for_fetches(t);
    if (w->n && !rc)
        look_ahead(w);
    return rc;
}

void hx_sp_walk_end(struct hx_sp_walk *w)
{
    struct hx_sp_tables *t = w->t;

    if (!t->slots)
        return;
    (void)wait_for_fetches(t);
    qurt_mutex_unlock(&t->lock);
}
