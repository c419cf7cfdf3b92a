/* hexrig ugt overlap: two bases, and what bases have in common by chance. */
#include <errno.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "cli/report.h"
#include "cmd_ugt.h"
#include "methods/ugt/ugt_file.h"
#include "source.h"
#include "subspace/activations.h"

static const char cmd[] = "ugt overlap";

static const struct argp_option options[] = {
    {"seed", HX_OPT_SEED, "S", 0, "of the random bases that stand beside it (1)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "||A^T B||_F^2 / k of two files that hexrig ugt build has written: 1 of the same span, whatever the vectors in it are.  random: the "
    "mean of ten bases that know nothing, each with A; expected: k / d."
    "\vExample: hexrig ugt overlap a.ugt b.ugt";

enum { RANDOM = 10 };

struct args {
    uint64_t seed;
    int json;
};

static int option(struct args *a, int key, const char *arg)
{
    if (key == HX_OPT_SEED)
        return hx_opt_u64(cmd, "seed", arg, 0, INT64_MAX, &a->seed);
    if (key != HX_OPT_JSON)
        return HX_OPT_UNKNOWN;
    a->json = 1;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int measure_random(const struct hx_ugt *a, uint64_t seed, double *out, struct hx_error *err)
{
    struct hx_ugt b = {.d = a->d, .k = a->k, .basis = malloc(a->k * a->d * sizeof(double))};
    int rc = b.basis ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    *out = 0;
    for (size_t r = 0; r < RANDOM && !rc; r++) {
        for (size_t i = 0; i < a->k * a->d; i++)
            b.basis[i] = hx_normal_at(hx_keyed(seed, r), i);
        rc = hx_ugt_orthonormal(b.basis, b.k, b.d, err);
        *out += hx_ugt_overlap(a, &b) / RANDOM;
    }
    free(b.basis);
    return rc;
}

static int compare(const struct hx_ugt *a, const struct hx_ugt *b, const struct args *args)
{
    struct hx_error err = {""};
    double random;

    if (a->d != b->d || a->k != b->k)
        return hx_cmd_fail(cmd, "a basis of %zu x %zu and one of %zu x %zu have no overlap", a->d, a->k, b->d, b->k);
    if (measure_random(a, args->seed, &random, &err))
        return hx_cmd_fail(cmd, "%s", err.text);
    return hx_report_print(cmd, json_pack("{s:I, s:I, s:f, s:f, s:f}", "d", (json_int_t)a->d, "k", (json_int_t)a->k, "overlap",
                                          hx_ugt_overlap(a, b), "random", random, "expected", (double)a->k / (double)a->d), args->json);
}

int hx_ugt_cmd_overlap(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "A B", doc, NULL, NULL, NULL};
    struct args args = {.seed = 1};
    struct hx_ugt a = {0}, b = {0};
    struct hx_error err = {""};
    int word, rc = hx_opt_parse_some(&argp, 0, argc, argv, &args, &word);

    if (rc)
        return rc;
    if (word + 2 != argc)
        return hx_cmd_usage(cmd, "A and B are needed");
    if (hx_ugt_read(&a, argv[word], 0, NULL, &err) || hx_ugt_read(&b, argv[word + 1], 0, NULL, &err))
        rc = hx_cmd_fail(cmd, "%s", err.text);
    if (!rc)
        rc = compare(&a, &b, &args);
    hx_ugt_free(&a);
    hx_ugt_free(&b);
    return rc;
}
