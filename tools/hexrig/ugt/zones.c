/* hexrig ugt zones and refine: texts of topics, told apart by coordinates of their last states; and a basis that is turned for that. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_ugt.h"
#include "methods/ugt/refine.h"
#include "methods/ugt/ugt_file.h"
#include "methods/ugt/zones.h"
#include "model/planted.h"
#include "source.h"

enum { OPT_BASIS = HX_OPT_FREE, OPT_STEPS, OPT_RATE, OPT_LAMBDA };
enum { MOST_STEPS = 1 << 20 };

static const struct argp_option zones_options[] = {
    HX_UGT_SOURCE_OPTIONS,
    {"basis", OPT_BASIS, "FILE", 0, "of hexrig ugt build; needed", 0},
    {"seed", HX_OPT_SEED, "S", 0, "of the exchange of labels (1)", 0},
    {0},
};

static const struct argp_option refine_options[] = {
    HX_UGT_SOURCE_OPTIONS,
    {"basis", OPT_BASIS, "FILE", 0, "of hexrig ugt build; needed", 0},
    {"steps", OPT_STEPS, "N", 0, "of AdamW (200)", 0},
    {"rate", OPT_RATE, "X", 0, "its step (0.01)", 0},
    {"lambda", OPT_LAMBDA, "X", 0, "weight of ||B^T B - I||_F (1)", 0},
    {"seed", HX_OPT_SEED, "S", 0, "of the exchange of labels (1)", 0},
    {"output", 'o', "FILE", 0, "write the basis", 0},
    {0},
};

static const char zones_doc[] =
    "Each topic's every other text makes its centroid, the others go to the nearest one.  without_id: the share that came right; "
    "shuffled: the same with labels exchanged at random, which is what chance gives; largest: who always names the largest topic.  "
    "with_id: with the topic's number in front of the coordinates, as published: that is the label itself, and 1 whatever the states are.  "
    "separation: 1 - mean cosine of centroids.  ppl of each topic is the model's over its texts; of a planted model there is none."
    "\vExample: hexrig ugt zones --basis tiny.ugt --zone books=books.txt --zone wiki=wiki.txt";

static const char refine_doc[] =
    "Steps of AdamW on the Grassmann manifold, QR behind each, for L = + sum of cosines of centroids' coordinates + "
    "lambda ||B^T B - I||_F; the sign is the one that turns topics apart.  before and after: as hexrig ugt zones has it, on texts that "
    "made no centroid.  verdict is ACCEPTED when more of them come right than before, else REJECTED, and then -o writes the basis as it "
    "was."
    "\vExample: hexrig ugt refine --basis tiny.ugt -o turned.ugt";

struct zones {
    struct hx_ugt_source from;
    const char *path, *out;
    uint64_t seed;
    struct hx_ugt_refine how;
    struct hx_ugt u;
    double *z;         /* [n][k] */
    double *centroids; /* [topics][d] */
};

