/* hexrig run: text from a model, with what the DSP did for it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_figures.h"
#include "cmd.h"
#include "engine_opts.h"
#include "figures.h"
#include "generate.h"
#include "hx_rig.h"
#include "offload_figures.h"
#include "unicode.h"

enum { OPT_TEMP = HX_OPT_FREE, OPT_TOP_K, OPT_TOP_P, OPT_SEED };

static const struct option options[] = {
    HX_ENGINE_OPTIONS,
    HX_COMPUTE_OPTIONS,
    {"prompt", required_argument, NULL, 'p'},
    {"tokens", required_argument, NULL, 'n'},
    {"temp", required_argument, NULL, OPT_TEMP},
    {"top-k", required_argument, NULL, OPT_TOP_K},
    {"top-p", required_argument, NULL, OPT_TOP_P},
    {"seed", required_argument, NULL, OPT_SEED},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig run -p PROMPT [OPTION]...\n\n"
    "Generates exactly N tokens and prints the text, then the figures as key=value lines.\n\n"
    "  -m, --model FILE         GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)\n"
    "  -p, --prompt TEXT        what to continue\n"
    "  -n, --tokens N           tokens to generate (64)\n"
    "      --temp T             temperature, 0 = greedy (0)\n"
    "      --top-k K            sample among the K best, 0 = all (0)\n"
    "      --top-p P            sample among the best that reach probability P (1)\n"
    "      --seed S             of the sampler (0)\n"
    "      --ctx N              positions of the cache (the model's context)\n"
    HX_ENGINE_HELP
    HX_COMPUTE_HELP
    "      --json               one JSON object instead of text and lines\n"
    "  -h, --help               this text\n\n"
    "Asking for a profile, a front end or a filter starts a private rig; without, a running one is used.\n"
    "Times named model_* are modelled, *host_s are measured.\n\n"
    "Example: hexrig run -p \"The king was\" -n 32 --density per-vector --json\n";

struct run {
    struct hx_engine_opts o;
    const char *prompt;
    size_t n;
    struct hx_sampler_cfg sampling;
    int stream; /* 1: text goes out as it is made */

    struct hx_engine *e;
    uint32_t *ids; /* [n_prompt + n]: the prompt, then what was made of it */
    size_t n_prompt, steps;
    struct hx_figures prefill, decode;
};

static int parse(struct run *r, int argc, char **argv)
{
    const char *cmd = r->o.cmd;
    int c, rc = 0;

    while (!rc && (c = getopt_long(argc, argv, "m:p:n:h", options, NULL)) != -1) {
        switch (c) {
        case 'p':
            r->prompt = optarg;
            break;
        case 'n':
            rc = hx_opt_size(cmd, "tokens", optarg, 1, HX_MAX_TOKENS, &r->n);
            break;
        case OPT_TEMP:
            rc = hx_opt_real(cmd, "temp", optarg, 0, 1e6, &r->sampling.temp);
            break;
        case OPT_TOP_K:
            rc = hx_opt_size(cmd, "top-k", optarg, 0, UINT32_MAX, &r->sampling.top_k);
            break;
        case OPT_TOP_P:
            rc = hx_opt_real(cmd, "top-p", optarg, 1e-9, 1, &r->sampling.top_p);
            break;
        case OPT_SEED:
            rc = hx_opt_u64(cmd, "seed", optarg, 0, UINT64_MAX, &r->sampling.seed);
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            rc = hx_engine_opt(&r->o, c, optarg);
        }
    }
    if (!rc && optind < argc)
        rc = hx_cmd_usage(cmd, "unexpected argument '%s'", argv[optind]);
    if (!rc && (!r->prompt || !*r->prompt))
        rc = hx_cmd_usage(cmd, r->prompt ? "the prompt is empty" : "no prompt (-p TEXT)");
    if (!rc && (r->o.cfg.offload & HX_OFFLOAD_ARGMAX) && r->sampling.temp > 0)
        rc = hx_cmd_usage(cmd, "--offload argmax makes greedy choices; --temp %g needs the logits here",
                          r->sampling.temp);
    return rc ? rc : hx_engine_opts_done(&r->o);
}

