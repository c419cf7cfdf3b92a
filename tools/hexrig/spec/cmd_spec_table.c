/* hexrig spec table: drafters beside those that any other has to beat. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_spec.h"
#include "html/page.h"
#include "rows.h"
#include "sweep.h"

static const struct argp_option options[] = {
    {"draft", HX_SPEC_OPT_DRAFT, "LIST", 0, "drafters beside lookup and bigram (onedecode,swarm:4,gp:128,perfect)", 0},
    HX_SPEC_TEXT_OPTIONS,
    {"spec-batch", HX_SPEC_OPT_BATCH, "G", 0, "guesses of a step (4)", 0},
    {0},
};

static const char doc[] =
    "Tokens per step of each drafter, of greedy texts and along pieces of a text that is given, and how many times those of lookup and "
    "bigram that is, which cost nothing.  Small models' greedy texts go round in circles: who beats the two there alone has guessed at "
    "circles."
    "\vOptions of methods are those of hexrig run.\n\n"
    "Example: hexrig spec table --draft gp:128,onedecode --kv f32";

/* Those that others are held against: measured first, and keys of quotients. */
static const struct baseline {
    const char *draft, *over;
} baselines[] = {{"lookup", "over_lookup"}, {"bigram", "over_bigram"}};
enum { BASELINES = sizeof(baselines) / sizeof(baselines[0]) };

static const char *const kinds[] = {"greedy", "along"};

static const struct hx_spec_column columns[] = {
    {"greedy texts", "tok/step", "greedy.tokens_per_step", 1, 8, 3},
    {"", "accept", "greedy.accept", 1, 6, 3},
    {"", "/lookup", "greedy.over_lookup", 1, 7, 3},
    {"", "/bigram", "greedy.over_bigram", 1, 7, 3},
    {"along a text", "tok/step", "along.tokens_per_step", 1, 8, 3},
    {"", "accept", "along.accept", 1, 6, 3},
    {"", "/lookup", "along.over_lookup", 1, 7, 3},
    {"", "/bigram", "along.over_bigram", 1, 7, 3},
    {NULL, NULL, NULL, 0, 0, 0},
};

struct table {
    struct hx_spec_sweep s;
    const char *guesses; /* NULL: not given */
    char *drafts;        /* with the baselines in front */
    json_t *rows;
};

static int option(struct table *t, int key, const char *arg)
{
    if (key != HX_SPEC_OPT_BATCH)
        return hx_spec_sweep_option(&t->s, key, arg);
    t->guesses = arg;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct table *t = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &t->s.o;
    return hx_opt_error(option(t, key, arg));
}

static int parse(struct table *t, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&t->s.o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    size_t one;
    int rc = hx_opt_parse(t->s.o.cmd, &argp, argc, argv, t);

    if (!rc && t->guesses)
        rc = hx_opt_size(t->s.o.cmd, "spec-batch", t->guesses, 1, HX_DRAFT_MAX, &one);
    if (rc)
        return rc;
    if (asprintf(&t->drafts, "%s,%s,%s", baselines[0].draft, baselines[1].draft,
                 t->s.drafts ? t->s.drafts : "onedecode,swarm:4,gp:128,perfect") < 0)
        return hx_cmd_fail(t->s.o.cmd, "out of memory");
    t->s.drafts = t->drafts;
    return hx_spec_sweep_check(&t->s, t->guesses ? t->guesses : "4");
}

/* Adds its quotients to a row; baselines stand in front of all others. */
static void add_quotients(const json_t *rows, json_t *row)
{
    for (size_t i = 0; i < BASELINES && i < json_array_size(rows); i++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            const json_t *of = json_object_get(json_array_get(rows, i), kinds[k]);
            json_t *to = json_object_get(row, kinds[k]);

            json_object_set_new(to, baselines[i].over,
                                json_real(hx_page_number(to, "tokens_per_step") / hx_page_number(of, "tokens_per_step")));
        }
}

static int keep(void *arg, json_t *row)
{
    struct table *t = arg;

    if (strcmp(hx_page_text(row, "draft"), "none") == 0)
        return 0;
    return json_array_append(t->rows, row) ? hx_cmd_fail(t->s.o.cmd, "out of memory") : 0;
}

static int print(const struct table *t)
{
    json_t *row;
    size_t i;

    json_array_foreach(t->rows, i, row)
        add_quotients(t->rows, row);
    if (t->s.o.json)
        return hx_report_print(t->s.o.cmd, hx_spec_sweep_report(&t->s, t->rows), 1);
    hx_spec_print_head(columns, t->s.csv);
    json_array_foreach(t->rows, i, row)
        hx_spec_print_row(columns, t->s.csv, row);
    return 0;
}

int hx_spec_cmd_table(int argc, char **argv)
{
    struct table t = {.rows = json_array()};
    int rc = hx_spec_sweep_init(&t.s, "spec table");

    if (!rc)
        rc = parse(&t, argc, argv);
    if (!rc)
        rc = hx_spec_sweep_run(&t.s, keep, &t);
    if (!rc)
        rc = print(&t);
    hx_spec_sweep_free(&t.s);
    json_decref(t.rows);
    free(t.drafts);
    return rc;
}
