/* hexrig subspace spectra: how many singular values hold 95 % and 99 % of a matrix, and how much the first ones hold. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_subspace.h"
#include "html/chart.h"
#include "html/page.h"
#include "methods/lowrank/factorize.h"
#include "subject.h"

enum { OPT_RANK = HX_OPT_FREE, MAX_RANK = 1 << 20, POINTS = 64 }; /* POINTS: of a line of the picture */

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"rank", OPT_RANK, "K", 0, "prints the share of the first K (half the width)", 0},
    {0},
};

static const char doc[] =
    "Singular values of every matrix: k95 and k99, the fewest of them whose squares make 95 % and 99 % of all, and `energy`, the share of "
    "the first K.  Means over the layers; with -o also spectra_summary.json and spectra.csv, matrix by matrix, and spectra.html, a picture."
    "\vExample: hexrig subspace spectra -m model.gguf --rank 1024 -o spectra";

/* Of one matrix. */
struct row {
    size_t layer, rows, cols, n, k95, k99;
    enum hx_matrix which;
    double energy;
    double *held; /* [n] share of the first i + 1 */
};

struct spectra {
    struct hx_subject s;
    size_t rank;
    struct row *row; /* [n] */
    size_t n;
};

static int option(struct spectra *p, int key, char *arg)
{
    return key == OPT_RANK ? hx_opt_size(p->s.cmd, "rank", arg, 1, MAX_RANK, &p->rank) : hx_subject_option(&p->s, key, arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static size_t fewest(const struct row *r, double share)
{
    size_t k = 0;

    while (k < r->n && r->held[k] < share)
        k++;
    return k < r->n ? k + 1 : r->n;
}

static int measure(void *arg, size_t i, struct hx_error *err)
{
    struct spectra *p = arg;
    struct row *r = &p->row[i];
    const struct hx_lowrank_part part = {.w = p->s.set.at[i].w, .layer = p->s.set.at[i].layer, .which = p->s.set.at[i].which};
    double all = 0, sum = 0;
    int rc;

    *r = (struct row){.layer = part.layer, .which = part.which, .rows = part.w->rows, .cols = part.w->cols,
                      .n = part.w->rows < part.w->cols ? part.w->rows : part.w->cols};
    r->held = malloc(r->n * sizeof(*r->held));
    rc = r->held ? hx_lowrank_spectrum(&part, r->held, err) : hx_error_set(err, -ENOMEM, "out of memory");
    if (rc)
        return rc;
    for (size_t k = r->n; k-- > 0;)
        all += r->held[k];
    for (size_t k = 0; k < r->n; k++) {
        sum += r->held[k];
        r->held[k] = all > 0 ? sum / all : 1;
    }
    r->k95 = fewest(r, .95);
    r->k99 = fewest(r, .99);
    r->energy = r->held[(p->rank < r->n ? p->rank : r->n) - 1];
    return 0;
}

/* --- what is printed */

static json_t *kind_json(const struct spectra *p, enum hx_matrix which)
{
    double k95 = 0, k99 = 0, energy = 0, of = 0;
    size_t n = 0, most = 1;

    for (size_t i = 0; i < p->n; i++) {
        const struct row *r = &p->row[i];

        if (r->which != which)
            continue;
        k95 += (double)r->k95;
        k99 += (double)r->k99;
        of += (double)r->k95 / (double)r->n;
        energy += r->energy;
        most = r->n;
        n++;
    }
    return n ? json_pack("{s:I, s:f, s:f, s:f, s:f}", "values", (json_int_t)most, "k95", k95 / (double)n, "k95_share", of / (double)n,
                         "k99", k99 / (double)n, "energy", energy / (double)n)
             : NULL;
}

static json_t *summary(const struct spectra *p)
{
    json_t *j = json_pack("{s:s, s:I, s:I}", "model", p->s.path, "layers", (json_int_t)p->s.m->n_layer, "rank", (json_int_t)p->rank);

    for (int w = 0; w < HX_PER_LAYER; w++) {
        json_t *kind = kind_json(p, (enum hx_matrix)w);

        if (kind)
            json_object_set_new(j, hx_matrix_names[w], kind);
    }
    return j;
}

static json_t *rows_json(const struct spectra *p)
{
    json_t *list = json_array();

    for (size_t i = 0; i < p->n; i++) {
        const struct row *r = &p->row[i];

        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f}", "matrix", hx_matrix_names[r->which], "layer",
                                              (json_int_t)r->layer, "rows", (json_int_t)r->rows, "cols", (json_int_t)r->cols, "k95",
                                              (json_int_t)r->k95, "k99", (json_int_t)r->k99, "energy", r->energy));
    }
    return list;
}

