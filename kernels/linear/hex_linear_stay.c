/* Decides what stays in VTCM, see hex_linear_stay.h. */
#include "hex_linear_stay.h"

#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_purpose.h"

void hx_linear_vtcm_release(struct hx_linear_vtcm *v)
{
    if (v->at) {
        hx_purpose_set(v->at, v->bytes, HX_PURPOSE_OTHER);
        HAP_release_VTCM(v->at);
    }
    *v = (struct hx_linear_vtcm){NULL, 0};
}

static size_t group_bytes(const struct hx_linear_matrix *m)
{
    return hx_weights_group_bytes(m->type, m->cols);
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hx_linear_tile_groups(const struct hx_linear_matrix *m, size_t slot)
{
    enum { PIECES = 4, LEAST = 4 };
    const size_t quarter = (hx_weights_groups(m->rows) + PIECES - 1) / PIECES;

    return min(quarter > LEAST ? quarter : LEAST, slot / group_bytes(m));
}

/* What the matrices are together. */
struct sizes {
    size_t all, tile, group; /* bytes: of everything, of the largest tile, of the largest group */
};

static struct sizes measure(const struct hx_linear_matrix *m, size_t n)
{
    struct sizes s = {0, 0, 0};

    for (size_t i = 0; i < n; i++) {
        const size_t group = group_bytes(&m[i]), tile = hx_linear_tile_groups(&m[i], HX_WEIGHTS_SLOT) * group;

        s.all += hx_weights_groups(m[i].rows) * group;
        s.tile = tile > s.tile ? tile : s.tile;
        s.group = group > s.group ? group : s.group;
    }
    return s;
}

/* Of a slot: no more than the two being half of what is free, as long as that is a group. */
static size_t slot_bytes(const struct sizes *s, size_t free_bytes)
{
    const size_t fair = free_bytes / 4 / HX_WEIGHTS_VECTOR * HX_WEIGHTS_VECTOR, most = min(s->tile, fair);

    return most > s->group ? most : s->group;
}

static void place(struct hx_linear_stays *s, const struct hx_linear_matrix *m, const uint8_t *at, size_t room)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t group = group_bytes(&m[i]);

        s->of[i] = (struct hx_linear_stay){.groups = min(hx_weights_groups(m[i].rows), room / group), .at = at};
        at += s->of[i].groups * group;
        room -= s->of[i].groups * group;
    }
}

static int take(struct hx_linear_stays *s, const struct hx_linear_matrix *m, struct hx_linear_vtcm *v, int may_do_without)
{
    const struct sizes sizes = measure(m, s->n);
    unsigned block = 0, page = 0, pages = 0;
    size_t bytes;

    HAP_query_avail_VTCM(&block, &page, &pages);
    s->slot = sizes.all <= block ? 0 : slot_bytes(&sizes, block);
    bytes = s->slot ? block : sizes.all;
    v->at = bytes && 2 * s->slot <= bytes ? HAP_request_VTCM((unsigned)bytes, 0) : NULL;
    if (!v->at && may_do_without) {
        s->nothing = 1;
        s->slot = 0;
        FARF(HIGH, "hex_linear: vtcm: %u bytes are free, too few for weights: they are read where they lie", block);
        return AEE_SUCCESS;
    }
    if (!v->at) {
        FARF(ERROR, "hex_linear: vtcm: need %zu bytes for weights, %u free", 2 * s->slot, block);
        return AEE_ENOMEMORY;
    }
    v->bytes = bytes;
    hx_purpose_set(v->at, bytes, HX_PURPOSE_WEIGHTS);
    place(s, m, v->at + 2 * s->slot, bytes - 2 * s->slot);
    return AEE_SUCCESS;
}

int hx_linear_stays_plan(struct hx_linear_stays **out, const struct hx_linear_matrix *m, size_t n, struct hx_linear_vtcm *v,
                         int may_do_without)
{
    struct hx_linear_stays *s = calloc(1, sizeof(*s) + n * sizeof(s->of[0]));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->n = n;
    hx_linear_vtcm_release(v);
    rc = take(s, m, v, may_do_without);
    *out = s;
    if (rc)
        hx_linear_stays_drop(out);
    return rc;
}

void hx_linear_stays_drop(struct hx_linear_stays **s)
{
    free(*s);
    *s = NULL;
}
