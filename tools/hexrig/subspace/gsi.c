/* hexrig subspace gsi: what a gate in front of matrices saves and costs on a text that its bases were not made of. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/share.h"
#include "cli/terminal_watch.h"
#include "cmd_subspace.h"
#include "engine/engine.h"
#include "generate/ppl.h"
#include "methods/gsi/cascade.h"
#include "methods/gsi/figures.h"
#include "methods/gsi/linear_gsi.h"
#include "subject.h"
#include "text/text.h"

enum { OPT_TEXT = HX_OPT_FREE, OPT_HELD_OUT, OPT_K, OPT_EPS, OPT_CHUNKS, OPT_PROMPTS, OPT_IMAGE };
enum { MOST = 16, MAX_K = 65536, CTX = 128, PROMPT = 16, MADE = 50 }; /* MADE: tokens of a greedy text, as published */

static const char *const formats[] = {"f32", "f16", "q8_0", NULL};

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"text", OPT_TEXT, "FILE", 0, "that bases are made of", 0},
    {"held-out", OPT_HELD_OUT, "FILE", 0, "that is scored (books-holdout.txt)", 0},
    {"k", OPT_K, "LIST", 0, "directions, up to 16 (1/9, 2/9 and 4/9 of the width)", 0},
    {"eps", OPT_EPS, "LIST", 0, "what the gate lets pass, up to 16 (0.05,0.1,0.2)", 0},
    {"image", OPT_IMAGE, "F", 0, "f32 | f16 | q8_0: number format of the images (f32)", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows of 128 predictions (24)", 0},
    {"prompts", OPT_PROMPTS, "P", 0, "greedy texts of 50 tokens (10)", 0},
    {0},
};

static const char doc[] =
    "For each k and eps of linear method gsi, and for no gate at all (static), on the held-out text: perplexity and its ratio to that "
    "without, top1, how often the most probable token is the same, phi, the share of vectors that took the images, s_seed, the published "
    "speedup, s_real, the same with what the gate reads, greedy, the share of 50 greedy tokens that come before the first other one, and "
    "violations of the error bound.  Coherence: cosines between the bases of a layer and the next, beside those of random ones.  With -o "
    "also gsi_sweep.json and gsi_sweep.csv."
    "\vExample: hexrig subspace gsi --text wiki.txt --k 28,57 --eps 0.05,0.3";

struct list {
    double at[MOST];
    size_t n;
};

/* An engine over the subject's model. */
struct side {
    struct hx_plan *plan;
    struct hx_core *core;
    struct hx_engine *e;
};

struct sweep {
    struct hx_subject s;
    const char *text, *held_out;
    char *shipped;
    struct list k, eps;
    size_t chunks, prompts, image;
    struct hx_watch watch;
    struct side plain, gated;
    uint32_t *ids; /* of the held-out text */
    size_t n_ids;
    uint32_t *texts; /* [prompts][MADE] greedy, without a gate */
};

/* --- options */

static int parse_list(struct sweep *p, const char *name, char *list, double min, double max, int whole, struct list *to)
{
    char *word;
    int rc = 0;

    for (to->n = 0; !rc && (word = strsep(&list, ","));) {
        size_t n = 0;

        if (to->n == MOST)
            return hx_cmd_usage(p->s.cmd, "--%s: more than %d", name, MOST);
        if (whole) {
            rc = hx_opt_size(p->s.cmd, name, word, (size_t)min, (size_t)max, &n);
            to->at[to->n] = (double)n;
        } else {
            rc = hx_opt_real(p->s.cmd, name, word, min, max, &to->at[to->n]);
        }
        to->n++;
    }
    return rc;
}

