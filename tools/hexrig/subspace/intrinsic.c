/* hexrig subspace intrinsic: how many dimensions states behind a model's layers have, beside noise. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "activations.h"
#include "base/keyed.h"
#include "cli/report.h"
#include "cli/share.h"
#include "cmd_subspace.h"
#include "base/digest.h"
#include "geometry_file.h"
#include "methods/geometry/dimension.h"
#include "phases.h"
#include "subject.h"
#include "text/text.h"

enum { OPT_TOKENS = HX_OPT_FREE, OPT_FILE, OPT_SAMPLES, OPT_CLOUD, OPT_SEEDS, OPT_SEED };
enum { MOST = 1 << 20, MOST_SEEDS = 100, LEAST_SAMPLES = 16 };
enum { KEY_SAMPLE, KEY_CLOUD, KEY_NOISE, KEY_SHAPED, KEY_ACTIVATIONS };

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"file", 'f', "TEXT", 0, "text file (share/hexrig/books-holdout.txt)", 0},
    {"tokens", OPT_TOKENS, "N", 0, "of the text (2048)", 0},
    {"samples", OPT_SAMPLES, "N", 0, "states for principal components and phases (64)", 0},
    {"cloud", OPT_CLOUD, "N", 0, "states for TwoNN (512)", 0},
    {"seeds", OPT_SEEDS, "N", 0, "choices of states (5)", 0},
    {"seed", OPT_SEED, "S", 0, "of the first (1)", 0},
    {"geometry-file", OPT_FILE, "FILE", 0, "has all of it for the next start; published: ott_geometry.bin", 0},
    {0},
};

static const char doc[] =
    "Dimension of the residual stream behind each layer, over a text: the fewest principal components of --samples states that hold 95 % "
    "of their variance, and TwoNN of --cloud states; means over --seeds choices, with the least and the largest.  Both are bounded by how "
    "many states there are, so the same of Gaussian noise stands beside them; `shaped` noise has the states' own covariance.  With -o "
    "also the published files phase1_manifold.json to phase4_axioms.json, of the first choice."
    "\vExample: hexrig subspace intrinsic -m model.gguf -f text.txt -o phases";

/* Of a layer and a seed. */
struct figure {
    size_t pca, pca_noise;
    double two_nn, two_nn_noise, two_nn_shaped;
};

struct intrinsic {
    struct hx_subject s;
    const char *text, *file; /* file: of the geometry; NULL: none */
    char *shipped;
    size_t tokens, samples, cloud, seeds;
    uint64_t seed;
    struct hx_activations a;
    struct figure *figure; /* [n_layer][seeds] */
    size_t *pca_all;       /* [n_layer] of all tokens */
    struct hx_ott_geometry g;
    const char *state;     /* of the file */
};

