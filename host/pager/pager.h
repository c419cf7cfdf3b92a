/* Weights that come from the model's file while an engine computes, page by page: no more than the slots of one prefetch buffer
 * of them are in memory at a time (prefetch.h).
 *
 * A page is a part of the file: some rows of a matrix, or several matrices that lie one behind the other in the file and are
 * applied one after the other.  The order in which a forward pass asks for its matrices is always the same, so it is the
 * buffer's plan, and a thread reads ahead (the oracle).
 *
 * The pager stands in front of the linear methods: it puts its own operations into an engine's matrices, and hands to the
 * method behind it matrices that point into a page.  That method must read weights where they lie, each time it applies them
 * (HX_TRAIT_PAGES).  Results are the same bits as without pages.
 *
 * A page is held from the first of its rows that is applied until another page is asked for.  One thread at a time. */
#ifndef HX_PAGER_H
#define HX_PAGER_H

#include <jansson.h>

#include "base/error.h"
#include "model/matrix.h"
#include "pager_how.h"

struct hx_pager;

/* Takes over all matrices, which other methods have taken before and which must outlive it; m is kept until close.
 * page_bytes: most of a page, but 16 rows are always one.  0; -EINVAL: the model came from no file or from several, or CPUs that
 * this process may not use; -ENOMEM; errors of opening the file.
 *
 * A matrix that is applied while its page cannot be read gives the error of that read, which names the file. */
int hx_pager_open(struct hx_pager **out, const struct hx_model *m, struct hx_matrices *matrices, size_t page_bytes,
                  const struct hx_pager_how *how, struct hx_error *err);

struct hx_pager_sums {
    double stall_s; /* that pages were waited for */
    double read_s;  /* that reading took here, whatever storage is modelled */
    uint64_t bytes; /* read */
};

/* Since open. */
struct hx_pager_sums hx_pager_sums(struct hx_pager *p);

/* The counts of the buffer, with what the pages are, as an object, with what the pages are (docs/prefetch.md).  NULL: out of memory. */
json_t *hx_pager_report(struct hx_pager *p);

/* Ends the thread.  The matrices are not to be applied any more.  Accepts NULL. */
void hx_pager_close(struct hx_pager *p);

#endif