static int option(struct sweep *p, int key, char *arg)
{
    switch (key) {
    case OPT_TEXT:
        p->text = arg;
        return 0;
    case OPT_HELD_OUT:
        p->held_out = arg;
        return 0;
    case OPT_K:
        return parse_list(p, "k", arg, 1, MAX_K, 1, &p->k);
    case OPT_EPS:
        return parse_list(p, "eps", arg, 0, 1, 0, &p->eps);
    case OPT_CHUNKS:
        return hx_opt_size(p->s.cmd, "chunks", arg, 1, 1 << 20, &p->chunks);
    case OPT_PROMPTS:
        return hx_opt_size(p->s.cmd, "prompts", arg, 0, 1 << 10, &p->prompts);
    case OPT_IMAGE:
        return hx_opt_name(p->s.cmd, "image", arg, formats, &p->image);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- engines */

static int open_side(struct sweep *p, struct side *to, const char *const *settings, struct hx_error *err)
{
    int rc = hx_plan_open(&to->plan, "--", 0, err);

    if (!rc)
        rc = hx_plan_set_list(to->plan, settings, err);
    if (!rc)
        rc = hx_plan_resolve(to->plan, err);
    if (!rc)
        rc = hx_core_open(&to->core, &(struct hx_core_cfg){.model = p->s.m, .threads = p->s.threads, .watch = &p->watch}, to->plan, err);
    if (!rc)
        rc = hx_engine_open(&to->e, &(struct hx_engine_cfg){.plan = to->plan, .core = to->core, .n_ctx = CTX, .max_batch = CTX}, err);
    return rc;
}

static void close_side(struct side *s)
{
    hx_engine_close(s->e);
    hx_core_close(s->core);
    hx_plan_close(s->plan);
}

static size_t most_k(const struct sweep *p)
{
    double most = 1;

    for (size_t i = 0; i < p->k.n; i++)
        most = p->k.at[i] > most ? p->k.at[i] : most;
    return (size_t)most;
}

static int open_sides(struct sweep *p, struct hx_error *err)
{
    static const char *const plain[] = {"kv=f32", NULL};
    char map[32], image[16], *text = NULL;
    const char *const gated[] = {"kv=f32", map, image, "gsi-check", NULL, NULL};
    const char *with_text[sizeof(gated) / sizeof(gated[0])];
    int rc;

    snprintf(map, sizeof(map), "linear=gsi:%zu", most_k(p));
    snprintf(image, sizeof(image), "gsi-image=%s", formats[p->image]);
    if (asprintf(&text, "gsi-text=%s", p->text) < 0)
        return hx_error_set(err, -ENOMEM, "out of memory");
    memcpy(with_text, gated, sizeof(gated));
    with_text[4] = text;
    rc = open_side(p, &p->plain, plain, err);
    if (!rc)
        rc = open_side(p, &p->gated, with_text, err);
    free(text);
    return rc;
}

static struct hx_linear_method *method_of(const struct sweep *p)
{
    return p->gated.core->linear[0].open;
}

/* --- greedy texts */

static int make_text(struct hx_engine *e, const uint32_t *prompt, uint32_t *made, struct hx_error *err)
{
    float *logits = malloc(e->model->vocab * sizeof(*logits));
    int rc = logits ? hx_engine_run(e, prompt, PROMPT, 0, err) : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < MADE && !rc; i++) {
        rc = hx_engine_logits(e, logits, err);
        made[i] = 0;
        for (uint32_t t = 1; t < e->model->vocab && !rc; t++)
            made[i] = logits[t] > logits[made[i]] ? t : made[i];
        if (!rc && i + 1 < MADE)
            rc = hx_engine_run(e, &made[i], 1, PROMPT + i, err);
    }
    free(logits);
    return rc;
}

static const uint32_t *prompt_of(const struct sweep *p, size_t i)
{
    return p->ids + hx_ppl_window(p->n_ids, PROMPT, p->prompts, i);
}

static int make_texts(struct sweep *p, struct hx_error *err)
{
    int rc = 0;

    p->texts = calloc(p->prompts * MADE + 1, sizeof(*p->texts));
    if (!p->texts)
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < p->prompts && !rc; i++)
        rc = make_text(p->plain.e, prompt_of(p, i), p->texts + i * MADE, err);
    return rc;
}

/* *share: of the tokens that come before the first other one. */
static int compare_texts(struct sweep *p, double *share, struct hx_error *err)
{
    uint32_t made[MADE];
    size_t same = 0;
    int rc = 0;

    for (size_t i = 0; i < p->prompts && !rc; i++) {
        const uint32_t *want = p->texts + i * MADE;

        rc = make_text(p->gated.e, prompt_of(p, i), made, err);
        for (size_t t = 0; t < MADE && !rc && made[t] == want[t]; t++)
            same++;
    }
    *share = p->prompts ? (double)same / (double)(p->prompts * MADE) : 1;
    return rc;
}

