/* Asks another drafter, between two looks at clock and driver. */
#include "counted.h"

#include <string.h>

#include "cli/report.h"

int hx_spec_cost_now(struct hx_spec_cost *c, struct hx_error *err)
{
    struct hx_session_stats s;
    int rc = hx_report_now(&s);

    *c = (struct hx_spec_cost){hx_report_clock(), 1e-3 * (double)(s.dispatch_ns + s.marshal_ns + s.queue_ns + s.exec_ns)};
    return rc ? hx_error_set(err, rc, "cannot read the session's figures: %s", strerror(-rc)) : 0;
}

int hx_spec_cost_add(struct hx_spec_cost *to, const struct hx_spec_cost *before, struct hx_error *err)
{
    struct hx_spec_cost now;
    int rc = hx_spec_cost_now(&now, err);

    to->s += now.s - before->s;
    to->us += now.us - before->us;
    return rc;
}

static int propose(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *out,
                   struct hx_error *err)
{
    struct hx_spec_counted *c = (struct hx_spec_counted *)d;
    struct hx_spec_cost before;
    int rc = hx_spec_cost_now(&before, err);

    if (!rc)
        rc = c->of->ops->propose(c->of, ids, n, room, out, err);
    return rc ? rc : hx_spec_cost_add(&c->cost, &before, err);
}

static int accept(struct hx_draft *d, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err)
{
    struct hx_spec_counted *c = (struct hx_spec_counted *)d;
    struct hx_spec_cost before;
    int rc = hx_spec_cost_now(&before, err);

    if (!rc)
        rc = c->of->ops->accept(c->of, ids, n, n_new, err);
    return rc ? rc : hx_spec_cost_add(&c->cost, &before, err);
}

void hx_spec_counted_open(struct hx_spec_counted *c, struct hx_draft *of)
{
    *c = (struct hx_spec_counted){.of = of, .ops = *of->ops};
    c->draft.ops = &c->ops;
    if (c->ops.propose)
        c->ops.propose = propose;
    if (c->ops.accept)
        c->ops.accept = accept;
}
