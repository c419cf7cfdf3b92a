/* What of a handle's matrices stays in VTCM from call to call (HEX_LINEAR_RESIDENT, HEX_LINEAR_AUTO).
 *
 * It is decided for all matrices at once, when the first call wants it: VTCM that is free then is the handle's until the next load or
 * close.  Where everything fits, everything stays.  Else two slots to stream through are set apart, and groups stay in the order of the
 * matrices, as every byte is read once for a token whichever matrix it is of; of one matrix a part may.  What stays is fetched when
 * it is first used. */
#ifndef HEX_LINEAR_STAY_H
#define HEX_LINEAR_STAY_H

#include "hex_linear_run.h"

struct hx_linear_stay {
    size_t groups;     /* the matrix's first ones; 0: it streams */
    const uint8_t *at; /* where they are in VTCM, once `there` */
    int there;
};

struct hx_linear_stays {
    size_t slot; /* bytes of each of the two, which VTCM begins with; 0: nothing streams */
    int nothing; /* 1: there is no VTCM for it, and calls read where weights lie */
    size_t n;
    struct hx_linear_stay of[]; /* [n] */
};

/* Groups of m that a call fetches into a slot at a time: what fits, or a quarter of a small matrix, so that its fetch is hidden, too; but
 * two for each context. */
size_t hx_linear_tile_groups(const struct hx_linear_matrix *m, size_t slot);

/* Decides, and takes the VTCM; gives back what v had.  may_do_without: 1: no VTCM is no error.  AEE_ENOMEMORY: no heap, or not even a
 * slot's worth of VTCM, with a line in the log. */
int hx_linear_stays_plan(struct hx_linear_stays **out, const struct hx_linear_matrix *m, size_t n, struct hx_linear_vtcm *v,
                         int may_do_without);

/* Nothing stays any more; the VTCM is left to v.  Accepts NULL. */
void hx_linear_stays_drop(struct hx_linear_stays **s);

/* Gives VTCM back, with whatever stays in it. */
void hx_linear_vtcm_release(struct hx_linear_vtcm *v);

#endif
