/* hexrig native fit and expand: matrices in k dimensions by steps, of one k or of one that grows. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/report.h"
#include "cli/terminal_watch.h"
#include "cmd_native.h"
#include "methods/native/fits.h"
#include "subspace/subject.h"
#include "text/text.h"

enum { OPT_K = HX_OPT_FREE, OPT_MATRICES, OPT_TEXT, OPT_STEPS, OPT_RATE, OPT_RETRACT, OPT_PATIENCE, OPT_PLATEAU, OPT_NO_SOLVE, OPT_SEED,
       OPT_FROM, OPT_GROW, OPT_K_MAX };
enum { MOST_K = 65536, FIT_K = 64, FIRST_K = 32, LAST_K = 128, MOST_STEPS = 1 << 20 };

#define FILE_NAME "native.nat"

#define COMMON_OPTIONS \
    HX_SUBJECT_OPTIONS, \
    {"matrices", OPT_MATRICES, "LIST", 0, "wq, wk, wv, wo, gate, up, down, attn, ffn (all)", 0}, \
    {"text", OPT_TEXT, "FILE", 0, "fit to what they make of a text; else to the weights alone", 0}, \
    {"steps", OPT_STEPS, "N", 0, "most steps for one k (4000)", 0}, \
    {"rate", OPT_RATE, "X", 0, "of a step, relative to a basis' entries (0.3)", 0}, \
    {"retract", OPT_RETRACT, "N", 0, "steps from one QR to the next (5)", 0}, \
    {"patience", OPT_PATIENCE, "N", 0, "steps in which the best loss has to improve (20)", 0}, \
    {"plateau", OPT_PLATEAU, "X", 0, "by this share of it (0.001)", 0}, \
    {"no-solve", OPT_NO_SOLVE, NULL, 0, "the core by steps alone; else each QR also solves for it", 0}, \
    {"seed", OPT_SEED, "N", 0, "of the bases' first numbers (1)", 0}

static const struct argp_option fit_options[] = {
    COMMON_OPTIONS,
    {"k", OPT_K, "N", 0, "dimensions; fewer where a matrix is narrower (64)", 0},
    {0},
};

static const struct argp_option expand_options[] = {
    COMMON_OPTIONS,
    {"k", OPT_K, "N", 0, "dimensions to begin with (32)", 0},
    {"from", OPT_FROM, "FILE", 0, "begin with the matrices of a file of fit or expand", 0},
    {"grow", OPT_GROW, "N", 0, "columns that join when the loss is on a plateau (32)", 0},
    {"k-max", OPT_K_MAX, "N", 0, "where it ends (128)", 0},
    {0},
};

static const char fit_doc[] =
    "Fits each matrix as B_out C B_in^T with bases of k orthonormal columns: AdamW on tangents of the loss |W_n - W|^2 / |W|^2, QR every "
    "few steps.  Prints, as means over the layers, the loss, the least that any matrix of that rank has (Eckart-Young), and "
    "share_of_ceiling, what is kept of the weights over what could be.  With -o also " FILE_NAME " for --linear native --native-file, "
    "and native_fit.json, matrix by matrix."
    "\vExample: hexrig native fit --k 64 --matrices wq,down -o fitted";

static const char expand_doc[] =
    "As fit, for a k that grows: when the best loss has improved by less than a thousandth, columns join that are orthogonal to those "
    "before, which stay as they are.  Prints each k's losses; a loss that rose would be a mistake: it is counted, and the exit status is 1."
    "\vExample: hexrig native expand --k-max 128 --matrices wq";

struct fitting {
    struct hx_subject s;
    struct hx_native_how how;
    struct hx_native_fits fits;
    struct hx_native_course *courses; /* [fits.n] */
    size_t k;
    uint32_t matrices;
    const char *text, *from;
};

/* --- options */

