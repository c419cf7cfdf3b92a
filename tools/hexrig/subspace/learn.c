/* hexrig subspace learn: ranks by what each layer's harm and cost, accepted where a held-out text says that they help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/share.h"
#include "cli/terminal_watch.h"
#include "cmd_subspace.h"
#include "held_out.h"
#include "methods/adaptive/allot.h"
#include "methods/adaptive/learned.h"
#include "quant/quant.h"
#include "roofline/energy.h"

enum { OPT_TEXT = HX_OPT_FREE, OPT_HELD_OUT, OPT_CHUNKS, OPT_RANK, OPT_LEAST, OPT_STEP, OPT_LAMBDA };
enum { MAX_RANK = 65536, MAX_CHUNKS = 1 << 20, TRAINING_STEPS = 20000, HARM_CHUNKS = 8 };

static const double rate = 10;

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"text", OPT_TEXT, "FILE", 0, "on which harm is measured", 0},
    {"held-out", OPT_HELD_OUT, "FILE", 0, "that is scored (books-holdout.txt)", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows of 128 predictions of the latter (24)", 0},
    {"rank", OPT_RANK, "R", 0, "the mean over the layers (half of the width)", 0},
    {"least", OPT_LEAST, "R", 0, "rank of any layer (8, or the step)", 0},
    {"step", OPT_STEP, "N", 0, "ranks are multiples of it; Q8_0 wants 32 (1)", 0},
    {"lambda", OPT_LAMBDA, "X", 0, "nats per token that a microjoule is worth (0.005)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "whose energy model tells what a unit of rank costs (s22u-577)", 0},
    {0},
};

static const char doc[] =
    "Runs a text with wq, wk and wv of one layer at a time at each level of rank (8 to 512), which tells what that harms (nats per token), "
    "lets a soft choice of levels learn what harms and costs least, and gives ranks out in that proportion, so that they add up to what "
    "equal ranks do.  Both are run over the held-out text beside the whole model: verdict is ACCEPTED when the mean distance (kl) of the "
    "learned ones is the lesser one, else REJECTED.  With -o also learn.json, and rank_plan.txt for --axex-rank-plan."
    "\vA unit of rank costs what its bytes in Q8_0 take from DDR, in modelled energy, whose constants are assumed.\n\n"
    "Example: hexrig subspace learn --text wiki.txt --rank 96 -o learn; hexrig run --axex-compress --axex-rank-plan learn/rank_plan.txt";

struct learn {
    struct hx_subject s;
    struct hx_held_out train, h;
    const char *profile;
    size_t rank, least, step;
    double lambda, uj_per_rank;
    struct hx_learned l;
    double *harm, *soft;  /* [layers][levels], [layers] */
    size_t *ranks;
    struct hx_learned_told told;
    struct hx_rank_plan plan, equal;
    struct hx_compared c;
};

