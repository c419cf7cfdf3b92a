/* hexrig perplexity-sp: the published name, flags and environment of exact perplexity; docs/perplexity-sp.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "ppl_command.h"

static const char doc[] =
    "hexrig ppl with the published flags: exact matrices (--frobenius-quant), exact attention (--poly-attn); what no flag is "
    "about is fp32 (--kv f32, --linear ref, --attn ref).  4 windows of share/hexrig/books-holdout.txt unless -f and --chunks "
    "say otherwise.  Flags win over the environment:\n\n"
    "  SP_ENGINE_NATIVE=1         full native: exact matrices, ring attention (two\n"
    "                             primes) and softmax by integers, where no flag says\n"
    "                             otherwise; 0: fp32 between exact layers, the default\n"
    "  SP_ENGINE_POLY_ATTN=1      --poly-attn\n"
    "  SP_ENGINE_POLY_NTT=1       --ntt (60 bits); 0: O(N^2)\n"
    "  SP_ENGINE_POLY_NTT_CRT=1   --ntt-crt\n"
    "  SP_FREETHEDSP=1            unsigned PDs, which is what hexrig opens; 0 is\n"
    "                             refused where something runs on the DSP"
    "\vExample: hexrig perplexity-sp --frobenius-quant -p 41 -k 8 --poly-attn --ntt-crt"
    " \\\n    --ctx 128 --chunks 4";

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

static int given(const struct hx_engine_opts *o, const char *name)
{
    return hx_plan_given(o->plan, name);
}

/* What a method that was named gives; 0: none was. */
static uint32_t given_gives(const struct hx_engine_opts *o, enum hx_seam seam)
{
    const char *name = hx_plan_text(o->plan, hx_seam_names[seam]);

    return name ? hx_method_find(hx_methods, seam, name, strlen(name))->gives : 0;
}

/* Ring attention, and how its products are found. */
static int attention(struct hx_engine_opts *o, const int values[SETTINGS])
{
    const int asked = values[POLY_ATTN] == UNSET ? values[NATIVE] == 1 : values[POLY_ATTN];
    const char *how = NULL;
    int rc = 0, ring;

    if (!given(o, "attn") && !given(o, "poly-attn") && asked)
        rc = hx_engine_opts_default(o, "poly-attn", NULL);
    ring = given(o, "poly-attn") || (given_gives(o, HX_SEAM_KV) | given_gives(o, HX_SEAM_ATTN)) & HX_TRAIT_RESIDUES;
    for (int i = POLY_NTT; !ring && !given(o, "attn") && i <= POLY_NTT_CRT; i++)
        if (values[i] == 1)
            return hx_cmd_usage(o->cmd, "%s=1 needs %s=1, --poly-attn or --kv ntt", names[i],
                                names[POLY_ATTN]);
    if (rc || !ring || given(o, "ntt") || given(o, "ntt-crt")) /* nothing to choose, or a flag has chosen */
        return rc;
    if (values[POLY_NTT_CRT] == 1 || (values[POLY_NTT] == UNSET && values[NATIVE] == 1))
        how = "ntt-crt";
    else if (values[POLY_NTT] == 1)
        how = "ntt";
    return how ? hx_engine_opts_default(o, how, NULL) : 0;
}

/* Full native, where no flag says otherwise. */
static int native(struct hx_engine_opts *o)
{
    int rc = 0;

    if (!given(o, "linear") && !given(o, "frobenius-quant"))
        rc = hx_engine_opts_default(o, "native-ok", NULL);
    if (!rc && (!given(o, "attn") || given_gives(o, HX_SEAM_ATTN) & HX_TRAIT_SOFTMAX_INT))
        rc = hx_engine_opts_default(o, "softmax", "int");
    return rc;
}

/* 1: where attention happens was said, by the cache or by --offload, or follows from the form of the keys. */
static int attention_follows(const struct hx_engine_opts *o)
{
    return given(o, "poly-attn") || hx_plan_offload(o->plan) & HX_OFFLOAD_ATTN ||
           given_gives(o, HX_SEAM_KV) & (HX_TRAIT_KEYS | HX_TRAIT_ATTEND);
}

static int settings(struct hx_engine_opts *o)
{
    int values[SETTINGS];
    int rc = read_environment(o->cmd, values);

    if (!rc)
        rc = hx_engine_opts_default(o, "kv", "f32");
    if (!rc)
        rc = attention(o, values);
    if (!rc && values[NATIVE] == 1)
        rc = native(o);
    /* fp32 means fp32 here, not the fastest */
    if (!rc && !given(o, "frobenius-quant") && !given(o, "native-ok"))
        rc = hx_engine_opts_default(o, "linear", "ref");
    if (!rc && !attention_follows(o))
        rc = hx_engine_opts_default(o, "attn", "ref");
    return rc;
}

static int check(struct hx_engine_opts *o)
{
    int values[SETTINGS];
    int rc = read_environment(o->cmd, values);

    if (!rc && values[FREETHEDSP] == 0 && hx_plan_rig(o->plan))
        rc = hx_cmd_usage(o->cmd, "%s=0 asks for a signed PD; hexrig opens unsigned ones only, and these methods need one",
                          names[FREETHEDSP]);
    return rc;
}

int hx_cmd_perplexity_sp(int argc, char **argv)
{
    static const struct hx_ppl_command command = {.name = "perplexity-sp", .doc = doc, .text = "books-holdout.txt",
                                                  .chunks = 4, .settings = settings, .check = check};

    return hx_ppl_command(&command, argc, argv);
}