static int parse_matrices(struct fitting *p, char *list)
{
    char *word;

    for (p->matrices = 0; (word = strsep(&list, ","));) {
        const uint32_t set = hx_matrix_set(word, strlen(word)) & HX_LAYER_MATRICES;

        if (!set)
            return hx_cmd_bad_value(p->s.cmd, "matrices", word, "wq, wk, wv, wo, gate, up, down, attn, ffn");
        p->matrices |= set;
    }
    return 0;
}

static int step_option(struct fitting *p, int key, char *arg)
{
    const char *cmd = p->s.cmd;

    switch (key) {
    case OPT_STEPS:
        return hx_opt_size(cmd, "steps", arg, 1, MOST_STEPS, &p->how.steps_most);
    case OPT_RATE:
        return hx_opt_real(cmd, "rate", arg, 1e-6, 10, &p->how.rate);
    case OPT_RETRACT:
        return hx_opt_size(cmd, "retract", arg, 1, 1000, &p->how.retract);
    case OPT_PATIENCE:
        return hx_opt_size(cmd, "patience", arg, 1, MOST_STEPS, &p->how.patience);
    case OPT_PLATEAU:
        return hx_opt_real(cmd, "plateau", arg, 1e-9, 0.5, &p->how.plateau);
    case OPT_NO_SOLVE:
        p->how.solve = 0;
        return 0;
    case OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, UINT64_MAX, &p->how.key);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static int option(struct fitting *p, int key, char *arg)
{
    switch (key) {
    case OPT_K:
        return hx_opt_size(p->s.cmd, "k", arg, 1, MOST_K, &p->k);
    case OPT_MATRICES:
        return parse_matrices(p, arg);
    case OPT_TEXT:
        p->text = arg;
        return 0;
    case OPT_FROM:
        p->from = arg;
        return 0;
    case OPT_GROW:
        return hx_opt_size(p->s.cmd, "grow", arg, 1, MOST_K, &p->how.grow);
    case OPT_K_MAX:
        return hx_opt_size(p->s.cmd, "k-max", arg, 1, MOST_K, &p->how.k_most);
    default:
        return step_option(p, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- fits */

static int course_of(const struct fitting *p, struct hx_native_part *part, const struct hx_native_target *t, struct hx_native_how *how,
                     struct hx_error *err)
{
    const size_t most = part->n.rows < part->n.cols ? part->n.rows : part->n.cols;

    how->key += 2 * (uint64_t)(part - p->fits.at); /* in and out have one each */
    how->k_most = how->k_most < most ? how->k_most : most;
    return hx_native_fit(&part->n, t, how, &p->courses[part - p->fits.at], err);
}

/* A part of a file goes on from where it is, orthonormal but for f32's rounding. */
static int begin(const struct fitting *p, struct hx_native_part *part, const struct hx_native_how *how, struct hx_error *err)
{
    struct hx_native_work w;
    int rc;

    if (!p->from)
        return hx_native_start(&part->n, how->key + 2 * (uint64_t)(part - p->fits.at), err);
    rc = hx_native_work_open(&w, &part->n, err);
    if (!rc)
        rc = hx_native_retract(&part->n, &w, err);
    hx_native_work_close(&w);
    return rc;
}

/* The bound of the last k; of wide matrices it is not known. */
static int fit_one(void *arg, struct hx_native_part *part, const struct hx_native_target *t, struct hx_error *err)
{
    const struct fitting *p = arg;
    struct hx_native_how how = p->how;
    int rc = begin(p, part, &how, err);

    if (!rc)
        rc = course_of(p, part, t, &how, err);
    return rc;
}

/* Bounds of each stage, behind the fit: [n][HX_NATIVE_STAGES]. */
struct bounding {
    struct fitting *p;
    double (*of)[HX_NATIVE_STAGES];
};

static int bound_one(void *arg, struct hx_native_part *part, const struct hx_native_target *t, struct hx_error *err)
{
    const struct bounding *b = arg;
    const size_t i = (size_t)(part - b->p->fits.at), count = part->n.rows < part->n.cols ? part->n.rows : part->n.cols;
    const struct hx_native_course *c = &b->p->courses[i];
    double *bounds = malloc(count * sizeof(*bounds));
    int rc = bounds ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc && hx_native_bounds(t, bounds, NULL)) {
        for (size_t s = 0; s < c->n; s++)
            b->of[i][s] = -1;
    } else if (!rc) {
        for (size_t s = 0; s < c->n; s++)
            b->of[i][s] = bounds[c->stage[s].k - 1];
    }
    if (!rc)
        part->bound = b->of[i][c->n - 1];
    free(bounds);
    return rc;
}

static int weigh(struct fitting *p, const struct hx_watch *watch, struct hx_error *err)
{
    const struct hx_open o = {.model = p->s.m, .pool = p->s.pool, .watch = watch};
    uint32_t *ids = NULL;
    size_t n = 0;
    int rc = hx_text_encode(p->s.m->tok, p->text, &ids, &n, err);

    if (!rc)
        rc = hx_native_fits_weigh(&p->fits, &o, ids, n, err);
    free(ids);
    return rc;
}

/* Those of the file that were asked for, with the model's weights. */
static int take_file(struct fitting *p, struct hx_error *err)
{
    size_t kept = 0;
    int rc = hx_native_fits_read(&p->fits, p->from, p->s.m, p->how.k_most, err);

    for (size_t i = 0; i < p->fits.n && !rc; i++) {
        struct hx_native_part *part = &p->fits.at[i];

        part->w = hx_matrices_at(&p->s.matrices, part->layer, part->which);
        if (p->matrices & 1u << part->which)
            p->fits.at[kept++] = *part;
        else
            hx_native_free(&part->n);
    }
    if (!rc)
        p->fits.n = kept;
    p->fits.of_text = p->text != NULL;
    return rc || kept ? rc : hx_error_set(err, -EINVAL, "%s: it has none of the matrices that were asked for", p->from);
}

static int fit_all(struct fitting *p, double (**bounds)[HX_NATIVE_STAGES], struct hx_error *err)
{
    const struct hx_watch watch = hx_terminal_watch(p->s.cmd);
    struct bounding b = {.p = p};
    int rc = p->from ? take_file(p, err) : hx_native_fits_take(&p->fits, &p->s.set, p->matrices, p->k, p->how.k_most, err);

    p->fits.fingerprint = p->s.m->fingerprint;
    if (!rc && p->text)
        rc = weigh(p, &watch, err);
    if (rc)
        return rc;
    p->courses = calloc(p->fits.n, sizeof(*p->courses));
    b.of = *bounds = calloc(p->fits.n, sizeof(**bounds));
    if (!p->courses || !b.of)
        return hx_error_set(err, -ENOMEM, "out of memory");
    rc = hx_native_fits_each(&p->fits, p->s.pool, &watch, "matrices", fit_one, p, err);
    return rc ? rc : hx_native_fits_each(&p->fits, p->s.pool, NULL, "bounds", bound_one, &b, err);
}

/* --- answers */

/* One k of one kind: sums over the layers. */
struct sum {
    size_t n, bounded, steps;
    double before, after, bound, skew;
};

static void add_stage(struct sum *s, const struct hx_native_stage *stage, double bound)
{
    s->n++;
    s->steps += stage->steps;
    s->before += stage->before;
    s->after += stage->after;
    s->skew = stage->skew > s->skew ? stage->skew : s->skew;
    if (bound < 0)
        return;
    s->bounded++;
    s->bound += bound;
}

static json_t *sum_json(const struct sum *s)
{
    const double n = (double)s->n;
    json_t *j = json_pack("{s:f, s:f, s:f, s:f}", "steps", (double)s->steps / n, "loss_before", s->before / n, "loss", s->after / n, "skew",
                          s->skew);

    if (s->bounded == s->n) {
        json_object_set_new(j, "eckart_young", json_real(s->bound / n));
        json_object_set_new(j, "ceiling", json_real(1 - s->bound / n));
        json_object_set_new(j, "share_of_ceiling", json_real((n - s->after) / (n - s->bound)));
    }
    return j;
}

static json_t *kind_json(const struct fitting *p, enum hx_matrix which, double (*bounds)[HX_NATIVE_STAGES])
{
    json_t *j = json_object();
    char name[32];

    for (size_t k = 1; k <= MOST_K; k++) {
        struct sum s = {0};

        for (size_t i = 0; i < p->fits.n; i++)
            for (size_t c = 0; c < p->courses[i].n && p->fits.at[i].which == which; c++)
                if (p->courses[i].stage[c].k == k)
                    add_stage(&s, &p->courses[i].stage[c], bounds[i][c]);
        if (!s.n)
            continue;
        snprintf(name, sizeof(name), "k_%zu", k);
        json_object_set_new(j, name, sum_json(&s));
    }
    if (json_object_size(j))
        return j;
    json_decref(j);
    return NULL;
}

/* Stages whose loss is above that of the one before, and losses below the bound: neither can be. */
static size_t rises(const struct fitting *p)
{
    static const double rounding = 1e-9;
    size_t n = 0;

    for (size_t i = 0; i < p->fits.n; i++)
        for (size_t c = 0; c < p->courses[i].n; c++) {
            const struct hx_native_stage *s = &p->courses[i].stage[c];

            n += s->after > s->before + rounding || (c && s->before > s[-1].after + rounding);
        }
    return n;
}

static size_t below(const struct fitting *p, double (*bounds)[HX_NATIVE_STAGES])
{
    static const double rounding = 1e-9;
    size_t n = 0;

    for (size_t i = 0; i < p->fits.n; i++)
        for (size_t c = 0; c < p->courses[i].n; c++)
            n += p->courses[i].stage[c].after < bounds[i][c] - rounding;
    return n;
}

static double least_share(const struct fitting *p)
{
    double least = 1;

    for (size_t i = 0; i < p->fits.n; i++) {
        const struct hx_native_part *part = &p->fits.at[i];
        const double share = part->bound >= 0 ? (1 - part->loss) / (1 - part->bound) : 1;

        least = share < least ? share : least;
    }
    return least;
}

static json_t *part_json(const struct fitting *p, size_t i)
{
    const struct hx_native_part *part = &p->fits.at[i];
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:f, s:f}", "matrix", hx_matrix_names[part->which], "layer", (json_int_t)part->layer, "k",
                          (json_int_t)part->n.k, "params", (json_int_t)hx_native_params(part->n.rows, part->n.cols, part->n.k), "loss",
                          part->loss, "loss_of_weights", part->plain);

    if (part->bound >= 0)
        json_object_set_new(j, "eckart_young", json_real(part->bound));
    return j;
}

static json_t *answer(const struct fitting *p, double (*bounds)[HX_NATIVE_STAGES])
{
    uint64_t params = 0, raw = 0;
    double plain = 0;
    json_t *j;

    for (size_t i = 0; i < p->fits.n; i++) {
        const struct hx_native *n = &p->fits.at[i].n;

        params += hx_native_params(n->rows, n->cols, n->k);
        raw += (uint64_t)n->rows * n->cols;
        plain += p->fits.at[i].plain;
    }
    j = json_pack("{s:o, s:s, s:I, s:I, s:I, s:f}", "model", hx_json_text(p->s.path), "from", p->text ? "text" : "weights", "matrices",
                  (json_int_t)p->fits.n, "params", (json_int_t)params, "raw_params", (json_int_t)raw, "params_share",
                  (double)params / (double)raw);
    for (int w = 0; j && w < HX_PER_LAYER; w++) {
        json_t *kind = kind_json(p, (enum hx_matrix)w, bounds);

        if (kind)
            json_object_set_new(j, hx_matrix_names[w], kind);
    }
    json_object_set_new(j, "least_share_of_ceiling", json_real(least_share(p)));
    if (p->text)
        json_object_set_new(j, "loss_of_weights", json_real(plain / (double)p->fits.n));
    json_object_set_new(j, "rises", json_integer((json_int_t)rises(p)));
    json_object_set_new(j, "below_the_bound", json_integer((json_int_t)below(p, bounds)));
    return j;
}

static int write_file(const struct fitting *p, json_t *j)
{
    struct hx_error err = {""};
    char path[4096];

    if (!p->s.folder)
        return HX_EXIT_OK;
    if (mkdir(p->s.folder, 0777) && errno != EEXIST)
        return hx_cmd_fail(p->s.cmd, "%s: %s", p->s.folder, strerror(errno));
    snprintf(path, sizeof(path), "%s/" FILE_NAME, p->s.folder);
    if (hx_native_fits_write(&p->fits, path, &err))
        return hx_cmd_fail(p->s.cmd, "%s", err.text);
    json_object_set_new(j, "file", hx_json_text(path));
    return HX_EXIT_OK;
}

static int tell(const struct fitting *p, json_t *j)
{
    json_t *file = json_copy(j), *all = json_array();
    int rc = write_file(p, j);

    for (size_t i = 0; i < p->fits.n; i++)
        json_array_append_new(all, part_json(p, i));
    json_object_set_new(file, "each", all);
    if (!rc)
        rc = hx_subject_write_json(&p->s, "native_fit.json", file);
    if (!rc)
        rc = hx_report_print(p->s.cmd, json_incref(p->s.json ? file : j), p->s.json);
    json_decref(file);
    return rc;
}

static int run(struct fitting *p)
{
    double (*bounds)[HX_NATIVE_STAGES] = NULL;
    struct hx_error err = {""};
    json_t *j = NULL;
    int rc = fit_all(p, &bounds, &err) ? hx_cmd_fail(p->s.cmd, "%s", err.text) : HX_EXIT_OK;

    if (!rc) {
        j = answer(p, bounds);
        rc = j ? tell(p, j) : hx_cmd_fail(p->s.cmd, "out of memory");
    }
    if (!rc && (rises(p) || below(p, bounds)))
        rc = hx_cmd_fail(p->s.cmd, "%zu losses rose, %zu are below the bound: neither can be", rises(p), below(p, bounds));
    json_decref(j);
    free(bounds);
    hx_native_fits_free(&p->fits);
    free(p->courses);
    return rc;
}

static int check(const struct fitting *p)
{
    if (p->how.grow && p->k > p->how.k_most)
        return hx_cmd_usage(p->s.cmd, "--k %zu is above --k-max %zu", p->k, p->how.k_most);
    return 0;
}

static int start(struct fitting *p, const struct argp *argp, int argc, char **argv)
{
    int rc = hx_opt_parse(p->s.cmd, argp, argc, argv, p);

    if (!rc)
        rc = check(p);
    if (!rc)
        rc = hx_subject_open(&p->s);
    if (!rc)
        rc = run(p);
    hx_subject_close(&p->s);
    return rc;
}

int hx_native_cmd_fit(int argc, char **argv)
{
    const struct argp argp = {fit_options, parse_option, NULL, fit_doc, NULL, NULL, NULL};
    struct fitting p = {.s = {.cmd = "native fit"}, .how = hx_native_usual, .k = FIT_K, .matrices = HX_LAYER_MATRICES};

    p.how.grow = 0;
    return start(&p, &argp, argc, argv);
}

int hx_native_cmd_expand(int argc, char **argv)
{
    const struct argp argp = {expand_options, parse_option, NULL, expand_doc, NULL, NULL, NULL};
    struct fitting p = {.s = {.cmd = "native expand"}, .how = hx_native_usual, .k = FIRST_K, .matrices = HX_LAYER_MATRICES};

    p.how.k_most = LAST_K;
    return start(&p, &argp, argc, argv);
}
