/* The driver's view of the DSP's VTCM, rpc/wire/hx_vtcm_table.h. */
#ifndef HX_VTCM_VIEW_H
#define HX_VTCM_VIEW_H

#include <stdio.h>

#include "hx_vtcm_table.h"

struct hx_vtcm_view {
    const struct hx_vtcm_table *table; /* NULL: there is none yet */
};

/* Replaces the table by an empty one.  *fd gets the DSP's end, owned by the caller; its size is sealed.  0 or negative errno. */
int hx_vtcm_view_make(struct hx_vtcm_view *v, int *fd);

/* Accepts a zeroed view. */
void hx_vtcm_view_close(struct hx_vtcm_view *v);

/* The node `vtcm`: a line per grant.  Entries that make no sense are left out.  kib: how much VTCM the profile has, 0: all. */
void hx_vtcm_view_print(const struct hx_vtcm_view *v, unsigned kib, FILE *f);

#endif
