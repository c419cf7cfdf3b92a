/* hexrig run: text from a model, with what the DSP did for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/crt_shard.h"
#include "run.h"
#include "text/text.h"

enum {
    OPT_TEMP = HX_OPT_FREE,
    OPT_TOP_K,
    OPT_TOP_P,
    OPT_MIN_P,
    OPT_REPEAT_PENALTY,
    OPT_REPEAT_LAST,
    OPT_PRESENCE_PENALTY,
    OPT_FREQUENCY_PENALTY,
    OPT_SEED,
    OPT_STOP,
    OPT_STREAM,
    OPT_CHAT,
    OPT_SYSTEM,
    OPT_IGNORE_EOS,
};

enum { DEFAULT_TOKENS = 64, DEFAULT_REPEAT_LAST = 64 };

/* Small models made to say the most probable go round in circles soon; llama.cpp's default was this for that reason. */
static const double default_repeat_penalty = 1.1;

static const struct argp_option options[] = {
    {"prompt", 'p', "TEXT", 0, "what to continue, or to answer; - reads stdin", 0},
    {"file", 'f', "FILE", 0, "the same from a file; one newline at the end is dropped", 0},
    {"tokens", 'n', "N", 0, "tokens to generate (64; with --chat at most N, what the context holds)", 0},
    {"stop", OPT_STOP, "TEXT", 0, "ends in front of this text; repeatable", 0},
    {"stream", OPT_STREAM, NULL, 0, "prints text as it is made also when stdout is no terminal", 0},
    {"quiet", 'q', NULL, 0, "stdout gets the text alone; the figures go to stderr", 0},
    {NULL, 0, NULL, 0, "Chats:", 1},
    {"chat", OPT_CHAT, "FAMILY", OPTION_ARG_OPTIONAL,
     "the prompt is a message, put into the model's template; ends with the turn.  Or into that of a FAMILY", 1},
    {"system", OPT_SYSTEM, "TEXT", 0, "system message of --chat", 1},
    {"ignore-eos", OPT_IGNORE_EOS, NULL, 0, "--chat goes on behind the end of the turn", 1},
    {NULL, 0, NULL, 0, "Sampling:", 2},
    {"temp", OPT_TEMP, "T", 0, "temperature, 0 = greedy (0)", 2},
    {"top-k", OPT_TOP_K, "K", 0, "sample among the K best, 0 = all (0)", 2},
    {"top-p", OPT_TOP_P, "P", 0, "sample among the best that reach probability P (1)", 2},
    {"min-p", OPT_MIN_P, "P", 0, "sample among those with P times the probability of the best (0)", 2},
    {"repeat-penalty", OPT_REPEAT_PENALTY, "R", 0,
     "divides the logit of tokens that came already, 1 = no penalty (1.1; 1 with another option of this group than --repeat-last "
     "and --seed, or with --offload argmax)", 2},
    {"repeat-last", OPT_REPEAT_LAST, "N", 0, "tokens that it looks back (64)", 2},
    {"presence-penalty", OPT_PRESENCE_PENALTY, "X", 0, "lowers the logit of tokens that were made, -2 to 2 (0)", 2},
    {"frequency-penalty", OPT_FREQUENCY_PENALTY, "X", 0, "the same for each time that they were made, -2 to 2 (0)", 2},
    {"seed", OPT_SEED, "S", 0, "starts the sampler (0)", 2},
    {0},
};

/* The families are the templates' own list. */
static char *option_help(int key, const char *text, void *input)
{
    char *all;

    (void)input;
    return key == OPT_CHAT && asprintf(&all, "%s: %s", text, hx_chat_families()) >= 0 ? all : (char *)text;
}

static const char doc[] =
    "Generates exactly N tokens and prints the text, then the figures as key=value lines.  With --chat: one reply, or "
    "without -p and -f a conversation, one line of stdin per turn."
    "\vTimes named model_* are modelled, *host_s are measured.\n\n"
    "Example: hexrig run -p \"The king was\" -n 32 --density per-vector --json";

static int add_stop(struct hx_run *r, const char *text)
{
    if (!*text)
        return hx_cmd_usage(r->o.cmd, "--stop: the text is empty");
    if (r->n_stops == HX_RUN_STOPS)
        return hx_cmd_usage(r->o.cmd, "more than %d stop texts", HX_RUN_STOPS);
    r->stops[r->n_stops++] = text;
    return 0;
}

