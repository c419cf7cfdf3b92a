/* hexrig model rotate: the same model by other matrices. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_model.h"
#include "engine/arch/arch.h"
#include "interrupt.h"
#include "quant/quant.h"
#include "twin/twin.h"

enum { OPT_SEED = HX_OPT_FREE, OPT_NOISE, OPT_TYPE };

static const char cmd[] = "model rotate";

static const struct argp_option options[] = {
    {"seed", OPT_SEED, "S", 0, "of the rotation and of the noise (1)", 0},
    {"noise", OPT_NOISE, "E", 0, "of every matrix, relative to the root mean square of its entries (0)", 0},
    {"type", OPT_TYPE, "TYPE", 0, "f32 | f16 (f32)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Writes a GGUF file whose residual stream is that of IN, turned by a random orthogonal matrix, with the norms' gains folded into the "
    "matrices behind them: other numbers everywhere, and the same logits but for rounding.  For llama, qwen2 and qwen3.  With --noise a "
    "model that is near to that one."
    "\vOUT appears when it is complete.\n\n"
    "Example: hexrig model rotate model.gguf turned.gguf --seed 2";

static const char *const type_names[] = {"f32", "f16", NULL};
static const uint32_t types[] = {HX_QUANT_F32, HX_QUANT_F16};

struct args {
    struct hx_twin how;
    size_t type; /* index of the name */
    int json, terminal;
};

static int tell(void *arg, size_t tensor, size_t n)
{
    if (((const struct args *)arg)->terminal)
        fprintf(stderr, "\r\033[K%zu of %zu tensors", tensor + 1, n);
    return hx_interrupted();
}

static int rotate(struct args *a, const char *in, const char *out)
{
    const double start = hx_report_clock();
    struct hx_error err = {""};
    struct hx_model *m = NULL;
    int rc = hx_model_open(&m, in, hx_archs, &err);

    a->how.type = types[a->type];
    a->how.tell = tell;
    a->how.arg = a;
    if (!rc) {
        hx_interrupt_catch();
        rc = hx_twin_write(m, out, &a->how, &err);
    }
    hx_model_close(m);
    if (a->terminal)
        fputs("\r\033[K", stderr);
    if (rc)
        return hx_cmd_fail(cmd, "%s", err.text);
    return hx_report_print(cmd, json_pack("{s:o, s:o, s:s, s:I, s:f, s:f}", "in", hx_json_text(in), "out", hx_json_text(out), "type",
                                          hx_quant_name(a->how.type), "seed", (json_int_t)a->how.seed, "noise", a->how.noise, "seconds",
                                          hx_report_clock() - start), a->json);
}

static int option(struct args *a, int key, const char *arg)
{
    switch (key) {
    case OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, INT64_MAX, &a->how.seed);
    case OPT_NOISE:
        return hx_opt_real(cmd, "noise", arg, 0, 1, &a->how.noise);
    case OPT_TYPE:
        return hx_opt_name(cmd, "type", arg, type_names, &a->type);
    case HX_OPT_JSON:
        a->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

int hx_model_cmd_rotate(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "IN OUT", doc, NULL, NULL, NULL};
    struct args a = {.how = {.seed = 1}, .terminal = isatty(STDERR_FILENO)};
    int word, rc = hx_opt_parse_some(&argp, 0, argc, argv, &a, &word);

    if (rc)
        return rc;
    if (word + 2 != argc)
        return hx_cmd_usage(cmd, "IN and OUT are needed");
    return rotate(&a, argv[word], argv[word + 1]);
}
