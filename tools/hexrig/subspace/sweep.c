/* hexrig subspace sweep: perplexity, and the DSP's time and bytes, over the rank of wq, wk and wv, for several sizes of VTCM. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gnuplot.h"
#include "cli/line_plot.h"
#include "cli/report.h"
#include "cli/share.h"
#include "cmd_subspace.h"
#include "engine/arch/arch.h"
#include "hx_vtcm_table.h"
#include "model/planted.h"
#include "rank_sweep.h"

enum { OPT_RANKS = HX_OPT_FREE, OPT_VTCM, OPT_CTX, OPT_CHUNKS, OPT_PLOT };
enum { MOST_RANK = 1536, MOST_CTX = 1 << 16, MOST_CHUNKS = 1 << 20, GRAIN_KIB = HX_VTCM_GRAIN >> 10, MOST_KIB = HX_VTCM_BYTES >> 10 };

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"ranks", OPT_RANKS, "LIST", 0, "multiples of 32 (eighths of the width, from 1/4 on)", 0},
    {"vtcm-kib", OPT_VTCM, "LIST", 0, "sizes of VTCM, multiples of 256 up to 8192 (8192,1024,512)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "of the timing model, with those sizes of VTCM (s22u-sync)", 0},
    {"file", 'f', "TEXT", 0, "text file (share/hexrig/books-holdout.txt)", 0},
    {"ctx", OPT_CTX, "N", 0, "predictions of a window (128)", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows (24)", 0},
    {"plot", OPT_PLOT, "FILE", 0, "also a picture, FILE.svg or FILE.png, by gnuplot", 0},
    {0},
};

static const char doc[] =
    "Makes wq, wk and wv products of two thin matrices of each rank in Q8_0 (--axex-compress), leaves them to the DSP to stay in VTCM "
    "(--placement resident), and prints perplexity as a multiple of the model's, and what a token costs: modelled execution, bytes that "
    "were found in VTCM, bytes that had to be fetched.  k_fit: the rank up to which all of them fit.  With -o also sweep.json and "
    "sweep.csv."
    "\vTimes are modelled.\n\n"
    "Example: hexrig subspace sweep --ranks 32,64,96,128 --vtcm-kib 1024,512 --plot knee.svg";

/* --- options */

