/* hexrig ppl: perplexity of a text under a model and a cache; and what perplexity-sp has in common with it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "options/engine_opts.h"
#include "cli/report.h"
#include "options/crt_shard.h"
#include "generate/ppl.h"
#include "model/planted.h"
#include "ppl_command.h"
#include "cli/share.h"
#include "text/text.h"

enum { OPT_CHUNKS = HX_OPT_FREE, OPT_WINDOWS, OPT_KL };
enum { DEFAULT_CHUNKS = 24 };

static const char *const windows[] = {"spread", "llama", NULL};

static const struct argp_option options[] = {
    {"file", 'f', "TEXT", 0, "text file", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows (llama: at most so many, all that fit)", 0},
    {"windows", OPT_WINDOWS, "W", 0,
     "spread | llama: llama.cpp's layout, windows of N tokens one behind the other, the second half of each scored (spread)",
     0},
    {"kl", OPT_KL, NULL, 0, "also runs the windows with K and V in f32, and says how far from that the predictions are", 0},
    {NULL, 'p', "P", 0, "short for --shim-p", 0},
    {NULL, 'k', "K", 0, "short for --shim-k", 0},
    {0},
};

static const char doc[] =
    "Perplexity: M (24) windows of --ctx N (128) predictions, evenly spread over the text, each in a fresh context.  On a "
    "terminal stderr shows how far it is."
    "\vExample: hexrig ppl -f text.txt --ctx 128 --chunks 24 --kv f32";

struct ppl {
    struct hx_engine_opts o;
    const struct hx_ppl_command *command;
    const char *text;
    char *shipped; /* what text points to when none was given */
    size_t chunks; /* 0: not given */
    size_t windows; /* index of the name */
    int kl;         /* 1: held against K and V in f32 */
};

/* The same model with K and V in f32. */
struct reference {
    struct hx_plan *plan;
    struct hx_engine *e;
};

static int short_option(struct ppl *p, const char *name, const char *arg)
{
    struct hx_error err = {""};
    int rc = hx_plan_set(p->o.plan, name, arg, &err);

    return rc ? hx_cmd_refused(p->o.cmd, rc, err.text) : 0;
}

static int option(struct ppl *p, int key, char *arg)
{
    switch (key) {
    case 'f':
        p->text = arg;
        return 0;
    case OPT_CHUNKS:
        return hx_opt_size(p->o.cmd, "chunks", arg, 1, 1 << 20, &p->chunks);
    case OPT_WINDOWS:
        return hx_opt_name(p->o.cmd, "windows", arg, windows, &p->windows);
    case OPT_KL:
        p->kl = 1;
        return 0;
    case 'p':
        return short_option(p, "shim-p", arg);
    case 'k':
        return short_option(p, "shim-k", arg);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct ppl *p = state->input;

    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = &p->o;
    return hx_opt_error(option(p, key, arg));
}

static int parse(struct ppl *p, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&p->o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, p->command->text ? NULL : "-f TEXT", p->command->doc, children,
                              NULL, NULL};
    int rc = hx_opt_parse(p->o.cmd, &argp, argc, argv, p);

    if (!rc && !p->text && p->command->text)
        p->text = p->shipped = hx_share(p->command->text);
    if (!rc && !p->text)
        rc = hx_cmd_usage(p->o.cmd, "no text (-f FILE)");
    if (!rc && p->command->settings)
        rc = p->command->settings(&p->o);
    if (!rc)
        rc = hx_engine_opts_done(&p->o);
    if (!rc && hx_plan_offload(p->o.plan) & HX_OFFLOAD_ARGMAX)
        rc = hx_cmd_usage(p->o.cmd, "--offload argmax leaves the logits on the DSP; a perplexity needs "
                          "them");
    if (!rc && p->kl && hx_plan_given(p->o.plan, "crt-shard"))
        rc = hx_cmd_usage(p->o.cmd, "--kl and --crt-shard exclude each other");
    if (!rc && p->command->check)
        rc = p->command->check(&p->o);
    return rc;
}

static json_t *kl_json(const struct hx_ppl_kl *kl)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "against", "f32", "mean", kl->mean, "standard_error", kl->mean_stderr,
                     "max", kl->max, "same_top", kl->same_top, "ppl", kl->ppl);
}

static int print_report(const struct ppl *p, const struct hx_engine *e, const struct hx_ppl *got,
                        double host_s)
{
    json_t *j = json_pack("{s:o, s:f, s:f, s:I, s:I, s:I, s:s, s:f, s:{s:I}}", "model", hx_json_text(p->o.model), "ppl",
                          got->ppl, "nll", got->nll, "tokens", (json_int_t)got->tokens, "ctx",
                          (json_int_t)p->o.n_ctx, "chunks", (json_int_t)got->chunks, "windows", windows[p->windows],
                          "host_s", host_s, "host", "peak_rss_bytes", (json_int_t)hx_report_peak_rss());

    if (j)
        json_object_set_new(j, "standard_error", json_pack("{s:f, s:f}", "ppl", got->ppl_stderr, "nll", got->nll_stderr));
    if (j && p->kl)
        json_object_set_new(j, "kl", kl_json(&got->kl));
    return hx_report_print(p->o.cmd, hx_engine_opts_report(&p->o, e, j), p->o.json);
}

/* The bar of a terminal. */
struct bar {
    double start; /* hx_report_clock() */
};

