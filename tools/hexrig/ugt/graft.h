/* A model with the feed-forward of one of another model's layers, seen through a map of the other's stream to its own. */
#ifndef HX_UGT_GRAFT_H
#define HX_UGT_GRAFT_H

#include "base/error.h"
#include "model/matrix.h"
#include "model/model.h"

struct hx_graft {
    struct hx_matrices matrices; /* the host's; taken over by who runs them */
    float *data, *ones;          /* what they point to; to be kept as long */
};

/* map [d][d]: a state h of `from` is map h in `m`; NULL: the two share their stream.  Gains of the donor's norm go into its matrices:
 * gate diag(g) map^T, up likewise, map down.  -EINVAL: the models' layers are of other shapes, or are not those of hx_twin_write();
 * -ENOMEM.  In any case to be freed. */
int hx_graft_make(struct hx_graft *g, const struct hx_model *m, const struct hx_model *from, size_t layer, const double *map,
                  struct hx_error *err);
void hx_graft_free(struct hx_graft *g);

#endif
