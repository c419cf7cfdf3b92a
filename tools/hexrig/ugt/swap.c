/* hexrig ugt swap: one layer's feed-forward of a model in another one's place, with and without knowing how their streams are turned. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/share.h"
#include "cmd_ugt.h"
#include "engine/arch/arch.h"
#include "generate/ppl.h"
#include "graft.h"
#include "methods/ugt/procrustes.h"
#include "methods/ugt/ugt.h"
#include "source.h"
#include "text/text.h"

enum { OPT_LAYER = HX_OPT_FREE, OPT_CHUNKS };
enum { MOST = 1 << 20 };
enum { PLAIN, NAIVE, MAPPED, IN_K, WAYS };

static const char *const way_names[WAYS] = {"plain", "naive", "mapped", "through_k"};
static const double criterion = .05;

static const struct argp_option options[] = {
    HX_UGT_SOURCE_OPTIONS,
    {"layer", OPT_LAYER, "N", 0, "whose feed-forward is exchanged, from 0 (the middle one)", 0},
    {"k", HX_OPT_K, "K", 0, "coordinates of the third way (64)", 0},
    {"file", 'f', "TEXT", 0, "that is scored (share/hexrig/books-holdout.txt)", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows of 128 predictions (8)", 0},
    {0},
};

static const char doc[] =
    "Puts the feed-forward of one layer of B into the model (-m) and scores a text: naive, as if the two shared their stream; mapped, "
    "through the orthogonal Procrustes map of B's final hidden states to the model's, of all tokens of the prompts; through_k, through k "
    "coordinates of either alone.  verdict is PASS when mapped is within 5 % of plain, else FAIL.  residual: what the map leaves of the "
    "model's states."
    "\vExample: hexrig model rotate model.gguf twin.gguf; hexrig ugt swap -m model.gguf twin.gguf";

struct swap {
    struct hx_ugt_source a;
    const char *b_path, *text;
    char *shipped;
    size_t layer, k, chunks;
    int layer_given;
    struct hx_model *b;
    struct hx_states b_states;
    double *map, *small; /* [d][d] through all coordinates, and through k */
    double residual, residual_k;
    uint32_t *ids;
    size_t n_ids;
    double ppl[WAYS];
};

