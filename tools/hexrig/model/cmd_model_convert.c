/* hexrig model convert: a model's weights in another number format. */
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_model.h"
#include "gguf/gguf_convert.h"
#include "interrupt.h"

enum { OPT_TYPE = HX_OPT_FREE };
enum { MAX_THREADS = 1024 };

static const char cmd[] = "model convert";

static const struct argp_option options[] = {
    {"type", OPT_TYPE, "TYPE", 0, "f16 | q4_0 | q8_0 | q4_k | q6_k", 0},
    {"threads", HX_OPT_THREADS, "N", 0, "that convert (the CPUs that this process may use)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Writes a GGUF file with the weights of IN (F32, F16 or BF16) in another number format, rounded as llama.cpp's quantize "
    "tool does with --pure.  Vectors become F32.  A matrix whose rows do not fit the blocks of TYPE gets a format that they "
    "do fit; stderr says which."
    "\vOUT appears when it is complete.\n\n"
    "Example: hexrig model convert model-f16.gguf model-q4_k.gguf --type q4_k";

static const char *const type_names[] = {"f16", "q4_0", "q8_0", "q4_k", "q6_k", NULL};
static const uint32_t types[] = {HX_QUANT_F16, HX_QUANT_Q4_0, HX_QUANT_Q8_0, HX_QUANT_Q4_K, HX_QUANT_Q6_K};

struct progress {
    int terminal;
    size_t tensors, fell_back;
    uint64_t in_bytes, out_bytes;
};

static int tell(void *arg, const struct hx_convert_step *s)
{
    struct progress *p = arg;

    if (s->fell_back) {
        fprintf(stderr, "%shexrig %s: tensor '%s': rows of %zu do not fit; written as %s\n",
                p->terminal ? "\r\033[K" : "", cmd, hx_str_shown(s->from->name).text,
                (size_t)s->from->dims[0], hx_quant_name(s->type));
        p->fell_back++;
    }
    if (p->terminal)
        fprintf(stderr, "\r\033[K%zu of %zu %s", s->index + 1, s->n,
                hx_str_shown(s->from->name).text);
    p->tensors++;
    p->in_bytes += s->in_bytes;
    p->out_bytes += s->out_bytes;
    return hx_interrupted();
}

static int report(const char *in, const char *out, uint32_t type, const struct progress *p,
                  double seconds, int json)
{
    json_t *j = json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:f}", "in", hx_json_text(in),
                          "out", hx_json_text(out), "type", hx_quant_name(type), "tensors",
                          (json_int_t)p->tensors, "fell_back", (json_int_t)p->fell_back,
                          "in_bytes", (json_int_t)p->in_bytes, "out_bytes",
                          (json_int_t)p->out_bytes, "seconds", seconds);

    return hx_report_print(cmd, j, json);
}

static size_t cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

struct args {
    const char *in, *out;
    size_t type; /* index of the name */
    size_t threads;
    int given, json;
};

static int convert(const struct args *a)
{
    struct progress p = {.terminal = isatty(STDERR_FILENO)};
    struct hx_convert how = {.type = types[a->type], .tell = tell, .arg = &p};
    const double start = hx_report_clock();
    struct hx_error err = {""};
    struct hx_gguf *g = NULL;
    int rc = hx_gguf_open(&g, a->in, &err);

    if (!rc)
        rc = hx_pool_open(&how.pool, a->threads, &err);
    if (!rc) {
        hx_interrupt_catch();
        hx_gguf_will_need(g);
        rc = hx_gguf_convert(g, a->out, &how, &err);
    }
    hx_pool_close(how.pool);
    hx_gguf_close(g);
    if (p.terminal)
        fputs("\r\033[K", stderr);
    if (rc)
        return hx_cmd_fail(cmd, "%s", err.text);
    return report(a->in, a->out, how.type, &p, hx_report_clock() - start, a->json);
}

static int option(struct args *a, int key, const char *arg)
{
    switch (key) {
    case OPT_TYPE:
        a->given = 1;
        return hx_opt_name(cmd, "type", arg, type_names, &a->type);
    case HX_OPT_THREADS:
        return hx_opt_size(cmd, "threads", arg, 1, MAX_THREADS, &a->threads);
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

int hx_model_cmd_convert(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "IN OUT --type TYPE", doc, NULL, NULL, NULL};
    struct args a = {.threads = cpus()};
    int word, rc = hx_opt_parse_some(&argp, 0, argc, argv, &a, &word);

    if (rc)
        return rc;
    if (!a.given)
        return hx_cmd_usage(cmd, "--type is needed: f16, q4_0, q8_0, q4_k or q6_k");
    if (word + 2 != argc)
        return hx_cmd_usage(cmd, "IN and OUT are needed");
    a.in = argv[word];
    a.out = argv[word + 1];
    return convert(&a);
}
