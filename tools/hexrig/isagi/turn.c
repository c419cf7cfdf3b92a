/* A turn, see isagi.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cli/report.h"
#include "generate/completion.h"
#include "isagi.h"
#include "methods/guard/guard.h"

/* --- states */

struct hx_isagi_watch {
    struct hx_tap tap; /* first */
    float *forbidden, *snipe; /* [n][d] */
    struct hx_guard_q look, take;
    double most, sum;         /* TEH since they were set to 0 */
    size_t n;                 /* states that they are of */
};

/* What is looked at is what the model made of it; then the spare coordinates go. */
static int look_and_take(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct hx_isagi_watch *w = (struct hx_isagi_watch *)t;

    (void)err;
    for (size_t i = 0; i < at->n; i++) {
        const double teh = hx_guard_teh(&w->look, rows + i * at->row);

        w->most = fmax(w->most, teh);
        w->sum += isfinite(teh) ? teh : 0;
        w->n += isfinite(teh);
        if (w->take.f)
            hx_guard_project(&w->take, rows + i * at->row);
    }
    return 0;
}

static const struct hx_tap_ops watch_ops = {.name = "isagi", .at = look_and_take};

static float *rows_of(const struct hx_cog *c, const uint32_t *list, size_t n)
{
    float *rows = malloc((n * c->d + 1) * sizeof(*rows));

    for (size_t i = 0; i < n && rows; i++)
        memcpy(rows + i * c->d, c->basis + list[i] * c->d, c->d * sizeof(*rows));
    return rows;
}

int hx_isagi_watch_open(struct hx_isagi *s, struct hx_error *err)
{
    struct hx_isagi_watch *w = s->watch = calloc(1, sizeof(*w));
    const struct hx_cog *c = &s->cog;

    if (!w)
        return hx_error_set(err, -ENOMEM, "out of memory");
    w->tap = (struct hx_tap){&watch_ops, 1u << HX_TAP_IN_OUT};
    w->forbidden = rows_of(c, c->forbidden, c->n_forbidden);
    w->snipe = rows_of(c, c->snipe, c->n_snipe);
    if (!w->forbidden || !w->snipe)
        return hx_error_set(err, -ENOMEM, "out of memory");
    w->look = (struct hx_guard_q){w->forbidden, c->n_forbidden, c->d};
    w->take = (struct hx_guard_q){w->snipe, c->n_snipe, c->d};
    return hx_engine_add_tap(s->e, &w->tap, err);
}

void hx_isagi_watch_close(struct hx_isagi *s)
{
    if (!s->watch)
        return;
    free(s->watch->forbidden);
    free(s->watch->snipe);
    free(s->watch);
    s->watch = NULL;
}

/* --- answers */

/* Greedy, to the end of a line. */
static int answer(struct hx_isagi *s, const char *prompt, struct hx_isagi_turn *t, struct hx_error *err)
{
    static const char *const stops[] = {"\n"};
    struct hx_completion_cfg cfg = {.n_max = s->n, .at_end_token = 1, .sampling = {.repeat_penalty = 1.1, .repeat_last = 64},
                                    .stops = stops, .n_stops = 1};
    struct hx_completion c = {.ids = NULL};
    uint32_t *ids = NULL;
    int more, rc = hx_tokenizer_encode_with(s->e->model->tok, prompt, strlen(prompt), HX_ENCODE_BOS, &ids, &cfg.n_prompt)
                       ? hx_error_set(err, -ENOMEM, "out of memory") : 0;

    if (hx_plan_offload(s->o.plan) & HX_OFFLOAD_ARGMAX)
        cfg.sampling = (struct hx_sampler_cfg){.temp = 0};
    cfg.prompt = ids;
    if (!rc)
        rc = hx_completion_open(&c, s->e, &cfg, err);
    s->watch->most = s->watch->sum = 0;
    s->watch->n = 0;
    while (!rc && (more = hx_completion_step(&c, err)) != 0)
        rc = more < 0 ? more : 0;
    if (!rc && !(t->answer = hx_json_utf8(c.text.text, c.text.n)))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    t->teh = s->watch->most;
    t->mean = s->watch->n ? s->watch->sum / (double)s->watch->n : 0;
    hx_completion_close(&c);
    free(ids);
    return rc;
}

