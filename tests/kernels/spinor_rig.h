/* A handle's tables for tests: random ones of any format, in the fp64 codec and in the HVX tables. */
#ifndef SPINOR_RIG_H
#define SPINOR_RIG_H

#include <math.h>
#include <stdlib.h>

#include "hx_f16.h"
#include "hx_vht2.h"
#include "hxt.h"
#include "spinor/spinor.h"

struct spinor_rig {
    struct hx_codec_format f;
    size_t table_bytes;
    uint8_t *tables; /* [n_slots] */
    struct hx_codec *codec;
    struct hx_spinor *k; /* guarded */
};

static inline void put_half(uint8_t *table, size_t i, double v)
{
    const uint16_t h = hx_f16_from_f32((float)v);

    memcpy(table + 2 * i, &h, sizeof(h));
}

static inline double half_of(const uint8_t *table, size_t i)
{
    uint16_t h;

    memcpy(&h, table + 2 * i, sizeof(h));
    return (double)hx_f32_from_f16(h);
}

static inline void make_vht2(struct hxt_rng *rng, const struct spinor_rig *r, uint8_t *table)
{
    const struct hx_block_shape *s = r->f.shape;
    const size_t n = r->table_bytes / 2, head = s->n_skel + 2u;
    uint16_t j = 0;

    memset(table, 0, r->table_bytes);
    for (uint16_t i = 0; j < s->n_skel; i++) {
        if (!hx_squarefree_index(i) || (s->n_skel == HX_BLOCK_SKEL && s->pad - i > 40 && hxt_below(rng, 3)))
            continue;
        memcpy(table + 2 * j++, &i, sizeof(i));
    }
    for (size_t i = head; i < n; i++)
        put_half(table, i, hxt_normal(rng) * 0.1);
}

/* Directions made orthonormal one after the other; scales fall as calibrated ones do. */
static inline void make_klt(struct hxt_rng *rng, const struct spinor_rig *r, uint8_t *table)
{
    const size_t dh = r->f.shape->dh, n_res = r->f.shape->n_res, n = r->f.shape->n_skel + n_res;
    double *b = calloc(n * dh, sizeof(*b));

    for (size_t i = 0; i < dh; i++)
        put_half(table, i, hxt_normal(rng) * 0.3);
    for (size_t i = 0; i < n_res; i++)
        put_half(table, dh + i, 0.2 + 1.5 / (double)(i + 1));
    for (size_t j = 0; j < n; j++) {
        double norm = 0, *v = b + j * dh;

        for (size_t i = 0; i < dh; i++)
            v[i] = hxt_normal(rng);
        for (size_t o = 0; o < j; o++) {
            double dot = 0;

            for (size_t i = 0; i < dh; i++)
                dot += v[i] * b[o * dh + i];
            for (size_t i = 0; i < dh; i++)
                v[i] -= dot * b[o * dh + i];
        }
        for (size_t i = 0; i < dh; i++)
            norm += v[i] * v[i];
        for (size_t i = 0; i < dh; i++) {
            v[i] /= sqrt(norm);
            put_half(table, dh + n_res + j * dh + i, v[i]);
        }
    }
    free(b);
}

static inline void make_tables(uint8_t *tables, const struct spinor_rig *r, uint32_t basis, size_t n_slots, uint64_t stream)
{
    struct hxt_rng rng;

    hxt_rng_init(&rng, stream);
    for (size_t s = 0; s < n_slots; s++)
        (basis == HX_BASIS_KLT ? make_klt : make_vht2)(&rng, r, tables + s * r->table_bytes);
}

/* Tests of one program ask for the same tables again, and orthonormal directions take long: so they are made once. */
static inline const uint8_t *tables_of(const struct spinor_rig *r, size_t dh, uint32_t basis, uint32_t code, size_t n_slots,
                                       uint64_t stream)
{
    enum { MADE = 64 };
    static struct {
        size_t dh, n_slots;
        uint32_t basis, code;
        uint64_t stream;
        uint8_t *tables;
    } made[MADE];
    size_t i = 0;

    while (i < MADE && made[i].tables &&
           !(made[i].dh == dh && made[i].n_slots == n_slots && made[i].basis == basis && made[i].code == code && made[i].stream == stream))
        i++;
    assert_true(i < MADE);
    if (!made[i].tables) {
        made[i].dh = dh;
        made[i].n_slots = n_slots;
        made[i].basis = basis;
        made[i].code = code;
        made[i].stream = stream;
        made[i].tables = malloc(n_slots * r->table_bytes);
        make_tables(made[i].tables, r, basis, n_slots, stream);
    }
    return made[i].tables;
}

static inline void open_spinor_rig_of(struct spinor_rig *r, size_t dh, uint32_t basis, uint32_t code,
                                      size_t n_slots, uint64_t stream)
{
    size_t bytes;

    assert_int_equal(hx_codec_format(&r->f, dh, basis, code), 0);
    r->table_bytes = hx_block_table_bytes(r->f.shape, basis);
    r->tables = malloc(n_slots * r->table_bytes);
    memcpy(r->tables, tables_of(r, dh, basis, code, n_slots, stream), n_slots * r->table_bytes);
    r->codec = hx_codec_init(malloc(hx_codec_bytes(&r->f, n_slots)), &r->f, r->tables, n_slots);
    bytes = hx_spinor_bytes(&r->f, n_slots);
    r->k = hxt_guard_alloc(bytes, 128);
    assert_int_equal(hx_spinor_init(r->k, bytes, &r->f, r->tables, n_slots), AEE_SUCCESS);
    hxt_guard_intact(r->k);
}

static inline void open_spinor_rig(struct spinor_rig *r, size_t dh, uint32_t basis, size_t n_slots,
                                   uint64_t stream)
{
    open_spinor_rig_of(r, dh, basis, HX_CODE_SIGN, n_slots, stream);
}

static inline void close_spinor_rig(struct spinor_rig *r)
{
    hxt_guard_free(r->k);
    free(r->codec);
    free(r->tables);
}

#endif