static int check_context(const struct run *r)
{
    const size_t n_ctx = r->e->kv->n_ctx;

    if (n_ctx > r->e->model->n_ctx)
        return hx_cmd_fail(r->o.cmd, "--ctx %zu: the model's context is %zu", n_ctx,
                           r->e->model->n_ctx);
    if (r->n_prompt - 1 + r->n > n_ctx)
        return hx_cmd_fail(r->o.cmd, "%zu prompt tokens and %zu new ones need %zu positions, the "
                           "context has %zu", r->n_prompt, r->n, r->n_prompt - 1 + r->n, n_ctx);
    return HX_EXIT_OK;
}

static int encode_prompt(struct run *r)
{
    uint32_t *prompt;

    if (hx_tokenizer_encode(r->e->model->tok, r->prompt, strlen(r->prompt), &prompt, &r->n_prompt))
        return hx_cmd_fail(r->o.cmd, "out of memory");
    r->ids = realloc(prompt, (r->n_prompt + r->n) * sizeof(*r->ids));
    if (!r->ids) {
        free(prompt);
        return hx_cmd_fail(r->o.cmd, "out of memory");
    }
    return check_context(r);
}

/* Text on its way to a terminal. */
struct stream {
    const struct hx_tokenizer *tok;
    char pending[256]; /* bytes that may still become a character */
    size_t n;
};

/* Prints whole characters; at the end everything. */
static void stream_out(struct stream *s, int last)
{
    size_t whole = last ? s->n : hx_utf8_whole(s->pending, s->n);

    fwrite(s->pending, 1, whole, stdout);
    fflush(stdout);
    memmove(s->pending, s->pending + whole, s->n - whole);
    s->n -= whole;
}

static void stream_token(void *arg, uint32_t id)
{
    struct stream *s = arg;
    struct hx_str piece = hx_tokenizer_piece(s->tok, id);

    while (piece.n) {
        size_t room = sizeof(s->pending) - s->n, now = piece.n < room ? piece.n : room;

        memcpy(s->pending + s->n, piece.p, now);
        s->n += now;
        piece.p += now;
        piece.n -= now;
        stream_out(s, 0);
    }
}

static int decode(struct run *r, const struct hx_generate *g, struct hx_why *why)
{
    int rc = hx_generate_run(g, r->ids, r->n_prompt, r->n, &r->steps, why);

    if (r->stream) {
        stream_out(g->arg, 1);
        putchar('\n');
    }
    return rc;
}

static int generate(struct run *r, struct hx_sampler *s)
{
    struct stream out = {.tok = r->e->model->tok};
    const struct hx_generate g = {r->e, s, &hx_draft_none, r->stream ? stream_token : NULL, &out};
    const int rig = hx_engine_opts_rig(&r->o);
    struct hx_session_stats start, middle, end;
    struct hx_why why = {""};
    double t0, t1, t2;
    int rc = hx_figures_now(rig, &start);

    t0 = hx_figures_clock();
    if (!rc && hx_generate_prefill(&g, r->ids, r->n_prompt, &why))
        return hx_cmd_fail(r->o.cmd, "%s", why.text);
    t1 = hx_figures_clock();
    if (!rc)
        rc = hx_figures_now(rig, &middle);
    if (!rc && decode(r, &g, &why))
        return hx_cmd_fail(r->o.cmd, "%s", why.text);
    t2 = hx_figures_clock();
    if (!rc)
        rc = hx_figures_now(rig, &end);
    if (rc)
        return hx_cmd_fail(r->o.cmd, "cannot read the session's figures: %s", strerror(-rc));
    r->prefill = (struct hx_figures){r->n_prompt - 1, hx_figures_diff(&middle, &start), t1 - t0};
    r->decode = (struct hx_figures){r->n, hx_figures_diff(&end, &middle), t2 - t1};
    return HX_EXIT_OK;
}

static json_t *id_array(const uint32_t *ids, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_integer(ids[i]));
    return array;
}

static json_t *text_of(const struct run *r)
{
    const uint32_t *made = r->ids + r->n_prompt;
    char *raw = hx_tokenizer_decode(r->e->model->tok, made, r->n), *utf8;
    json_t *text;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += hx_tokenizer_piece(r->e->model->tok, made[i]).n;
    utf8 = raw ? hx_figures_utf8(raw, n) : NULL;
    text = json_string(utf8);
    free(raw);
    free(utf8);
    return text;
}

