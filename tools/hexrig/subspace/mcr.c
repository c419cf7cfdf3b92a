/* hexrig subspace mcr: ranks by phases of layers, accepted where a held-out text says that they help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/terminal_watch.h"
#include "cmd_subspace.h"
#include "held_out.h"
#include "methods/adaptive/mcr.h"
#include "methods/adaptive/variance.h"
#include "text/text.h"

enum { OPT_TEXT = HX_OPT_FREE, OPT_HELD_OUT, OPT_CHUNKS, OPT_RANK, OPT_LEAST, OPT_MOST, OPT_STEP, OPT_WITHIN, OPT_FLAT, OPT_MIX,
       OPT_COMPRESS, OPT_REFINE };
enum { MAX_RANK = 65536, MAX_CHUNKS = 1 << 20, CTX = 128, MOST_WINDOWS = 120 };

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"text", OPT_TEXT, "FILE", 0, "whose states make the phases", 0},
    {"held-out", OPT_HELD_OUT, "FILE", 0, "that is scored (books-holdout.txt)", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows of 128 predictions (24)", 0},
    {"rank", OPT_RANK, "R", 0, "the mean over the layers (half of the width)", 0},
    {"least", OPT_LEAST, "R", 0, "rank of any layer (8, or the step)", 0},
    {"most", OPT_MOST, "R", 0, "rank of any layer (the width)", 0},
    {"step", OPT_STEP, "N", 0, "ranks are multiples of it; Q8_0 wants 32 (1)", 0},
    {"within", OPT_WITHIN, "X", 0, "of the least variance a layer of Compress has at most (1.5)", 0},
    {"flat", OPT_FLAT, "X", 0, "a profile whose largest is below so many times the least has no phases (1.15)", 0},
    {"mix-scale", OPT_MIX, "X", 0, "(1.5)", 0},
    {"compress-scale", OPT_COMPRESS, "X", 0, "(0.35)", 0},
    {"refine-scale", OPT_REFINE, "X", 0, "(1.2)", 0},
    {0},
};

static const char doc[] =
    "Ranks of wq, wk and wv's shared basis by layer: the variance of the states at each layer's input tells Mix, Compress and Refine "
    "apart, each of which has its share, and the ranks add up to what they would be without phases.  Both are run over the held-out text "
    "beside the whole model: verdict is ACCEPTED when the mean distance (kl, nats per token) of the ranks by phase is the lesser one, else "
    "REJECTED.  With -o also mcr.json, and rank_plan.txt for --axex-rank-plan: of what was accepted, else of equal ranks."
    "\vExample: hexrig subspace mcr --text wiki.txt --rank 128 -o mcr; hexrig run --axex-compress --axex-rank-plan mcr/rank_plan.txt";

struct mcr {
    struct hx_subject s;
    struct hx_held_out h;
    const char *text;
    struct hx_mcr how;
    size_t rank, least, most, step;
    size_t n;        /* layers */
    double *variance, *smooth;
    enum hx_phase *phase;
    size_t *ranks;
    int valid;
    struct hx_rank_plan plan, equal;
    struct hx_compared c;
};

/* --- options */

static int option(struct mcr *p, int key, char *arg)
{
    struct {
        int key;
        const char *name;
        double *to;
    } reals[] = {
        {OPT_WITHIN, "within", &p->how.within},
        {OPT_FLAT, "flat", &p->how.flat},
        {OPT_MIX, "mix-scale", &p->how.scale[HX_PHASE_MIX]},
        {OPT_COMPRESS, "compress-scale", &p->how.scale[HX_PHASE_COMPRESS]},
        {OPT_REFINE, "refine-scale", &p->how.scale[HX_PHASE_REFINE]},
    };
    struct {
        int key;
        const char *name;
        size_t most, *to;
    } sizes[] = {
        {OPT_CHUNKS, "chunks", MAX_CHUNKS, &p->h.chunks}, {OPT_RANK, "rank", MAX_RANK, &p->rank},
        {OPT_LEAST, "least", MAX_RANK, &p->least},        {OPT_MOST, "most", MAX_RANK, &p->most},
        {OPT_STEP, "step", MAX_RANK, &p->step},
    };

    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
        if (reals[i].key == key)
            return hx_opt_real(p->s.cmd, reals[i].name, arg, 1e-3, 1e3, reals[i].to);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].key == key)
            return hx_opt_size(p->s.cmd, sizes[i].name, arg, 1, sizes[i].most, sizes[i].to);
    if (key != OPT_TEXT && key != OPT_HELD_OUT)
        return hx_subject_option(&p->s, key, arg);
    *(key == OPT_TEXT ? &p->text : &p->h.text) = arg;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- plans */

static int take_variances(struct mcr *p, struct hx_error *err)
{
    const struct hx_watch watch = hx_terminal_watch(p->s.cmd);
    struct hx_text_pass pass = {.model = p->s.m, .pool = p->s.pool, .watch = &watch, .ctx = CTX};
    uint32_t *ids = NULL;
    size_t n;
    int rc = hx_text_encode(p->s.m->tok, p->text, &ids, &n, err);

    if (!rc && n < CTX)
        rc = hx_error_set(err, -EINVAL, "%s: %zu tokens; a window is %d", p->text, n, CTX);
    if (!rc) {
        pass.ids = ids;
        pass.windows = n / CTX < MOST_WINDOWS ? n / CTX : MOST_WINDOWS;
        rc = hx_variances(&pass, p->variance, err);
    }
    free(ids);
    return rc;
}

