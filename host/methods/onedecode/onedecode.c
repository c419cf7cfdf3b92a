/* Draft method `onedecode`: a chain of the table's first candidates. */
#include "ott_draft.h"

static int propose(struct hx_draft *draft, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err)
{
    struct ott_draft *d = (struct ott_draft *)draft;
    const struct hx_ott_entry *e;
    uint32_t last = ids[n - 1];
    int more = 1, rc = ott_draft_meet(d, ids, n, err);

    while (!rc && more && (e = ott_draft_find(d, last))) {
        more = hx_draft_add(out, room, e->best[0].id, e->best[0].p);
        last = e->best[0].id;
    }
    return rc;
}

static const struct hx_draft_ops ops = {
    .name = "onedecode", .propose = propose, .accept = ott_draft_accept, .finish = ott_draft_finish,
    .close = ott_draft_close};

static int open_onedecode(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    return ott_draft_open(out, &ops, o, 1, err);
}

const struct hx_method hx_method_draft_onedecode = {
    .name = "onedecode",
    .seam = HX_SEAM_DRAFT,
    .about = "a table that the model has baked: what it says behind each token alone",
    .options = ott_options,
    .check = ott_draft_check,
    .open.draft = open_onedecode,
    .reports = "onedecode",
    .report = ott_draft_report,
};
