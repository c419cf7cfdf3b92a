/* A direction more, see hex_linear_join.h. */
#include "hex_linear_join.h"

#include <math.h>
#include <string.h>

#include "AEEStdErr.h"
#include "hex_linear_stay.h"
#include "qurt_memory.h"
#include "subspace_gate.h"

/* Of |x|: less than that is rounding of f16. */
#define NOTHING 1e-3f

size_t hx_linear_class_rows(const struct hx_linear_state *s, const struct hx_linear_class *c)
{
    size_t rows = 0;

    for (size_t p = c->first; p < c->first + c->n; p++)
        rows += s->m[s->gates->parts[p].whole].rows;
    return rows;
}

int hx_linear_run_gate(struct hx_linear_state *s, struct hx_linear_call *c, void (*then)(const struct hx_linear_call *c, unsigned *ids),
                       unsigned *ids, hex_linear_cycles *cycles)
{
    hex_linear_cycles more = {0, 0, 0, 0};
    int rc;

    for (int i = 0; i < 2; i++)
        memset(c->gate->within[i], 0, c->n * (size_t)c->gate->pairs * HX_WEIGHTS_HALVES * sizeof(float));
    hx_linear_lend(s, c);
    rc = hx_linear_run_held(c, &more, then, ids);
    hx_linear_add_cycles(cycles, &more);
    return rc;
}

/* --- the direction */

/* The direction as f16 over the one sum, and as floats in their order over the other. */
static void finish(const struct hx_linear_call *c, unsigned *unused)
{
    const struct hx_linear_gate *g = c->gate;
    const float rest2 = hx_gate_rest_hvx(g->x, g->within[0], g->within[1], g->pairs, g->x);

    (void)unused;
    c->bad[0] = !(rest2 > NOTHING * NOTHING * g->norm2[0]) || !isfinite(rest2);
    if (c->bad[0])
        return;
    hx_gate_narrow_hvx(g->x, 1 / sqrtf(rest2), g->pairs, (uint16_t *)g->within[0]);
    hx_gate_widen_hvx((const uint16_t *)g->within[0], g->pairs, g->within[1]);
}

/* --- where matrices lie */

/* A group of a matrix: in the client's buffer, and in VTCM, if it stays there.  How many there are. */
static size_t copies_of(const struct hx_linear_state *s, unsigned which, size_t group, uint8_t *at[2])
{
    const struct hx_linear_matrix *m = &s->m[which];
    const size_t offset = group * hx_weights_group_bytes(m->type, m->cols);
    const struct hx_linear_stay *stay = s->stays ? &s->stays->of[which] : NULL;
    const uint8_t *const bases[] = {m->w, stay && stay->there && group < stay->groups ? stay->at : NULL};
    size_t n = 0;

    for (size_t i = 0; i < 2; i++)
        if (bases[i])
            at[n++] = (uint8_t *)(uintptr_t)(bases[i] + offset);
    return n;
}

/* What was written is for DMA, which reads memory. */
static void clean(uint8_t *at, size_t bytes)
{
    qurt_mem_cache_clean((qurt_addr_t)(uintptr_t)at, (qurt_size_t)bytes, QURT_MEM_CACHE_FLUSH, QURT_MEM_DCACHE);
}

static void put_row(struct hx_linear_state *s, const struct hx_linear_class *c, const uint16_t *v)
{
    const size_t bytes = hx_weights_direction_vectors(s->m[c->basis].cols) * HX_WEIGHTS_VECTOR;
    uint8_t *at[2];

    for (size_t i = 0, n = copies_of(s, c->basis, c->k / HX_WEIGHTS_ROWS, at); i < n; i++) {
        memcpy(at[i] + c->k % HX_WEIGHTS_ROWS * bytes, v, bytes);
        clean(at[i] + c->k % HX_WEIGHTS_ROWS * bytes, bytes);
    }
}

/* --- columns of images */

/* Of a group of 32 rows. */
static float *scales_of(const struct hx_linear_matrix *m, uint8_t *group)
{
    return (float *)(group + hx_weights_blocks(m->cols) * HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR);
}

