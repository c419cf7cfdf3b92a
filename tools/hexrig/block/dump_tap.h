/* A tap that keeps K and V of a run, and makes blocks of them: what `hexrig block dump` writes. */
#ifndef HX_DUMP_TAP_H
#define HX_DUMP_TAP_H

#include "engine/tap.h"
#include "methods/spinor/cal_file.h"
#include "model/model.h"
#include "model/rope.h"

/* All arrays are by slot (hx_block.h: layer * 2 * heads + is_v * heads + head), then by position. */
struct hx_dump {
    struct hx_tap tap; /* first */
    const struct hx_model *m;
    const struct hx_cal *cal;
    struct hx_ropes ropes;
    size_t n;          /* positions, from 0 on */
    float *vectors;    /* [n_slots][n][dh]; K before or after RoPE as cal has it */
    uint8_t *blocks;   /* [n_slots][n][slot bytes] */
};

/* m and cal stay the caller's and are kept.  0 or -ENOMEM; hx_dump_free() in any case. */
int hx_dump_init(struct hx_dump *d, const struct hx_model *m, const struct hx_cal *cal, size_t n, struct hx_error *err);

/* Makes the blocks, once the n positions have run.  0, -ENOMEM; -EDOM: no block holds a vector, which is named. */
int hx_dump_encode(struct hx_dump *d, struct hx_error *err);

void hx_dump_free(struct hx_dump *d);

#endif
