/* What only moves: transposition, and weights into the order that a gemm of `first` columns reads. */
#include "twins.h"

#include <string.h>

#include "src/xnnpack/microfnptr.h"

enum { SIDE_MAX = 100, DEPTH_MAX = 20, COLUMNS_MAX = 300, EXTRA = 128 };

void run_transpose(const struct twins *t)
{
    size_t width = twins_size(1, SIDE_MAX), height = twins_size(1, SIDE_MAX);
    size_t from = (width + twins_random(9)) * 4, to = (height + twins_random(9)) * 4; /* bytes of a row */

    twins_begin();
    for (size_t i = 0; i < TWINS_CELLS; i++)
        twins_a[i] = twins_float(t);
    ((xnn_x32_transposec_ukernel_fn)t->hvx)((uint32_t *)twins_a, (uint32_t *)twins_got, from, to, width, height);
    ((xnn_x32_transposec_ukernel_fn)t->scalar)((uint32_t *)twins_a, (uint32_t *)twins_wanted, from, to, width, height);
    twins_compare_bytes(t);
}

struct matrix {
    size_t columns, depth, tile, group; /* group: values of one column that lie together */
    size_t column, row;                 /* elements from one column, and from one row, to the next */
};

static struct matrix any_matrix(const struct twins *t, size_t group, int columns_first)
{
    struct matrix m = { .columns = twins_size(1, COLUMNS_MAX), .depth = twins_size(1, DEPTH_MAX), .group = group };

    m.tile = (size_t)t->first;
    m.column = columns_first ? m.depth : 1;
    m.row = columns_first ? 1 : m.columns;
    for (size_t i = 0; i < COLUMNS_MAX * DEPTH_MAX; i++)
        ((uint32_t *)twins_a)[i] = twins_random(UINT32_MAX);
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        ((uint32_t *)twins_b)[i] = twins_random(1u << 20);
    twins_begin();
    return m;
}

/* Each tile: a bias of 32 bits for each column, the weights of all depths, EXTRA bytes.  Where a column is no more, XNNPACK leaves what it
 * likes: that is taken over from what it wrote. */
static void pack(const struct matrix *m, size_t bytes)
{
    uint8_t *to = (uint8_t *)twins_wanted;
    const uint8_t *from = (const uint8_t *)twins_a, *got = (const uint8_t *)twins_got;
    size_t at = 0, deep = (m->depth + m->group - 1) / m->group * m->group;

    for (size_t first = 0; first < m->columns; first += m->tile) {
        for (size_t j = 0; j < m->tile; j++, at += sizeof(uint32_t))
            memcpy(to + at, first + j < m->columns ? (const uint8_t *)&twins_b[first + j] : got + at, sizeof(uint32_t));
        for (size_t k = 0; k < deep; k += m->group)
            for (size_t j = 0; j < m->tile; j++)
                for (size_t i = 0; i < m->group; i++, at += bytes)
                    if (first + j >= m->columns)
                        memcpy(to + at, got + at, bytes);
                    else if (k + i >= m->depth)
                        memset(to + at, 0, bytes);
                    else
                        memcpy(to + at, from + ((first + j) * m->column + (k + i) * m->row) * bytes, bytes);
        at += EXTRA;
    }
}

void run_packw_x32(const struct twins *t)
{
    struct matrix m = any_matrix(t, 1, 0);

    ((xnn_x32_packw_gemm_gio_ukernel_fn)t->hvx)(1, m.columns, m.depth, m.tile, 1, 1, m.columns, (uint32_t *)twins_a, (uint32_t *)twins_b,
                                                NULL, (uint32_t *)twins_got, EXTRA, NULL);
    pack(&m, sizeof(uint32_t));
    twins_compare_bytes(t);
}

void run_packw_x8(const struct twins *t)
{
    struct matrix m = any_matrix(t, 1, 0);

    ((xnn_x8_packw_gemm_gio_ukernel_fn)t->hvx)(1, m.columns, m.depth, m.tile, 1, 1, m.columns, (int8_t *)twins_a, (uint32_t *)twins_b, NULL,
                                               (int8_t *)twins_got, EXTRA, NULL);
    pack(&m, sizeof(int8_t));
    twins_compare_bytes(t);
}

void run_packw_qs8_gio(const struct twins *t)
{
    struct matrix m = any_matrix(t, 4, 0);

    ((xnn_qs8_packw_gemm_gio_ukernel_fn)t->hvx)(1, m.columns, m.depth, m.tile, 4, 1, m.columns, (int8_t *)twins_a, (int32_t *)twins_b, NULL,
                                                (int8_t *)twins_got, EXTRA, NULL);
    pack(&m, sizeof(int8_t));
    twins_compare_bytes(t);
}

void run_packw_qs8_goi(const struct twins *t)
{
    struct matrix m = any_matrix(t, 4, 1);

    ((xnn_qs8_packw_gemm_goi_ukernel_fn)t->hvx)(1, m.columns, m.depth, m.tile, 4, 1, (int8_t *)twins_a, (int32_t *)twins_b, NULL,
                                                (int8_t *)twins_got, EXTRA, NULL);
    pack(&m, sizeof(int8_t));
    twins_compare_bytes(t);
}
