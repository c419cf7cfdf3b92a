/* hexrig guard build and topics: the directions that tell a topic, what their removal does, and from which TEH on it is told. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli/report.h"
#include "cmd_guard.h"
#include "methods/guard/guard_file.h"

enum { OPT_TOPIC = HX_OPT_FREE };

static const struct argp_option build_options[] = {
    HX_BENCH_OPTIONS,
    {"topic", OPT_TOPIC, "NAME", 0, "of the prompts; needed", 0},
    {"output", 'o', "FILE", 0, "write the guard, for --guard", 0},
    {0},
};

static const struct argp_option topics_options[] = {HX_BENCH_OPTIONS, {0}};

#define WHAT                                                                                                                              \
    "Every other prompt of each topic finds, the others are held out.  Coordinates of a basis of final states (behind the last norm; with "\
    "--basis in front of it) are ordered by d * ROI, what tells the topic from the rest, and kept while predictions in other topics lose "\
    "no more than --budget.  own, others: relative change of their mean negative log likelihood, held out; of a planted model the share " \
    "of changed likeliest tokens.  all: without every coordinate; random: without as many random directions.  TEH is |Q^T h| / |h|, of a "\
    "prompt its largest (teh_percent_mean_*: of all tokens); the threshold is that with the largest F1 and nothing told falsely among the "\
    "prompts that find; tpr, fpr and f1 are of the held-out ones.  verdict is of them, too: ACCEPTED where others stay within the budget, "\
    "the topic loses more than they do, and it alone is told, by more than random directions do; else REJECTED."

static const char build_doc[] = WHAT "\vExample: hexrig guard build --topic weather -o weather.guard";
static const char topics_doc[] = WHAT "\vExample: hexrig guard topics --json";

struct build {
    struct hx_bench b;
    const char *topic, *out;
};

static int option(struct build *p, int key, char *arg)
{
    switch (key) {
    case OPT_TOPIC:
        p->topic = arg;
        return 0;
    case 'o':
        p->out = arg;
        return 0;
    default:
        return hx_bench_option(&p->b, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static json_t *effect_json(double own, double others)
{
    return json_pack("{s:f, s:f, s:f}", "own", own, "others", others, "specificity", hx_found_specificity(own, others));
}

static json_t *roc_json(const struct hx_teh_roc *r)
{
    return json_pack("{s:f, s:f, s:f}", "tpr", r->tpr, "fpr", r->fpr, "f1", r->f1);
}

/* On what was held out: others keep their predictions, the topic loses more than they do, and it is told where nothing else is, and where
 * random directions do not tell it. */
static int accepted(const struct hx_found *f, double budget)
{
    return f->n && f->others <= budget && f->own > f->others && !(f->held_out.fpr > 0) && f->held_out.tpr > f->random.tpr;
}

static json_t *found_json(const struct hx_found *f, double budget)
{
    json_t *j = json_pack("{s:I, s:f, s:f}", "coordinates", (json_int_t)f->n, "d", f->order[0].d, "roi", f->order[0].roi);

    json_object_set_new(j, "removed", effect_json(f->own, f->others));
    json_object_set_new(j, "all", effect_json(f->all_own, f->all_others));
    json_object_set_new(j, "random", effect_json(f->random_own, f->random_others));
    json_object_set_new(j, "threshold_percent", json_real(100 * f->found.threshold));
    json_object_set_new(j, "teh_percent_own", json_real(100 * f->teh_own));
    json_object_set_new(j, "teh_percent_others", json_real(100 * f->teh_others));
    json_object_set_new(j, "teh_percent_mean_own", json_real(100 * f->token_own));
    json_object_set_new(j, "teh_percent_mean_others", json_real(100 * f->token_others));
    json_object_set_new(j, "found", roc_json(&f->found));
    json_object_set_new(j, "held_out", roc_json(&f->held_out));
    json_object_set_new(j, "random_directions", roc_json(&f->random));
    json_object_set_new(j, "verdict", json_string(accepted(f, budget) ? "ACCEPTED" : "REJECTED"));
    return j;
}

/* --- build */

static json_t *steps_json(const struct hx_found *f)
{
    json_t *j = json_object();
    char name[32];

    for (size_t i = 0; i < f->n_steps; i++) {
        const struct hx_snipe_step *s = &f->steps[i];

        snprintf(name, sizeof(name), "%zu", i);
        json_object_set_new(j, name, json_pack("{s:I, s:f, s:f, s:f, s:f, s:b}", "coordinate", (json_int_t)s->coordinate, "d",
                                               f->order[i].d, "roi", f->order[i].roi, "own", s->effect, "others", s->loss, "kept",
                                               s->kept));
    }
    return j;
}

/* The same removals as perplexities of the held-out texts. */
static json_t *ppl_json(const struct hx_bench *b, size_t topic, const struct hx_found *f)
{
    double nll[2];

    hx_bench_plain(b, topic, 1, nll);
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "own", exp(nll[1]), "others", exp(nll[0]), "removed.own",
                     exp(nll[1] * (1 + f->own)), "removed.others", exp(nll[0] * (1 + f->others)), "all.own",
                     exp(nll[1] * (1 + f->all_own)), "all.others", exp(nll[0] * (1 + f->all_others)));
}