static int option(struct zones *p, int key, char *arg)
{
    switch (key) {
    case OPT_BASIS:
        p->path = arg;
        return 0;
    case 'o':
        p->out = arg;
        return 0;
    case OPT_STEPS:
        return hx_opt_size(p->from.s.cmd, "steps", arg, 1, MOST_STEPS, &p->how.steps);
    case OPT_RATE:
        return hx_opt_real(p->from.s.cmd, "rate", arg, 1e-9, 1, &p->how.rate);
    case OPT_LAMBDA:
        return hx_opt_real(p->from.s.cmd, "lambda", arg, 0, 1e3, &p->how.lambda);
    case HX_OPT_SEED:
        return hx_opt_u64(p->from.s.cmd, "seed", arg, 0, INT64_MAX, &p->seed);
    default:
        return hx_ugt_source_option(&p->from, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int open_all(struct zones *p, int nll)
{
    struct hx_error err = {""};
    int rc;

    if (!p->path)
        return hx_cmd_usage(p->from.s.cmd, "no basis (--basis FILE)");
    rc = hx_ugt_source_open(&p->from);
    if (rc)
        return rc;
    if (hx_ugt_read(&p->u, p->path, p->from.s.m->fingerprint, NULL, &err))
        return hx_cmd_fail(p->from.s.cmd, "%s", err.text);
    rc = hx_ugt_source_states(&p->from, nll);
    if (rc)
        return rc;
    p->z = malloc(p->from.states.n * p->u.k * sizeof(*p->z));
    p->centroids = malloc(p->from.topics.n_topics * p->u.d * sizeof(*p->centroids));
    return p->z && p->centroids ? HX_EXIT_OK : hx_cmd_fail(p->from.s.cmd, "out of memory");
}

static void close_all(struct zones *p)
{
    hx_ugt_free(&p->u);
    free(p->z);
    free(p->centroids);
    hx_ugt_source_close(&p->from);
}

static int route(struct zones *p, struct hx_ugt_routed *to, struct hx_error *err)
{
    const struct hx_ugt_samples s = {p->z, p->from.states.topic, p->from.states.n, p->u.k, p->from.topics.n_topics};

    hx_ugt_coordinates(&p->u, p->from.states.h, p->from.states.n, p->z);
    return hx_ugt_route(&s, p->seed, to, err);
}

static json_t *routed_json(const struct hx_ugt_routed *r)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "without_id", r->without_id, "with_id", r->with_id, "shuffled", r->shuffled, "largest",
                     r->largest, "separation", r->separation);
}

/* --- zones */

static json_t *topics_json(const struct zones *p)
{
    const int planted = hx_gguf_is_planted(p->from.s.m->file);
    json_t *j = json_object();

    for (size_t i = 0; i < p->from.topics.n_topics; i++) {
        size_t n = 0;

        for (size_t k = 0; k < p->from.topics.n; k++)
            n += p->from.topics.at[k].topic == i;
        json_t *topic = json_pack("{s:I}", "texts", (json_int_t)n);

        if (!planted)
            json_object_set_new(topic, "ppl", json_real(exp(p->from.states.nll[i])));
        hx_topics_json_set(j, p->from.topics.name[i], topic);
    }
    return j;
}

int hx_ugt_cmd_zones(int argc, char **argv)
{
    const struct argp argp = {zones_options, parse_option, NULL, zones_doc, NULL, NULL, NULL};
    struct zones p = {.from = {.s = {.cmd = "ugt zones"}}, .seed = 1};
    struct hx_ugt_routed r = {0};
    struct hx_error err = {""};
    int rc = hx_opt_parse(p.from.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = open_all(&p, 1);
    if (!rc && route(&p, &r, &err))
        rc = hx_cmd_fail(p.from.s.cmd, "%s", err.text);
    if (!rc)
        rc = hx_report_print(p.from.s.cmd, json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "model", hx_json_text(p.from.s.path), "basis",
                                                     hx_json_text(p.path), "k", (json_int_t)p.u.k, "routed", (json_int_t)r.routed,
                                                     "topics", topics_json(&p), "accuracy", routed_json(&r)), p.from.s.json);
    close_all(&p);
    return rc;
}

/* --- refine */

/* Of the texts that make centroids, so that the others stay held out. */
static int find_centroids(struct zones *p, struct hx_error *err)
{
    const struct hx_ugt_samples s = {p->from.states.h, p->from.states.topic, p->from.states.n, p->u.d, p->from.topics.n_topics};

    return hx_ugt_centroids(&s, p->centroids, err);
}

struct refined {
    struct hx_ugt_routed before, after;
    struct hx_ugt_refined r;
    double held;  /* of these states, by the new basis */
    double was;   /* by the old one */
    int accepted;
};

static int refine(struct zones *p, struct refined *to, struct hx_error *err)
{
    const struct hx_states *s = &p->from.states;
    const size_t bytes = p->u.k * p->u.d * sizeof(double);
    double *old = malloc(bytes);
    int rc = old ? route(p, &to->before, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        memcpy(old, p->u.basis, bytes);
        to->was = hx_ugt_held(&p->u, s->h, s->n);
        rc = find_centroids(p, err);
    }
    if (!rc)
        rc = hx_ugt_refine(&p->u, p->centroids, p->from.topics.n_topics, &p->how, &to->r, err);
    if (!rc)
        rc = route(p, &to->after, err);
    to->held = rc ? 0 : hx_ugt_held(&p->u, s->h, s->n);
    to->accepted = !rc && to->after.without_id > to->before.without_id;
    if (!rc && !to->accepted)
        memcpy(p->u.basis, old, bytes);
    else if (!rc)
        p->u.held = to->held;
    if (!rc && p->out)
        rc = hx_ugt_write(&p->u, p->from.s.m->fingerprint, p->out, err);
    free(old);
    return rc;
}

static json_t *refined_json(const struct zones *p, const struct refined *f)
{
    json_t *j = json_pack("{s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "basis", hx_json_text(p->path), "steps",
                          (json_int_t)p->how.steps, "best_step", (json_int_t)f->r.best_step, "loss_before", f->r.loss_before, "loss_after",
                          f->r.loss_after, "cosine_before", f->r.cosine_before, "cosine_after", f->r.cosine_after, "held_before", f->was,
                          "held_after", f->held, "skew", hx_ugt_skew(p->u.basis, p->u.k, p->u.d));

    json_object_set_new(j, "before", routed_json(&f->before));
    json_object_set_new(j, "after", routed_json(&f->after));
    json_object_set_new(j, "verdict", json_string(f->accepted ? "ACCEPTED" : "REJECTED"));
    return j;
}

int hx_ugt_cmd_refine(int argc, char **argv)
{
    const struct argp argp = {refine_options, parse_option, NULL, refine_doc, NULL, NULL, NULL};
    struct zones p = {.from = {.s = {.cmd = "ugt refine"}}, .seed = 1, .how = hx_ugt_refine_usual()};
    struct refined f = {.accepted = 0};
    struct hx_error err = {""};
    int rc = hx_opt_parse(p.from.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = open_all(&p, 0);
    if (!rc && refine(&p, &f, &err))
        rc = hx_cmd_fail(p.from.s.cmd, "%s", err.text);
    if (!rc)
        rc = hx_report_print(p.from.s.cmd, refined_json(&p, &f), p.from.s.json);
    close_all(&p);
    return rc;
}