static int sampling_option(struct hx_run *r, int c, const char *arg)
{
    struct hx_sampler_cfg *s = &r->sampling;
    const char *cmd = r->o.cmd;

    switch (c) {
    case OPT_TEMP:
        return hx_opt_real(cmd, "temp", arg, 0, 1e6, &s->temp);
    case OPT_TOP_K:
        return hx_opt_size(cmd, "top-k", arg, 0, UINT32_MAX, &s->top_k);
    case OPT_TOP_P:
        return hx_opt_real(cmd, "top-p", arg, 1e-9, 1, &s->top_p);
    case OPT_MIN_P:
        return hx_opt_real(cmd, "min-p", arg, 0, 1, &s->min_p);
    case OPT_REPEAT_PENALTY:
        return hx_opt_real(cmd, "repeat-penalty", arg, 1e-3, 1e3, &s->repeat_penalty);
    case OPT_REPEAT_LAST:
        return hx_opt_size(cmd, "repeat-last", arg, 0, HX_MAX_TOKENS, &s->repeat_last);
    case OPT_PRESENCE_PENALTY:
        return hx_opt_real(cmd, "presence-penalty", arg, -2, 2, &s->presence_penalty);
    case OPT_FREQUENCY_PENALTY:
        return hx_opt_real(cmd, "frequency-penalty", arg, -2, 2, &s->frequency_penalty);
    case OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, UINT64_MAX, &s->seed);
    default:
        return HX_OPT_UNKNOWN;
    }
}

/* Whether the option says how tokens are chosen; the others say it in more detail. */
static int chooses(int c)
{
    return c != OPT_REPEAT_LAST && c != OPT_SEED;
}

static int option(struct hx_run *r, int c, const char *arg)
{
    int rc;

    switch (c) {
    case 'p':
        r->prompt = arg;
        return 0;
    case 'f':
        r->file = arg;
        return 0;
    case 'n':
        return hx_opt_size(r->o.cmd, "tokens", arg, 1, HX_MAX_TOKENS, &r->n);
    case OPT_STOP:
        return add_stop(r, arg);
    case OPT_STREAM:
        r->stream = 1;
        return 0;
    case 'q':
        r->quiet = 1;
        return 0;
    case OPT_CHAT:
        r->chat = 1;
        r->family = arg;
        return 0;
    case OPT_SYSTEM:
        r->system = arg;
        return 0;
    case OPT_IGNORE_EOS:
        r->ignore_eos = 1;
        return 0;
    default:
        rc = sampling_option(r, c, arg);
        r->sampler_given |= rc == 0 && chooses(c);
        return rc;
    }
}

/* What options say together. */
static int check(struct hx_run *r)
{
    const char *cmd = r->o.cmd;

    if (r->prompt && r->file)
        return hx_cmd_usage(cmd, "-p and -f exclude each other");
    if (r->prompt && !*r->prompt)
        return hx_cmd_usage(cmd, "the prompt is empty");
    if (!r->prompt && !r->file && !r->chat)
        return hx_cmd_usage(cmd, "no prompt (-p TEXT)");
    if (!r->chat && (r->system || r->ignore_eos))
        return hx_cmd_usage(cmd, "--%s is of a chat, and there is no --chat",
                            r->system ? "system" : "ignore-eos");
    if (r->o.json && r->stream)
        return hx_cmd_usage(cmd, "--stream and --json exclude each other");
    if (r->o.json && r->quiet)
        return hx_cmd_usage(cmd, "--quiet and --json exclude each other");
    if (r->o.json && !r->prompt && !r->file)
        return hx_cmd_usage(cmd, "--json reports one reply (-p TEXT), no conversation");
    if (hx_gate_is_on(&r->gate) && !r->prompt && !r->file)
        return hx_cmd_usage(cmd, "budgets and baselines have the figures of one reply (-p TEXT), of no conversation");
    return hx_gate_begin(&r->gate);
}

/* And what they say with the methods. */
static int check_plan(struct hx_run *r)
{
    const char *cmd = r->o.cmd;

    if (hx_plan_given(r->o.plan, "crt-shard") && !r->file && (!r->prompt || strcmp(r->prompt, "-") == 0))
        return hx_cmd_usage(cmd, "--crt-shard: both processes need the prompt, and stdin has it once "
                            "(-p TEXT or -f FILE)");
    if (hx_plan_given(r->o.plan, "crt-shard") && hx_gate_is_on(&r->gate))
        return hx_cmd_usage(cmd, "--crt-shard: each of two processes has half of the figures; --budget, --compare and --save-baseline "
                            "exclude it");
    if ((hx_plan_offload(r->o.plan) & HX_OFFLOAD_ARGMAX) && r->sampling.temp > 0)
        return hx_cmd_usage(cmd, "--offload argmax makes greedy choices; --temp %g needs the logits here",
                            r->sampling.temp);
    return 0;
}

/* Without a choice: the most probable token, with a penalty where the logits are here. */
static void choose_sampler(struct hx_run *r)
{
    if (!r->sampler_given && !(hx_plan_offload(r->o.plan) & HX_OFFLOAD_ARGMAX))
        r->sampling.repeat_penalty = default_repeat_penalty;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct hx_run *r = state->input;

    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &r->o;
        state->child_inputs[1] = &r->gate;
    }
    return hx_opt_error(option(r, key, arg));
}