/* The nearest exchange in front, where it helps. */
static int ask(struct hx_isagi *s, const char *question, const struct hx_cog_match *m, struct hx_isagi_turn *t, struct hx_error *err)
{
    const struct hx_trajectory *near = m->tier == HX_COG_AUGMENT ? &s->cog.at[m->nearest] : NULL;
    char *prompt = NULL;
    int rc;

    if (near && asprintf(&prompt, "%s%s\n%s", near->prompt, near->answer, question) < 0)
        return hx_error_set(err, -ENOMEM, "out of memory");
    rc = answer(s, near ? prompt : question, t, err);
    free(prompt);
    return rc;
}

/* A question's point, and what is made of it: each [k], in one block. */
struct point {
    double *whole, *taken, *kept;
};

static int learn(struct hx_isagi *s, const char *question, const struct point *z, const struct hx_cog_match *m,
                 const struct hx_isagi_turn *t, struct hx_error *err)
{
    int rc = 1 - m->similarity > s->novel ? hx_cog_grow(&s->cog, z->taken, err) : 0;

    return rc ? rc : hx_cog_add(&s->cog, z->kept, question, t->answer, t->teh, err);
}

static int recall(const struct hx_isagi *s, const struct hx_cog_match *m, struct hx_isagi_turn *t, struct hx_error *err)
{
    const struct hx_trajectory *known = &s->cog.at[m->nearest];

    t->teh = known->teh;
    t->answer = strdup(known->answer);
    return t->answer ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
}

static int run(struct hx_isagi *s, const char *question, const uint32_t *ids, size_t n, struct hx_isagi_turn *t, struct hx_error *err)
{
    double *block = malloc(3 * s->cog.k * sizeof(*block));
    struct point z = {block, block ? block + s->cog.k : NULL, block ? block + 2 * s->cog.k : NULL};
    struct hx_cog_match m;
    int rc = block ? hx_cog_place_tokens(&s->cog, &s->e->model->embd, ids, n, z.whole, err)
                   : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        hx_cog_snipe(&s->cog, (enum hx_cog_snipe)s->snipe, z.whole, z.taken, z.kept);
        t->pre = hx_cog_share(&s->cog, z.taken);
        t->post = hx_cog_share(&s->cog, z.kept);
        m = hx_cog_match(&s->cog, z.kept);
        t->tier = m.tier;
        t->similarity = m.similarity;
        rc = m.tier == HX_COG_RETRIEVE ? recall(s, &m, t, err) : ask(s, question, &m, t, err);
        if (!rc && m.tier != HX_COG_RETRIEVE)
            rc = learn(s, question, &z, &m, t, err);
    }
    if (!rc)
        rc = hx_cog_say(&s->cog, question, t->answer, t->tier, t->similarity, err);
    free(block);
    return rc;
}

int hx_isagi_turn(struct hx_isagi *s, const char *question, struct hx_isagi_turn *t, struct hx_error *err)
{
    const double start = hx_report_clock();
    struct hx_session_stats before, after, sum;
    uint32_t *ids = NULL;
    size_t n = 0;
    int rc = hx_report_now(&before) ? hx_error_set(err, -EIO, "cannot read the session's figures") : 0;

    *t = (struct hx_isagi_turn){.answer = NULL};
    if (!rc && hx_tokenizer_encode(s->e->model->tok, question, strlen(question), &ids, &n))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    if (!rc)
        rc = run(s, question, ids, n, t, err);
    free(ids);
    if (rc)
        return rc;
    if (hx_report_now(&after))
        return hx_error_set(err, -EIO, "cannot read the session's figures");
    sum = hx_report_diff(&after, &before);
    t->calls = (double)(sum.invokes + sum.packets);
    t->growth = hx_cog_growth(&s->cog);
    t->trajectories = s->cog.n;
    t->ms = 1e3 * (hx_report_clock() - start);
    s->turns++;
    return 0;
}