static int option(struct learn *p, int key, char *arg)
{
    switch (key) {
    case OPT_TEXT:
        p->train.text = arg;
        return 0;
    case OPT_HELD_OUT:
        p->h.text = arg;
        return 0;
    case OPT_CHUNKS:
        return hx_opt_size(p->s.cmd, "chunks", arg, 1, MAX_CHUNKS, &p->h.chunks);
    case OPT_RANK:
        return hx_opt_size(p->s.cmd, "rank", arg, 1, MAX_RANK, &p->rank);
    case OPT_LEAST:
        return hx_opt_size(p->s.cmd, "least", arg, 1, MAX_RANK, &p->least);
    case OPT_STEP:
        return hx_opt_size(p->s.cmd, "step", arg, 1, MAX_RANK, &p->step);
    case OPT_LAMBDA:
        return hx_opt_real(p->s.cmd, "lambda", arg, 0, 1e6, &p->lambda);
    case HX_OPT_PROFILE:
        p->profile = arg;
        return 0;
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- harm and cost */

/* With this layer alone at this rank. */
static int harm_of(const struct learn *p, size_t layer, size_t rank, double *harm, struct hx_error *err)
{
    char map[128];
    const char *const settings[] = {map, NULL};
    struct hx_rank alone = {.layer = layer, .matrices = 1 << HX_WQ | 1 << HX_WK | 1 << HX_WV, .rank = rank};
    const struct hx_rank_plan plan = {.model = p->s.m->fingerprint, .at = &alone, .n = 1};
    struct hx_ppl got;
    double error;
    int rc;

    snprintf(map, sizeof(map), "linear=cpu,wq@%zu=lowrank,wk@%zu=lowrank,wv@%zu=lowrank", layer, layer, layer);
    rc = hx_held_out_score(&p->train, settings, &plan, &got, &error, err);
    *harm = got.kl.mean;
    return rc;
}

static int measure_harm(struct learn *p, struct hx_error *err)
{
    const struct hx_watch watch = hx_terminal_watch(p->s.cmd);
    const size_t n = p->l.layers * p->l.levels;
    int rc = hx_held_out_open(&p->train, err);

    for (size_t i = 0; i < n && !rc; i++) {
        const size_t rank = (size_t)hx_level_ranks[i % p->l.levels];

        if (rank < p->s.m->width) /* at the width there is no harm */
            rc = harm_of(p, i / p->l.levels, rank, &p->harm[i], err);
        hx_watch_step(&watch, "levels of layers", i + 1, n);
    }
    return rc;
}

/* Bytes that a unit of rank of all layers has in Q8_0. */
static double bytes_per_rank(const struct hx_model *m)
{
    const struct hx_quant_info *q = hx_quant_info(HX_QUANT_Q8_0);
    double numbers = 0;

    for (size_t i = 0; i < m->n_layer; i++)
        numbers += (double)(m->width + m->layers[i].q.rows + m->layers[i].k.rows + m->layers[i].v.rows);
    return numbers * q->bytes / q->weights;
}

/* Of one layer's unit of rank, out of a token at the middle rank: its bytes come from DDR as fast as they can. */
static int find_cost(struct learn *p, struct hx_error *err)
{
    const char *name = p->profile ? p->profile : "s22u-577";
    const double bytes = bytes_per_rank(p->s.m) * HX_TPJ_MIDDLE;
    const struct hx_roofline_counts n = {.dma_bytes = bytes};
    char *folder = hx_share("profiles"), why[256] = "out of memory";
    struct hx_profile of;
    int rc = folder ? hx_profile_load(&of, folder, name, why, sizeof(why)) : -ENOMEM;
    double tokens_per_s, us;
    struct hx_energy e;

    free(folder);
    if (rc)
        return hx_error_set(err, rc, "%s", why);
    tokens_per_s = hx_roofline_tok_s(&of, bytes);
    us = 1e6 / tokens_per_s;
    e = hx_energy_of(&n, us, &of);
    p->uj_per_rank = 1e6 * hx_tpj_per_rank(&(struct hx_tpj){.n = 0}, hx_energy_uj(&e) / us, tokens_per_s) / (double)p->l.layers;
    return 0;
}

/* --- ranks */

static int learn(struct learn *p, struct hx_error *err)
{
    const size_t most = p->s.m->width / p->step * p->step;
    const struct hx_allot a = {.sum = p->rank * p->l.layers, .least = p->least, .most = most, .step = p->step};
    int rc = find_cost(p, err);

    if (!rc)
        rc = measure_harm(p, err);
    p->l.price = p->lambda * p->uj_per_rank;
    if (!rc)
        rc = hx_learned_train(&p->l, rate, TRAINING_STEPS, &p->told, err);
    if (!rc) {
        hx_learned_loss(&p->l, p->soft, NULL);
        rc = hx_allot(p->soft, p->l.layers, &a, p->ranks, err);
    }
    if (!rc && (hx_rank_plan_qkv(&p->plan, p->s.m, p->ranks, 0) || hx_rank_plan_qkv(&p->equal, p->s.m, NULL, p->rank)))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < p->plan.n && !rc; i++)
        snprintf(p->plan.at[i].why, sizeof(p->plan.at[i].why), "learned: %.1f before the sum", p->soft[i]);
    return rc;
}

static int compare(struct learn *p, struct hx_error *err)
{
    static const char *const settings[] = {"axex-compress", NULL};
    int rc = hx_held_out_open(&p->h, err);

    return rc ? rc : hx_held_out_compare(&p->h, settings, &p->equal, &p->plan, "learned ranks", &p->c, err);
}

/* --- the command */

static json_t *layer_json(const struct learn *p, size_t i)
{
    json_t *j = json_pack("{s:f, s:I}", "soft", p->soft[i], "rank", (json_int_t)p->ranks[i]);
    char name[32];

    for (size_t r = 0; r < p->l.levels; r++) {
        snprintf(name, sizeof(name), "harm_%.0f", hx_level_ranks[r]);
        json_object_set_new(j, name, json_real(p->harm[i * p->l.levels + r]));
    }
    return j;
}

static json_t *all_json(const struct learn *p)
{
    json_t *j = json_pack("{s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "model", hx_json_text(p->s.path), "text",
                          hx_json_text(p->train.text), "held_out", hx_json_text(p->h.text), "uj_per_rank", p->uj_per_rank, "price",
                          p->l.price, "loss_first", p->told.first, "loss_last", p->told.last, "steps", (json_int_t)p->told.steps, "sum",
                          (json_int_t)hx_rank_plan_sum(&p->plan), "sum_equal", (json_int_t)hx_rank_plan_sum(&p->equal));
    char name[32];

    for (size_t i = 0; i < p->l.layers; i++) {
        snprintf(name, sizeof(name), "layer_%zu", i);
        json_object_set_new(j, name, layer_json(p, i));
    }
    json_object_set_new(j, "equal", hx_held_out_json(&p->h, &p->c.plain));
    json_object_set_new(j, "learned", hx_held_out_json(&p->h, &p->c.chosen));
    json_object_set_new(j, "verdict", json_string(hx_compared_verdict(&p->c)));
    return j;
}

static int answer(const struct learn *p)
{
    json_t *j = all_json(p);
    int rc = hx_subject_write_json(&p->s, "learn.json", j);

    if (!rc)
        rc = hx_subject_write_plan(&p->s, p->c.accepted ? &p->plan : &p->equal);
    if (!rc)
        return hx_report_print(p->s.cmd, j, p->s.json);
    json_decref(j);
    return rc;
}

static int fill_in(struct learn *p, struct hx_error *err)
{
    const struct hx_model *m = p->s.m;

    p->rank = p->rank ? p->rank : m->width / 2 / p->step * p->step;
    p->least = p->least ? p->least : p->step > 8 ? p->step : 8 / p->step * p->step;
    p->train.s = p->h.s = &p->s;
    p->train.chunks = HARM_CHUNKS;
    p->l.layers = m->n_layer;
    while (p->l.levels < HX_LEVELS && hx_level_ranks[p->l.levels] <= (double)m->width)
        p->l.levels++;
    p->l.harm = p->harm = calloc(m->n_layer * HX_LEVELS, sizeof(*p->harm));
    p->l.theta = calloc(m->n_layer * HX_LEVELS, sizeof(*p->l.theta));
    p->soft = calloc(m->n_layer, sizeof(*p->soft));
    p->ranks = calloc(m->n_layer, sizeof(*p->ranks));
    if (!p->l.levels)
        return hx_error_set(err, -EINVAL, "the model's width is %zu; the least level is 8", m->width);
    return p->harm && p->l.theta && p->soft && p->ranks ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
}

static int run(struct learn *p)
{
    struct hx_error err = {""};
    int rc = fill_in(p, &err);

    if (!rc)
        rc = learn(p, &err);
    if (!rc)
        rc = compare(p, &err);
    return rc ? hx_cmd_fail(p->s.cmd, "%s", err.text) : answer(p);
}

int hx_subspace_cmd_learn(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct learn p = {.s = {.cmd = "subspace learn"}, .step = 1, .lambda = .005};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc && !p.train.text)
        rc = hx_cmd_usage(p.s.cmd, "no text to learn from (--text FILE)");
    if (!rc)
        rc = hx_subject_open(&p.s);
    if (!rc)
        rc = run(&p);
    hx_held_out_close(&p.train);
    hx_held_out_close(&p.h);
    hx_rank_plan_free(&p.plan);
    hx_rank_plan_free(&p.equal);
    free(p.harm);
    free(p.l.theta);
    free(p.soft);
    free(p.ranks);
    hx_subject_close(&p.s);
    return rc;
}
