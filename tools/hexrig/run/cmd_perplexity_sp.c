/* hexrig perplexity-sp: the published name, flags and environment of exact perplexity; docs/perplexity-sp.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "ppl_command.h"

static const char help[] =
    "usage: hexrig perplexity-sp [OPTION]...\n\n"
    "hexrig ppl with the published flags: exact matrices (--frobenius-quant), exact attention (--poly-attn); what no\n"
    "flag is about is fp32 (--kv f32, --linear ref, --attn ref).  Flags win over the environment:\n\n"
    "  SP_ENGINE_NATIVE=1         full native: exact matrices, ring attention (two primes) and softmax by integers, where no\n"
    "                             flag says otherwise; 0: fp32 between exact layers, which is the default\n"
    "  SP_ENGINE_POLY_ATTN=1      --poly-attn\n"
    "  SP_ENGINE_POLY_NTT=1       --ntt (60 bits); 0: O(N^2)\n"
    "  SP_ENGINE_POLY_NTT_CRT=1   --ntt-crt\n"
    "  SP_FREETHEDSP=1            unsigned PDs, which is what hexrig opens; 0 is refused where something runs on the DSP\n\n"
    "  -m, --model FILE         GGUF model (share/hexrig/hexrig-tiny-q8_0.gguf)\n"
    "  -f, --file TEXT          text file (share/hexrig/books-holdout.txt)\n"
    "      --ctx N              predictions per window (128)\n"
    "      --chunks M           windows (4)\n"
    "      --windows W          spread | llama, see hexrig ppl --help (spread)\n"
    "  -p P, -k K               short for --shim-p, --shim-k\n"
    HX_ENGINE_HELP
    HX_COMPUTE_HELP
    HX_SHARD_HELP
    "      --json               one JSON object\n"
    "  -h, --help               this text\n\n"
    "Example: hexrig perplexity-sp --frobenius-quant -p 41 -k 8 --poly-attn --ntt-crt --ctx 128 --chunks 4\n";

enum setting { NATIVE, POLY_ATTN, POLY_NTT, POLY_NTT_CRT, FREETHEDSP, SETTINGS };
enum { UNSET = -1 };

static const char *const names[SETTINGS] = {"SP_ENGINE_NATIVE", "SP_ENGINE_POLY_ATTN", "SP_ENGINE_POLY_NTT",
                                            "SP_ENGINE_POLY_NTT_CRT", "SP_FREETHEDSP"};

/* 0, 1 or UNSET each; an empty variable is unset. */
static int read_environment(const char *cmd, int values[SETTINGS])
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *v = getenv(names[i]);

        values[i] = UNSET;
        if (!v || !*v)
            continue;
        if (strcmp(v, "0") != 0 && strcmp(v, "1") != 0)
            return hx_cmd_usage(cmd, "%s: unknown value '%s'; legal: 0, 1", names[i], v);
        values[i] = *v - '0';
    }
    if (values[POLY_NTT] == 0 && values[POLY_NTT_CRT] == 1)
        return hx_cmd_usage(cmd, "%s=0 (O(N^2)) and %s=1 exclude each other", names[POLY_NTT],
                            names[POLY_NTT_CRT]);
    return 0;
}

/* Ring attention, and how its products are found. */
static int attention(struct hx_engine_opts *o, const int values[SETTINGS])
{
    struct hx_exact_opts *x = &o->exact;
    int ring;

    if (!o->cfg.attn && !x->poly_attn)
        x->poly_attn = values[POLY_ATTN] == UNSET ? values[NATIVE] == 1 : values[POLY_ATTN];
    ring = x->poly_attn || strcmp(o->cfg.kv, "ntt") == 0 ||
           (o->cfg.attn && strcmp(o->cfg.attn, "poly") == 0);
    for (int i = POLY_NTT; !ring && !o->cfg.attn && i <= POLY_NTT_CRT; i++)
        if (values[i] == 1)
            return hx_cmd_usage(o->cmd, "%s=1 needs %s=1, --poly-attn or --kv ntt", names[i],
                                names[POLY_ATTN]);
    if (x->ntt || !ring) /* a flag has chosen, or there is nothing to choose */
        return 0;
    if (values[POLY_NTT_CRT] == 1)
        x->ntt = 1u << HX_POLY_CRT;
    else if (values[POLY_NTT] == 1)
        x->ntt = 1u << HX_POLY_60;
    else if (values[NATIVE] == 1 && values[POLY_NTT] == UNSET)
        x->ntt = 1u << HX_POLY_CRT;
    return 0;
}

static int settings(struct hx_engine_opts *o)
{
    struct hx_exact_opts *x = &o->exact;
    int values[SETTINGS];
    int rc = read_environment(o->cmd, values);

    if (rc)
        return rc;
    if (!o->cfg.kv)
        o->cfg.kv = "f32";
    if (values[FREETHEDSP] == 0 && (o->cfg.offload || strcmp(o->cfg.kv, "spinor") == 0))
        return hx_cmd_usage(o->cmd, "%s=0 asks for a signed PD; hexrig opens unsigned ones only, and %s needs one",
                            names[FREETHEDSP], o->cfg.offload ? "--offload" : "--kv spinor");
    rc = attention(o, values);
    if (rc)
        return rc;
    if (values[NATIVE] == 1) {
        x->native |= !o->cfg.linear && !x->frobenius;
        x->softmax_int |= !x->softmax_given && (!o->cfg.attn || strcmp(o->cfg.attn, "flash") != 0);
    }
    /* fp32 means fp32 here, not the fastest */
    if (!o->cfg.linear && !x->frobenius && !x->native)
        o->cfg.linear = "ref";
    if (!o->cfg.attn && !x->poly_attn && strcmp(o->cfg.kv, "ntt") != 0 && !(o->cfg.offload & HX_OFFLOAD_ATTN))
        o->cfg.attn = "ref";
    return 0;
}

int hx_cmd_perplexity_sp(int argc, char **argv)
{
    static const struct hx_ppl_command command = {"perplexity-sp", help, "books-holdout.txt", 4, settings};

    return hx_ppl_command(&command, argc, argv);
}
