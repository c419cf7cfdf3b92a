/* hexrig guard ogd: steps that are projected, chains of them, and what is left of a projection some tokens later. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "cli/report.h"
#include "cmd_guard.h"
#include "engine/forward.h"
#include "methods/guard/guard_file.h"
#include "methods/guard/ogd.h"
#include "ugt/source.h"

enum { OPT_GUARD = HX_OPT_FREE, OPT_STATES };
enum { ALPHAS = 6, CHAINS = 10, LATER = 3, MODES = 3, MOST_STATES = 1 << 20, MOST_TEXTS = 16 };
enum { KEY_STEP, KEY_CHAIN };
enum { NEVER, ONCE, EVERY };

static const double alphas[ALPHAS] = {.05, .10, .15, .20, .25, .30};
static const size_t later[LATER] = {1, 4, 16};
static const char *const mode_names[MODES] = {"never", "once", "every"};

static const struct argp_option options[] = {
    HX_UGT_SOURCE_OPTIONS,
    {"guard", OPT_GUARD, "FILE", 0, "of hexrig guard build; needed", 0},
    {"states", OPT_STATES, "N", 0, "that are stepped from (1000)", 0},
    {"seed", HX_OPT_SEED, "S", 0, "of the choice of states (1)", 0},
    {0},
};

static const char doc[] =
    "step: from states of the prompts alpha of their length towards others, and projected: left is the largest |Q^T h| / |h| of all, "
    "bare_* TEH without the projection.  chain: three steps (.20, .10, .05), from ten states, scored as published, with weights that add "
    "up to 1.  later: greedy texts behind up to 16 prompts of the guard's topic (of_all_topics=1: there is none, and those of all are "
    "run), projected never, at the first token, or at every one; TEH of the state that came 0, 1, 4 and 16 tokens later, in front of what "
    "is projected there; changed: tokens other than without."
    "\vExample: hexrig guard ogd --guard weather.guard";

struct ogd {
    struct hx_ugt_source from;
    const char *path;
    size_t states;
    uint64_t seed;
    struct hx_guard g;
    float *rows; /* [n][d] */
};

static struct hx_guard_q q_of(const struct ogd *o)
{
    return (struct hx_guard_q){o->g.q, o->g.f, o->g.d};
}