/* --- coherence of layers */

/* Of one input, each layer with the next, beside chance. */
static int coherence_of(const struct hx_gsi_classes *c, enum hx_tap_point input, json_t *to, struct hx_error *err)
{
    const struct hx_gsi_class *last = NULL;
    json_t *mean = json_array(), *least = json_array();
    struct hx_gsi_coherence got;
    int rc = 0;

    for (size_t i = 0; i < c->n && !rc; i++) {
        if (c->at[i].input != input)
            continue;
        rc = last ? hx_gsi_coherence(&last->basis, &c->at[i].basis, &got, err) : 0;
        if (last && !rc) {
            json_array_append_new(mean, json_real(got.mean));
            json_array_append_new(least, json_real(got.least));
        }
        last = &c->at[i];
    }
    if (last && json_array_size(mean) && !rc) {
        rc = hx_gsi_coherence_of_chance(last->cols, last->basis.k, &got, err);
        json_object_set_new(to, hx_tap_point_names[input],
                            json_pack("{s:O, s:O, s:f}", "mean", mean, "least", least, "chance", got.mean));
    }
    json_decref(mean);
    json_decref(least);
    return rc;
}

static int add_coherence(const struct sweep *p, size_t k, json_t *to, struct hx_error *err)
{
    int rc = hx_linear_gsi_set(method_of(p), k, &(struct hx_gsi_gate){.is_static = 1}, err);

    for (int i = 0; i < HX_TAP_POINTS && !rc; i++)
        rc = coherence_of(hx_linear_gsi_classes(method_of(p)), (enum hx_tap_point)i, to, err);
    return rc;
}

/* --- rows */

static json_t *row_json(const struct sweep *p, const struct hx_ppl *got, double greedy)
{
    const struct hx_gsi_sums s = hx_gsi_sum(hx_linear_gsi_classes(method_of(p)), HX_TAP_POINTS);
    json_t *j = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "ppl", got->ppl, "ratio", got->ppl / got->kl.ppl, "top1", got->kl.same_top,
                          "phi", hx_gsi_phi(&s), "s_seed", hx_gsi_s_seed(&s), "s_real", hx_gsi_s_real(&s));

    if (p->prompts)
        json_object_set_new(j, "greedy", json_real(greedy));
    if (s.gated > 0)
        json_object_set_new(j, "violations", json_integer((json_int_t)s.violations));
    return j;
}

/* One row: "k28.eps0.05" or "k28.static". */
static int measure(struct sweep *p, size_t k, const struct hx_gsi_gate *gate, json_t *to, struct hx_error *err)
{
    const struct hx_ppl_cfg cfg = {.ctx = CTX, .chunks = p->chunks, .reference = p->plain.e->forward};
    struct hx_ppl got;
    double greedy = 1;
    char name[32] = "static";
    int rc = hx_linear_gsi_set(method_of(p), k, gate, err);

    if (!rc)
        rc = compare_texts(p, &greedy, err);
    if (!rc)
        rc = hx_linear_gsi_set(method_of(p), k, gate, err); /* figures are of the windows alone */
    if (!rc)
        rc = hx_ppl_windows(p->s.m, p->gated.e->forward, p->ids, p->n_ids, &cfg, &got, err);
    if (rc)
        return rc;
    if (!gate->is_static)
        snprintf(name, sizeof(name), "eps%g", gate->eps);
    json_object_set_new(to, name, row_json(p, &got, greedy));
    return 0;
}

static int measure_k(struct sweep *p, size_t k, json_t *to, struct hx_error *err)
{
    json_t *j = json_object(), *coherence = json_object();
    char name[32];
    int rc = 0;

    snprintf(name, sizeof(name), "k%zu", k);
    json_object_set_new(to, name, j);
    for (size_t i = 0; i < p->eps.n && !rc; i++)
        rc = measure(p, k, &(struct hx_gsi_gate){.eps = p->eps.at[i], .check = 1}, j, err);
    if (!rc)
        rc = measure(p, k, &(struct hx_gsi_gate){.eps = 1, .is_static = 1}, j, err);
    json_object_set_new(j, "coherence", coherence);
    return rc ? rc : add_coherence(p, k, coherence, err);
}

