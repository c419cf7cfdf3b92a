/* Draft method `gtc`: the state that said the last token is looked up among trajectories that are kept; what the model says of the state
 * that the nearest of them aims at, corrected where that is worth something, is the guess, and the next question.
 *
 * Guesses are verified as any drafter's are: a hit is no answer. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/draft.h"
#include "engine/method.h"
#include "engine/plan.h"
#include "engine/tap.h"
#include "head.h"
#include "library.h"

struct gtc {
    struct hx_draft draft; /* first */
    struct watch {
        struct hx_tap tap; /* first */
        struct gtc *of;
    } watch;
    const struct hx_model *m;
    struct hx_whitening w;
    struct hx_library *library;
    struct hx_head *head;
    struct hx_store_record at; /* the one that was found */
    float *moved, *logits;     /* [width], [vocab] */
    float *states;             /* [n_ctx][width] before the last norm, as positions were run last */
    uint32_t *tokens;          /* [n_ctx] of these */
    size_t n_ctx, seen;        /* seen: positions that have a state */
    uint64_t verdicts[3];
};

/* --- what flows through */

static int look(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct gtc *d = ((struct watch *)t)->of;

    (void)err;
    for (size_t i = 0; i < at->n; i++) {
        const size_t pos = at->pos[i];

        if (pos >= d->n_ctx)
            continue;
        memcpy(d->states + pos * at->row, rows + i * at->row, at->row * sizeof(*rows));
        d->tokens[pos] = at->tokens[i];
        d->seen = pos + 1 > d->seen ? pos + 1 : d->seen;
    }
    return 0;
}

/* --- guesses */

/* From a state to the next one, d->moved.  0: no trajectory is near. */
static int go_on(struct gtc *d, const float *state)
{
    double x[HX_METRIC_MOST], end[HX_METRIC_MOST];
    struct hx_library_found f;

    hx_whitening_place(&d->w, state, 1, x);
    f = hx_library_ask(d->library, x);
    d->verdicts[f.verdict]++;
    if (f.verdict == HX_LIBRARY_MISS)
        return 0;
    hx_library_get(d->library, f.which, &d->at);
    memcpy(d->moved, d->at.state, d->m->width * sizeof(*d->moved));
    if (f.verdict == HX_LIBRARY_CORRECT) {
        hx_trajectory_correct(&d->at.t, x, end);
        for (size_t k = 0; k < d->w.n; k++)
            end[k] -= d->at.t.end[k];
        hx_whitening_move(&d->w, end, d->moved);
    }
    return 1;
}

static int propose(struct hx_draft *draft, const uint32_t *ids, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *out,
                   struct hx_error *err)
{
    struct gtc *d = (struct gtc *)draft;
    const size_t last = n - 2; /* the last position that was run: the known token behind it was not */
    const float *state = d->states + last * d->m->width;
    int more = n >= 2 && last < d->seen && d->tokens[last] == ids[last];

    while (more && go_on(d, state)) {
        const float *logits = hx_head_logits(d->head, d->moved, err);

        if (!logits)
            return -EDOM;
        memcpy(d->logits, logits, d->m->vocab * sizeof(*logits));
        more = hx_draft_add_chosen(out, room, d->logits);
        state = d->moved;
    }
    return 0;
}

/* --- open and close */

static void close_gtc(struct hx_draft *draft)
{
    struct gtc *d = (struct gtc *)draft;

    hx_whitening_free(&d->w);
    hx_library_close(d->library);
    hx_head_close(d->head);
    free(d->at.state);
    free(d->moved);
    free(d->logits);
    free(d->states);
    free(d->tokens);
    free(d);
}

static const struct hx_draft_ops ops = {.name = "gtc", .chooses = 1, .propose = propose, .close = close_gtc};
static const struct hx_tap_ops tap_ops = {.name = "gtc", .at = look};