static int fill_plans(struct mcr *p, struct hx_error *err)
{
    if (hx_rank_plan_qkv(&p->plan, p->s.m, p->ranks, 0) || hx_rank_plan_qkv(&p->equal, p->s.m, NULL, p->rank))
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < p->n; i++) {
        struct hx_rank *at = &p->plan.at[i];

        at->phase = p->phase[i];
        snprintf(at->why, sizeof(at->why), "variance %.4g, with its neighbours %.4g", p->variance[i], p->smooth[i]);
    }
    return 0;
}

static int make_plans(struct mcr *p, struct hx_error *err)
{
    const struct hx_allot a = {.sum = p->rank * p->n, .least = p->least, .most = p->most, .step = p->step};
    int rc = take_variances(p, err);

    if (rc)
        return rc;
    p->valid = hx_mcr_phases(&p->how, p->variance, p->n, p->smooth, p->phase);
    rc = hx_mcr_ranks(&p->how, p->phase, p->n, &a, p->ranks, err);
    return rc ? rc : fill_plans(p, err);
}

/* --- verdict */

/* Equal ranks, which a flat profile has, are no choice. */
static int compare(struct mcr *p, struct hx_error *err)
{
    static const char *const settings[] = {"axex-compress", NULL};
    int rc = hx_held_out_open(&p->h, err);

    if (!rc)
        rc = hx_held_out_compare(&p->h, settings, &p->equal, &p->plan, "mcr", &p->c, err);
    p->c.accepted &= p->valid;
    return rc;
}

static json_t *all_json(const struct mcr *p)
{
    json_t *j = json_pack("{s:o, s:o, s:o, s:b, s:I, s:I}", "model", hx_json_text(p->s.path), "text", hx_json_text(p->text), "held_out",
                          hx_json_text(p->h.text), "phases_valid", p->valid, "sum", (json_int_t)hx_rank_plan_sum(&p->plan), "sum_equal",
                          (json_int_t)hx_rank_plan_sum(&p->equal));
    char name[32];

    for (size_t i = 0; i < p->n; i++) {
        snprintf(name, sizeof(name), "layer_%zu", i);
        json_object_set_new(j, name, json_pack("{s:f, s:f, s:s, s:I}", "variance", p->variance[i], "smooth", p->smooth[i], "phase",
                                               hx_phase_names[p->phase[i]], "rank", (json_int_t)p->ranks[i]));
    }
    json_object_set_new(j, "equal", hx_held_out_json(&p->h, &p->c.plain));
    json_object_set_new(j, "mcr", hx_held_out_json(&p->h, &p->c.chosen));
    json_object_set_new(j, "verdict", json_string(hx_compared_verdict(&p->c)));
    return j;
}

static int answer(const struct mcr *p)
{
    json_t *j = all_json(p);
    int rc = hx_subject_write_json(&p->s, "mcr.json", j);

    if (!rc)
        rc = hx_subject_write_plan(&p->s, p->c.accepted ? &p->plan : &p->equal);
    if (!rc)
        return hx_report_print(p->s.cmd, j, p->s.json);
    json_decref(j);
    return rc;
}

/* --- the command */

static int fill_in(struct mcr *p, struct hx_error *err)
{
    p->n = p->s.m->n_layer;
    p->rank = p->rank ? p->rank : p->s.m->width / 2 / p->step * p->step;
    p->most = p->most ? p->most : p->s.m->width / p->step * p->step;
    p->least = p->least ? p->least : p->step > 8 ? p->step : 8 / p->step * p->step;
    p->variance = calloc(p->n, sizeof(*p->variance));
    p->smooth = calloc(p->n, sizeof(*p->smooth));
    p->phase = calloc(p->n, sizeof(*p->phase));
    p->ranks = calloc(p->n, sizeof(*p->ranks));
    return p->variance && p->smooth && p->phase && p->ranks ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
}

static int run(struct mcr *p)
{
    struct hx_error err = {""};
    int rc = fill_in(p, &err);

    if (!rc)
        rc = make_plans(p, &err);
    if (!rc)
        rc = compare(p, &err);
    return rc ? hx_cmd_fail(p->s.cmd, "%s", err.text) : answer(p);
}

int hx_subspace_cmd_mcr(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct mcr p = {.s = {.cmd = "subspace mcr"}, .how = hx_mcr_published(), .step = 1};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc && !p.text)
        rc = hx_cmd_usage(p.s.cmd, "no text to make phases of (--text FILE)");
    if (!rc)
        rc = hx_subject_open(&p.s);
    p.h.s = &p.s;
    if (!rc)
        rc = run(&p);
    hx_held_out_close(&p.h);
    hx_rank_plan_free(&p.plan);
    hx_rank_plan_free(&p.equal);
    free(p.variance);
    free(p.smooth);
    free(p.phase);
    free(p.ranks);
    hx_subject_close(&p.s);
    return rc;
}
