/* hexrig native table: what k dimensions cost and keep, of a model and of the published shapes. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gnuplot.h"
#include "cli/line_plot.h"
#include "cli/report.h"
#include "cli/terminal_watch.h"
#include "cmd_native.h"
#include "methods/native/fits.h"
#include "quant/quant.h"
#include "subspace/held_out.h"

enum { OPT_K = HX_OPT_FREE, OPT_TEXT, OPT_CHUNKS, OPT_VTCM, OPT_L2, OPT_NO_PPL, OPT_PLOT };
enum { MOST = 16, MOST_K = 65536, MOST_CHUNKS = 1 << 20, MOST_KIB = 8192 };

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"k", OPT_K, "LIST", 0, "up to 16 of them (1/8, 1/4, 3/8, 1/2, 3/4 and all of the width)", 0},
    {"file", 'f', "TEXT", 0, "text whose perplexity is taken (share/hexrig/books-holdout.txt)", 0},
    {"chunks", OPT_CHUNKS, "N", 0, "windows of 128 predictions of it (24)", 0},
    {"text", OPT_TEXT, "FILE", 0, "also the best for what matrices make of a text, which should not be the other", 0},
    {"vtcm-kib", OPT_VTCM, "LIST", 0, "sizes of VTCM for k_fit (8192)", 0},
    {"l2-mb", OPT_L2, "X", 0, "L2 for the published k* = 42.7 L2 (36)", 0},
    {"no-ppl", OPT_NO_PPL, NULL, 0, "no perplexities", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture of perplexity over k, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "For each k: parameters as a share of the matrices', bytes per token in Q8_0, the energy that the best of that k keeps of each kind of "
    "matrix (a mean over the layers, with the least and the largest), perplexity and distance from the model.  Then what fits: k* as "
    "published, and k_fit, with which one layer's matrices, or all layers', stay in VTCM.  Last the published shapes with their counts.  "
    "Nothing is fitted by steps: each is the best of its k.  With -o also native_table.json."
    "\vExample: hexrig native table --k 64,128 --no-ppl";

/* The energy that is kept of one kind. */
struct kept {
    size_t n;
    double sum, least, most;
};

struct row {
    size_t k;
    uint64_t params, bytes;
    struct kept kept[HX_PER_LAYER];
    struct hx_ppl of_weights, of_text;
};

struct table {
    struct hx_subject s;
    struct hx_held_out h;
    size_t k[MOST], n_k, kib[MOST], n_kib;
    const char *text, *plot;
    double l2_mb;
    int no_ppl;
    uint64_t raw, raw_bytes;
    struct row row[MOST];
};

/* --- options */

static int parse_list(const char *cmd, const char *option, char *list, size_t most, size_t *to, size_t *n)
{
    char *word;
    int rc = 0;

    for (*n = 0; !rc && (word = strsep(&list, ","));) {
        if (*n == MOST)
            return hx_cmd_usage(cmd, "--%s: more than %d", option, MOST);
        rc = hx_opt_size(cmd, option, word, 1, most, &to[(*n)++]);
    }
    return rc;
}