static int take_store(struct gtc *d, const char *path, double eps, struct hx_error *err)
{
    struct hx_store *s = NULL;
    int rc = hx_store_read(&s, path, hx_store_model(d->m), err);

    if (!rc && s->frame.w.width != d->m->width)
        rc = hx_error_set(err, -EINVAL, "%s: states of %zu values; the model's have %zu", path, s->frame.w.width, d->m->width);
    if (!rc && !s->n)
        rc = hx_error_set(err, -EINVAL, "%s: there is no record", path);
    if (!rc) {
        const struct hx_library_cfg cfg = {.n = s->frame.w.n, .width = s->frame.w.width, .capacity = s->n, .eps = eps};

        rc = hx_library_open(&d->library, &cfg, err);
    }
    if (!rc)
        rc = hx_library_fill(d->library, s, err);
    if (!rc) {
        d->w = s->frame.w;
        s->frame.w = (struct hx_whitening){0}; /* d has it now */
    }
    hx_store_close(s);
    return rc;
}

static int open_gtc(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    const size_t width = o->model->width;
    struct gtc *d = calloc(1, sizeof(*d));
    int rc = 0;

    if (!d)
        return hx_error_set(err, -ENOMEM, "draft gtc: out of memory");
    d->draft = (struct hx_draft){&ops, &d->watch.tap};
    d->watch = (struct watch){{&tap_ops, 1u << HX_TAP_BEFORE_NORM}, d};
    d->m = o->model;
    d->n_ctx = o->n_ctx;
    d->at.state = malloc(width * sizeof(*d->at.state));
    d->moved = malloc(width * sizeof(*d->moved));
    d->logits = malloc(o->model->vocab * sizeof(*d->logits));
    d->states = calloc(o->n_ctx, width * sizeof(*d->states));
    d->tokens = calloc(o->n_ctx, sizeof(*d->tokens));
    if (!d->at.state || !d->moved || !d->logits || !d->states || !d->tokens)
        rc = hx_error_set(err, -ENOMEM, "draft gtc: no memory for a context of %zu", o->n_ctx);
    if (!rc)
        rc = hx_head_open(&d->head, o->model, err);
    if (!rc)
        rc = take_store(d, hx_plan_text(o->plan, "gtc-store"), hx_plan_real(o->plan, "gtc-eps"), err);
    if (rc)
        close_gtc(&d->draft);
    else
        *out = &d->draft;
    return rc;
}

/* --- what the engine says about it */

static int check(const struct hx_plan *p, struct hx_error *err)
{
    if (!hx_plan_text(p, "gtc-store"))
        return hx_error_set(err, -EINVAL, "draft gtc needs %s FILE, which hexrig geometry store makes", hx_plan_spell(p, "gtc-store"));
    if (hx_plan_given(p, "release-file"))
        return hx_error_set(err, -EINVAL, "draft gtc asks the model's file what it says of a state, and %srelease-file lets it go",
                            hx_plan_prefix(p));
    return 0;
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct gtc *d = self;

    (void)kv;
    (void)p;
    return json_pack("{s:I, s:I, s:I, s:I}", "records", (json_int_t)hx_library_size(d->library), "misses",
                     (json_int_t)d->verdicts[HX_LIBRARY_MISS], "hits", (json_int_t)d->verdicts[HX_LIBRARY_HIT], "corrects",
                     (json_int_t)d->verdicts[HX_LIBRARY_CORRECT]);
}

static const struct hx_option options[] = {
    {.name = "gtc-store", .arg = "FILE", .help = "trajectories that are looked up, as hexrig geometry store makes them"},
    {.name = "gtc-eps", .arg = "E", .def = "3", .min = 0, .max = 1000, .flags = HX_OPTION_REAL,
     .help = "no guess where none starts within E, in whitened coordinates"},
    {.name = NULL},
};

const struct hx_method hx_method_draft_gtc = {
    .name = "gtc",
    .seam = HX_SEAM_DRAFT,
    .about = "what the model says where trajectories that are kept lead",
    .options = options,
    .check = check,
    .open.draft = open_gtc,
    .reports = "gtc",
    .report = report,
};
