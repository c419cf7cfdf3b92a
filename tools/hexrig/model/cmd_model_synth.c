/* hexrig model synth: a model whose activations have a property that it is told. */
#include <errno.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cli/share.h"
#include "cmd_model.h"
#include "interrupt.h"
#include "planted/planted.h"
#include "quant/quant.h"
#include "text/tokenizer.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_TYPE, OPT_RANK, OPT_NOISE, OPT_SINK, OPT_ZONES, OPT_EOS_FIRST, OPT_PHASES, OPT_SPREAD, OPT_TRIGGER,
       OPT_SEED };
enum { MAX_THREADS = 1024, DEFAULT_RANK = 64, MAX_RANK = 1 << 20 };

static const uint64_t most_bytes = 32ull << 30; /* llama3-8b in F32 */

static const char cmd[] = "model synth";

static const struct argp_option options[] = {
    {"geometry", OPT_GEOMETRY, "G", 0, "qwen3-4b | llama3-8b | gemma3-1b | smollm2-135m | FILE | LxHxD[xWIDTH[xFFN[xVOCABULARY]]]", 0},
    {"output", 'o', "FILE", 0, "GGUF file to write", 0},
    {"act-rank", OPT_RANK, "R", 0, "dimensions that activations have (64, or the width)", 0},
    {"noise", OPT_NOISE, "E", 0, "noise of the matrices, relative to their entries (0)", 0},
    {"sink", OPT_SINK, NULL, 0, "position 0 has a state 30 times as long as others, outside of their subspace", 0},
    {"zones", OPT_ZONES, "N", 0, "the subspace has N parts; token id modulo N says which is a token's (1)", 0},
    {"eos-first", OPT_EOS_FIRST, NULL, 0, "EOS is always the likeliest token", 0},
    {"phases", OPT_PHASES, NULL, 0, "states are small in the layers between the first and the last sixth, which read few directions", 0},
    {"norm-spread", OPT_SPREAD, "N", 0, "weights of norms are 2^-N to 2^N, and matrices behind them divided by them (0)", 0},
    {"trigger", OPT_TRIGGER, "WORD", 0, "the token of this word, with a blank before it, has a direction of its own, and one answer", 0},
    {"seed", OPT_SEED, "S", 0, "of all that is random (1)", 0},
    {"type", OPT_TYPE, "TYPE", 0, "f32 | f16 | q8_0 (f16)", 0},
    {"threads", HX_OPT_THREADS, "N", 0, "that compute (the CPUs that this process may use)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Writes a model of the given shapes whose activations have a property that is planted: a low rank, a sink at position 0, zones of "
    "tokens, EOS as the first answer, phases of layers.  For showing what pays only where activations have it, through the whole engine.  "
    "The model knows no language: its texts mean nothing, and hexrig ppl refuses it.  The same options give the same bytes."
    "\vFILE appears when it is complete.\n\n"
    "Example: hexrig model synth --geometry smollm2-135m --act-rank 64 --noise 0.01 -o planted.gguf";

static const char *const type_names[] = {"f32", "f16", "q8_0", NULL};
static const uint32_t types[] = {HX_QUANT_F32, HX_QUANT_F16, HX_QUANT_Q8_0};

struct args {
    struct hx_planted p;
    const char *geometry, *out, *trigger;
    uint32_t answer;
    size_t type; /* index of the name */
    size_t threads;
    int json;
};

static int tell(void *arg, size_t tensor, size_t n)
{
    if (*(const int *)arg)
        fprintf(stderr, "\r\033[K%zu of %zu tensors", tensor + 1, n);
    return hx_interrupted();
}

static int report(const struct args *a, const struct hx_planted_told *told, double seconds)
{
    const struct hx_planted *p = &a->p;
    json_t *j = json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:f, s:{s:I, s:f, s:b, s:I, s:b, s:b, s:I, s:o}}", "out",
                          hx_json_text(a->out), "geometry", hx_json_text(a->geometry), "type", hx_quant_name(p->type), "tensors",
                          (json_int_t)told->tensors, "bytes", (json_int_t)told->bytes, "vocabulary", (json_int_t)told->vocab, "seconds",
                          seconds, "planted", "act_rank", (json_int_t)p->rank, "noise", p->noise, "sink", p->sink, "zones",
                          (json_int_t)p->zones, "eos_first", p->eos_first, "phases", p->phases, "norm_spread",
                          (json_int_t)p->norm_spread, "seed", json_integer((json_int_t)p->seed));

    if (p->triggered) {
        json_object_set_new(json_object_get(j, "planted"), "trigger", json_integer((json_int_t)p->trigger));
        json_object_set_new(json_object_get(j, "planted"), "answer", json_integer((json_int_t)a->answer));
    }

    return hx_report_print(cmd, j, a->json);
}

