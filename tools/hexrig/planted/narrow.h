/* Layers of a planted model with phases (hx_planted.phases): the first and the last sixth are wide, those between them narrow.
 *
 * The feed-forward in front of the narrow ones makes the subspace's part of the state small, the last of theirs makes it large again;
 * nothing is lost between.  It can do so since all tokens share one direction: gates open equally far for all of them, and what is left of
 * silu(a) b is linear in b.  The attention of narrow layers reads a quarter of its directions; that of wide ones all of the subspace. */
#ifndef HX_PLANTED_NARROW_H
#define HX_PLANTED_NARROW_H

#include "planted.h"

/* 1: the layer's input is small. */
int hx_planted_is_narrow(const struct hx_planted *p, size_t layer);

/* By how many times of itself the layer's feed-forward changes the subspace's part of the state; 0: it is one as others. */
double hx_planted_change(const struct hx_planted *p, size_t layer);

/* Mean square of a state's values where that feed-forward sees it. */
double hx_planted_change_square(const struct hx_planted *p, size_t layer);

#endif
