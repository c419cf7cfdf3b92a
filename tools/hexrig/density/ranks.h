/* One sweep by several processes, on one machine or on many that share a folder.
 *
 * Rank 0 opens FILE.ranks, which says what is to be measured; the others wait for it.  Every rank, and a child of rank 0, measures what
 * nobody else has claimed there (lock.h) and writes its lines to FILE.rankN (resume.h); rank 0 gathers them, so that it alone prints, and
 * removes all that at the end.  FILE is that of --resume; without, .hexrig-density-JOB in the current folder.
 *
 * A part (--part I/N) is the same without meeting anybody: others come later, and whoever opens FILE takes the rows over. */
#ifndef HX_DENSITY_RANKS_H
#define HX_DENSITY_RANKS_H

#include "run.h"

/* Measures as one of several.  Rank 0: hx_run_begin() has been; its rows are taken.  The others print nothing but messages.  Returns an
 * enum hx_exit after a message, or of ranks but 0 128 + the signal. */
int hx_ranks_run(struct hx_density_run *d);

/* Part `index` of `parts` of all shares of work, to FILE.rankINDEX of --resume.  Returns likewise. */
int hx_part_run(struct hx_density_run *d, size_t index, size_t parts);

#endif
