/* Batches with guesses at densities whose tokens otherwise come one by one.
 *
 * Where a call has the blocks of all layers, a batch cannot get its own blocks back from the DSP: they are encoded when its last
 * layer is put, and later layers were made with what earlier ones read.  So of a batch the blocks of its own tokens are made here as
 * well, with the DSP's numbers and bits (rpc/block/hx_block_dsp.h), and the calls stay those of one token: x gets what would come back,
 * layer by layer, and what was put waits in `raw` until it is to be encoded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/draft.h"
#include "kv_spinor_dispatch.h"

enum { MOST = 1 + HX_DRAFT_MAX, BLOCK_BYTES = 256 };

struct hx_spinor_guess {
    size_t pos, n; /* of the last batch; n 0: it was a single token */
    float *raw;    /* [MOST] positions as x has them: what was put */
};

static void copy_layer(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n)
{
    const size_t stride = hx_spinor_stride(s), row = s->n_slots * s->shape->dh;

    for (size_t i = 0; i < n; i++)
        memcpy(s->guess->raw + i * stride + layer * row, hx_spinor_x(s, layer, pos + i), row * sizeof(float));
}

void hx_spinor_guess_begin(struct hx_kv_spinor *s)
{
    struct hx_spinor_guess *g = s->guess;

    if (g && g->n)
        memcpy(hx_spinor_x(s, 0, g->pos), g->raw, g->n * hx_spinor_stride(s) * sizeof(float));
    if (g)
        g->n = 0;
}

void hx_spinor_guess_put(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n)
{
    struct hx_spinor_guess *g = s->guess;

    if (!g || n < 2)
        return;
    copy_layer(s, layer, pos, n);
    g->pos = pos;
    g->n = n;
    if (layer + 1 == s->kv.n_layer)
        memcpy(hx_spinor_x(s, 0, pos), g->raw, n * hx_spinor_stride(s) * sizeof(float));
}

int hx_spinor_guess_decode(struct hx_kv_spinor *s, size_t layer, struct hx_error *err)
{
    const struct hx_spinor_guess *g = s->guess;
    uint8_t block[BLOCK_BYTES];

    if (!g || !g->n)
        return 0;
    for (size_t i = 0; i < (g->n - 1) * s->n_slots; i++) { /* the last token is nobody's past */
        const size_t slot = layer * s->n_slots + i % s->n_slots;
        float *x = hx_spinor_x(s, layer, g->pos + i / s->n_slots) + i % s->n_slots * s->shape->dh;

        if (hx_block_dsp_encode(s->exact, slot, x, block) || hx_block_dsp_decode(s->exact, slot, block, x))
            return hx_error_set(err, -EIO, "kv spinor: a vector of a guess cannot be encoded at layer %zu, position %zu", layer,
                                g->pos + i / s->n_slots);
    }
    return 0;
}

size_t hx_spinor_guess_past(const struct hx_kv_spinor *s, size_t n)
{
    return s->guess && s->guess->n && s->guess->pos < n ? s->guess->pos : n;
}

size_t hx_spinor_guess_rows(const struct hx_kv_spinor *s)
{
    return s->guess && s->guess->n ? s->guess->n - 1 : 0;
}

void hx_spinor_guess_keep(struct hx_kv_spinor *s, const size_t *index, size_t n)
{
    struct hx_spinor_guess *g = s->guess;

    if (!g || !g->n)
        return;
    hx_spinor_gather(g->raw, index, n, hx_spinor_stride(s) * sizeof(float));
    g->n = n;
}

/* What a call with the blocks of all layers needs; without tables of the DSP's numbers it stays one token a batch. */
static int open_guess(struct hx_kv_spinor *s, const struct hx_cal *cal, struct hx_error *err)
{
    if (!hx_block_dsp_has(&cal->format) || s->shape->slot > BLOCK_BYTES)
        return 0;
    s->guess = calloc(1, sizeof(*s->guess));
    s->exact = hx_block_dsp_open(&cal->format, cal->tables, cal->n_slots);
    if (s->guess)
        s->guess->raw = calloc(MOST * hx_spinor_stride(s), sizeof(float));
    return s->guess && s->guess->raw && s->exact ? 0 : hx_error_set(err, -ENOMEM, "kv spinor: no memory for guesses");
}

int hx_kv_spinor_take_guesses(struct hx_kv *kv, const struct hx_cal *cal, struct hx_error *err)
{
    struct hx_kv_spinor *s = (struct hx_kv_spinor *)kv;
    int rc = s->dispatch->by_token ? open_guess(s, cal, err) : 0;

    if (rc || kv->max_batch > 1 || (s->dispatch->by_token && !s->guess))
        return rc;
    kv->prompt_batch = kv->max_batch;
    kv->max_batch = kv->n_ctx < MOST ? kv->n_ctx : MOST;
    return 0;
}

void hx_spinor_guess_close(struct hx_spinor_guess *g)
{
    if (g)
        free(g->raw);
    free(g);
}