static int write_csv(const struct spectra *p)
{
    FILE *f = hx_subject_create(&p->s, "spectra.csv");

    if (!f)
        return HX_EXIT_FAILED;
    fputs("matrix,layer,rows,cols,k95,k99,energy\n", f);
    for (size_t i = 0; i < p->n; i++) {
        const struct row *r = &p->row[i];

        fprintf(f, "%s,%zu,%zu,%zu,%zu,%zu,%.6f\n", hx_matrix_names[r->which], r->layer, r->rows, r->cols, r->k95, r->k99, r->energy);
    }
    return fclose(f) ? hx_cmd_fail(p->s.cmd, "%s/spectra.csv: %s", p->s.folder, strerror(errno)) : HX_EXIT_OK;
}

/* The mean share of the first k values over the layers of one kind, at POINTS of them. */
static int draw_kind(const struct spectra *p, const struct row *of, struct hx_chart_line *to)
{
    const size_t n = of->n < POINTS ? of->n : POINTS;

    *to = (struct hx_chart_line){hx_matrix_names[of->which], 0, calloc(n, sizeof(*to->at)), n};
    for (size_t i = 0; to->at && i < n; i++) {
        const size_t k = (i + 1) * of->n / n - 1;
        size_t layers = 0;

        to->at[i][0] = (double)k + 1;
        for (size_t r = 0; r < p->n; r++)
            if (p->row[r].which == of->which && p->row[r].n == of->n) {
                to->at[i][1] += p->row[r].held[k];
                layers++;
            }
        to->at[i][1] /= (double)layers;
    }
    return to->at ? 0 : -ENOMEM;
}

static int write_chart(const struct spectra *p)
{
    const char *const line_of[] = {"hexrig", "subspace", "spectra", "-m", p->s.path, NULL};
    struct hx_chart_line line[HX_PER_LAYER];
    struct hx_chart chart = {"share of a matrix that its first singular values hold, mean over layers", "singular values", "share", line,
                             0};
    FILE *f = hx_subject_create(&p->s, "spectra.html");
    int rc = 0;

    if (!f)
        return HX_EXIT_FAILED;
    for (size_t i = 0; i < p->n && p->row[i].layer == p->row[0].layer && !rc; i++)
        rc = draw_kind(p, &p->row[i], &line[chart.n++]);
    if (!rc) {
        hx_page_begin(f, "Spectra of matrices");
        hx_page_section_begin(f, "spectra", "Spectra of matrices", line_of);
        hx_chart(f, &chart);
        hx_page_section_end(f);
        hx_page_end(f);
    }
    while (chart.n)
        free(line[--chart.n].at);
    rc |= ferror(f);
    return fclose(f) || rc ? hx_cmd_fail(p->s.cmd, "%s/spectra.html: cannot be written", p->s.folder) : HX_EXIT_OK;
}

static int print(const struct spectra *p)
{
    json_t *j = summary(p), *all = json_copy(j);
    int rc;

    json_object_set_new(all, "matrices", rows_json(p));
    rc = hx_subject_write_json(&p->s, "spectra_summary.json", all);
    if (!rc && p->s.folder)
        rc = write_csv(p);
    if (!rc && p->s.folder)
        rc = write_chart(p);
    if (!rc)
        rc = hx_report_print(p->s.cmd, p->s.json ? json_incref(all) : json_incref(j), p->s.json);
    json_decref(all);
    json_decref(j);
    return rc;
}

int hx_subspace_cmd_spectra(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct spectra p = {.s = {.cmd = "subspace spectra"}};
    struct hx_error err = {""};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = hx_subject_open(&p.s);
    if (!rc) {
        p.rank = p.rank ? p.rank : p.s.m->width / 2;
        p.n = p.s.set.n - 1; /* without the output matrix */
        p.row = calloc(p.n, sizeof(*p.row));
        if (!p.row)
            rc = hx_cmd_fail(p.s.cmd, "out of memory");
    }
    if (!rc && hx_subject_each(&p.s, p.n, measure, &p, &err))
        rc = hx_cmd_fail(p.s.cmd, "%s", err.text);
    if (!rc)
        rc = print(&p);
    for (size_t i = 0; p.row && i < p.n; i++)
        free(p.row[i].held);
    free(p.row);
    hx_subject_close(&p.s);
    return rc;
}
