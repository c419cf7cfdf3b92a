/* The options of `hexrig report timing --forward`, see forward_options.h. */
#include "forward_options.h"

#include "cli/opt.h"
#include "hx_aee.h"

enum { OPT_FORWARD = HX_OPT_FREE, OPT_VARIANT, OPT_TOKENS, OPT_HOST_MS };

static const char cmd[] = "report";

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "A forward pass, operation by operation:", 0},
    {"forward", OPT_FORWARD, "MODEL", 0, "prefill of gemma3-1b, from the prompt to the first token", 0},
    {"variant", OPT_VARIANT, "V", 0,
     "hx3b | v3 | v4 | v5: matmuls on one context; on two, with tables of row sums; attention weights copied into VTCM, too; FFN "
     "weights in tiles by DMA, too (hx3b)", 0},
    {"tokens", OPT_TOKENS, "N", 0, "of the prompt (16)", 0},
    {"host-ms", OPT_HOST_MS, "T", 0, "the host's share, not modelled (as published: 3330 for 16 tokens)", 0},
    {0},
};

static int parse_model(struct hx_forward_options *o, const char *arg)
{
    size_t i = 0;
    int rc = hx_opt_name(cmd, "forward", arg, hx_forward_model_names, &i);

    o->model = &hx_forward_models[i];
    return rc;
}

static int parse_tokens(struct hx_forward_options *o, const char *arg)
{
    uint64_t n = 0;
    int rc = hx_opt_u64(cmd, "tokens", arg, 1, HX_FORWARD_TOKENS_MAX, &n);

    o->tokens = (int)n;
    return rc;
}

static int option(struct hx_forward_options *o, int key, const char *arg)
{
    switch (key) {
    case OPT_FORWARD: return parse_model(o, arg);
    case OPT_VARIANT: return hx_opt_name(cmd, "variant", arg, hx_forward_variant_names, &o->variant);
    case OPT_TOKENS: return parse_tokens(o, arg);
    case OPT_HOST_MS: return hx_opt_real(cmd, "host-ms", arg, 0, 1e9, &o->host_ms);
    default: return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct hx_forward_options *o = state->input;

    o->details |= key == OPT_VARIANT || key == OPT_TOKENS || key == OPT_HOST_MS;
    return hx_opt_error(option(o, key, arg));
}

const struct argp hx_forward_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

json_t *hx_forward_question(const char *name, const struct hx_forward_options *o, const struct hx_timing_ask *ask,
                            const char *profile)
{
    const struct hx_forward_variant *v = &hx_forward_variants[o->variant];
    const struct hx_forward_ask pass = {
        .model = o->model,
        .tokens = o->tokens,
        .how = {.placement = v->placement, .threads = v->threads, .cold = ask->how.cold},
        .first = ask->first,
        .host_ms = o->host_ms,
    };
    struct hx_forward f;
    const int rc = hx_forward(&pass, hx_timing_ask, &f);
    json_t *j = rc ? NULL : hx_forward_json(&pass, &f, v->name, profile);

    if (rc)
        hx_cmd_fail(name, "%s, %s: %s (0x%x): no memory, or what the DSP's log says", o->model->name, v->name,
                    hx_aee_name(rc), (unsigned)rc);
    else if (!j)
        hx_cmd_fail(name, "out of memory");
    return j;
}