static int read_list(const char *cmd, const char *option, char *list, size_t step, size_t most, size_t *to, size_t *n)
{
    char *word;
    int rc = 0;

    for (*n = 0; !rc && (word = strsep(&list, ",")); ++*n) {
        if (*n == HX_RANK_SWEEP_MOST)
            return hx_cmd_usage(cmd, "--%s: more than %d", option, HX_RANK_SWEEP_MOST);
        rc = hx_opt_size(cmd, option, word, step, most, &to[*n]);
        if (!rc && to[*n] % step)
            rc = hx_cmd_usage(cmd, "--%s %zu; legal: multiples of %zu up to %zu", option, to[*n], step, most);
    }
    return rc;
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static int read_ranks(struct hx_rank_sweep *p, char *arg)
{
    int rc = read_list(p->s.cmd, "ranks", arg, HX_RANK_SWEEP_STEP, MOST_RANK, p->rank, &p->n_rank);

    qsort(p->rank, p->n_rank, sizeof(p->rank[0]), by_size);
    return rc;
}

static int option(struct hx_rank_sweep *p, int key, char *arg)
{
    switch (key) {
    case OPT_RANKS:
        return read_ranks(p, arg);
    case OPT_VTCM:
        return read_list(p->s.cmd, "vtcm-kib", arg, GRAIN_KIB, MOST_KIB, p->kib, &p->n_kib);
    case HX_OPT_PROFILE:
        p->profile = arg;
        return 0;
    case 'f':
        p->text = arg;
        return 0;
    case OPT_CTX:
        return hx_opt_size(p->s.cmd, "ctx", arg, 1, MOST_CTX, &p->ctx);
    case OPT_CHUNKS:
        return hx_opt_size(p->s.cmd, "chunks", arg, 1, MOST_CHUNKS, &p->chunks);
    case OPT_PLOT:
        p->plot = arg;
        return 0;
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* The model is opened for its shapes and closed again. */
static int check_model(struct hx_rank_sweep *p)
{
    struct hx_model *m = NULL;
    struct hx_error err = {""};
    size_t width;

    if (hx_model_open(&m, p->s.path, hx_archs, &err))
        return hx_cmd_fail(p->s.cmd, "%s", err.text);
    width = m->width;
    p->planted = hx_gguf_is_planted(m->file);
    hx_model_close(m);
    for (size_t i = 2, all = !p->n_rank; all && i <= 8; i++) {
        const size_t k = width * i / 8 / HX_RANK_SWEEP_STEP * HX_RANK_SWEEP_STEP;

        if (k && k <= MOST_RANK && (!p->n_rank || k > p->rank[p->n_rank - 1]))
            p->rank[p->n_rank++] = k;
    }
    if (!p->n_rank || p->rank[p->n_rank - 1] > width)
        return hx_cmd_usage(p->s.cmd, "--ranks: %zu; the model's width is %zu", p->n_rank ? p->rank[p->n_rank - 1] : HX_RANK_SWEEP_STEP,
                            width);
    return 0;
}

static int fill_in(struct hx_rank_sweep *p)
{
    static const size_t kib[] = {8192, 1024, 512};

    if (!p->n_kib) {
        memcpy(p->kib, kib, sizeof(kib));
        p->n_kib = sizeof(kib) / sizeof(kib[0]);
    }
    if (!p->s.path)
        p->s.path = p->s.shipped = hx_share("hexrig-tiny-q8_0.gguf");
    if (!p->text)
        p->text = p->shipped = hx_share("books-holdout.txt");
    if (!p->s.path || !p->text)
        return hx_cmd_fail(p->s.cmd, "out of memory");
    return p->plot ? hx_gnuplot_check(p->s.cmd, p->plot) : 0;
}

/* --- answers */

static json_t *cost_json(const struct hx_rank_cost *c)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "exec_us", c->exec_us, "hit_bytes", c->hit, "miss_bytes", c->miss, "ddr_bytes", c->ddr,
                     "dma_bytes", c->dma);
}

/* i 0: whole matrices. */
static json_t *row_json(const struct hx_rank_sweep *p, size_t i)
{
    json_t *j = json_object();
    char name[32];

    if (!p->planted)
        json_object_set_new(j, "ppl", json_real(p->ppl[i]));
    if (!p->planted && i)
        json_object_set_new(j, "ppl_ratio", json_real(p->ppl[i] / p->ppl[0]));
    for (size_t v = 0; v < p->n_kib; v++) {
        snprintf(name, sizeof(name), "vtcm_%zu", p->kib[v]);
        json_object_set_new(j, name, cost_json(&p->cost[v][i]));
    }
    return j;
}

/* The largest rank that missed nothing; 0: none. */
static size_t found_fit(const struct hx_rank_sweep *p, size_t v)
{
    size_t most = 0;

    for (size_t i = 0; i < p->n_rank; i++)
        most = p->cost[v][1 + i].miss > 0 ? most : p->rank[i];
    return most;
}

static json_t *all_json(const struct hx_rank_sweep *p)
{
    json_t *j = json_pack("{s:o, s:o, s:s, s:f, s:o}", "model", hx_json_text(p->s.path), "text", hx_json_text(p->text), "profile",
                          p->profile, "bytes_per_rank", hx_rank_sweep_bytes(p), "whole", row_json(p, 0));
    char name[32];

    for (size_t i = 0; i < p->n_rank; i++) {
        snprintf(name, sizeof(name), "rank_%zu", p->rank[i]);
        json_object_set_new(j, name, row_json(p, 1 + i));
    }
    for (size_t v = 0; v < p->n_kib; v++) {
        snprintf(name, sizeof(name), "k_fit_%zu", p->kib[v]);
        json_object_set_new(j, name, json_pack("{s:I, s:I}", "by_bytes", (json_int_t)hx_rank_sweep_fit(p, p->kib[v]), "found",
                                               (json_int_t)found_fit(p, v)));
    }
    return j;
}

static int write_csv(const struct hx_rank_sweep *p)
{
    FILE *f = p->s.folder ? hx_subject_create(&p->s, "sweep.csv") : NULL;

    if (!f)
        return p->s.folder ? HX_EXIT_FAILED : HX_EXIT_OK;
    fputs("vtcm_kib,rank,ppl,ppl_ratio,exec_us,hit_bytes,miss_bytes,ddr_bytes,dma_bytes\n", f);
    for (size_t v = 0; v < p->n_kib; v++)
        for (size_t i = 0; i <= p->n_rank; i++) {
            const struct hx_rank_cost *c = &p->cost[v][i];

            fprintf(f, "%zu,%s", p->kib[v], i ? "" : "whole");
            if (i)
                fprintf(f, "%zu", p->rank[i - 1]);
            if (p->planted)
                fputs(",,", f);
            else
                fprintf(f, ",%.6f,%.6f", p->ppl[i], p->ppl[i] / p->ppl[0]);
            fprintf(f, ",%.3f,%.0f,%.0f,%.0f,%.0f\n", c->exec_us, c->hit, c->miss, c->ddr, c->dma);
        }
    return fclose(f) ? hx_cmd_fail(p->s.cmd, "%s/sweep.csv: %s", p->s.folder, strerror(errno)) : HX_EXIT_OK;
}

/* A line for each size of VTCM. */
static int draw(const struct hx_rank_sweep *p)
{
    double at[HX_RANK_SWEEP_MOST][HX_RANK_SWEEP_MOST][2];
    char names[HX_RANK_SWEEP_MOST][32];
    struct hx_plot_line line[HX_RANK_SWEEP_MOST];
    const struct hx_plot plot = {.title = "wq, wk and wv as thin matrices that stay in VTCM", .x = "rank",
                                 .y = "us of execution per token, modelled", .line = line, .n = p->n_kib};

    for (size_t v = 0; v < p->n_kib; v++) {
        for (size_t i = 0; i < p->n_rank; i++) {
            at[v][i][0] = (double)p->rank[i];
            at[v][i][1] = p->cost[v][1 + i].exec_us;
        }
        snprintf(names[v], sizeof(names[v]), "%zu KiB of VTCM", p->kib[v]);
        line[v] = (struct hx_plot_line){names[v], at[v], p->n_rank};
    }
    return hx_plot_draw(p->s.cmd, p->plot, &plot);
}

static int answer(const struct hx_rank_sweep *p)
{
    json_t *j = all_json(p);
    int rc = hx_subject_write_json(&p->s, "sweep.json", j);

    if (!rc)
        rc = write_csv(p);
    if (!rc && p->plot)
        rc = draw(p);
    if (!rc)
        return hx_report_print(p->s.cmd, j, p->s.json);
    json_decref(j);
    return rc;
}

int hx_subspace_cmd_sweep(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct hx_rank_sweep p = {.s = {.cmd = "subspace sweep"}, .profile = "s22u-sync", .ctx = 128, .chunks = 24};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = fill_in(&p);
    if (!rc)
        rc = check_model(&p);
    if (!rc)
        rc = hx_rank_sweep_cost(&p);
    if (!rc && !p.planted)
        rc = hx_rank_sweep_ppl(&p);
    if (!rc)
        rc = answer(&p);
    free(p.s.shipped);
    free(p.shipped);
    return rc;
}
