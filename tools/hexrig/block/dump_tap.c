/* Keeps K and V of a run and encodes them with the reference codec, see dump_tap.h. */
#include "dump_tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static float *vector(const struct hx_dump *d, size_t slot, size_t pos)
{
    return d->vectors + (slot * d->n + pos) * d->m->dh;
}

/* All K or all V of one layer for the positions of a batch. */
static int keep(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct hx_dump *d = (struct hx_dump *)t;
    const size_t n_kv = d->m->n_kv, dh = d->m->dh;
    const int is_k = at->point == HX_TAP_K;
    const struct hx_rope *rope = hx_ropes_of(&d->ropes, at->layer);

    (void)err;
    for (size_t i = 0; i < at->n; i++)
        for (size_t head = 0; head < n_kv; head++) {
            float *x = vector(d, at->layer * 2 * n_kv + (is_k ? 0 : n_kv) + head, at->pos[i]);

            memcpy(x, rows + i * at->row + head * dh, dh * sizeof(*x));
            if (is_k && !d->cal->k_after_rope)
                hx_rope_undo(rope, x, at->pos[i]);
        }
    return 0;
}

int hx_dump_init(struct hx_dump *d, const struct hx_model *m, const struct hx_cal *cal, size_t n, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "dump", .at = keep};
    int rc;

    *d = (struct hx_dump){.tap = {&ops, 1u << HX_TAP_K | 1u << HX_TAP_V}, .m = m, .cal = cal, .n = n};
    rc = hx_ropes_init(&d->ropes, &m->rope, n);
    d->vectors = calloc((size_t)cal->n_slots * n, m->dh * sizeof(*d->vectors));
    d->blocks = calloc((size_t)cal->n_slots * n, cal->format.shape->slot);
    return rc || !d->vectors || !d->blocks ? hx_error_set(err, -ENOMEM, "out of memory: %zu positions of %u slots", n, cal->n_slots)
                                           : 0;
}

/* 0 or -EDOM. */
static int encode_slot(struct hx_dump *d, const struct hx_codec *codec, size_t slot, struct hx_error *err)
{
    const size_t bytes = d->cal->format.shape->slot, n_kv = d->m->n_kv;
    uint8_t block[HX_BLOCK_MAX_SLOT];

    for (size_t pos = 0; pos < d->n; pos++) {
        if (hx_codec_encode(codec, slot, vector(d, slot, pos), block))
            return hx_error_set(err, -EDOM, "layer %zu, head %zu, position %zu: %s cannot be encoded: a value is not finite or too "
                                "large for a block", slot / (2 * n_kv), slot % n_kv, pos, slot / n_kv % 2 ? "V" : "K");
        memcpy(d->blocks + (slot * d->n + pos) * bytes, block, bytes);
    }
    return 0;
}

int hx_dump_encode(struct hx_dump *d, struct hx_error *err)
{
    struct hx_codec *codec = hx_cal_codec(d->cal);
    int rc = codec ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t slot = 0; !rc && slot < d->cal->n_slots; slot++)
        rc = encode_slot(d, codec, slot, err);
    free(codec);
    return rc;
}

void hx_dump_free(struct hx_dump *d)
{
    hx_ropes_free(&d->ropes);
    free(d->vectors);
    free(d->blocks);
}