static json_t *dispatch_json(const struct run *r)
{
    const struct hx_session_stats *s = &r->decode.sum;
    const double n = (double)r->decode.tokens;

    return json_pack("{s:I, s:f, s:I, s:f, s:f, s:f, s:o, s:f, s:I, s:I}", "calls",
                     (json_int_t)s->invokes, "calls_per_token", (double)s->invokes / n, "packets",
                     (json_int_t)s->packets, "packets_per_token", (double)s->packets / n,
                     "bytes_copied_per_token",
                     (double)s->bytes_copied / n, "bytes_shared_per_token",
                     (double)s->bytes_shared / n, "model_us_per_token", hx_figures_model_us(s, n),
                     "hvx_ops_per_token", (double)s->hvx_ops / n, "steps",
                     (json_int_t)r->steps, "first_position",
                     (json_int_t)(r->n_prompt - 1));
}

static json_t *prefill_json(const struct run *r)
{
    const struct hx_session_stats *s = &r->prefill.sum;

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:f}", "tokens",
                     (json_int_t)r->prefill.tokens, "calls", (json_int_t)s->invokes, "packets",
                     (json_int_t)s->packets, "bytes_copied", (json_int_t)s->bytes_copied,
                     "bytes_shared", (json_int_t)s->bytes_shared, "model_us",
                     hx_figures_model_us(s, 1), "host_s", r->prefill.host_s);
}

static json_t *report(const struct run *r)
{
    const int rig = hx_engine_opts_rig(&r->o), blocks = hx_engine_opts_blocks(&r->o);
    json_t *j = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:f}", "model",
        hx_figures_text(r->o.cfg.model), "prompt", hx_figures_text(r->prompt), "prompt_tokens",
        id_array(r->ids, r->n_prompt), "tokens",
        id_array(r->ids + r->n_prompt, r->n), "text", text_of(r), "front_end",
        rig ? hx_rig_front_end() : "none", "kv", r->o.cfg.kv, "density",
        blocks ? r->o.cfg.density : "none", "profile", hx_figures_text(rig ? hx_rig_profile() : "none"),
        "dispatch", dispatch_json(r), "prefill", prefill_json(r), "host_s", r->decode.host_s);

    if (j && blocks)
        json_object_set_new(j, "block", hx_block_figures(&r->e->block, r->e->k_after_rope));
    if (j)
        hx_offload_figures(j, &r->o.cfg);
    return j;
}

/* The text and one newline are printed (or have been); what is left of the report is figures. */
static void print_text(const struct run *r, json_t *j)
{
    if (!r->stream)
        printf("%s\n", json_string_value(json_object_get(j, "text")));
    json_object_del(j, "text");
    json_object_del(j, "prompt");
}

static int print_report(const struct run *r)
{
    json_t *j = report(r);

    if (j && !r->o.json)
        print_text(r, j);
    return hx_figures_report(r->o.cmd, j, r->o.json);
}

static int run_model(struct run *r)
{
    struct hx_sampler *s;
    int rc = encode_prompt(r);

    if (rc)
        return rc;
    s = hx_sampler_open(&r->sampling, r->e->model->vocab);
    if (!s)
        return hx_cmd_fail(r->o.cmd, "out of memory");
    rc = generate(r, s);
    if (!rc)
        rc = print_report(r);
    hx_sampler_close(s);
    return rc;
}

int hx_cmd_run(int argc, char **argv)
{
    struct run r = {.o = {.cmd = "run"}, .n = 64, .sampling = {.top_p = 1}};
    int rc = parse(&r, argc, argv);

    if (rc == 0) {
        r.stream = !r.o.json && isatty(STDOUT_FILENO);
        rc = hx_engine_opts_open(&r.o, &r.e);
    }
    if (rc == 0)
        rc = run_model(&r);
    hx_engine_close(r.e);
    hx_engine_opts_free(&r.o);
    free(r.ids);
    return rc < 0 ? HX_EXIT_OK : rc;
}
