/* Draft method `swarm:K`: a tree of the table's candidates, up to K behind a token.
 *
 * The chain of first candidates comes first, as `onedecode` has it; what room is left goes to the most probable of the others, by the
 * product of the table's probabilities along the way.  So at least what `onedecode` guesses is among the guesses.
 *
 * Candidates are not drawn but named, so the recursive rejection of one after the other, without replacement, comes to this: the
 * model's own choice is made as without guesses, and its branch is followed if there is one.  It is right for greedy choices
 * and for drawn ones. */
#include <errno.h>
#include <stdlib.h>

#include "engine/plan.h"
#include "ott_draft.h"

/* Who guesses behind a token of the tree, or behind the text. */
struct branch {
    const struct hx_ott_entry *e; /* NULL: nobody */
    size_t next;                  /* the candidate that comes next */
    size_t depth;                 /* of the candidates, from 1 on */
    double p;                     /* product of the probabilities up to here */
};

struct swarm {
    struct ott_draft *d;
    const struct hx_draft_room *room;
    struct hx_draft_tree *t;
    struct branch branch[1 + HX_DRAFT_MAX]; /* [0] behind the text, [1 + i] behind token i */
};

/* The threshold is for what a slot's candidates have together. */
static int is_sure(const struct swarm *s, const struct hx_ott_entry *e)
{
    double sum = 0;

    for (size_t k = 0; k < s->d->k; k++)
        sum += (double)e->best[k].p;
    return sum >= (double)s->room->thresh;
}

static struct branch branch_behind(const struct swarm *s, uint32_t token, size_t depth, double p)
{
    const struct hx_ott_entry *e = depth <= s->room->depth ? ott_draft_find(s->d, token) : NULL;

    return (struct branch){e && is_sure(s, e) ? e : NULL, 0, depth, p};
}

/* The next candidate of branch `from` becomes a token. */
static void grow(struct swarm *s, size_t from)
{
    struct branch *b = &s->branch[from];
    const struct hx_ott_candidate c = b->e->best[b->next++];
    struct hx_draft_tree *t = s->t;

    t->id[t->n] = c.id;
    t->parent[t->n] = (int)from - 1;
    t->p[t->n++] = 0; /* the threshold has been seen to */
    s->branch[t->n] = branch_behind(s, c.id, b->depth + 1, b->p * (double)c.p);
}

/* The branch whose next candidate is the most probable; 1 + t->n: none has one. */
static size_t most_probable(const struct swarm *s)
{
    size_t found = 1 + s->t->n;
    double most = 0;

    for (size_t i = 0; i <= s->t->n; i++) {
        const struct branch *b = &s->branch[i];
        const double p = b->e && b->next < s->d->k ? b->p * (double)b->e->best[b->next].p : 0;

        if (p > most) {
            most = p;
            found = i;
        }
    }
    return found;
}

static int propose(struct hx_draft *draft, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err)
{
    struct swarm s = {.d = (struct ott_draft *)draft, .room = room, .t = out};
    const size_t slots = s.d->k * room->depth, most = slots < room->n ? slots : room->n;
    int rc = ott_draft_meet(s.d, ids, n, err);

    if (rc)
        return rc;
    s.branch[0] = branch_behind(&s, ids[n - 1], 1, 1);
    while (out->n < most && s.branch[out->n].e)
        grow(&s, out->n);
    for (size_t at; room->tree && out->n < most && (at = most_probable(&s)) <= out->n;)
        grow(&s, at);
    return 0;
}

static const struct hx_draft_ops ops = {
    .name = "swarm", .propose = propose, .accept = ott_draft_accept, .finish = ott_draft_finish,
    .close = ott_draft_close};

static int open_swarm(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    return ott_draft_open(out, &ops, o, strtoul(hx_plan_draft_arg(o->plan), NULL, 10), err);
}

static int check(const struct hx_plan *p, struct hx_error *err)
{
    const struct hx_method *kv = hx_plan_method(p, HX_SEAM_KV);

    if (!(kv->gives & HX_TRAIT_TREE))
        return hx_error_set(err, -EINVAL, "%sdraft swarm proposes trees of tokens, and %skv %s takes tokens in a row only",
                            hx_plan_prefix(p), hx_plan_prefix(p), kv->name);
    return ott_draft_check(p, err);
}

const struct hx_method hx_method_draft_swarm = {
    .name = "swarm",
    .seam = HX_SEAM_DRAFT,
    .about = "a tree of up to K of that table's candidates behind each token",
    .arg = "K",
    .arg_min = 1,
    .arg_max = HX_OTT_BEST,
    .arg_needed = 1,
    .options = ott_options,
    .check = check,
    .open.draft = open_swarm,
    .reports = "onedecode",
    .report = ott_draft_report,
};
