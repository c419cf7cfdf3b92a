/* Golden tables and vectors, see block_golden.h and docs/block.md. */
#include "block_golden.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hx_f16.h"
#include "hx_vht2.h"

const char *const hx_golden_names[] = {"wave", "spike", "zero", "tiny", NULL};

static float wave(size_t i)
{
    return (float)((int)(i * 37 % 64) - 32 + (int)(i * i % 7)) / 16;
}

void hx_golden_vector(size_t vector, size_t dh, float *x)
{
    for (size_t i = 0; i < dh; i++) {
        const float kinds[HX_GOLDEN_VECTORS] = {wave(i), i == dh / 2 ? 8 : 0, 0,
                                                wave(i) * 0x1p-140f};

        x[i] = kinds[vector];
    }
}

/* Every second squarefree index from 0 on; W[r][j] = ((3r + 5j) mod 17 - 8) / 64. */
static void vht2_table(const struct hx_codec_format *f, uint16_t *t)
{
    const size_t rows = (hx_block_table_bytes(f->shape, f->basis) / sizeof(*t)) / HX_BLOCK_SKEL - 1;
    size_t n = 0;

    for (size_t i = 0; n < 2 * HX_BLOCK_SKEL; i++)
        if (hx_squarefree_index(i) && n++ % 2 == 0)
            *t++ = (uint16_t)i;
    *t++ = 0;
    *t++ = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            *t++ = hx_f16_from_f32((float)((int)((3 * r + 5 * j) % 17) - 8) / 64);
}

/* Rows of the Hadamard matrix: +-1/sqrt(dh), negative when i and j have an odd number of common bits. */
static void klt_table(const struct hx_codec_format *f, uint16_t *t)
{
    const size_t dh = f->shape->dh, n_res = f->shape->n_res;
    const float one = (float)(1 / sqrt((double)dh));

    for (size_t i = 0; i < dh; i++)
        *t++ = hx_f16_from_f32((float)((int)(5 * i % 16) - 8) / 64);
    for (size_t i = 0; i < n_res; i++)
        *t++ = hx_f16_from_f32((float)(16 + i % 7) / 32);
    for (size_t j = 0; j < HX_BLOCK_SKEL + n_res; j++)
        for (size_t i = 0; i < dh; i++)
            *t++ = hx_f16_from_f32(__builtin_parityll(i & j) ? -one : one);
}

void hx_golden_table(const struct hx_codec_format *f, void *table)
{
    static void (*const fill[HX_BASES])(const struct hx_codec_format *f, uint16_t *t) = {
        vht2_table, vht2_table, klt_table};

    fill[f->basis](f, table);
}

int hx_golden_make(struct hx_golden *g)
{
    const size_t dh = g->f.shape->dh;
    void *table = malloc(hx_block_table_bytes(g->f.shape, g->f.basis));
    void *memory = malloc(hx_codec_bytes(&g->f, 1));
    float x[HX_BLOCK_MAX_DH];
    int rc = -ENOMEM;

    if (table && memory) {
        struct hx_codec *c;

        hx_golden_table(&g->f, table);
        c = hx_codec_init(memory, &g->f, table, 1);
        hx_golden_vector(g->vector, dh, x);
        rc = hx_codec_encode(c, 0, x, g->block);
        if (!rc)
            rc = hx_codec_decode(c, 0, g->block, x);
        for (size_t i = 0; i < HX_GOLDEN_VALUES; i++)
            g->decoded[i] = x[i * dh / HX_GOLDEN_VALUES];
    }
    free(table);
    free(memory);
    return rc;
}