static int option(struct intrinsic *p, int key, char *arg)
{
    switch (key) {
    case 'f':
        p->text = arg;
        return 0;
    case OPT_TOKENS:
        return hx_opt_size(p->s.cmd, "tokens", arg, HX_ACTIVATIONS_CTX, MOST, &p->tokens);
    case OPT_FILE:
        p->file = arg;
        return 0;
    case OPT_SAMPLES:
        return hx_opt_size(p->s.cmd, "samples", arg, LEAST_SAMPLES, MOST, &p->samples);
    case OPT_CLOUD:
        return hx_opt_size(p->s.cmd, "cloud", arg, LEAST_SAMPLES, MOST, &p->cloud);
    case OPT_SEEDS:
        return hx_opt_size(p->s.cmd, "seeds", arg, 1, MOST_SEEDS, &p->seeds);
    case OPT_SEED:
        return hx_opt_u64(p->s.cmd, "seed", arg, 0, INT64_MAX, &p->seed);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- figures */

static uint64_t key_of(const struct intrinsic *p, size_t seed, int what)
{
    return hx_keyed(hx_keyed(p->seed, seed), (uint64_t)what);
}

static void fill_noise(double *to, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        to[i] = hx_normal_at(key, i);
}

static int pca95(const double *x, size_t n, size_t d, size_t *out, struct hx_error *err)
{
    const size_t m = n < d ? n : d;
    double *shares = malloc(m * sizeof(*shares));
    int rc = shares ? hx_principal(x, n, d, shares, NULL, NULL, err) : hx_error_set(err, -ENOMEM, "out of memory");

    *out = rc ? 0 : hx_fewest(shares, m, .95);
    free(shares);
    return rc;
}

/* x [n][d] becomes normal numbers with its own principal components and their variances, but for a factor. */
static int shape(double *x, size_t n, size_t d, uint64_t key, struct hx_error *err)
{
    const size_t m = n < d ? n : d;
    double *shares = malloc(m * sizeof(*shares)), *axes = malloc(m * d * sizeof(*axes));
    int rc = shares && axes ? hx_principal(x, n, d, shares, axes, NULL, err) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < n && !rc; i++)
        for (size_t k = 0; k < d; k++)
            x[i * d + k] = 0;
    for (size_t i = 0; i < n && !rc; i++)
        for (size_t v = 0; v < m; v++) {
            const double z = sqrt(shares[v]) * hx_normal_at(key, i * m + v);

            for (size_t k = 0; k < d; k++)
                x[i * d + k] += z * axes[v * d + k];
        }
    free(shares);
    free(axes);
    return rc;
}

static int measure_pca(const struct intrinsic *p, size_t layer, size_t seed, struct figure *to, double *x, struct hx_error *err)
{
    const size_t d = p->a.width, n = p->samples;
    size_t *at = malloc(n * sizeof(*at));
    int rc = at && !hx_choose(at, n, p->a.tokens, key_of(p, seed, KEY_SAMPLE)) ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        hx_rows_of(x, p->a.states + layer * p->a.tokens * d, d, at, n, 0, d);
        rc = pca95(x, n, d, &to->pca, err);
    }
    if (!rc) {
        fill_noise(x, n * d, key_of(p, seed, KEY_NOISE));
        rc = pca95(x, n, d, &to->pca_noise, err);
    }
    free(at);
    return rc;
}

static int measure_two_nn(const struct intrinsic *p, size_t layer, size_t seed, struct figure *to, double *x, struct hx_error *err)
{
    const size_t d = p->a.width, n = p->cloud;
    size_t *at = malloc(n * sizeof(*at));
    int rc = at && !hx_choose(at, n, p->a.tokens, key_of(p, seed, KEY_CLOUD)) ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        hx_rows_of(x, p->a.states + layer * p->a.tokens * d, d, at, n, 0, d);
        to->two_nn = hx_two_nn(x, n, d, err);
        rc = shape(x, n, d, key_of(p, seed, KEY_SHAPED), err);
    }
    if (!rc) {
        to->two_nn_shaped = hx_two_nn(x, n, d, err);
        fill_noise(x, n * d, key_of(p, seed, KEY_NOISE));
        to->two_nn_noise = hx_two_nn(x, n, d, err);
    }
    free(at);
    return rc;
}

static int measure(void *arg, size_t i, struct hx_error *err)
{
    struct intrinsic *p = arg;
    const size_t most = p->samples > p->cloud ? p->samples : p->cloud, layer = i / p->seeds, seed = i % p->seeds;
    double *x = malloc(most * p->a.width * sizeof(*x));
    int rc = x ? measure_pca(p, layer, seed, &p->figure[i], x, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = measure_two_nn(p, layer, seed, &p->figure[i], x, err);
    free(x);
    return rc;
}

/* The last layer's, of the first sample. */
static size_t dimension(const struct intrinsic *p)
{
    return p->figure[(p->a.n_layer - 1) * p->seeds].pca;
}

static int measure_all(void *arg, size_t layer, struct hx_error *err)
{
    struct intrinsic *p = arg;
    const size_t d = p->a.width, n = p->a.tokens;
    const float *states = p->a.states + layer * n * d;
    const size_t m = n < d ? n : d;
    double *x = malloc(n * d * sizeof(*x)), *shares = malloc(m * sizeof(*shares));
    int rc = x && shares ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < n * d && !rc; i++)
        x[i] = states[i];
    if (!rc)
        rc = hx_principal(x, n, d, shares, NULL, NULL, err);
    if (!rc)
        p->pca_all[layer] = hx_fewest(shares, m, .95);
    for (size_t i = 0; i < dimension(p) && i < m && !rc; i++)
        p->g.held[layer] += shares[i];
    free(shares);
    free(x);
    return rc;
}

