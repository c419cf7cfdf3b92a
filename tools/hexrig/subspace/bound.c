/* hexrig subspace bound: errors of matrices of low rank beside the least that any of that rank has. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_subspace.h"
#include "methods/lowrank/factorize.h"
#include "quant/quant.h"
#include "subject.h"

enum { OPT_RANKS = HX_OPT_FREE, OPT_BASIS, MOST_RANKS = 16, MAX_RANK = 1536 };

static const char *const bases[] = {"shared", "per-slot", NULL};

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"ranks", OPT_RANKS, "LIST", 0, "up to 16 of them (1/4, 3/8, 1/2 and 3/4 of the width)", 0},
    {"grc-basis", OPT_BASIS, "B", 0, "shared | per-slot: as in hexrig run (shared)", 0},
    {0},
};

static const char doc[] =
    "For each rank: rel_f2 = |W - up down|^2 / |W|^2 of the matrices that --axex-full-compress makes, the least that any matrix of that "
    "rank has (Eckart-Young), and rho, the one over the other.  Means over the layers.  rho below 1 would be a mistake: it is said, and "
    "the exit status is 1.  With -o also eckart_young_bound.json, matrix by matrix."
    "\vExample: hexrig subspace bound --ranks 64,128 --json";

/* Quotients of errors that are rounding say nothing. */
static const double nothing = 1e-9;

struct bound {
    struct hx_subject s;
    size_t ranks[MOST_RANKS], n_ranks, basis;
    struct hx_lowrank_factors f; /* of the rank at work */
    size_t below;                /* matrices that beat the bound, which cannot be */
};

static int parse_ranks(struct bound *p, char *list)
{
    char *word;
    int rc = 0;

    for (p->n_ranks = 0; !rc && (word = strsep(&list, ","));) {
        if (p->n_ranks == MOST_RANKS)
            return hx_cmd_usage(p->s.cmd, "--ranks: more than %d", MOST_RANKS);
        rc = hx_opt_size(p->s.cmd, "ranks", word, 1, MAX_RANK, &p->ranks[p->n_ranks++]);
    }
    return rc;
}

static int option(struct bound *p, int key, char *arg)
{
    switch (key) {
    case OPT_RANKS:
        return parse_ranks(p, arg);
    case OPT_BASIS:
        return hx_opt_name(p->s.cmd, "grc-basis", arg, bases, &p->basis);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int make(void *arg, size_t i, struct hx_error *err)
{
    static const struct hx_lowrank_how how = {.solver = HX_LOWRANK_EIGEN};
    struct bound *p = arg;

    return hx_lowrank_factorize(&p->f, &p->f.bases[i], &how, NULL, err);
}

static json_t *part_json(const struct bound *p, const struct hx_lowrank_part *part)
{
    json_t *j = json_pack("{s:s, s:I, s:I, s:f}", "matrix", hx_matrix_names[part->which], "layer", (json_int_t)part->layer, "rank",
                          (json_int_t)p->f.bases[part->basis].rank, "rel_f2", part->rel_f2);

    if (part->eckart_young >= 0)
        json_object_set_new(j, "eckart_young", json_real(part->eckart_young));
    if (part->eckart_young > nothing)
        json_object_set_new(j, "rho", json_real(part->rel_f2 / part->eckart_young));
    return j;
}

/* Means over the layers of one kind. */
static json_t *kind_json(struct bound *p, enum hx_matrix which)
{
    double rel = 0, least = 0, rho = 0;
    size_t n = 0, bounded = 0, quotients = 0;

    for (size_t i = 0; i < p->f.n_parts; i++) {
        const struct hx_lowrank_part *part = &p->f.parts[i];

        if (part->which != which)
            continue;
        n++;
        rel += part->rel_f2;
        if (part->eckart_young < 0)
            continue;
        bounded++;
        least += part->eckart_young;
        p->below += part->rel_f2 < part->eckart_young - nothing;
        if (part->eckart_young > nothing) {
            rho += part->rel_f2 / part->eckart_young;
            quotients++;
        }
    }
    if (!n)
        return NULL;
    json_t *j = json_pack("{s:f}", "rel_f2", rel / (double)n);

    if (bounded == n)
        json_object_set_new(j, "eckart_young", json_real(least / (double)n));
    if (quotients)
        json_object_set_new(j, "rho", json_real(rho / (double)quotients));
    return j;
}

/* One rank.  all: rows of every matrix are added. */
static int measure(struct bound *p, size_t rank, json_t *to, json_t *all, struct hx_error *err)
{
    const struct hx_lowrank_shape shape = {.rank = rank, .matrices = HX_LAYER_MATRICES, .per_slot = p->basis == 1, .format = HX_QUANT_F32};
    json_t *j = json_object();
    char name[32];
    void *block = NULL;
    int rc = hx_lowrank_lay_out(&p->f, &p->s.set, &shape, err);

    if (!rc) {
        block = aligned_alloc(64, p->f.bytes);
        rc = block ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
    }
    if (!rc) {
        hx_lowrank_place(&p->f, block);
        rc = hx_subject_each(&p->s, p->f.n_bases, make, p, err);
    }
    for (int w = 0; w < HX_PER_LAYER && !rc; w++) {
        json_t *kind = kind_json(p, (enum hx_matrix)w);

        if (kind)
            json_object_set_new(j, hx_matrix_names[w], kind);
    }
    for (size_t i = 0; i < p->f.n_parts && !rc; i++)
        json_array_append_new(all, part_json(p, &p->f.parts[i]));
    snprintf(name, sizeof(name), "rank_%zu", rank);
    json_object_set_new(to, name, j);
    free(block);
    hx_lowrank_free(&p->f);
    return rc;
}

static int run(struct bound *p)
{
    json_t *j = json_pack("{s:s, s:s, s:I}", "model", p->s.path, "basis", bases[p->basis], "layers", (json_int_t)p->s.m->n_layer);
    json_t *all = json_array(), *file;
    struct hx_error err = {""};
    int rc = 0;

    for (size_t i = 0; i < p->n_ranks && !rc; i++)
        if (measure(p, p->ranks[i], j, all, &err))
            rc = hx_cmd_fail(p->s.cmd, "%s", err.text);
    if (!rc)
        json_object_set_new(j, "below_the_bound", json_integer((json_int_t)p->below));
    file = json_copy(j);
    json_object_set_new(file, "matrices", all);
    if (!rc)
        rc = hx_subject_write_json(&p->s, "eckart_young_bound.json", file);
    if (!rc)
        rc = hx_report_print(p->s.cmd, json_incref(p->s.json ? file : j), p->s.json);
    json_decref(file);
    json_decref(j);
    if (!rc && p->below)
        rc = hx_cmd_fail(p->s.cmd, "%zu matrices have an error below the bound, which cannot be", p->below);
    return rc;
}

int hx_subspace_cmd_bound(int argc, char **argv)
{
    static const size_t eighths[] = {2, 3, 4, 6};
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct bound p = {.s = {.cmd = "subspace bound"}};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = hx_subject_open(&p.s);
    for (size_t i = 0; !rc && !p.n_ranks && i < sizeof(eighths) / sizeof(eighths[0]); i++)
        p.ranks[i] = p.s.m->width * eighths[i] / 8;
    if (!rc && !p.n_ranks)
        p.n_ranks = sizeof(eighths) / sizeof(eighths[0]);
    if (!rc)
        rc = run(&p);
    hx_subject_close(&p.s);
    return rc;
}
