/* Windows: the layout of tables for some slots and one direction, see spinor.h. */
#include "spinor.h"

size_t hx_spinor_window_parts(const struct hx_spinor *all, enum hx_spinor_use use,
                              struct hx_spinor_piece piece[HX_SPINOR_PIECES])
{
    const size_t header = sizeof(HVX_Vector);

    if (use == HX_SPINOR_DECODE) {
        piece[0] = (struct hx_spinor_piece){0, 0, all->encode_in};
        return 1;
    }
    piece[0] = (struct hx_spinor_piece){0, 0, header};
    piece[1] = (struct hx_spinor_piece){all->encode_in, header, all->slot_bytes - all->encode_in};
    return 2;
}

size_t hx_spinor_window_slot(const struct hx_spinor *all, enum hx_spinor_use use)
{
    struct hx_spinor_piece piece[HX_SPINOR_PIECES];
    size_t bytes = 0;

    for (size_t n = hx_spinor_window_parts(all, use, piece); n-- > 0;)
        bytes += piece[n].bytes;
    return bytes;
}

static size_t moved(size_t offset, const struct hx_spinor_piece *p)
{
    return offset ? offset - p->from + p->to : 0;
}

void hx_spinor_window(const struct hx_spinor *all, enum hx_spinor_use use, size_t n_slots,
                      const void *common, const void *slots, struct hx_spinor *window)
{
    const size_t at = (size_t)((const char *)common - (const char *)window);
    struct hx_spinor_piece piece[HX_SPINOR_PIECES];
    const size_t n = hx_spinor_window_parts(all, use, piece);

    *window = *all;
    window->n_slots = (uint32_t)n_slots;
    window->columns_at = moved(all->columns_at, &(struct hx_spinor_piece){hx_spinor_common(), at, 0});
    window->res_rows_at = moved(all->res_rows_at, &(struct hx_spinor_piece){hx_spinor_common(), at, 0});
    window->slot_at = (size_t)((const char *)slots - (const char *)window);
    window->slot_bytes = hx_spinor_window_slot(all, use);
    window->mean_in = moved(all->mean_in, &piece[n - 1]);
    window->columns_in = moved(all->columns_in, &piece[n - 1]);
    window->w_in = moved(all->w_in, &piece[n - 1]);
}