static int option(struct table *p, int key, char *arg)
{
    switch (key) {
    case OPT_K:
        return parse_list(p->s.cmd, "k", arg, MOST_K, p->k, &p->n_k);
    case 'f':
        p->h.text = arg;
        return 0;
    case OPT_CHUNKS:
        return hx_opt_size(p->s.cmd, "chunks", arg, 1, MOST_CHUNKS, &p->h.chunks);
    case OPT_TEXT:
        p->text = arg;
        return 0;
    case OPT_VTCM:
        return parse_list(p->s.cmd, "vtcm-kib", arg, MOST_KIB, p->kib, &p->n_kib);
    case OPT_L2:
        return hx_opt_real(p->s.cmd, "l2-mb", arg, 0.001, 1e6, &p->l2_mb);
    case OPT_NO_PPL:
        p->no_ppl = 1;
        return 0;
    case OPT_PLOT:
        p->plot = arg;
        return hx_gnuplot_check(p->s.cmd, arg);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static void fill_in(struct table *p)
{
    static const size_t eighths[] = {1, 2, 3, 4, 6, 8};

    for (size_t i = 0, all = !p->n_k; all && i < sizeof(eighths) / sizeof(eighths[0]); i++)
        p->k[p->n_k++] = p->s.m->width * eighths[i] / 8;
    if (!p->n_kib)
        p->kib[p->n_kib++] = MOST_KIB;
}

/* --- energies */

/* Bounds of a part, for every k: 1 - energy. */
struct spectra {
    struct hx_native_fits f;
    double **bounds; /* [f.n][min(rows, cols)] */
};

static size_t side(const struct hx_native_part *p)
{
    return p->n.rows < p->n.cols ? p->n.rows : p->n.cols;
}

static int spectrum(void *arg, struct hx_native_part *p, const struct hx_native_target *t, struct hx_error *err)
{
    const struct spectra *s = arg;
    double **to = &s->bounds[p - s->f.at];

    *to = malloc(side(p) * sizeof(**to));
    return *to ? hx_native_bounds(t, *to, err) : hx_error_set(err, -ENOMEM, "out of memory");
}

static void keep(struct kept *k, double energy)
{
    k->least = !k->n || energy < k->least ? energy : k->least;
    k->most = !k->n || energy > k->most ? energy : k->most;
    k->sum += energy;
    k->n++;
}

static uint64_t q8_bytes(size_t rows, size_t cols)
{
    return rows * ((cols + HX_Q8_0_WEIGHTS - 1) / HX_Q8_0_WEIGHTS) * HX_Q8_0_BYTES;
}

static void count(struct row *r, const struct hx_native_part *p, const double *bounds)
{
    const size_t k = r->k < side(p) ? r->k : side(p);

    r->params += hx_native_params(p->n.rows, p->n.cols, k);
    r->bytes += q8_bytes(k, p->n.cols) + q8_bytes(k, k) + q8_bytes(p->n.rows, k);
    keep(&r->kept[p->which], 1 - bounds[k - 1]);
}

static int take_energies(struct table *p, struct hx_error *err)
{
    const struct hx_watch watch = hx_terminal_watch(p->s.cmd);
    struct spectra s = {.bounds = NULL};
    int rc = hx_native_fits_take(&s.f, &p->s.set, HX_LAYER_MATRICES, 1, 0, err);

    if (!rc) {
        s.bounds = calloc(s.f.n, sizeof(double *));
        rc = s.bounds ? hx_native_fits_each(&s.f, p->s.pool, &watch, "matrices", spectrum, &s, err)
                      : hx_error_set(err, -ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < s.f.n && !rc; i++) {
        const struct hx_native *n = &s.f.at[i].n;

        p->raw += (uint64_t)n->rows * n->cols;
        p->raw_bytes += q8_bytes(n->rows, n->cols);
        for (size_t r = 0; r < p->n_k; r++)
            count(&p->row[r], &s.f.at[i], s.bounds[i]);
    }
    for (size_t i = 0; i < s.f.n && s.bounds; i++)
        free(s.bounds[i]);
    free(s.bounds);
    hx_native_fits_free(&s.f);
    return rc;
}

/* --- perplexities */

static int score(const struct table *p, size_t k, const char *text, struct hx_ppl *got, struct hx_error *err)
{
    char map[48], file[4096];
    const char *const settings[] = {"kv=f32", map, text ? "native-from=text" : NULL, file, NULL};
    const struct hx_engine_cfg engine = {.settings = settings, .model = p->s.path, .threads = p->s.threads, .n_ctx = HX_HELD_OUT_CTX,
                                         .max_batch = HX_HELD_OUT_CTX};
    const struct hx_ppl_cfg cfg = {.ctx = HX_HELD_OUT_CTX, .chunks = p->h.chunks, .bos = HX_NO_TOKEN, .reference = p->h.plain->forward};
    struct hx_engine *e = NULL;
    int rc;

    snprintf(map, sizeof(map), "linear=native:%zu", k);
    snprintf(file, sizeof(file), "native-text=%s", text ? text : "");
    rc = hx_engine_open(&e, &engine, err);
    if (!rc)
        rc = hx_ppl_windows(e->model, e->forward, p->h.ids, p->h.n_ids, &cfg, got, err);
    hx_engine_close(e);
    return rc;
}

static int take_perplexities(struct table *p, struct hx_error *err)
{
    int rc = hx_held_out_open(&p->h, err);

    for (size_t i = 0; i < p->n_k && !rc; i++) {
        rc = score(p, p->k[i], NULL, &p->row[i].of_weights, err);
        if (!rc && p->text)
            rc = score(p, p->k[i], p->text, &p->row[i].of_text, err);
    }
    return rc;
}

/* --- answers */

static json_t *kept_json(const struct kept *k)
{
    return json_pack("{s:f, s:f, s:f}", "mean", k->sum / (double)k->n, "least", k->least, "most", k->most);
}

static json_t *row_json(const struct table *p, const struct row *r)
{
    json_t *j = json_pack("{s:I, s:f, s:I, s:f}", "params", (json_int_t)r->params, "params_share", (double)r->params / (double)p->raw,
                          "bytes_per_token_q8_0", (json_int_t)r->bytes, "bytes_share", (double)r->bytes / (double)p->raw_bytes);
    json_t *energy = json_object();

    for (int w = 0; w < HX_PER_LAYER; w++)
        if (r->kept[w].n)
            json_object_set_new(energy, hx_matrix_names[w], kept_json(&r->kept[w]));
    json_object_set_new(j, "energy", energy);
    if (!p->no_ppl)
        json_object_set_new(j, "of_weights", hx_held_out_json(&p->h, &r->of_weights));
    if (!p->no_ppl && p->text)
        json_object_set_new(j, "of_text", hx_held_out_json(&p->h, &r->of_text));
    return j;
}

/* int8 with a scale for each 32, as it lies in VTCM. */
static json_t *fit_json(const struct table *p, size_t kib)
{
    const double numbers = (double)kib * 1024 * 8 / 9;
    size_t count = 0, sum = 0;

    for (size_t i = 0; i < p->s.set.n; i++)
        if (p->s.set.at[i].which != HX_OUT) {
            count++;
            sum += p->s.set.at[i].w->rows + p->s.set.at[i].w->cols;
        }
    return json_pack("{s:I, s:I}", "one_layer", (json_int_t)hx_native_k_fit(count / p->s.m->n_layer, sum / p->s.m->n_layer, numbers),
                     "all_layers", (json_int_t)hx_native_k_fit(count, sum, numbers));
}

/* The published counts, of the formula. */
static json_t *published_json(void)
{
    static const struct {
        const char *name;
        size_t rows, cols, k; /* rows 0: square, with one basis */
    } shapes[] = {{"1536x8960_k_32", 8960, 1536, 32}, {"1536x8960_k_64", 8960, 1536, 64},   {"1536x8960_k_96", 8960, 1536, 96},
                  {"1536x8960_k_128", 8960, 1536, 128}, {"1536x1536_k_128", 0, 1536, 128}, {"1536x1536_k_256", 0, 1536, 256}};
    json_t *j = json_object();

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const size_t rows = shapes[i].rows ? shapes[i].rows : shapes[i].cols, cols = shapes[i].cols, k = shapes[i].k;
        const uint64_t params = shapes[i].rows ? hx_native_params(rows, cols, k) : hx_native_params_square(cols, k);

        json_object_set_new(j, shapes[i].name,
                            json_pack("{s:I, s:f}", "params", (json_int_t)params, "share", (double)params / ((double)rows * (double)cols)));
    }
    return j;
}

static json_t *all_json(const struct table *p)
{
    json_t *j = json_pack("{s:o, s:I, s:I}", "model", hx_json_text(p->s.path), "raw_params", (json_int_t)p->raw, "raw_bytes_per_token_q8_0",
                          (json_int_t)p->raw_bytes);
    char name[32];

    if (!p->no_ppl)
        json_object_set_new(j, "text", hx_json_text(p->h.text));
    if (p->text)
        json_object_set_new(j, "best_for_text", hx_json_text(p->text));
    for (size_t i = 0; i < p->n_k; i++) {
        snprintf(name, sizeof(name), "k_%zu", p->k[i]);
        json_object_set_new(j, name, row_json(p, &p->row[i]));
    }
    json_object_set_new(j, "l2_mb", json_real(p->l2_mb));
    json_object_set_new(j, "k_star", json_real(hx_native_k_star(p->l2_mb)));
    for (size_t i = 0; i < p->n_kib; i++) {
        snprintf(name, sizeof(name), "k_fit_%zu_kib", p->kib[i]);
        json_object_set_new(j, name, fit_json(p, p->kib[i]));
    }
    json_object_set_new(j, "published", published_json());
    return j;
}

/* Perplexity as a multiple of the model's. */
static int draw(const struct table *p)
{
    double at[2][MOST][2];
    const struct hx_plot_line lines[] = {{"best for weights", at[0], p->n_k}, {"best for a text", at[1], p->n_k}};
    const struct hx_plot plot = {.title = "matrices that live in k dimensions", .x = "k", .y = "perplexity, as a multiple of the model's",
                                 .log_y = 1, .line = lines, .n = p->text ? 2 : 1};

    for (size_t i = 0; i < p->n_k; i++)
        for (size_t l = 0; l < plot.n; l++) {
            const struct hx_ppl *got = l ? &p->row[i].of_text : &p->row[i].of_weights;

            at[l][i][0] = (double)p->k[i];
            at[l][i][1] = got->ppl / got->kl.ppl;
        }
    return hx_plot_draw(p->s.cmd, p->plot, &plot);
}

static int answer(const struct table *p)
{
    json_t *j = all_json(p);
    int rc = hx_subject_write_json(&p->s, "native_table.json", j);

    if (!rc && p->plot)
        rc = draw(p);
    if (!rc)
        return hx_report_print(p->s.cmd, j, p->s.json);
    json_decref(j);
    return rc;
}

static int run(struct table *p)
{
    struct hx_error err = {""};
    int rc;

    fill_in(p);
    for (size_t i = 0; i < p->n_k; i++)
        p->row[i].k = p->k[i];
    rc = take_energies(p, &err);
    if (!rc && !p->no_ppl)
        rc = take_perplexities(p, &err);
    rc = rc ? hx_cmd_fail(p->s.cmd, "%s", err.text) : answer(p);
    hx_held_out_close(&p->h);
    return rc;
}

static int check(const struct table *p)
{
    if (p->no_ppl && (p->text || p->plot))
        return hx_cmd_usage(p->s.cmd, "--no-ppl and --%s exclude each other", p->text ? "text" : "plot");
    return 0;
}

int hx_native_cmd_table(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct table p = {.s = {.cmd = "native table"}, .l2_mb = 36};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    p.h.s = &p.s;
    if (!rc)
        rc = check(&p);
    if (!rc)
        rc = hx_subject_open(&p.s);
    if (!rc)
        rc = run(&p);
    hx_subject_close(&p.s);
    return rc;
}
