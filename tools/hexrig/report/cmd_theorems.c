/* hexrig theorems: the theorem suite, tools/theorems/theorem.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/share.h"
#include "theorems/theorem.h"

enum { OPT_JSON = 0x100, OPT_VERBOSE };

static const struct option options[] = {
    {"verbose", no_argument, NULL, OPT_VERBOSE},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig theorems [OPTION]...\n\n"
    "Checks the statements of the source papers, a line for each: its id and VERIFIED, PENDING (the part that can be\n"
    "computed holds, the claim stays open), EXPECTED-FAIL (false, with a counterexample), SKIPPED or FAILED; then their\n"
    "numbers.  Exit code 1 when one failed.  docs/theorems.md tells what each computes.\n\n"
    "      --verbose            each claim, and what was computed\n"
    "      --json               one JSON object, with everything\n"
    "  -h, --help               this text\n";

struct theorems {
    int verbose, json;
    char *share, *libexec;
    json_t *witnesses; /* of the theorem that is being checked */
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
    return count[HX_FAILED] ? HX_EXIT_FAILED : HX_EXIT_OK;
}

int hx_cmd_theorems(int argc, char **argv)
{
    struct theorems t = {0};
    int c, rc;

    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case OPT_VERBOSE:
            t.verbose = 1;
            break;
        case OPT_JSON:
            t.json = 1;
            break;
        case 'h':
            fputs(help, stdout);
            return HX_EXIT_OK;
        default:
            return HX_EXIT_USAGE;
        }
    }
    if (optind < argc)
        return hx_cmd_usage("theorems", "unexpected argument '%s'", argv[optind]);
    rc = run(&t);
    free(t.libexec);
    free(t.share);
    return rc;
}
