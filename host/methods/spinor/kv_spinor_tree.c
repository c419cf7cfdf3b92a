/* Trees of tokens in the spinor cache: where an entry's token stands in its text, and what becomes of entries that are kept.  Their
 * blocks are moved, never coded again. */
#include <errno.h>
#include <string.h>

#include "kv_spinor_dispatch.h"

size_t hx_spinor_text_pos(const struct hx_kv_spinor *s, size_t pos)
{
    const struct hx_kv_tree *t = &s->tree;

    return pos < t->pos || pos >= t->pos + t->n ? pos : t->at[pos - t->pos];
}

void hx_spinor_tree(struct hx_kv *kv, const struct hx_kv_tree *t)
{
    ((struct hx_kv_spinor *)kv)->tree = t ? *t : (struct hx_kv_tree){.n = 0};
}

static uint8_t *entries(const struct hx_kv_spinor *s, size_t layer)
{
    return s->entries + layer * HX_SPINOR_ENTRIES * s->n_slots * s->shape->slot;
}

int hx_spinor_note_entries(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    if (!s->tree.n)
        return 0;
    if (n > HX_SPINOR_ENTRIES)
        return hx_error_set(err, -EINVAL, "kv spinor: a tree of %zu tokens; with pages %d are the limit", n, HX_SPINOR_ENTRIES);
    memcpy(entries(s, layer), hx_spinor_blocks(s, layer, pos), n * s->n_slots * s->shape->slot);
    return 0;
}

/* In the file they are put once more. */
static int keep_in_file(struct hx_kv_spinor *s, size_t pos, const size_t *index, size_t n, struct hx_error *err)
{
    int rc = 0;

    for (size_t layer = 0; !rc && layer < s->kv.n_layer; layer++) {
        hx_spinor_gather(entries(s, layer), index, n, s->n_slots * s->shape->slot);
        rc = hx_spill_put(s->spill, layer, pos, n, entries(s, layer), err);
    }
    return rc;
}

int hx_spinor_keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err)
{
    struct hx_kv_spinor *s = (struct hx_kv_spinor *)kv;
    const size_t of_layer = s->n_slots * s->shape->slot;

    s->tree.n = 0;
    s->decoded = s->decoded < pos ? s->decoded : pos;
    if (s->spill)
        return keep_in_file(s, pos, index, n, err);
    hx_spinor_guess_keep(s, index, n);
    if (s->dispatch->keep)
        s->dispatch->keep(s, pos, n);
    if (s->dispatch->by_token)
        hx_spinor_gather(hx_spinor_blocks(s, 0, pos), index, n, kv->n_layer * of_layer);
    for (size_t layer = 0; !s->dispatch->by_token && layer < kv->n_layer; layer++)
        hx_spinor_gather(hx_spinor_blocks(s, layer, pos), index, n, of_layer);
    return 0;
}
