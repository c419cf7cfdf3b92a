/* Noise as K and V, and as tables to code it with. */
#include "geometry.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/attn.h"
#include "hx_f16.h"
#include "hx_vht2.h"

/* SplitMix64.  Source: Steele, Lea, Flood 2014. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* [-1, 1) */
static float noise(uint64_t *state)
{
    return (float)(int32_t)(next(state) >> 40) * 0x1p-23f - 1;
}

static void make_vht2(const struct hx_codec_format *f, uint64_t seed, uint16_t *table)
{
    const size_t n = hx_block_table_bytes(f->shape, f->basis) / sizeof(*table);
    size_t used = 0;

    for (size_t i = 0; used < f->shape->n_skel; i++)
        if (hx_squarefree_index(i))
            table[used++] = (uint16_t)i;
    for (used += 2; used < n; used++) /* two reserved values stay 0 */
        table[used] = hx_f16_from_f32(noise(&seed) / 16);
}

/* Signs over sqrt(dh): directions of length 1 that are nearly orthogonal. */
static void make_klt(const struct hx_codec_format *f, uint64_t seed, uint16_t *table)
{
    const struct hx_block_shape *s = f->shape;
    const size_t n = hx_block_table_bytes(s, f->basis) / sizeof(*table);
    const float each = 1 / sqrtf((float)s->dh);

    for (size_t i = 0; i < s->n_res; i++)
        table[s->dh + i] = hx_f16_from_f32(1);
    for (size_t i = s->dh + s->n_res; i < n; i++)
        table[i] = hx_f16_from_f32(noise(&seed) < 0 ? -each : each);
}

static void (*const make[HX_BASES])(const struct hx_codec_format *f, uint64_t seed,
                                    uint16_t *table) = {
    [HX_BASIS_VHT2] = make_vht2,
    [HX_BASIS_VHT2W] = make_vht2,
    [HX_BASIS_KLT] = make_klt,
};

static int no_blocks(const struct hx_geometry *g, struct hx_error *err)
{
    char legal[80] = "";

    for (size_t i = 0; i < HX_BLOCK_SHAPES; i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%u", i ? ", " : "", hx_block_shapes[i].dh);
    return hx_error_set(err, -EINVAL, "geometry %s: there are no blocks of head dimension %zu; legal: %s; --kv f32 takes any", g->name,
                        g->dh, legal);
}

int hx_geometry_cal(struct hx_cal **out, const struct hx_geometry *g, const struct hx_cal_cfg *cfg,
                    struct hx_error *err)
{
    struct hx_codec_format f;
    struct hx_cal *cal;

    if (hx_codec_format_lanes(&f, g->dh, cfg->n_skel, cfg->n_res, cfg->basis, cfg->code))
        return no_blocks(g, err);
    cal = hx_cal_alloc(&f, (uint32_t)(g->n_layer * 2 * g->n_kv));
    if (!cal)
        return hx_error_set(err, -ENOMEM, "geometry %s: out of memory", g->name);
    cal->k_after_rope = cfg->k_after_rope;
    for (size_t slot = 0; slot < cal->n_slots; slot++)
        make[f.basis](&f, slot, hx_cal_table(cal, slot));
    *out = cal;
    return 0;
}

/* K and V of positions pos..pos+n-1 of a layer. */
static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, float *kv_rows,
               struct hx_error *err)
{
    const size_t floats = n * kv->n_kv * kv->dh;
    uint64_t seed = pos << 16 | layer;

    for (size_t i = 0; i < 2 * floats; i++)
        kv_rows[i] = noise(&seed);
    return kv->ops->put(kv, layer, pos, n, kv_rows, kv_rows + floats, err);
}

static float *alloc_rows(const struct hx_kv *kv, size_t n, struct hx_error *err)
{
    float *rows = calloc(2 * n * kv->n_kv, kv->dh * sizeof(*rows));

    if (!rows)
        hx_error_set(err, -ENOMEM, "geometry: no memory for %zu positions", n);
    return rows;
}

int hx_geometry_fill(struct hx_kv *kv, size_t pos, size_t n, struct hx_error *err)
{
    const size_t end = pos + n, most = kv->prompt_batch ? kv->prompt_batch : kv->max_batch;
    float *rows = alloc_rows(kv, n < most ? n : most, err);
    int rc = rows ? 0 : -ENOMEM;

    while (!rc && pos < end) {
        size_t now = end - pos < most ? end - pos : most;

        for (size_t layer = 0; !rc && layer < kv->n_layer; layer++)
            rc = put(kv, layer, pos, now, rows, err);
        pos += now;
    }
    free(rows);
    return rc;
}

int hx_geometry_layer(struct hx_kv *kv, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    float *rows = alloc_rows(kv, n, err);
    struct hx_kv_view past;
    int rc = rows ? put(kv, layer, pos, n, rows, err) : -ENOMEM;

    if (!rc)
        rc = kv->ops->rows(kv, layer, pos + n - 1, &past, err);
    free(rows);
    return rc;
}

int hx_geometry_attend(struct hx_kv *kv, size_t n_head, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    const size_t own = n * kv->n_kv * kv->dh, q = n * n_head * kv->dh;
    float *all = calloc(2 * own + 2 * q, sizeof(*all)); /* K, V, Q, results */
    const struct hx_attn_in in = {.layer = layer, .pos = pos, .n = n, .q = all + 2 * own, .k = all, .v = all + own, .kv = kv,
                                  .n_head = n_head, .scale = 1 / sqrtf((float)kv->dh)};
    uint64_t seed = pos << 16 | layer;
    int rc;

    if (!all)
        return hx_error_set(err, -ENOMEM, "geometry: no memory for %zu positions", n);
    for (size_t i = 0; i < 2 * own + q; i++)
        all[i] = noise(&seed);
    rc = kv->ops->attend(kv, &in, all + 2 * own + q, err);
    free(all);
    return rc;
}