/* The least factor by which no number of a column is beyond the codes of its row; rows of zeros get a scale of their own. */
static float factor_of(const struct hx_linear_state *s, unsigned image, const float *column)
{
    const struct hx_linear_matrix *m = &s->m[image];
    float most = 0;

    for (size_t r = 0; r < m->rows; r++) {
        uint8_t *at[2];
        float scale;

        copies_of(s, image, r / HX_WEIGHTS_ROWS, at);
        scale = scales_of(m, at[0])[r % HX_WEIGHTS_ROWS];
        most = scale > 0 ? fmaxf(most, fabsf(column[r]) / (127 * scale)) : most;
    }
    return most;
}

static void put_number(const struct hx_linear_matrix *m, uint8_t *group, size_t l, size_t j, float number, float factor)
{
    float *scale = &scales_of(m, group)[l];
    uint8_t *block = group + j / HX_WEIGHTS_BLOCK * HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR;
    const size_t i = j % HX_WEIGHTS_BLOCK;

    if (!(*scale > 0))
        *scale = fabsf(number) / (127 * factor);
    block[i / 4 * HX_WEIGHTS_VECTOR + 4 * l + i % 4] =
        (uint8_t)(HX_WEIGHTS_ZERO + (*scale > 0 ? (int)roundf(number / (*scale * factor)) : 0));
}

static void put_column(struct hx_linear_state *s, unsigned image, size_t j, const float *column, float factor)
{
    const struct hx_linear_matrix *m = &s->m[image];
    const size_t bytes = hx_weights_group_bytes(m->type, m->cols);

    for (size_t g = 0; g < hx_weights_groups(m->rows); g++) {
        uint8_t *at[2];

        for (size_t i = 0, n = copies_of(s, image, g, at); i < n; i++) {
            for (size_t l = 0; l < HX_WEIGHTS_ROWS && g * HX_WEIGHTS_ROWS + l < m->rows; l++)
                put_number(m, at[i], l, j, column[g * HX_WEIGHTS_ROWS + l], factor);
            clean(at[i], bytes);
        }
    }
}

/* What the weights make of v [cols], with activations of 16 bits. */
static int weigh(struct hx_linear_state *s, const hex_linear_how *how, const struct hx_linear_class *c, const float *v, float *columns,
                 hex_linear_cycles *cycles)
{
    struct hx_linear_call call = {.how = how, .n_m = c->n, .x = v, .n = 1, .wide = 1};
    hex_linear_cycles more = {0, 0, 0, 0};
    unsigned which[HX_LINEAR_FUSED];
    size_t rows;
    int rc;

    for (size_t p = 0; p < c->n; p++)
        which[p] = s->gates->parts[c->first + p].whole;
    rc = hx_linear_choose(s, &call, which, &rows);
    if (!rc)
        rc = hx_linear_products(s, &call, columns, &more);
    hx_linear_add_cycles(cycles, &more);
    return rc;
}

static void put_columns(struct hx_linear_state *s, struct hx_linear_class *c, const float *columns)
{
    const struct hx_linear_part *parts = s->gates->parts + c->first;
    const float *column = columns;
    float factor = 0;

    for (size_t p = 0; p < c->n; column += s->m[parts[p++].image].rows)
        factor = fmaxf(factor, factor_of(s, parts[p].image, column));
    factor = factor > 0 ? factor : 1;
    column = columns;
    for (size_t p = 0; p < c->n; column += s->m[parts[p++].image].rows)
        put_column(s, parts[p].image, c->k, column, factor);
    c->scale[c->k] = factor;
}

int hx_linear_join(struct hx_linear_state *s, const hex_linear_how *how, struct hx_linear_class *c, struct hx_linear_gate *g,
                   float *columns, hex_linear_cycles *cycles)
{
    uint8_t nothing = 0;
    struct hx_linear_call again = {.how = how, .m = {&s->m[c->basis]}, .n_m = 1, .gate = g, .n = 1, .bad = &nothing};
    int rc;

    if (c->k == s->m[c->basis].rows)
        return AEE_SUCCESS;
    g->is_spread = 1;
    rc = hx_linear_run_gate(s, &again, finish, NULL, cycles);
    if (!rc && !nothing)
        rc = weigh(s, how, c, g->within[1], columns, cycles);
    if (rc || nothing)
        return rc;
    put_row(s, c, (const uint16_t *)g->within[0]);
    put_columns(s, c, columns);
    c->k++;
    return AEE_SUCCESS;
}
