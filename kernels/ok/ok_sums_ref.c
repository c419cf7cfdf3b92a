/* Exact sums of a tile in plain C, see ok_sums.h. */
#include "ok_sums.h"

static uint64_t sum_of(const struct hx_ok_acc *acc, size_t l)
{
    return (uint64_t)acc->high[l] << 32 | acc->low[l];
}

void hx_ok_sums_ref(const struct hx_ok_tile *tile)
{
    const int32_t *w = (const int32_t *)tile->w;

    for (size_t t = 0; t < tile->n; t++)
        for (size_t p = 0; p < tile->planes; p++)
            for (size_t l = 0; l < HX_OKW_ROWS; l++) {
                struct hx_ok_acc *acc = &tile->acc[t * tile->planes + p];
                uint64_t sum = sum_of(acc, l);

                for (size_t j = 0; j < tile->cols; j++)
                    sum += (uint64_t)((int64_t)w[(j * tile->planes + p) * HX_OKW_ROWS + l] *
                                      tile->x[t * tile->x_stride + j]);
                acc->low[l] = (uint32_t)sum;
                acc->high[l] = (uint32_t)(sum >> 32);
            }
}

void hx_ok_store_ref(int64_t *y, const struct hx_ok_acc *acc, size_t rows)
{
    for (size_t l = 0; l < rows; l++)
        y[l] = (int64_t)sum_of(acc, l);
}