/* --- phases */

/* Samples of one seed; `noise` has exactly as many tokens as two of them. */
struct drawn {
    struct hx_activations noise;
    size_t *at, *order; /* [2 * samples] tokens of the text; 0, 1, 2, ... */
    struct hx_phases phases;
};

static int draw(struct drawn *d, const struct intrinsic *p, size_t seed, struct hx_error *err)
{
    const size_t n = p->samples;
    int rc;

    *d = (struct drawn){.at = malloc(2 * n * sizeof(size_t)), .order = malloc(2 * n * sizeof(size_t))};
    if (!d->at || !d->order || hx_choose(d->at, 2 * n, p->a.tokens, key_of(p, seed, KEY_SAMPLE)))
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < 2 * n; i++)
        d->order[i] = i;
    rc = hx_activations_noise(&d->noise, &p->a, 2 * n, key_of(p, seed, KEY_ACTIVATIONS), err);
    d->phases = (struct hx_phases){{&p->a, d->at, n}, {&p->a, d->at + n, n}, {&d->noise, d->order, n}, {&d->noise, d->order + n, n}};
    return rc;
}

static void free_drawn(struct drawn *d)
{
    hx_activations_free(&d->noise);
    free(d->at);
    free(d->order);
}

static int write_phases(const struct intrinsic *p, const struct hx_phases *phases, struct hx_error *err)
{
    static const struct {
        const char *file;
        int (*make)(const struct hx_phases *p, json_t **out, struct hx_error *err);
    } all[] = {
        {"phase1_manifold.json", hx_phase_manifold},
        {"phase2_symmetry.json", hx_phase_symmetry},
        {"phase3_curvature.json", hx_phase_curvature},
        {"phase4_axioms.json", hx_phase_axioms},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && p->s.folder && !rc; i++) {
        json_t *j = NULL;

        rc = all[i].make(phases, &j, err);
        if (!rc) {
            json_object_set_new(j, "model", hx_json_text(p->s.path));
            rc = hx_subject_write_json(&p->s, all[i].file, j) ? -ECANCELED : 0; /* it has been said */
        }
        json_decref(j);
    }
    return rc;
}

struct spread {
    double sum, least, most;
    size_t n;
};

static void note(struct spread *s, double v)
{
    s->least = !s->n || v < s->least ? v : s->least;
    s->most = !s->n || v > s->most ? v : s->most;
    s->sum += v;
    s->n++;
}

static double mean(const struct spread *s)
{
    return s->n ? s->sum / (double)s->n : 0;
}

static int keep_axioms(struct intrinsic *p, const struct hx_axioms *x, struct hx_error *err)
{
    p->g.axioms = malloc((x->n + 1) * sizeof(*x->at));
    if (!p->g.axioms)
        return hx_error_set(err, -ENOMEM, "out of memory");
    memcpy(p->g.axioms, x->at, x->n * sizeof(*x->at));
    p->g.n_axioms = x->n;
    return 0;
}

/* Consistency over the seeds; phases' files of the first. */
static int count_axioms(struct intrinsic *p, json_t *to, struct hx_error *err)
{
    struct hx_axioms *x = calloc(1, sizeof(*x));
    struct spread accepted = {0}, held = {0}, noise_accepted = {0}, noise_held = {0};
    size_t candidates = 0, n;
    int rc = x ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t seed = 0; seed < p->seeds && !rc; seed++) {
        struct drawn d;

        rc = draw(&d, p, seed, err);
        if (!rc && !seed)
            rc = write_phases(p, &d.phases, err);
        if (!rc)
            rc = hx_axioms_find(x, &d.phases.own, &d.phases.again, err);
        if (!rc && !seed)
            rc = keep_axioms(p, x, err);
        if (!rc) {
            candidates = x->n;
            note(&held, hx_axioms_consistency(x, &n));
            note(&accepted, (double)n);
            rc = hx_axioms_find(x, &d.phases.noise, &d.phases.noise_again, err);
        }
        if (!rc) {
            note(&noise_held, hx_axioms_consistency(x, &n));
            note(&noise_accepted, (double)n);
        }
        free_drawn(&d);
    }
    free(x);
    if (!rc)
        json_object_set_new(to, "axioms",
                            json_pack("{s:I, s:f, s:f, s:f, s:f, s:{s:f, s:f}}", "candidates", (json_int_t)candidates, "accepted",
                                      mean(&accepted), "consistency", mean(&held), "consistency_least", held.least, "consistency_most",
                                      held.most, "noise", "accepted", mean(&noise_accepted), "consistency", mean(&noise_held)));
    return rc;
}

