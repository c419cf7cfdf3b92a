/* hexrig ugt build: a basis of a model's final hidden states, beside what noise would give. */
#include <errno.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "cli/report.h"
#include "cmd_ugt.h"
#include "methods/ugt/ugt_file.h"
#include "source.h"
#include "subspace/activations.h"

enum { MOST_K = 1 << 16 };

static const struct argp_option options[] = {
    HX_UGT_SOURCE_OPTIONS,
    {"every", HX_OPT_EVERY, NULL, 0, "states of all tokens, not of each text's last", 0},
    {"k", HX_OPT_K, "K", 0, "coordinates (64)", 0},
    {"seed", HX_OPT_SEED, "S", 0, "of the noise that stands beside it (1)", 0},
    {"output", 'o', "FILE", 0, "write the basis", 0},
    {0},
};

static const char doc[] =
    "The first k right singular vectors of final hidden states (in front of the last norm), centred.  held: the share of the variance "
    "along them.  held_out: of the states that did not make a second basis, which every other one made.  noise: as held, of Gaussian "
    "noise of the same shape: k of few states hold much of anything.  skew: the largest of |B^T B - I|."
    "\vExample: hexrig ugt build --zone books=books.txt --windows 96 -o tiny.ugt";

struct build {
    struct hx_ugt_source from;
    size_t k;
    uint64_t seed;
    const char *out;
    struct hx_ugt u;
    double held_out, noise;
};

static int option(struct build *b, int key, char *arg)
{
    switch (key) {
    case HX_OPT_K:
        return hx_opt_size(b->from.s.cmd, "k", arg, 1, MOST_K, &b->k);
    case HX_OPT_SEED:
        return hx_opt_u64(b->from.s.cmd, "seed", arg, 0, INT64_MAX, &b->seed);
    case 'o':
        b->out = arg;
        return 0;
    default:
        return hx_ugt_source_option(&b->from, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* Every other state makes a basis, on which the others are measured.  NAN: they are too few for k. */
static int measure_held_out(struct build *b, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    const size_t half = s->n / 2;
    double *rows = malloc(2 * half * s->d * sizeof(*rows));
    struct hx_ugt u = {0};
    int rc = rows ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    b->held_out = -1;
    for (size_t i = 0; i < 2 * half && !rc; i++)
        for (size_t x = 0; x < s->d; x++)
            rows[(i % 2 * half + i / 2) * s->d + x] = s->h[i * s->d + x];
    if (!rc && half > b->k) {
        rc = hx_ugt_build(&u, rows, half, s->d, b->k, err);
        b->held_out = rc ? -1 : hx_ugt_held(&u, rows + half * s->d, half);
    }
    hx_ugt_free(&u);
    free(rows);
    return rc;
}

static int measure_noise(struct build *b, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    double *rows = malloc(s->n * s->d * sizeof(*rows));
    struct hx_ugt u = {0};
    int rc = rows ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < s->n * s->d && !rc; i++)
        rows[i] = hx_normal_at(hx_keyed(b->seed, 0), i);
    if (!rc)
        rc = hx_ugt_build(&u, rows, s->n, s->d, b->k, err);
    b->noise = u.held;
    hx_ugt_free(&u);
    free(rows);
    return rc;
}

static int measure(struct build *b, struct hx_error *err)
{
    const struct hx_states *s = &b->from.states;
    int rc = hx_ugt_build(&b->u, s->h, s->n, s->d, b->k, err);

    if (!rc)
        rc = measure_held_out(b, err);
    if (!rc)
        rc = measure_noise(b, err);
    if (!rc && b->out)
        rc = hx_ugt_write(&b->u, b->from.s.m->fingerprint, b->out, err);
    return rc;
}

static json_t *all_json(const struct build *b)
{
    const struct hx_states *s = &b->from.states;
    json_t *j = json_pack("{s:o, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "model", hx_json_text(b->from.s.path), "texts",
                          (json_int_t)b->from.topics.n, "states", (json_int_t)s->n, "d", (json_int_t)s->d, "k", (json_int_t)b->k, "held",
                          b->u.held, "noise", b->noise, "skew", hx_ugt_skew(b->u.basis, b->k, s->d));

    if (b->held_out >= 0)
        json_object_set_new(j, "held_out", json_real(b->held_out));
    if (b->out)
        json_object_set_new(j, "out", hx_json_text(b->out));
    return j;
}

int hx_ugt_cmd_build(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct build b = {.from = {.s = {.cmd = "ugt build"}}, .k = 64, .seed = 1};
    struct hx_error err = {""};
    int rc = hx_opt_parse(b.from.s.cmd, &argp, argc, argv, &b);

    if (!rc)
        rc = hx_ugt_source_open(&b.from);
    if (!rc)
        rc = hx_ugt_source_states(&b.from, 0);
    if (!rc && measure(&b, &err))
        rc = hx_cmd_fail(b.from.s.cmd, "%s", err.text);
    if (!rc)
        rc = hx_report_print(b.from.s.cmd, all_json(&b), b.from.s.json);
    hx_ugt_free(&b.u);
    hx_ugt_source_close(&b.from);
    return rc;
}