static int parse(struct hx_run *r, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&r->o), 0, NULL, 0}, {&hx_gate_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, "-p PROMPT\n--chat [-p MESSAGE]", doc, children, option_help, NULL};
    int rest, rc = hx_opt_parse_some(&argp, 0, argc, argv, r, &rest);

    if (!rc && rest < argc)
        rc = hx_cmd_usage(r->o.cmd, "unexpected argument '%s'%s", argv[rest],
                          r->chat && !r->family ? " (a family is --chat=FAMILY)" : "");
    if (!rc)
        rc = check(r);
    if (!r->n && !r->chat)
        r->n = DEFAULT_TOKENS;
    if (!rc)
        rc = hx_engine_opts_done(&r->o);
    if (!rc)
        choose_sampler(r);
    return rc ? rc : check_plan(r);
}

/* Prompt text from the options, a file or stdin. */
static int read_prompt(struct hx_run *r)
{
    const char *path = r->file ? r->file : strcmp(r->prompt, "-") == 0 ? "/dev/stdin" : NULL;
    struct hx_error err = {""};

    if (!path) {
        r->text = strdup(r->prompt);
        r->text_bytes = strlen(r->prompt);
        return r->text ? HX_EXIT_OK : hx_cmd_fail(r->o.cmd, "out of memory");
    }
    if (hx_text_read(path, &r->text, &r->text_bytes, &err))
        return hx_cmd_fail(r->o.cmd, "%s", err.text);
    r->text_bytes -= r->text_bytes && r->text[r->text_bytes - 1] == '\n';
    return r->text_bytes ? HX_EXIT_OK : hx_cmd_fail(r->o.cmd, "the prompt is empty");
}

static int encode_prompt(const struct hx_run *r, uint32_t **ids, size_t *n)
{
    const struct hx_chat_message messages[] = {
        {"system", {r->system, r->system ? strlen(r->system) : 0}},
        {"user", {r->text, r->text_bytes}},
    };

    if (r->chat)
        return r->system ? hx_run_render(r, messages, 2, ids, n)
                         : hx_run_render(r, messages + 1, 1, ids, n);
    return hx_tokenizer_encode_with(r->e->model->tok, r->text, r->text_bytes,
                                    HX_ENCODE_BOS | HX_ENCODE_SPECIAL, ids, n)
               ? hx_cmd_fail(r->o.cmd, "out of memory")
               : HX_EXIT_OK;
}

static int run_prompt(struct hx_run *r)
{
    uint32_t *ids = NULL;
    size_t n;
    int rc = encode_prompt(r, &ids, &n);

    if (!rc)
        rc = hx_run_open(r, ids, n, 0);
    free(ids);
    if (!rc)
        rc = hx_run_complete(r);
    return rc ? rc : hx_run_report(r);
}

static int run_model(struct hx_run *r)
{
    const struct hx_model *m = r->e->model;
    struct hx_error err = {""};

    if (r->e->kv->n_ctx > m->n_ctx)
        return hx_cmd_fail(r->o.cmd, "--ctx %zu: the model's context is %zu", r->e->kv->n_ctx,
                           m->n_ctx);
    if (r->chat && hx_chat_init(&r->template, m->tok, m->file, r->family, &err))
        return hx_cmd_fail(r->o.cmd, "%s", err.text);
    return r->text ? run_prompt(r) : hx_run_conversation(r);
}

/* Files of taps are complete, or that is said. */
static int finish(struct hx_run *r)
{
    struct hx_error err = {""};

    return hx_engine_finish(r->e, &err) ? hx_cmd_fail(r->o.cmd, "%s", err.text) : HX_EXIT_OK;
}

int hx_cmd_run(int argc, char **argv)
{
    struct hx_run r = {.sampling = {.top_p = 1, .repeat_last = DEFAULT_REPEAT_LAST}, .gate = {.cmd = "run"}};
    int rc = hx_engine_opts_init(&r.o, "run", HX_PLAN_MAY_FORK | HX_PLAN_KV_AUTO);

    if (rc == 0)
        rc = parse(&r, argc, argv);

    r.stream |= !r.o.json && isatty(STDOUT_FILENO);
    if (rc == 0 && (r.prompt || r.file))
        rc = read_prompt(&r);
    if (rc == 0)
        rc = hx_crt_shard_open(&r.o);
    if (rc == 0)
        rc = hx_engine_opts_open(&r.o, &r.e);
    if (rc == 0)
        rc = run_model(&r);
    if (rc == 0)
        rc = finish(&r);
    hx_completion_close(&r.c);
    hx_engine_close(r.e);
    rc = hx_crt_shard_close(&r.o, rc);
    hx_engine_opts_free(&r.o);
    hx_gate_free(&r.gate);
    free(r.text);
    return rc;
}