/* --- report */

static json_t *layer_json(const struct intrinsic *p, size_t layer)
{
    struct spread pca = {0}, pca_noise = {0}, nn = {0}, nn_noise = {0}, nn_shaped = {0};

    for (size_t seed = 0; seed < p->seeds; seed++) {
        const struct figure *f = &p->figure[layer * p->seeds + seed];

        note(&pca, (double)f->pca);
        note(&pca_noise, (double)f->pca_noise);
        note(&nn, f->two_nn);
        note(&nn_noise, f->two_nn_noise);
        note(&nn_shaped, f->two_nn_shaped);
    }
    return json_pack("{s:{s:f, s:f, s:f, s:f, s:I}, s:{s:f, s:f, s:f, s:f, s:f}}", "pca95", "mean", mean(&pca), "least", pca.least, "most",
                     pca.most, "noise", mean(&pca_noise), "all_tokens", (json_int_t)p->pca_all[layer], "two_nn", "mean", mean(&nn),
                     "least", nn.least, "most", nn.most, "noise", mean(&nn_noise), "shaped_noise", mean(&nn_shaped));
}

static json_t *sink_json(const struct intrinsic *p)
{
    json_t *held = json_array();

    for (size_t l = 0; l < p->g.n_layer; l++)
        json_array_append_new(held, json_real(p->g.held[l]));
    return json_pack("{s:I, s:I, s:o}", "layer", (json_int_t)p->g.sink, "components", (json_int_t)p->g.dim, "held_by_layer", held);
}

static int print(const struct intrinsic *p, json_t *j)
{
    json_object_set_new(j, "model", hx_json_text(p->s.path)); /* also where a file was made with other names */
    json_object_set_new(j, "text", hx_json_text(p->text));
    if (p->file)
        json_object_set_new(j, "geometry_file", json_string(p->state));
    return hx_report_print(p->s.cmd, j, p->s.json);
}

static int keep(struct intrinsic *p, json_t *j, struct hx_error *err)
{
    if (!p->file)
        return 0;
    p->g.report = json_incref(j);
    return hx_ott_geometry_write(&p->g, p->file, &p->s, err);
}

static int report(struct intrinsic *p)
{
    const size_t bound = p->samples - 1 < p->a.width ? p->samples - 1 : p->a.width;
    json_t *j = json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "model", hx_json_text(p->s.path), "text", hx_json_text(p->text), "tokens",
                          (json_int_t)p->a.tokens, "samples", (json_int_t)p->samples, "pca95_bounded_by", (json_int_t)bound, "cloud",
                          (json_int_t)p->cloud, "seeds", (json_int_t)p->seeds);
    struct hx_error err = {""};
    char name[32];
    int rc;

    for (size_t l = 0; l < p->a.n_layer; l++) {
        snprintf(name, sizeof(name), "layer_%zu", l);
        json_object_set_new(j, name, layer_json(p, l));
    }
    p->g.sink = hx_depth_sink(p->g.held, p->g.n_layer);
    json_object_set_new(j, "depth_sink", sink_json(p));
    rc = count_axioms(p, j, &err);
    if (!rc)
        rc = keep(p, j, &err);
    if (rc) {
        json_decref(j);
        return rc == -ECANCELED ? HX_EXIT_FAILED : hx_cmd_fail(p->s.cmd, "%s", err.text);
    }
    return print(p, j);
}

