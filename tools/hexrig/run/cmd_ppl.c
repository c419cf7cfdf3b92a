/* hexrig ppl: perplexity of a text under a model and a cache; and perplexity-sp, see ppl_command.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "methods/spinor/block_report.h"
#include "cli/cmd.h"
#include "options/engine_opts.h"
#include "cli/report.h"
#include "hx_rig.h"
#include "options/crt_shard.h"
#include "options/offload_figures.h"
#include "generate/ppl.h"
#include "ppl_command.h"
#include "cli/share.h"
#include "text/text.h"

enum { OPT_CHUNKS = HX_OPT_FREE, OPT_WINDOWS };
enum { DEFAULT_CHUNKS = 24 };

static const char *const windows[] = {"spread", "llama", NULL};

static const struct option options[] = {
    HX_ENGINE_OPTIONS,
    HX_COMPUTE_OPTIONS,
    HX_SHARD_OPTIONS,
    {"file", required_argument, NULL, 'f'},
    {"chunks", required_argument, NULL, OPT_CHUNKS},
    {"windows", required_argument, NULL, OPT_WINDOWS},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig ppl -f TEXT [OPTION]...\n\n"
    "Perplexity: M windows of N predictions, evenly spread over the text, each in a fresh context.\n"
    "On a terminal stderr shows how far it is.\n\n"
    "  -m, --model FILE         GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)\n"
    "  -f, --file TEXT          text file\n"
    "      --ctx N              predictions per window (128)\n"
    "      --chunks M           windows (24; llama: at most so many, all that fit)\n"
    "      --windows W          spread | llama: llama.cpp's layout, windows of N tokens one behind the\n"
    "                           other, the second half of each scored (spread)\n"
    HX_ENGINE_HELP
    HX_COMPUTE_HELP
    HX_SHARD_HELP
    "  -p P, -k K               short for --shim-p, --shim-k\n"
    "      --json               one JSON object\n"
    "  -h, --help               this text\n\n"
    "Example: hexrig ppl -f share/hexrig/books-holdout.txt --ctx 128 --chunks 24 --kv f32\n";

struct ppl {
    struct hx_engine_opts o;
    const struct hx_ppl_command *command;
    const char *text;
    char *shipped; /* what text points to when none was given */
    size_t chunks; /* 0: not given */
    size_t windows; /* index of the name */
};

static int parse(struct ppl *p, int argc, char **argv)
{
    int c, rc = 0;

    while (!rc && (c = getopt_long(argc, argv, "m:f:p:k:h", options, NULL)) != -1) {
        switch (c) {
        case 'f':
            p->text = optarg;
            break;
        case OPT_CHUNKS:
            rc = hx_opt_size(p->o.cmd, "chunks", optarg, 1, 1 << 20, &p->chunks);
            break;
        case OPT_WINDOWS:
            rc = hx_opt_name(p->o.cmd, "windows", optarg, windows, &p->windows);
            break;
        case 'h':
            fputs(p->command->help, stdout);
            return -1;
        case 'p':
        case 'k':
            rc = hx_engine_opt(&p->o, c == 'p' ? HX_OPT_SHIM_P : HX_OPT_SHIM_K, optarg);
            break;
        default:
            rc = hx_engine_opt(&p->o, c, optarg);
        }
    }
    if (!rc && optind < argc)
        rc = hx_cmd_usage(p->o.cmd, "unexpected argument '%s'", argv[optind]);
    if (!rc && !p->text && p->command->text)
        p->text = p->shipped = hx_share(p->command->text);
    if (!rc && !p->text)
        rc = hx_cmd_usage(p->o.cmd, "no text (-f FILE)");
    if (!rc && (p->o.cfg.offload & HX_OFFLOAD_ARGMAX))
        rc = hx_cmd_usage(p->o.cmd, "--offload argmax leaves the logits on the DSP; a perplexity needs "
                          "them");
    if (!rc && p->command->settings)
        rc = p->command->settings(&p->o);
    return rc ? rc : hx_engine_opts_done(&p->o);
}

static int print_report(const struct ppl *p, const struct hx_engine *e, const struct hx_ppl *got,
                        double host_s)
{
    const int rig = hx_engine_opts_rig(&p->o), blocks = hx_engine_opts_blocks(&p->o);
    json_t *j = json_pack("{s:o, s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:s, s:f, s:{s:I}}",
                          "model", hx_json_text(p->o.cfg.model), "kv", p->o.cfg.kv, "density",
                          blocks ? p->o.cfg.density : "none", "front_end",
                          rig ? hx_rig_front_end() : "none", "ppl", got->ppl, "nll", got->nll,
                          "tokens", (json_int_t)got->tokens, "ctx", (json_int_t)p->o.cfg.n_ctx,
                          "chunks", (json_int_t)got->chunks, "windows", windows[p->windows],
                          "host_s", host_s, "host", "peak_rss_bytes",
                          (json_int_t)hx_report_peak_rss());

    if (j && blocks)
        json_object_set_new(j, "block", hx_block_report(&e->block, e->k_after_rope));
    if (j)
        hx_offload_figures(j, &p->o.cfg);
    if (j)
        hx_exact_figures(j, e, &p->o.cfg);
    return hx_report_print(p->o.cmd, j, p->o.json);
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

static int score(const struct ppl *p, struct hx_engine *e)
{
    struct bar bar = {hx_report_clock()};
    const struct hx_tokenizer *tok = e->model->tok;
    const struct hx_ppl_cfg cfg = {
        .ctx = p->o.cfg.n_ctx,
        .chunks = p->chunks || p->windows ? p->chunks : p->command->chunks,
        .llama = (int)p->windows,
        .bos = hx_tokenizer_adds_bos(tok) ? hx_tokenizer_bos(tok) : HX_NO_TOKEN,
        .progress = isatty(STDERR_FILENO) ? show_bar : NULL,
        .arg = &bar,
    };
    struct hx_error err = {""};
    struct hx_ppl got;
    uint32_t *ids;
    size_t n;
    int rc;

    if (p->o.cfg.n_ctx > e->model->n_ctx)
        return hx_cmd_fail(p->o.cmd, "--ctx %zu: the model's context is %zu", p->o.cfg.n_ctx,
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
    struct ppl p = {.o = {.cmd = command->name, .cfg = {.n_ctx = 128}}, .command = command};
    struct hx_engine *e = NULL;
    int rc = parse(&p, argc, argv);

    p.o.cfg.max_batch = p.o.cfg.n_ctx; /* a window is one batch, so that spinor encodes it at once */
    if (rc == 0)
        rc = hx_crt_shard_open(&p.o);
    if (rc == 0)
        rc = hx_engine_opts_open(&p.o, &e);
    if (rc == 0)
        rc = score(&p, e);
    hx_engine_close(e);
    rc = hx_crt_shard_close(&p.o, rc);
    hx_engine_opts_free(&p.o);
    free(p.shipped);
    return rc < 0 ? HX_EXIT_OK : rc;
}

int hx_cmd_ppl(int argc, char **argv)
{
    static const struct hx_ppl_command command = {"ppl", help, NULL, DEFAULT_CHUNKS, NULL};

    return hx_ppl_command(&command, argc, argv);
}