static int option(struct ogd *o, int key, char *arg)
{
    switch (key) {
    case OPT_GUARD:
        o->path = arg;
        return 0;
    case OPT_STATES:
        return hx_opt_size(o->from.s.cmd, "states", arg, 1, MOST_STATES, &o->states);
    case HX_OPT_SEED:
        return hx_opt_u64(o->from.s.cmd, "seed", arg, 0, INT64_MAX, &o->seed);
    default:
        return hx_ugt_source_option(&o->from, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- steps */

struct steps {
    double left, teh, bare_mean, bare_most; /* teh: the largest behind the projection */
};

/* From state i towards another one; scratch: [3 * d]. */
static void take_step(const struct ogd *o, size_t i, double alpha, float *scratch, struct steps *to)
{
    const size_t n = o->from.states.n, d = o->g.d, with = (size_t)(hx_keyed(hx_keyed(o->seed, KEY_STEP), i) % n);
    const struct hx_guard_q q = q_of(o);
    const float *h = o->rows + i % n * d, *target = o->rows + with * d;
    float *v = scratch, *safe = v + d, *bare = safe + d;
    double teh;

    for (size_t k = 0; k < d; k++)
        v[k] = target[k] - h[k];
    hx_ogd_step(&q, h, v, alpha, safe);
    hx_ogd_step(&(struct hx_guard_q){NULL, 0, d}, h, v, alpha, bare);
    teh = hx_guard_teh(&q, bare);
    to->left = fmax(to->left, hx_guard_left(&q, safe));
    to->teh = fmax(to->teh, hx_guard_teh(&q, safe));
    to->bare_mean += teh / (double)o->states;
    to->bare_most = fmax(to->bare_most, teh);
}

static int add_steps(const struct ogd *o, json_t *j)
{
    float *scratch = malloc(4 * o->g.d * sizeof(*scratch));
    char name[16];

    if (!scratch)
        return -ENOMEM;
    for (size_t a = 0; a < ALPHAS; a++) {
        struct steps s = {0};

        for (size_t i = 0; i < o->states; i++)
            take_step(o, i, alphas[a], scratch, &s);
        snprintf(name, sizeof(name), "%.2f", alphas[a]);
        json_object_set_new(j, name, json_pack("{s:f, s:f, s:f, s:f}", "left", s.left, "teh_percent", 100 * s.teh, "bare_percent_mean",
                                               100 * s.bare_mean, "bare_percent_most", 100 * s.bare_most));
    }
    free(scratch);
    return 0;
}

/* --- chains */

static json_t *chains_json(const struct ogd *o)
{
    const size_t n = o->from.states.n, d = o->g.d;
    const struct hx_guard_q q = q_of(o);
    float *scratch = malloc(4 * d * sizeof(*scratch));
    struct hx_ogd_chain sum = {0};
    int collapsed = 0;

    for (size_t i = 0; i < CHAINS && scratch; i++) {
        const uint64_t key = hx_keyed(hx_keyed(o->seed, KEY_CHAIN), i);
        struct hx_ogd_chain c;

        hx_ogd_chain(&q, o->rows + hx_keyed(key, 0) % n * d, o->rows + hx_keyed(key, 1) % n * d, scratch, &c);
        sum.smoothness += c.smoothness / CHAINS;
        sum.directionality += c.directionality / CHAINS;
        sum.convergence += c.convergence / CHAINS;
        sum.coherence += c.coherence / CHAINS;
        sum.teh = fmax(sum.teh, c.teh);
        collapsed += c.collapsed;
    }
    free(scratch);
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "seeds", (json_int_t)CHAINS, "smoothness", sum.smoothness, "directionality",
                     sum.directionality, "convergence", sum.convergence, "coherence", sum.coherence, "collapsed",
                     (double)collapsed / CHAINS, "teh_percent", 100 * sum.teh);
}

/* --- some tokens later */

struct projector {
    struct hx_tap tap; /* first */
    struct hx_guard_q q;
    int on;
    double teh; /* of the last row, before */
};

static int project(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct projector *p = (struct projector *)t;
    float *last = rows + (at->n - 1) * at->row;

    p->teh = hx_guard_teh(&p->q, last);
    if (!isfinite(p->teh))
        return hx_error_set(err, -EDOM, "position %zu: the final state is not finite", at->pos[at->n - 1]);
    if (p->on)
        hx_guard_project(&p->q, last);
    return 0;
}

struct texts {
    struct hx_runner r;
    struct projector p;
    float *logits;
    uint32_t tokens[MODES][MOST_TEXTS][17];
    double teh[MODES][LATER + 1];
    size_t n;
    int all; /* 1: the prompts do not have the guard's topic, and those of all are run */
};

static uint32_t largest(const float *x, size_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

/* 16 tokens behind a prompt; state 0 is the prompt's last. */
static int run_text(struct texts *t, const struct hx_topic_text *prompt, int mode, size_t text, struct hx_error *err)
{
    const size_t last = prompt->n - 1;
    uint32_t token = 0;
    int rc = 0;

    for (size_t i = 0; i <= later[LATER - 1] && !rc; i++) {
        t->p.on = mode == EVERY || (mode == ONCE && !i);
        rc = i ? hx_forward_run(t->r.forward, &token, 1, last + i, err) : hx_forward_run(t->r.forward, prompt->ids, prompt->n, 0, err);
        if (!rc)
            rc = hx_forward_logits(t->r.forward, i ? 0 : last, 1, t->logits, err);
        if (rc)
            break;
        t->tokens[mode][text][i] = token = largest(t->logits, t->r.m->vocab);
        for (size_t l = 0; l <= LATER; l++)
            t->teh[mode][l] += i == (l ? later[l - 1] : 0) ? t->p.teh : 0;
    }
    return rc;
}

static json_t *later_json(const struct texts *t)
{
    json_t *j = json_pack("{s:I, s:b}", "texts", (json_int_t)t->n, "of_all_topics", t->all);
    char name[32];

    for (size_t mode = 0; mode < MODES; mode++) {
        json_t *m = json_object();
        size_t changed = 0;

        for (size_t l = 0; l <= LATER; l++) {
            snprintf(name, sizeof(name), "teh_percent_%zu", l ? later[l - 1] : 0);
            json_object_set_new(m, name, json_real(100 * t->teh[mode][l] / (double)t->n));
        }
        for (size_t i = 0; i < t->n; i++)
            for (size_t k = 0; k <= later[LATER - 1]; k++)
                changed += t->tokens[mode][i][k] != t->tokens[NEVER][i][k];
        json_object_set_new(m, "changed", json_real((double)changed / ((double)t->n * (double)(later[LATER - 1] + 1))));
        json_object_set_new(j, mode_names[mode], m);
    }
    return j;
}

static int run_texts(const struct ogd *o, struct texts *t, struct hx_error *err)
{
    static const struct hx_tap_ops ops = {.name = "projector", .at = project};
    struct hx_tap *const taps[] = {&t->p.tap, NULL};
    const size_t topic = hx_topics_find(&o->from.topics, o->g.name);
    int rc;

    t->all = topic == o->from.topics.n_topics;
    t->p = (struct projector){.tap = {&ops, 1u << HX_TAP_IN_OUT}, .q = q_of(o)};
    t->logits = malloc(o->from.s.m->vocab * sizeof(*t->logits));
    rc = t->logits ? hx_runner_open(&t->r, o->from.s.m, o->from.s.pool, NULL, o->from.topics.longest + later[LATER - 1], taps, err)
                   : hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < o->from.topics.n && t->n < MOST_TEXTS && !rc; i++) {
        if (!t->all && o->from.topics.at[i].topic != topic)
            continue;
        for (int mode = 0; mode < MODES && !rc; mode++)
            rc = run_text(t, &o->from.topics.at[i], mode, t->n, err);
        t->n++;
    }
    return rc;
}

/* --- the command */

static int take_states(struct ogd *o)
{
    const struct hx_states_cfg cfg = {.model = o->from.s.m, .pool = o->from.s.pool, .point = HX_TAP_IN_OUT, .every = 1};
    const struct hx_states *s = &o->from.states;
    struct hx_error err = {""};
    int rc = hx_guard_read(&o->g, o->path, o->from.s.m->fingerprint, &err);

    if (!rc)
        rc = hx_states_take(&o->from.states, &o->from.topics, &cfg, &err);
    if (!rc && !(o->rows = malloc(s->n * s->d * sizeof(*o->rows))))
        rc = hx_error_set(&err, -ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < s->n * s->d; i++)
        o->rows[i] = (float)s->h[i];
    return rc ? hx_cmd_fail(o->from.s.cmd, "%s", err.text) : HX_EXIT_OK;
}

static int answer(const struct ogd *o)
{
    struct texts *t = calloc(1, sizeof(*t));
    json_t *steps = json_object(), *j = NULL;
    struct hx_error err = {"out of memory"};
    int rc = t && !add_steps(o, steps) ? run_texts(o, t, &err) : -ENOMEM;

    if (!rc)
        j = json_pack("{s:o, s:o, s:I, s:I, s:O, s:o, s:o}", "guard", hx_json_text(o->path), "topic", hx_json_text(o->g.name),
                      "directions", (json_int_t)o->g.f, "states", (json_int_t)o->states, "step", steps, "chain", chains_json(o), "later",
                      later_json(t));
    if (t) {
        hx_runner_close(&t->r);
        free(t->logits);
        free(t);
    }
    json_decref(steps);
    return rc ? hx_cmd_fail(o->from.s.cmd, "%s", err.text) : hx_report_print(o->from.s.cmd, j, o->from.s.json);
}

int hx_guard_cmd_ogd(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct ogd o = {.from = {.s = {.cmd = "guard ogd"}}, .states = 1000, .seed = 1};
    int rc = hx_opt_parse(o.from.s.cmd, &argp, argc, argv, &o);

    if (!rc && !o.path)
        rc = hx_cmd_usage(o.from.s.cmd, "no guard (--guard FILE)");
    if (!rc)
        rc = hx_ugt_source_open(&o.from);
    if (!rc)
        rc = take_states(&o);
    if (!rc)
        rc = answer(&o);
    free(o.rows);
    hx_guard_free(&o.g);
    hx_ugt_source_close(&o.from);
    return rc;
}
