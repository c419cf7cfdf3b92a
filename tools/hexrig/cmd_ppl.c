/* hexrig ppl: perplexity of a text under a model and a cache. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "block_figures.h"
#include "cmd.h"
#include "engine_opts.h"
#include "figures.h"
#include "hx_rig.h"
#include "offload_figures.h"
#include "ppl.h"
#include "text.h"

enum { OPT_CHUNKS = HX_OPT_FREE };

static const struct option options[] = {
    HX_ENGINE_OPTIONS,
    HX_COMPUTE_OPTIONS,
    {"file", required_argument, NULL, 'f'},
    {"chunks", required_argument, NULL, OPT_CHUNKS},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: hexrig ppl -f TEXT [OPTION]...\n\n"
    "Perplexity: M windows of N predictions, evenly spread over the text, each in a fresh context.\n\n"
    "  -m, --model FILE         GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)\n"
    "  -f, --file TEXT          text file\n"
    "      --ctx N              predictions per window (128)\n"
    "      --chunks M           windows (24)\n"
    HX_ENGINE_HELP
    HX_COMPUTE_HELP
    "      --json               one JSON object\n"
    "  -h, --help               this text\n\n"
    "Example: hexrig ppl -f share/hexrig/books-holdout.txt --ctx 128 --chunks 24 --kv f32\n";

struct ppl {
    struct hx_engine_opts o;
    const char *text;
    size_t chunks;
};

static int parse(struct ppl *p, int argc, char **argv)
{
    int c, rc = 0;

    while (!rc && (c = getopt_long(argc, argv, "m:f:h", options, NULL)) != -1) {
        switch (c) {
        case 'f':
            p->text = optarg;
            break;
        case OPT_CHUNKS:
            rc = hx_opt_size(p->o.cmd, "chunks", optarg, 1, 1 << 20, &p->chunks);
            break;
        case 'h':
            fputs(help, stdout);
            return -1;
        default:
            rc = hx_engine_opt(&p->o, c, optarg);
        }
    }
    if (!rc && optind < argc)
        rc = hx_cmd_usage(p->o.cmd, "unexpected argument '%s'", argv[optind]);
    if (!rc && !p->text)
        rc = hx_cmd_usage(p->o.cmd, "no text (-f FILE)");
    if (!rc && (p->o.cfg.offload & HX_OFFLOAD_ARGMAX))
        rc = hx_cmd_usage(p->o.cmd, "--offload argmax leaves the logits on the DSP; a perplexity needs "
                          "them");
    return rc ? rc : hx_engine_opts_done(&p->o);
}

static int print_report(const struct ppl *p, const struct hx_engine *e, const struct hx_ppl *got,
                        double host_s)
{
    const int rig = hx_engine_opts_rig(&p->o), blocks = hx_engine_opts_blocks(&p->o);
    json_t *j = json_pack("{s:o, s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:f}", "model",
                          hx_figures_text(p->o.cfg.model), "kv", p->o.cfg.kv, "density",
                          blocks ? p->o.cfg.density : "none", "front_end",
                          rig ? hx_rig_front_end() : "none", "ppl", got->ppl, "nll", got->nll,
                          "tokens", (json_int_t)got->tokens, "ctx", (json_int_t)p->o.cfg.n_ctx,
                          "chunks", (json_int_t)p->chunks, "host_s", host_s);

    if (j && blocks)
        json_object_set_new(j, "block", hx_block_figures(&e->block, e->k_after_rope));
    if (j)
        hx_offload_figures(j, &p->o.cfg);
    return hx_figures_report(p->o.cmd, j, p->o.json);
}

static int score(const struct ppl *p, struct hx_engine *e)
{
    const double start = hx_figures_clock();
    struct hx_why why = {""};
    struct hx_ppl got;
    uint32_t *ids;
    size_t n;
    int rc;

    if (p->o.cfg.n_ctx > e->model->n_ctx)
        return hx_cmd_fail(p->o.cmd, "--ctx %zu: the model's context is %zu", p->o.cfg.n_ctx,
                           e->model->n_ctx);
    if (hx_text_encode(e->model->tok, p->text, &ids, &n, &why))
        return hx_cmd_fail(p->o.cmd, "%s", why.text);
    rc = hx_ppl_run(e->model, e->forward, ids, n, p->o.cfg.n_ctx, p->chunks, &got, &why);
    free(ids);
    if (rc)
        return hx_cmd_fail(p->o.cmd, "%s", why.text);
    return print_report(p, e, &got, hx_figures_clock() - start);
}

int hx_cmd_ppl(int argc, char **argv)
{
    struct ppl p = {.o = {.cmd = "ppl", .cfg = {.n_ctx = 128}}, .chunks = 24};
    struct hx_engine *e = NULL;
    int rc = parse(&p, argc, argv);

    p.o.cfg.max_batch = p.o.cfg.n_ctx; /* a window is one batch, so that spinor encodes it at once */
    if (rc == 0)
        rc = hx_engine_opts_open(&p.o, &e);
    if (rc == 0)
        rc = score(&p, e);
    hx_engine_close(e);
    hx_engine_opts_free(&p.o);
    return rc < 0 ? HX_EXIT_OK : rc;
}