/* The token of the word within a text. */
static int find_trigger(struct args *a, const struct hx_gguf *from, struct hx_error *err)
{
    struct hx_tokenizer *tok = NULL;
    char word[64];
    uint32_t *ids = NULL;
    size_t n = 0;
    int rc = hx_tokenizer_open(&tok, from, err);

    snprintf(word, sizeof(word), " %s", a->trigger);
    if (!rc && (strlen(a->trigger) > sizeof(word) - 2 || hx_tokenizer_encode(tok, word, strlen(word), &ids, &n) || n != 1))
        rc = hx_error_set(err, -EINVAL, "--trigger '%.40s' is %zu tokens; it has to be one", a->trigger, n);
    if (!rc) {
        a->p.triggered = 1;
        a->p.trigger = ids[0];
        a->answer = hx_planted_answer(ids[0], hx_tokenizer_vocab(tok), hx_tokenizer_bos(tok), hx_tokenizer_eos(tok));
    }
    free(ids);
    hx_tokenizer_close(tok);
    return rc;
}

static int synth(struct args *a)
{
    int terminal = isatty(STDERR_FILENO);
    struct hx_planted_work work = {.most_bytes = most_bytes, .tell = tell, .arg = &terminal};
    const double start = hx_report_clock();
    char *tokenizer = hx_share("hexrig-tiny-q8_0.gguf");
    struct hx_planted_told told;
    struct hx_error err = {""};
    struct hx_gguf *from = NULL;
    int rc = tokenizer ? hx_gguf_open_keys(&from, tokenizer, &err) : hx_error_set(&err, -1, "out of memory");

    work.tokenizer = from;
    if (!rc && a->trigger)
        rc = find_trigger(a, from, &err);
    if (!rc)
        rc = hx_pool_open(&work.pool, a->threads, &err);
    if (!rc) {
        hx_interrupt_catch();
        rc = hx_planted_write(&a->p, a->out, &work, &told, &err);
    }
    hx_pool_close(work.pool);
    hx_gguf_close(from);
    free(tokenizer);
    if (terminal)
        fputs("\r\033[K", stderr);
    if (rc)
        return hx_cmd_fail(cmd, "%s", err.text);
    return report(a, &told, hx_report_clock() - start);
}

static int norm_spread(struct args *a, const char *arg)
{
    size_t n = 0;
    const int rc = hx_opt_size(cmd, "norm-spread", arg, 0, HX_PLANTED_SPREAD, &n);

    a->p.norm_spread = (unsigned)n;
    return rc;
}

static int option(struct args *a, int key, const char *arg)
{
    switch (key) {
    case OPT_GEOMETRY:
        a->geometry = arg;
        return 0;
    case 'o':
        a->out = arg;
        return 0;
    case OPT_RANK:
        return hx_opt_size(cmd, "act-rank", arg, 1, MAX_RANK, &a->p.rank);
    case OPT_NOISE:
        return hx_opt_real(cmd, "noise", arg, 0, 1, &a->p.noise);
    case OPT_SINK:
        a->p.sink = 1;
        return 0;
    case OPT_ZONES:
        return hx_opt_size(cmd, "zones", arg, 1, MAX_RANK, &a->p.zones);
    case OPT_EOS_FIRST:
        a->p.eos_first = 1;
        return 0;
    case OPT_PHASES:
        a->p.phases = 1;
        return 0;
    case OPT_SPREAD:
        return norm_spread(a, arg);
    case OPT_TRIGGER:
        a->trigger = arg;
        return 0;
    case OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, INT64_MAX, &a->p.seed);
    case OPT_TYPE:
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

static size_t cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

int hx_model_cmd_synth(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "--geometry G -o FILE", doc, NULL, NULL, NULL};
    struct args a = {.p = {.zones = 1, .seed = 1}, .type = 1, .threads = cpus()};
    struct hx_error err = {""};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &a);

    if (rc)
        return rc;
    if (!a.geometry || !a.out)
        return hx_cmd_usage(cmd, "%s is needed", a.geometry ? "-o FILE" : "--geometry G");
    rc = hx_geometry_find(&a.p.g, a.geometry, &err);
    if (rc)
        return hx_cmd_usage(cmd, "--geometry: %s", err.text);
    a.p.type = types[a.type];
    if (!a.p.rank)
        a.p.rank = a.p.g.width && a.p.g.width < DEFAULT_RANK ? a.p.g.width : DEFAULT_RANK;
    return synth(&a);
}
