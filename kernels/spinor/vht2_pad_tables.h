/* How a padded length is transformed (vht2_pad.h), and the matrices for it. */
#ifndef VHT2_PAD_TABLES_H
#define VHT2_PAD_TABLES_H

#include <hexagon_types.h>

enum {
    HX_VHT2_PAD_STAGES = 2, /* at most, beside the matrix; 770 has two */
    HX_VHT2_PAD_ROWS = 77,  /* at most, of 5 * 7 * 11 and of 2 * 5 * 7 * 11 */
    HX_VHT2_PAD_PRIME = 11,
};

struct hx_vht2_plan {
    int low, rows;            /* n = rows * low */
    const HVX_Vector *column; /* [low] f32: the matrix by columns; lanes from `low` on are 0 */
    int stages;
    struct {
        int p, apart;          /* p rows, `apart` rows from one to the next */
        const HVX_Vector *cas; /* [p] f32, the same in all lanes: cas(2 pi i / p) / sqrt p */
    } stage[HX_VHT2_PAD_STAGES];
};

/* AEE_SUCCESS, or AEE_EBADPARM: vht2_pad.h does not transform such a length.  The first call of a process makes the
 * matrices, about 3000 products; they stay. */
int hx_vht2_plan(struct hx_vht2_plan *plan, int n);

#endif
