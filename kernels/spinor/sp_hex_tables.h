/* The HVX tables of a handle (spinor.h) and where they lie.
 *
 * Tables that fit into VTCM lie there wholly.  Larger ones lie in DDR, and VTCM has windows: two for each use, which hold
 * the tables of a few slots, those of a layer where half of VTCM allows it; other interfaces want some, too.  While slots of one
 * window are worked on, user DMA fetches what comes next into the other: the rest of the call's slots, or, when calls go through the
 * slots in order (the last slot is followed by slot 0), those of the next call, so that this finds them there.
 *
 *     hx_sp_walk_begin(&w, t, n, 1, (enum hx_sp_use[]){HX_SP_ENCODE}, (size_t[]){first});
 *     while ((rc = hx_sp_walk_step(&w)) == AEE_SUCCESS && w.n)
 *         ... slots w.done .. w.done + w.n - 1 of the call: w.at[0].k, slots from w.at[0].first on ...
 *     hx_sp_walk_end(&w);
 *
 * Walks of several threads over windows take turns; tables wholly in VTCM are read-only.  Functions return AEE
 * codes. */
#ifndef SP_HEX_TABLES_H
#define SP_HEX_TABLES_H

#include "spinor.h"


/* What slots are needed for; K and V of one attention are wanted at the same time. */
enum hx_sp_use { HX_SP_ENCODE, HX_SP_DECODE, HX_SP_DECODE_V, HX_SP_USES };

struct hx_sp_tables;

/* Builds them from n_slots tables as hx_block.h lays them out.  AEE_ENOMEMORY: no VTCM, or no heap, with a line in the log;
 * AEE_EBADPARM as hx_spinor_init(). */
int hx_sp_tables_open(struct hx_sp_tables **t, const struct hx_codec_format *f, const void *bytes,
                      size_t n_slots);
void hx_sp_tables_close(struct hx_sp_tables *t); /* accepts NULL */

/* Format and layout; its slots may lie in DDR. */
const struct hx_spinor *hx_sp_tables_of(const struct hx_sp_tables *t);
size_t hx_sp_tables_vtcm(const struct hx_sp_tables *t); /* bytes of VTCM */

struct hx_sp_walk {
    struct hx_sp_tables *t;
    unsigned n_uses;
    enum hx_sp_use use[2];
    size_t first[2]; /* slots of the call: n from there on, for each use */
    size_t n_slots;
    size_t done, n;  /* slots of the call that are behind, and that this step is for */
    struct {
        const struct hx_spinor *k;
        size_t first; /* slot in k */
    } at[2];
};

/* n_slots >= 1 slots from first[i] on for use[i], i < n_uses <= 2; the slots exist. */
void hx_sp_walk_begin(struct hx_sp_walk *w, struct hx_sp_tables *t, size_t n_slots, unsigned n_uses,
                      const enum hx_sp_use *use, const size_t *first);

/* The next slots; w->n = 0: that was all.  AEE_EFAILED: DMA failed. */
int hx_sp_walk_step(struct hx_sp_walk *w);

/* Also after an error, and before the last step. */
void hx_sp_walk_end(struct hx_sp_walk *w);

#endif
