/* Places for keys and the walk over them, see ntt_kv_store.h. */
#include "ntt_kv_store.h"

#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_purpose.h"

enum { ALIGN = 128 };

/* Bytes of one position in all layers; 0: 2 GiB or more, or nothing. */
static size_t bytes_each(const struct hx_store_cfg *cfg)
{
    size_t words = cfg->layers, bytes;

    if (__builtin_mul_overflow(words, cfg->heads, &words) || __builtin_mul_overflow(words, cfg->block_words, &words) ||
        __builtin_mul_overflow(words, sizeof(uint32_t), &bytes) || bytes > INT32_MAX)
        return 0;
    return bytes;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void use(struct hx_store *s, enum hx_store_place place, uint32_t *blocks, size_t positions, size_t each)
{
    s->place[place].first = s->positions;
    s->place[place].positions = positions;
    s->place[place].blocks = blocks;
    s->positions += positions;
    if (!blocks)
        return;
    memset(blocks, 0, positions * each); /* a position that nobody put has no stray residues */
    hx_purpose_set(blocks, positions * each, HX_PURPOSE_KV);
}

static void begin(struct hx_store *s, const struct hx_store_cfg *cfg)
{
    *s = (struct hx_store){.layers = cfg->layers, .heads = cfg->heads, .block_words = cfg->block_words};
}

static int too_large(const struct hx_store_cfg *cfg)
{
    FARF(ERROR, "ntt_kv: a cache of %zu layers, %zu positions, %zu heads takes 2 GiB or more", cfg->layers, cfg->positions,
         cfg->heads);
    return AEE_EBADPARM;
}

int hx_store_make(struct hx_store *s, const struct hx_store_cfg *cfg)
{
    const size_t each = bytes_each(cfg);
    uint32_t *blocks;

    if (!each || cfg->positions > INT32_MAX / each)
        return too_large(cfg);
    blocks = aligned_alloc(ALIGN, cfg->positions * each);
    if (!blocks) {
        FARF(ERROR, "ntt_kv: heap: need %zu bytes for %zu layers, %zu positions", cfg->positions * each, cfg->layers,
             cfg->positions);
        return AEE_ENOMEMORY;
    }
    begin(s, cfg);
    use(s, HX_STORE_VTCM, NULL, 0, each);
    use(s, HX_STORE_HEAP, blocks, cfg->positions, each);
    return AEE_SUCCESS;
}

/* As much of the wanted VTCM as is free in one piece. */
static void take_vtcm(struct hx_store *s, const struct hx_store_cfg *cfg, size_t each)
{
    unsigned free_bytes = 0, page, pages;
    size_t positions;
    uint32_t *blocks;

    if (cfg->vtcm_bytes)
        HAP_query_avail_VTCM(&free_bytes, &page, &pages);
    positions = least(cfg->positions, least(cfg->vtcm_bytes, free_bytes) / each);
    blocks = positions ? HAP_request_VTCM((unsigned)(positions * each), 0) : NULL;
    use(s, HX_STORE_VTCM, blocks, blocks ? positions : 0, each);
}

static size_t an_eighth_less(size_t n)
{
    return n - (n + 7) / 8;
}

/* What the heap has in one piece.  Where it is not enough, something is left for what calls and other skels need. */
static void take_heap(struct hx_store *s, const struct hx_store_cfg *cfg, size_t each)
{
    const size_t wanted = least(cfg->positions - s->positions, least(cfg->heap_bytes, INT32_MAX) / each);
    size_t positions = wanted;
    uint32_t *blocks = NULL;

    while (positions && !(blocks = aligned_alloc(ALIGN, positions * each)))
        positions = an_eighth_less(positions);
    if (positions < wanted) {
        free(blocks);
        positions = an_eighth_less(positions);
        blocks = positions ? aligned_alloc(ALIGN, positions * each) : NULL;
    }
    use(s, HX_STORE_HEAP, blocks, blocks ? positions : 0, each);
}

int hx_store_make_within(struct hx_store *s, const struct hx_store_cfg *cfg)
{
    const size_t each = bytes_each(cfg);

    if (!each)
        return too_large(cfg);
    begin(s, cfg);
    take_vtcm(s, cfg, each);
    take_heap(s, cfg, each);
    if (s->positions < cfg->positions)
        FARF(HIGH, "ntt_kv: %zu of %zu positions fit, %zu of them in VTCM; the client keeps the others", s->positions,
             cfg->positions, s->place[HX_STORE_VTCM].positions);
    return AEE_SUCCESS;
}

void hx_store_drop(struct hx_store *s)
{
    const size_t each = s->layers * s->heads * s->block_words * sizeof(uint32_t);

    for (int p = 0; p < HX_STORE_PLACES; p++)
        if (s->place[p].blocks)
            hx_purpose_set(s->place[p].blocks, s->place[p].positions * each, HX_PURPOSE_OTHER);
    if (s->place[HX_STORE_VTCM].blocks)
        HAP_release_VTCM(s->place[HX_STORE_VTCM].blocks);
    free(s->place[HX_STORE_HEAP].blocks);
    *s = (struct hx_store){.layers = 0};
}

uint32_t *hx_store_block(const struct hx_store *s, size_t layer, size_t pos, size_t head)
{
    const enum hx_store_place p = pos < s->place[HX_STORE_VTCM].positions ? HX_STORE_VTCM : HX_STORE_HEAP;
    const size_t row = layer * s->place[p].positions + pos - s->place[p].first;

    return s->place[p].blocks + (row * s->heads + head) * s->block_words;
}

int hx_store_dots(const struct hx_store *s, const struct hx_ring *r, size_t at, size_t layer, size_t head, size_t first,
                  size_t count, const uint32_t *v, uint32_t *sums, struct hx_store_read *read)
{
    int rc = AEE_SUCCESS;

    for (int p = 0; p < HX_STORE_PLACES && count && !rc; p++) {
        const size_t end = s->place[p].first + s->place[p].positions;
        const size_t n = first < end ? least(count, end - first) : 0;

        if (!n)
            continue;
        rc = hx_ring_dots_hvx(r, sums, v, hx_store_block(s, layer, first, head) + at, s->heads * s->block_words, n);
        read->bytes[p] += n * (size_t)r->n * sizeof(uint32_t);
        first += n;
        count -= n;
        sums += n;
    }
    return rc;
}
