/* Records of a cache that live in a file: of each layer one record for each position, most of them out of memory.
 *
 * Positions of a layer make pages.  The page that is being filled is in memory; full ones are in a file that has no name any more,
 * and goes with the process.  A forward pass asks for all pages of its layers in the same order for every token, so a prefetch buffer
 * reads ahead (prefetch.h); its plan grows when all layers have filled one more page.
 *
 * One thread at a time. */
#ifndef HX_SPILL_H
#define HX_SPILL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pager_how.h"

struct hx_spill;

struct hx_spill_cfg {
    size_t n_layer, n_ctx; /* positions of a layer */
    size_t record;         /* bytes */
    size_t positions;      /* of a page, >= 1 */
    struct hx_pager_how how;
};

/* The file is made in $TMPDIR, or /tmp.  0; -errno of making it; -ENOMEM; -EINVAL: CPUs that this process may not use. */
int hx_spill_open(struct hx_spill **out, const struct hx_spill_cfg *cfg, struct hx_error *err);

/* Keeps records[n][record] of positions pos..pos+n-1, all before which have been put.  What the layer had from pos on is forgotten.
 * 0, or negative errno: the file cannot be written, which the message names. */
int hx_spill_put(struct hx_spill *s, size_t layer, size_t pos, size_t n, const void *records, struct hx_error *err);

/* Positions 0..n-1, which have been put, to out[n][record].  0, or negative errno as hx_prefetch_get() has it. */
int hx_spill_read(struct hx_spill *s, size_t layer, size_t n, void *out, struct hx_error *err);

/* What was fetched, with what the pages are (docs/prefetch.md).  NULL: out of memory. */
json_t *hx_spill_report(struct hx_spill *s);

/* Accepts NULL. */
void hx_spill_close(struct hx_spill *s);

#endif