static int option(struct swap *p, int key, char *arg)
{
    switch (key) {
    case OPT_LAYER:
        p->layer_given = 1;
        return hx_opt_size(p->a.s.cmd, "layer", arg, 0, MOST, &p->layer);
    case HX_OPT_K:
        return hx_opt_size(p->a.s.cmd, "k", arg, 1, MOST, &p->k);
    case 'f':
        p->text = arg;
        return 0;
    case OPT_CHUNKS:
        return hx_opt_size(p->a.s.cmd, "chunks", arg, 1, MOST, &p->chunks);
    default:
        return hx_ugt_source_option(&p->a, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- maps */

static int take_states(struct swap *p, struct hx_error *err)
{
    const struct hx_states_cfg cfg = {.model = p->b, .pool = p->a.s.pool, .point = HX_TAP_BEFORE_NORM, .every = 1};
    int rc = hx_states_take(&p->b_states, &p->a.topics, &cfg, err);

    if (!rc && p->a.states.n < p->b->width)
        rc = hx_error_set(err, -EINVAL, "%zu states; a map of %zu dimensions needs as many: more prompts, or --zone", p->a.states.n,
                          p->b->width);
    return rc;
}

/* z [n][k] = the first k directions' share of h, without centring: maps have no mean. */
static void place(double *z, const struct hx_ugt *u, const double *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < u->k; a++) {
            double sum = 0;

            for (size_t x = 0; x < u->d; x++)
                sum += u->basis[a * u->d + x] * h[i * u->d + x];
            z[i * u->k + a] = sum;
        }
}

/* to [d][d] = A S B^T with bases as columns. */
static void combine(double *to, const struct hx_ugt *a, const double *s, const struct hx_ugt *b)
{
    memset(to, 0, a->d * b->d * sizeof(*to));
    for (size_t i = 0; i < a->k; i++)
        for (size_t j = 0; j < b->k; j++)
            for (size_t x = 0; x < a->d; x++) {
                const double by = a->basis[i * a->d + x] * s[i * b->k + j];

                for (size_t y = 0; y < b->d; y++)
                    to[x * b->d + y] += by * b->basis[j * b->d + y];
            }
}

static int map_through_k(struct swap *p, struct hx_error *err)
{
    const struct hx_states *sa = &p->a.states, *sb = &p->b_states;
    double *z = malloc((2 * sa->n + p->k) * p->k * sizeof(*z));
    struct hx_ugt a = {0}, b = {0};
    int rc = z ? hx_ugt_build(&a, sa->h, sa->n, sa->d, p->k, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = hx_ugt_build(&b, sb->h, sb->n, sb->d, p->k, err);
    if (!rc) {
        double *other = z + sa->n * p->k, *s = other + sa->n * p->k;

        place(z, &a, sa->h, sa->n);
        place(other, &b, sb->h, sb->n);
        rc = hx_procrustes(s, other, z, sa->n, p->k, &p->residual_k, err);
        if (!rc)
            combine(p->small, &a, s, &b);
    }
    hx_ugt_free(&a);
    hx_ugt_free(&b);
    free(z);
    return rc;
}

static int make_maps(struct swap *p, struct hx_error *err)
{
    const size_t d = p->b->width;
    int rc = take_states(p, err);

    p->map = malloc(d * d * sizeof(*p->map));
    p->small = malloc(d * d * sizeof(*p->small));
    if (!rc && (!p->map || !p->small))
        rc = hx_error_set(err, -ENOMEM, "no memory for maps of %zu", d);
    if (!rc)
        rc = hx_procrustes(p->map, p->b_states.h, p->a.states.h, p->a.states.n, d, &p->residual, err);
    return rc ? rc : map_through_k(p, err);
}

/* --- scores */

static int score(struct swap *p, struct hx_matrices *matrices, double *ppl, struct hx_error *err)
{
    const struct hx_ppl_cfg cfg = {.ctx = HX_UGT_CTX, .chunks = p->chunks, .bos = HX_NO_TOKEN};
    struct hx_runner r = {0};
    struct hx_ppl got = {0};
    int rc = hx_runner_open(&r, p->a.s.m, p->a.s.pool, matrices, HX_UGT_CTX, NULL, err);

    if (!rc)
        rc = hx_ppl_windows(p->a.s.m, r.forward, p->ids, p->n_ids, &cfg, &got, err);
    *ppl = got.ppl;
    hx_runner_close(&r);
    return rc;
}

static int score_graft(struct swap *p, const double *map, double *ppl, struct hx_error *err)
{
    struct hx_graft g;
    int rc = hx_graft_make(&g, p->a.s.m, p->b, p->layer, map, err);

    if (!rc)
        rc = score(p, &g.matrices, ppl, err);
    hx_graft_free(&g);
    return rc;
}

static int run(struct swap *p, struct hx_error *err)
{
    int rc = make_maps(p, err);

    if (!rc)
        rc = hx_text_encode(p->a.s.m->tok, p->text, &p->ids, &p->n_ids, err);
    if (!rc)
        rc = score(p, NULL, &p->ppl[PLAIN], err);
    if (!rc)
        rc = score_graft(p, NULL, &p->ppl[NAIVE], err);
    if (!rc)
        rc = score_graft(p, p->map, &p->ppl[MAPPED], err);
    return rc ? rc : score_graft(p, p->small, &p->ppl[IN_K], err);
}

/* --- the command */

static int fill_in(struct swap *p, struct hx_error *err)
{
    const struct hx_model *a = p->a.s.m;

    if (!p->text && !(p->text = p->shipped = hx_share("books-holdout.txt")))
        return hx_error_set(err, -ENOMEM, "out of memory");
    if (!p->layer_given)
        p->layer = a->n_layer / 2;
    if (hx_model_open(&p->b, p->b_path, hx_archs, err))
        return -1;
    if (p->b->width != a->width || p->b->vocab != a->vocab || p->b->n_layer != a->n_layer)
        return hx_error_set(err, -EINVAL, "%s: width %zu, %zu tokens, %zu layers; %s has %zu, %zu, %zu", p->b_path, p->b->width,
                            p->b->vocab, p->b->n_layer, p->a.s.path, a->width, a->vocab, a->n_layer);
    if (p->layer >= a->n_layer)
        return hx_error_set(err, -EINVAL, "--layer %zu; the model has %zu, from 0", p->layer, a->n_layer);
    if (p->k > a->width)
        return hx_error_set(err, -EINVAL, "--k %zu; the width is %zu", p->k, a->width);
    return 0;
}

static int answer(const struct swap *p)
{
    json_t *j = json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:f, s:f}", "model", hx_json_text(p->a.s.path), "other",
                          hx_json_text(p->b_path), "text", hx_json_text(p->text), "layer", (json_int_t)p->layer, "k", (json_int_t)p->k,
                          "states", (json_int_t)p->a.states.n, "residual", p->residual, "residual_k", p->residual_k);

    for (size_t i = 0; i < WAYS; i++)
        json_object_set_new(j, way_names[i], json_pack("{s:f, s:f}", "ppl", p->ppl[i], "change", p->ppl[i] / p->ppl[PLAIN] - 1));
    json_object_set_new(j, "verdict", json_string(fabs(p->ppl[MAPPED] / p->ppl[PLAIN] - 1) < criterion ? "PASS" : "FAIL"));
    return hx_report_print(p->a.s.cmd, j, p->a.s.json);
}

int hx_ugt_cmd_swap(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "B", doc, NULL, NULL, NULL};
    struct swap p = {.a = {.s = {.cmd = "ugt swap"}, .every = 1}, .k = 64, .chunks = 8};
    struct hx_error err = {""};
    int word, rc = hx_opt_parse_some(&argp, 0, argc, argv, &p, &word);

    if (!rc && word + 1 != argc)
        rc = hx_cmd_usage(p.a.s.cmd, "B is needed");
    p.b_path = rc ? NULL : argv[word];
    if (!rc)
        rc = hx_ugt_source_open(&p.a);
    if (!rc && fill_in(&p, &err))
        rc = hx_cmd_fail(p.a.s.cmd, "%s", err.text);
    if (!rc)
        rc = hx_ugt_source_states(&p.a, 0);
    if (!rc && run(&p, &err))
        rc = hx_cmd_fail(p.a.s.cmd, "%s", err.text);
    if (!rc)
        rc = answer(&p);
    hx_states_free(&p.b_states);
    hx_model_close(p.b);
    free(p.map);
    free(p.small);
    free(p.ids);
    free(p.shipped);
    hx_ugt_source_close(&p.a);
    return rc;
}
