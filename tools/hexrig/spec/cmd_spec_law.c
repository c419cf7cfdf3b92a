/* hexrig spec law: the figures that follow from a share of right guesses and from what passes cost. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_spec.h"
#include "generate/spec.h"
#include "list.h"

enum { OPT_BATCH = HX_OPT_FREE, OPT_DRAFT_COST, OPT_VERIFY_COST, OPT_LOSS, OPT_SAVING, OPT_CSV };

static const struct argp_option options[] = {
    {"accept", 'a', "A", 0, "share of right guesses, each independent of the others: from 0 to 1", 0},
    {"spec-batch", OPT_BATCH, "LIST", 0, "guesses of a step (1,2,4,8,16)", 0},
    {"draft-cost", OPT_DRAFT_COST, "C", 0, "what a guess costs, in passes of one token (0)", 0},
    {"verify-cost", OPT_VERIFY_COST, "C", 0, "what each guess adds to a pass, in passes of one token (0)", 0},
    {"accept-loss", OPT_LOSS, "D", 0, "of a compressed drafter: its guesses are right by D less often (0)", 0},
    {"draft-saving", OPT_SAVING, "R", 0, "of a compressed drafter: its guesses cost the share R less (0)", 0},
    {"csv", OPT_CSV, NULL, 0, "comma-separated values instead of the table", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "A step with g guesses makes (1 - A^(g+1)) / (1 - A) tokens, and costs g guesses and a pass over g + 1 rows.  Prints for each g tokens "
    "per step, calls per token as a share of those without guesses (a step makes the calls of one token), how many times as fast it is, "
    "and with how many guesses it is fastest.  With --accept-loss or --draft-saving also how many times as fast it is with a drafter that "
    "has these instead."
    "\vExample: hexrig spec law -a 0.8 --draft-cost 0.1 --verify-cost 0.05";

static const char cmd[] = "spec law";

struct law {
    double accept, draft_cost, verify_cost; /* accept < 0: not given */
    double loss, saving;                    /* of a compressed drafter; < 0: not given */
    const char *batches;
    struct hx_spec_numbers g;
    int csv, json;
};

static int option(struct law *l, int key, const char *arg)
{
    enum { MOST_COST = 1000000 };

    switch (key) {
    case 'a':
        return hx_opt_real(cmd, "accept", arg, 0, 1, &l->accept);
    case OPT_BATCH:
        l->batches = arg;
        return 0;
    case OPT_DRAFT_COST:
        return hx_opt_real(cmd, "draft-cost", arg, 0, MOST_COST, &l->draft_cost);
    case OPT_VERIFY_COST:
        return hx_opt_real(cmd, "verify-cost", arg, 0, MOST_COST, &l->verify_cost);
    case OPT_LOSS:
        return hx_opt_real(cmd, "accept-loss", arg, 0, 1, &l->loss);
    case OPT_SAVING:
        return hx_opt_real(cmd, "draft-saving", arg, 0, 1, &l->saving);
    case OPT_CSV:
        l->csv = 1;
        return 0;
    case HX_OPT_JSON:
        l->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int parse(struct law *l, int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "-a A", doc, NULL, NULL, NULL};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, l);

    if (!rc && l->accept < 0)
        rc = hx_cmd_usage(cmd, "no share of right guesses (-a A)");
    if (!rc && l->loss > l->accept)
        rc = hx_cmd_usage(cmd, "--accept-loss %g is more than the share of right guesses, %g", l->loss, l->accept);
    if (!rc && l->csv && l->json)
        rc = hx_cmd_usage(cmd, "--csv and --json exclude each other");
    return rc ? rc : hx_spec_read_numbers(cmd, "spec-batch", l->batches ? l->batches : "1,2,4,8,16", 1, HX_DRAFT_MAX, &l->g);
}

/* Source: Leviathan et al. 2023, theorem 3.8, with a pass that may cost more with more rows. */
static double gain(const struct law *l, size_t g)
{
    return hx_spec_expected(l->accept, g) / ((double)g * (l->draft_cost + l->verify_cost) + 1);
}

static int is_compressed(const struct law *l)
{
    return l->loss >= 0 || l->saving >= 0;
}

/* The compressed drafter's gain over the full one's: fewer tokens, cheaper guesses. */
static double ratio(const struct law *l, size_t g)
{
    struct law other = *l;

    other.accept -= l->loss > 0 ? l->loss : 0;
    other.draft_cost *= 1 - (l->saving > 0 ? l->saving : 0);
    return gain(&other, g) / gain(l, g);
}

/* 0: any guess is a loss. */
static size_t fastest(const struct law *l)
{
    size_t best = 0;

    for (size_t g = 1; g <= HX_DRAFT_MAX; g++)
        if (gain(l, g) > gain(l, best))
            best = g;
    return best;
}

static json_t *report(const struct law *l)
{
    const size_t best = fastest(l);
    json_t *rows = json_array();

    for (size_t i = 0; i < l->g.n; i++) {
        const double tokens = hx_spec_expected(l->accept, l->g.at[i]);
        json_t *row = json_pack("{s:I, s:f, s:f, s:f}", "guesses", (json_int_t)l->g.at[i], "tokens_per_step", tokens, "calls_share",
                                1 / tokens, "gain", gain(l, l->g.at[i]));

        if (is_compressed(l))
            json_object_set_new(row, "compressed", json_real(ratio(l, l->g.at[i])));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:f, s:f, s:f, s:{s:I, s:f}, s:o}", "accept", l->accept, "draft_cost", l->draft_cost, "verify_cost",
                     l->verify_cost, "best", "guesses", (json_int_t)best, "gain", gain(l, best), "rows", rows);
}

static void print_rows(const struct law *l)
{
    printf(l->csv ? "guesses,tokens_per_step,calls_share,gain%s\n" : "guesses  tokens/step  calls share    gain%s\n",
           !is_compressed(l) ? "" : l->csv ? ",compressed" : "  compressed");
    for (size_t i = 0; i < l->g.n; i++) {
        const double tokens = hx_spec_expected(l->accept, l->g.at[i]);

        printf(l->csv ? "%zu,%.12g,%.12g,%.12g" : "%7zu  %11.3f  %11.3f  %6.3f", l->g.at[i], tokens, 1 / tokens, gain(l, l->g.at[i]));
        if (is_compressed(l))
            printf(l->csv ? ",%.12g" : "  %10.3f", ratio(l, l->g.at[i]));
        putchar('\n');
    }
    if (!l->csv)
        printf("\nfastest with %zu guesses: %.3f times\n", fastest(l), gain(l, fastest(l)));
}

int hx_spec_cmd_law(int argc, char **argv)
{
    struct law l = {.accept = -1, .loss = -1, .saving = -1};
    int rc = parse(&l, argc, argv);

    if (rc)
        return rc;
    if (l.json)
        return hx_report_print(cmd, report(&l), 1);
    print_rows(&l);
    return HX_EXIT_OK;
}