/* --- the file */

/* Of all that figures depend on beside the weights.  The number at its beginning is that of the way in which they are made. */
static uint64_t key_of_file(const struct intrinsic *p, const uint32_t *ids, size_t n_ids)
{
    const uint64_t how[] = {1, p->tokens, p->samples, p->cloud, p->seeds, p->seed};

    return hx_digest(hx_digest(0, how, sizeof(how)), ids, (n_ids < p->tokens ? n_ids : p->tokens) * sizeof(*ids));
}

/* 1: it has been printed.  Files of phases are not in it. */
static int is_there(struct intrinsic *p, int *rc)
{
    const char *why;

    p->state = "built";
    if (!p->file || p->s.folder)
        return 0;
    if (hx_ott_geometry_read(&p->g, p->file, p->g.key, &p->s, &why)) {
        p->state = "hit";
        *rc = print(p, json_incref(p->g.report));
        return 1;
    }
    if (why) {
        p->state = "rebuilt";
        fprintf(stderr, "hexrig %s: %s %s: it is made anew\n", p->s.cmd, p->file, why);
    }
    return 0;
}

static int check(const struct intrinsic *p, size_t n_ids)
{
    const size_t tokens = (n_ids < p->tokens ? n_ids : p->tokens) / HX_ACTIVATIONS_CTX * HX_ACTIVATIONS_CTX;

    if (p->cloud > tokens)
        return hx_cmd_fail(p->s.cmd, "--cloud %zu: %s gives %zu states", p->cloud, p->text, tokens);
    if (2 * p->samples > tokens)
        return hx_cmd_fail(p->s.cmd, "--samples %zu, and as many others: %s gives %zu states", p->samples, p->text, tokens);
    return HX_EXIT_OK;
}

static int run(struct intrinsic *p)
{
    struct hx_error err = {""};
    uint32_t *ids = NULL;
    size_t n = 0;
    int rc;

    if (hx_text_encode(p->s.m->tok, p->text, &ids, &n, &err))
        return hx_cmd_fail(p->s.cmd, "%s", err.text);
    p->g.key = key_of_file(p, ids, n);
    rc = check(p, n);
    if (!rc && is_there(p, &rc)) {
        free(ids);
        return rc;
    }
    if (!rc && hx_activations_take(&p->a, p->s.m, p->s.pool, ids, n, p->tokens, &err))
        rc = hx_cmd_fail(p->s.cmd, "%s", err.text);
    free(ids);
    if (rc)
        return rc;
    p->figure = calloc(p->a.n_layer * p->seeds, sizeof(*p->figure));
    p->pca_all = calloc(p->a.n_layer, sizeof(*p->pca_all));
    p->g.held = calloc(p->a.n_layer, sizeof(*p->g.held));
    p->g.n_layer = p->a.n_layer;
    if (!p->figure || !p->pca_all || !p->g.held)
        return hx_cmd_fail(p->s.cmd, "out of memory");
    if (hx_subject_each(&p->s, p->a.n_layer * p->seeds, measure, p, &err))
        return hx_cmd_fail(p->s.cmd, "%s", err.text);
    p->g.dim = dimension(p);
    if (hx_subject_each(&p->s, p->a.n_layer, measure_all, p, &err))
        return hx_cmd_fail(p->s.cmd, "%s", err.text);
    return report(p);
}

int hx_subspace_cmd_intrinsic(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct intrinsic p = {.s = {.cmd = "subspace intrinsic"}, .tokens = 2048, .samples = 64, .cloud = 512, .seeds = 5, .seed = 1};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc && !p.text)
        p.text = p.shipped = hx_share("books-holdout.txt");
    if (!rc && !p.text)
        rc = hx_cmd_fail(p.s.cmd, "out of memory");
    if (!rc)
        rc = hx_subject_open(&p.s);
    if (!rc)
        rc = run(&p);
    free(p.figure);
    free(p.pca_all);
    hx_activations_free(&p.a);
    hx_ott_geometry_free(&p.g);
    hx_subject_close(&p.s);
    free(p.shipped);
    return rc;
}
