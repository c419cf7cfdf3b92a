/* Tables of bases vht2 and vht2w without calibration: the first squarefree indices, and predictions by the Moebius sum. */
#include "cal_moebius.h"

#include <string.h>

#include "hx_f16.h"
#include "hx_vht2.h"

/* mu(n), n >= 1 */
static int moebius(size_t n)
{
    int mu = 1;

    for (size_t p = 2; n > 1; p++) {
        if (n % p)
            continue;
        n /= p;
        if (n % p == 0)
            return 0;
        mu = -mu;
    }
    return mu;
}

void hx_moebius_table(const struct hx_codec_format *f, void *table)
{
    const size_t n_skel = f->shape->n_skel;
    uint16_t *skeleton = table, *w = skeleton + n_skel + 2, row[HX_BLOCK_MAX_PAD];
    size_t n_rows, j = 0;

    memset(table, 0, hx_block_table_bytes(f->shape, f->basis));
    for (size_t i = 0; j < n_skel; i++)
        if (hx_squarefree_index(i))
            skeleton[j++] = (uint16_t)i;
    n_rows = hx_block_predicted(f->shape, f->basis, skeleton, row);
    for (size_t r = 0; r < n_rows; r++)
        for (j = 0; j < n_skel; j++) {
            const size_t n = row[r] + 1u, d = skeleton[j] + 1u;

            *w++ = hx_f16_from_f32(n % d ? 0 : (float)moebius(n / d));
        }
}