/* --- files */

static void write_row(FILE *f, const char *k, const char *gate, const json_t *row)
{
    static const char *const columns[] = {"ppl", "ratio", "top1", "phi", "s_seed", "s_real", "greedy", "violations"};

    fprintf(f, "%s,%s", k, gate);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        fprintf(f, ",%.6g", json_number_value(json_object_get(row, columns[i])));
    fputc('\n', f);
}

static int write_csv(const struct sweep *p, json_t *j)
{
    FILE *f = hx_subject_create(&p->s, "gsi_sweep.csv");
    const char *k, *gate;
    json_t *of, *row;

    if (!f)
        return HX_EXIT_FAILED;
    fputs("k,gate,ppl,ratio,top1,phi,s_seed,s_real,greedy,violations\n", f);
    json_object_foreach(j, k, of)
        json_object_foreach(of, gate, row) /* of texts that is nothing */
            if (json_object_get(row, "ppl"))
                write_row(f, k + 1, gate, row);
    return fclose(f) ? hx_cmd_fail(p->s.cmd, "%s/gsi_sweep.csv: %s", p->s.folder, strerror(errno)) : HX_EXIT_OK;
}

static int measure_all(struct sweep *p, json_t *j, struct hx_error *err)
{
    int rc = hx_text_encode(p->s.m->tok, p->held_out, &p->ids, &p->n_ids, err);

    if (!rc && p->n_ids <= CTX + 1)
        rc = hx_error_set(err, -EINVAL, "%s: %zu tokens; a window is %d", p->held_out, p->n_ids, CTX + 1);
    if (!rc)
        rc = open_sides(p, err);
    if (!rc)
        rc = make_texts(p, err);
    for (size_t i = 0; i < p->k.n && !rc; i++)
        rc = measure_k(p, (size_t)p->k.at[i], j, err);
    return rc;
}

static int run(struct sweep *p)
{
    json_t *j = json_pack("{s:s, s:s, s:s, s:s}", "model", p->s.path, "text", p->text, "held_out", p->held_out, "image",
                          formats[p->image]);
    struct hx_error err = {""};
    int rc = measure_all(p, j, &err) ? hx_cmd_fail(p->s.cmd, "%s", err.text) : HX_EXIT_OK;

    if (!rc)
        rc = hx_subject_write_json(&p->s, "gsi_sweep.json", j);
    if (!rc && p->s.folder)
        rc = write_csv(p, j);
    if (!rc)
        rc = hx_report_print(p->s.cmd, json_incref(j), p->s.json);
    json_decref(j);
    return rc;
}

/* The published operating points, scaled to the width. */
static void fill_lists(struct sweep *p)
{
    static const double ninths[] = {1, 2, 4}, eps[] = {.05, .1, .2};

    for (size_t i = 0; !p->k.n && i < 3; i++)
        p->k.at[i] = (double)(size_t)((double)p->s.m->width * ninths[i] / 9);
    for (size_t i = 0; !p->eps.n && i < 3; i++)
        p->eps.at[i] = eps[i];
    p->k.n = p->k.n ? p->k.n : 3;
    p->eps.n = p->eps.n ? p->eps.n : 3;
}

int hx_subspace_cmd_gsi(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct sweep p = {.s = {.cmd = "subspace gsi"}, .chunks = 24, .prompts = 10};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc && !p.text)
        rc = hx_cmd_usage(p.s.cmd, "no text to make bases of (--text FILE)");
    if (!rc && !p.held_out && !(p.held_out = p.shipped = hx_share("books-holdout.txt")))
        rc = hx_cmd_fail(p.s.cmd, "out of memory");
    if (!rc)
        rc = hx_subject_open(&p.s);
    if (!rc) {
        p.watch = hx_terminal_watch(p.s.cmd);
        fill_lists(&p);
        rc = run(&p);
    }
    close_side(&p.gated);
    close_side(&p.plain);
    hx_subject_close(&p.s);
    free(p.shipped);
    free(p.texts);
    free(p.ids);
    return rc;
}
