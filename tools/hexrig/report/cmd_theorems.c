/* hexrig theorems: the theorem suite, tools/theorems/theorem.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/share.h"
#include "theorems/theorem.h"

enum { OPT_VERBOSE = HX_OPT_FREE };

static const struct argp_option options[] = {
    {"verbose", OPT_VERBOSE, NULL, 0, "each claim, and what was computed", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object, with everything", 0},
    {0},
};

static const char doc[] =
    "Checks the statements of the source papers, a line for each: its id and VERIFIED, PENDING (the part that can be "
    "computed holds, the claim stays open), EXPECTED-FAIL (false, with a counterexample), SKIPPED or FAILED; then their "
    "numbers.  Exit code 1 when one failed.  docs/theorems.md tells what each computes."
    "\vExample: hexrig theorems --verbose";

struct theorems {
    int verbose, json;
    char *share, *libexec;
    json_t *witnesses; /* of the theorem that is being checked */
    char stopped[300]; /* the first one that could not be computed, and why; empty = none */
};

static void on_witness(void *arg, const char *line)
{
    struct theorems *t = arg;

    if (t->json)
        json_array_append_new(t->witnesses, json_string(line));
    else if (t->verbose)
        printf("    %s\n", line);
}

/* Adds one theorem to the rows, or prints it. */
static enum hx_verdict check(struct theorems *t, size_t i, json_t *rows)
{
    const struct hx_theorem *theorem = &hx_theorems[i];
    struct hx_theorem_run run = {.share = t->share, .libexec = t->libexec, .witness = on_witness,
                                 .arg = t};
    enum hx_verdict verdict;

    t->witnesses = json_array();
    if (t->verbose && !t->json)
        printf("%s: %s\n", theorem->id, theorem->claim);
    verdict = hx_theorem_check(i, &run);
    if (run.stopped[0] && !t->stopped[0])
        snprintf(t->stopped, sizeof(t->stopped), "%s cannot be computed: %s", theorem->id, run.stopped);
    if (t->json)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:O}", "id", theorem->id, "claim",
                                              theorem->claim, "status", hx_verdict_names[verdict],
                                              "witnesses", t->witnesses));
    else
        printf("%s %s\n", theorem->id, hx_verdict_names[verdict]);
    json_decref(t->witnesses);
    return verdict;
}

/* In the order of the summary line; those of no theorem are left out, except the first three. */
static const struct {
    const char *name;
    enum hx_verdict verdict;
} sums[] = {
    {"verified", HX_VERIFIED}, {"pending", HX_PENDING}, {"expected_fail", HX_EXPECTED_FAIL},
    {"skipped", HX_SKIPPED},   {"failed", HX_FAILED},
};

static void print_sums(const struct theorems *t, const int count[HX_VERDICTS], json_t *rows)
{
    json_t *all = json_pack("{s:o}", "theorems", rows);

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        const int n = count[sums[i].verdict];

        json_object_set_new(all, sums[i].name, json_integer(n));
        if (!t->json && (i < 3 || n))
            printf("%s%s=%d", i ? " " : "", sums[i].name, n);
    }
    if (t->json)
        json_dumpf(all, stdout, JSON_REAL_PRECISION(12));
    printf("\n");
    json_decref(all);
}

static int run(struct theorems *t)
{
    int count[HX_VERDICTS] = {0};
    json_t *rows = json_array();

    t->share = hx_share("");
    if (!t->share || asprintf(&t->libexec, "%s/../../libexec/hexrig", t->share) < 0) {
        json_decref(rows);
        return hx_cmd_fail("theorems", "cannot find this program's share folder");
    }
    for (size_t i = 0; hx_theorems[i].id; i++)
        count[check(t, i, rows)]++;
    print_sums(t, count, rows);
    if (t->stopped[0])
        return hx_cmd_fail("theorems", "%s", t->stopped);
    return count[HX_FAILED] ? HX_EXIT_FAILED : HX_EXIT_OK;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct theorems *t = state->input;

    (void)arg;
    switch (key) {
    case OPT_VERBOSE:
        t->verbose = 1;
        return 0;
    case HX_OPT_JSON:
        t->json = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int hx_cmd_theorems(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct theorems t = {0};
    int rc = hx_opt_parse("theorems", &argp, argc, argv, &t);

    if (!rc)
        rc = run(&t);
    free(t.libexec);
    free(t.share);
    return rc;
}