static void show_bar(void *arg, size_t done, size_t chunks, double ppl)
{
    static const char marks[] = "##############################";
    const int width = sizeof(marks) - 1, full = (int)((size_t)width * done / chunks);
    const struct bar *bar = arg;
    const double each = (hx_report_clock() - bar->start) / (double)done;
    const unsigned left = (unsigned)(each * (double)(chunks - done) + 0.5);

    fprintf(stderr, "\r[%.*s%*s] %zu/%zu, ppl %.4f, %u:%02u:%02u left ", full, marks, width - full,
            "", done, chunks, ppl, left / 3600, left / 60 % 60, left % 60);
    if (done == chunks)
        fputs("\r\033[K", stderr); /* the line was for waiting */
}

static int encode(const struct ppl *p, const struct hx_tokenizer *tok, uint32_t **ids, size_t *n,
                  struct hx_error *err)
{
    char *text;
    size_t bytes;
    int rc;

    if (!p->windows)
        return hx_text_encode(tok, p->text, ids, n, err);
    rc = hx_text_read(p->text, &text, &bytes, err);
    if (rc)
        return rc;
    bytes -= bytes && text[bytes - 1] == '\n'; /* as llama-perplexity reads files */
    rc = hx_tokenizer_encode_with(tok, text, bytes, HX_ENCODE_BOS, ids, n);
    free(text);
    return rc ? hx_error_set(err, rc, "%s: out of memory while encoding", p->text) : 0;
}

static int open_reference(struct reference *r, const struct ppl *p, const struct hx_engine *e, struct hx_error *err)
{
    struct hx_engine_cfg cfg = hx_engine_opts_cfg(&p->o);
    int rc = hx_plan_reference(&r->plan, p->o.plan, err);

    cfg.plan = r->plan;
    cfg.share_with = e;
    return rc ? rc : hx_engine_open(&r->e, &cfg, err);
}

static void close_reference(struct reference *r)
{
    hx_engine_close(r->e);
    hx_plan_close(r->plan);
}

static int score(const struct ppl *p, struct hx_engine *e, const struct hx_engine *reference)
{
    struct bar bar = {hx_report_clock()};
    const struct hx_tokenizer *tok = e->model->tok;
    const struct hx_ppl_cfg cfg = {
        .ctx = p->o.n_ctx,
        .chunks = p->chunks || p->windows ? p->chunks : p->command->chunks,
        .llama = (int)p->windows,
        .bos = hx_tokenizer_adds_bos(tok) ? hx_tokenizer_bos(tok) : HX_NO_TOKEN,
        .reference = reference ? reference->forward : NULL,
        .progress = isatty(STDERR_FILENO) ? show_bar : NULL,
        .arg = &bar,
    };
    struct hx_error err = {""};
    struct hx_ppl got;
    uint32_t *ids;
    size_t n;
    int rc;

    if (hx_gguf_is_planted(e->model->file))
        return hx_cmd_fail(p->o.cmd, "%s: a planted model (" HX_PLANTED_RANK "), made by hexrig model synth: its perplexity says nothing",
                           hx_gguf_name(e->model->file));
    if (p->o.n_ctx > e->model->n_ctx)
        return hx_cmd_fail(p->o.cmd, "--ctx %zu: the model's context is %zu", p->o.n_ctx,
                           e->model->n_ctx);
    if (encode(p, tok, &ids, &n, &err))
        return hx_cmd_fail(p->o.cmd, "%s", err.text);
    rc = hx_ppl_windows(e->model, e->forward, ids, n, &cfg, &got, &err);
    free(ids);
    if (rc)
        return hx_cmd_fail(p->o.cmd, "%s", err.text);
    return print_report(p, e, &got, hx_report_clock() - bar.start);
}

int hx_ppl_command(const struct hx_ppl_command *command, int argc, char **argv)
{
    struct ppl p = {.o = {.n_ctx = 128}, .command = command};
    struct reference reference = {NULL, NULL};
    struct hx_engine *e = NULL;
    struct hx_error err = {""};
    int rc = hx_engine_opts_init(&p.o, command->name, HX_PLAN_MAY_FORK | HX_PLAN_KV_AUTO);

    if (rc == 0)
        rc = parse(&p, argc, argv);
    p.o.max_batch = p.o.n_ctx; /* a window is one batch, so that spinor encodes it at once */
    if (rc == 0)
        rc = hx_crt_shard_open(&p.o);
    if (rc == 0)
        rc = hx_engine_opts_open(&p.o, &e);
    if (rc == 0 && p.kl && open_reference(&reference, &p, e, &err))
        rc = hx_cmd_fail(p.o.cmd, "--kl: %s", err.text);
    if (rc == 0)
        rc = score(&p, e, reference.e);
    close_reference(&reference);
    if (rc == 0 && hx_engine_finish(e, &err))
        rc = hx_cmd_fail(p.o.cmd, "%s", err.text);
    hx_engine_close(e);
    rc = hx_crt_shard_close(&p.o, rc);
    hx_engine_opts_free(&p.o);
    free(p.shipped);
    return rc;
}

int hx_cmd_ppl(int argc, char **argv)
{
    static const struct hx_ppl_command command = {.name = "ppl", .doc = doc, .chunks = DEFAULT_CHUNKS};

    return hx_ppl_command(&command, argc, argv);
}