static int write_guard(const struct build *p, const struct hx_found *f)
{
    _Static_assert(sizeof(((struct hx_guard *)NULL)->name) == HX_TOPIC_NAME + 1, "a topic's name fits");
    struct hx_guard g = {.threshold = f->found.threshold, .q = f->q, .f = f->n, .d = p->b.u.d, .fingerprint = p->b.from.s.m->fingerprint};
    struct hx_error err = {""};

    if (!f->n)
        return hx_cmd_fail(p->b.from.s.cmd, "every coordinate of %s costs others more than %g %%: there is no guard", p->topic,
                           100 * p->b.budget);
    snprintf(g.name, sizeof(g.name), "%s", p->topic);
    return hx_guard_write(&g, p->out, &err) ? hx_cmd_fail(p->b.from.s.cmd, "%s", err.text) : HX_EXIT_OK;
}

static int build(struct build *p)
{
    const size_t topic = hx_topics_find(&p->b.from.topics, p->topic);
    struct hx_found f = {.n = 0};
    struct hx_error err = {""};
    int rc = HX_EXIT_OK;

    if (topic == p->b.from.topics.n_topics)
        return hx_cmd_fail(p->b.from.s.cmd, "--topic %s: the prompts have no such topic", p->topic);
    if (hx_bench_find(&p->b, topic, &f, &err))
        rc = hx_cmd_fail(p->b.from.s.cmd, "%s", err.text);
    if (!rc && p->out)
        rc = write_guard(p, &f);
    if (!rc) {
        json_t *j = json_pack("{s:o, s:o, s:s, s:I, s:f, s:o}", "model", hx_json_text(p->b.from.s.path), "topic",
                              hx_json_text(p->topic), "measure", p->b.planted ? "changed" : "nll", "k", (json_int_t)p->b.k,
                              "budget_percent", 100 * p->b.budget, "step", steps_json(&f));
        json_t *found = found_json(&f, p->b.budget);

        json_object_update(j, found);
        if (!p->b.planted)
            json_object_set_new(j, "ppl", ppl_json(&p->b, topic, &f));
        json_decref(found);
        rc = hx_report_print(p->b.from.s.cmd, j, p->b.from.s.json);
    }
    hx_found_free(&f);
    return rc;
}

int hx_guard_cmd_build(int argc, char **argv)
{
    const struct argp argp = {build_options, parse_option, NULL, build_doc, NULL, NULL, NULL};
    struct build p = {.b = {.from = {.s = {.cmd = "guard build"}}, .k = 64, .most = 12, .budget = .02, .seed = 1}};
    int rc = hx_opt_parse(p.b.from.s.cmd, &argp, argc, argv, &p);

    if (!rc && p.out && p.b.basis)
        rc = hx_cmd_usage(p.b.from.s.cmd, "-o with --basis: guards act behind the last norm, the basis is of states in front of it");
    if (!rc && !p.topic)
        rc = hx_cmd_usage(p.b.from.s.cmd, "no topic (--topic NAME)");
    if (!rc)
        rc = hx_bench_open(&p.b);
    if (!rc)
        rc = build(&p);
    hx_bench_close(&p.b);
    return rc;
}

/* --- topics */

static int all_topics(struct build *p)
{
    json_t *topics = json_object();
    json_t *j = json_pack("{s:o, s:s, s:I, s:f, s:o}", "model", hx_json_text(p->b.from.s.path), "measure",
                          p->b.planted ? "changed" : "nll", "k", (json_int_t)p->b.k, "budget_percent", 100 * p->b.budget, "topics", topics);
    struct hx_error err = {""};

    for (size_t i = 0; i < p->b.from.topics.n_topics; i++) {
        struct hx_found f = {.n = 0};
        const int rc = hx_bench_find(&p->b, i, &f, &err);

        if (!rc)
            hx_topics_json_set(topics, p->b.from.topics.name[i], found_json(&f, p->b.budget));
        hx_found_free(&f);
        if (rc) {
            json_decref(j);
            return hx_cmd_fail(p->b.from.s.cmd, "%s", err.text);
        }
    }
    return hx_report_print(p->b.from.s.cmd, j, p->b.from.s.json);
}

int hx_guard_cmd_topics(int argc, char **argv)
{
    const struct argp argp = {topics_options, parse_option, NULL, topics_doc, NULL, NULL, NULL};
    struct build p = {.b = {.from = {.s = {.cmd = "guard topics"}}, .k = 64, .most = 12, .budget = .02, .seed = 1}};
    int rc = hx_opt_parse(p.b.from.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = hx_bench_open(&p.b);
    if (!rc)
        rc = all_topics(&p);
    hx_bench_close(&p.b);
    return rc;
}
