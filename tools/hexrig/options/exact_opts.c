/* Options of exact arithmetic, see exact_opts.h. */
#include "exact_opts.h"

#include <string.h>

#include "methods/ntt/attn_poly.h"
#include "cli/cmd.h"
#include "engine_opts.h"
#include "methods/ntt/kv_ntt.h"
#include "dsp/offload.h"
#include "methods/ntt/shard/shard.h"

static int number(const char *cmd, const char *option, const char *arg, unsigned min, unsigned max,
                  unsigned *out)
{
    uint64_t v = 0;
    int rc = hx_opt_u64(cmd, option, arg, min, max, &v);

    if (!rc)
        *out = (unsigned)v;
    return rc;
}

static int prime(const char *cmd, const char *arg, unsigned *out)
{
    struct hx_ok_prime p;
    struct hx_error err;
    int rc = number(cmd, "shim-p", arg, 1, HX_OK_MAX_P, out);

    return rc || !hx_ok_prime(&p, *out, &err) ? rc : hx_cmd_usage(cmd, "--shim-p: %s", err.text);
}

static int shim_config(struct hx_exact_opts *x, const char *cmd, const char *arg)
{
    static const char *const names[] = {"B", "E", NULL};
    size_t index = 0;
    int rc = hx_opt_name(cmd, "shim-config", arg, names, &index);

    x->ok.mode = index ? HX_OK_E : HX_OK_B;
    return rc;
}

static int softmax(struct hx_exact_opts *x, const char *cmd, const char *arg)
{
    static const char *const names[] = {"fp32", "int", NULL};
    size_t index = 0;
    int rc = hx_opt_name(cmd, "softmax", arg, names, &index);

    x->softmax_int = (int)index;
    x->softmax_given = 1;
    return rc;
}

int hx_exact_opt(struct hx_exact_opts *x, const char *cmd, int c, const char *arg)
{
    switch (c) {
    case HX_OPT_FROBENIUS:
        x->frobenius = 1;
        return 0;
    case HX_OPT_NATIVE_OK:
        x->native = 1;
        return 0;
    case HX_OPT_SHIM_P:
        x->shim_option = "shim-p";
        return prime(cmd, arg, &x->ok.p);
    case HX_OPT_SHIM_K:
        x->shim_option = "shim-k";
        return number(cmd, "shim-k", arg, 1, HX_OK_MAX_K, &x->ok.k);
    case HX_OPT_SHIM_CONFIG:
        x->shim_option = "shim-config";
        return shim_config(x, cmd, arg);
    case HX_OPT_Q_MAX:
        x->ring_option = "q-max";
        return number(cmd, "q-max", arg, 1, HX_OK_MAX_Q, &x->ok.q_max);
    case HX_OPT_X_BITS:
        x->ring_option = "x-bits";
        return number(cmd, "x-bits", arg, 1, HX_OK_MAX_X_BITS, &x->ok.x_bits);
    case HX_OPT_POLY_ATTN:
        x->poly_attn = 1;
        return 0;
    case HX_OPT_NTT:
    case HX_OPT_NTT_CRT:
        x->poly_option = c == HX_OPT_NTT ? "ntt" : "ntt-crt";
        x->ntt |= 1u << (c == HX_OPT_NTT ? HX_POLY_60 : HX_POLY_CRT);
        return 0;
    case HX_OPT_POLY_DELTA:
        x->poly_option = "poly-delta";
        return number(cmd, "poly-delta", arg, HX_POLY_DELTA_MIN, HX_POLY_DELTA_MAX, &x->delta_bits);
    case HX_OPT_SOFTMAX:
        return softmax(x, cmd, arg);
    case HX_OPT_CRT_SHARD:
        x->crt_shard = 1;
        return 0;
    default:
        return -1;
    }
}

/* What may be on the DSP: the seven matrices, which is what --offload linear means here. */
static int check_offload(const char *cmd, const struct hx_engine_cfg *cfg)
{
    const int all = (cfg->offload & HX_OFFLOAD_LINEAR) == HX_OFFLOAD_LINEAR;

    if (cfg->offload & HX_OFFLOAD_ARGMAX || (cfg->offload & HX_OFFLOAD_OUT && !all))
        return hx_cmd_usage(cmd, "--offload %s: exact arithmetic leaves the output matrix as it is, here",
                            cfg->offload & HX_OFFLOAD_ARGMAX ? "argmax" : "linear=out");
    if (cfg->offload & HX_OFFLOAD_LINEAR &&
        strcmp(hx_offload_placements[cfg->placement], "dma") != 0)
        return hx_cmd_usage(cmd, "--placement %s: exact weights stream through VTCM; legal: dma",
                            hx_offload_placements[cfg->placement]);
    return 0;
}

/* Ring attention, and softmax by integers. */
static int poly_done(const struct hx_exact_opts *x, const char *cmd, struct hx_engine_cfg *cfg)
{
    const int kv = cfg->kv && strcmp(cfg->kv, "ntt") == 0;
    const int attn = x->poly_attn || (cfg->attn ? strcmp(cfg->attn, "poly") == 0 : kv);

    if (x->ntt == (1u << HX_POLY_60 | 1u << HX_POLY_CRT))
        return hx_cmd_usage(cmd, "--ntt and --ntt-crt exclude each other");
    if (x->poly_option && !attn && !kv)
        return hx_cmd_usage(cmd, "--%s needs --poly-attn or --kv ntt", x->poly_option);
    if (x->poly_attn && cfg->attn && strcmp(cfg->attn, "poly") != 0)
        return hx_cmd_usage(cmd, "--poly-attn and --attn %s exclude each other", cfg->attn);
    if ((x->poly_attn || x->softmax_int) && cfg->offload & HX_OFFLOAD_ATTN)
        return hx_cmd_usage(cmd, "--offload attn and --%s exclude each other",
                            x->poly_attn ? "poly-attn" : "softmax int");
    if (x->softmax_int && cfg->attn && strcmp(cfg->attn, "flash") == 0)
        return hx_cmd_usage(cmd, "--softmax int and --attn flash exclude each other");
    if (attn)
        cfg->attn = "poly";
    cfg->poly.delta_bits = x->delta_bits;
    cfg->poly.mode = x->ntt & 1u << HX_POLY_60                  ? HX_POLY_60
                     : kv || x->ntt & 1u << HX_POLY_CRT ? HX_POLY_CRT
                                                        : HX_POLY_SCHOOL;
    if (kv && cfg->offload & HX_OFFLOAD_KV && cfg->poly.mode == HX_POLY_60)
        return hx_cmd_usage(cmd, "--ntt and --offload kv exclude each other: the DSP has the two 30-bit primes");
    cfg->softmax_int = x->softmax_int;
    if (x->crt_shard && ((!attn && !kv) || cfg->poly.mode != HX_POLY_CRT))
        return hx_cmd_usage(cmd, "--crt-shard shares out two primes: it needs --poly-attn --ntt-crt, or --kv ntt");
    return 0;
}

int hx_exact_opts_done(const struct hx_exact_opts *x, const char *cmd, struct hx_engine_cfg *cfg)
{
    const int ok = x->frobenius || x->native || (cfg->linear && strcmp(cfg->linear, "ok") == 0);

    if (poly_done(x, cmd, cfg))
        return HX_EXIT_USAGE;
    if (x->frobenius && x->native)
        return hx_cmd_usage(cmd, "--frobenius-quant and --native-ok exclude each other");
    if (x->shim_option && !x->frobenius)
        return hx_cmd_usage(cmd, "--%s is of the shim: it needs --frobenius-quant", x->shim_option);
    if (x->ring_option && !ok)
        return hx_cmd_usage(cmd, "--%s needs --frobenius-quant or --native-ok", x->ring_option);
    if (!ok)
        return 0;
    if (cfg->linear && strcmp(cfg->linear, "ok") != 0)
        return hx_cmd_usage(cmd, "--linear %s and exact matrices exclude each other", cfg->linear);
    cfg->linear = "ok";
    cfg->ok = x->ok;
    if (x->frobenius && cfg->ok.mode == HX_OK_NATIVE)
        cfg->ok.mode = HX_OK_B;
    return check_offload(cmd, cfg);
}

static void poly_figures(json_t *report, const struct hx_engine *e, const struct hx_engine_cfg *cfg)
{
    const int kv = (e->kv->ops->keys != NULL);
    const struct hx_poly *p = kv ? hx_kv_ntt_ring(e->kv) : hx_attn_poly(e->attn);

    json_object_set_new(
        report, "poly",
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "keys", kv ? "persistent" : "per step",
                  "product", hx_poly_modes[cfg->poly.mode], "kernel",
                  kv && cfg->offload & HX_OFFLOAD_KV ? "hvx" : hx_poly_kernel(p), "n",
                  (json_int_t)p->n, "delta_bits", (json_int_t)p->delta_bits, "block_bytes",
                  (json_int_t)p->block_bytes));
}

static void softmax_figures(json_t *report, const struct hx_attn *a)
{
    const double rows = (double)a->seen.rows;

    json_object_set_new(report, "softmax",
                        json_pack("{s:s, s:I, s:f, s:f}", "method", "int", "rows",
                                  (json_int_t)a->seen.rows, "kl_mean",
                                  rows > 0 ? a->seen.kl_sum / rows : 0.0, "kl_max", a->seen.kl_max));
}

static void shard_figures(json_t *report, const struct hx_shard *s)
{
    json_object_set_new(report, "shard",
                        json_pack("{s:s, s:i, s:I}", "transport", hx_shard_transport(s), "prime",
                                  hx_shard_prime(s), "words", (json_int_t)hx_shard_words(s)));
}

void hx_exact_figures(json_t *report, const struct hx_engine *e, const struct hx_engine_cfg *cfg)
{
    struct hx_ok_report r;

    if ((e->kv->ops->keys != NULL) || (cfg->attn && strcmp(cfg->attn, "poly") == 0))
        poly_figures(report, e, cfg);
    if (cfg->softmax_int)
        softmax_figures(report, e->attn);
    if (cfg->poly.shard)
        shard_figures(report, cfg->poly.shard);
    if (!cfg->linear || strcmp(cfg->linear, "ok") != 0)
        return;
    hx_linear_ok_report(e->linear, &r);
    json_object_set_new(
        report, "ok",
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:f, s:I, s:I}", "mode",
                  hx_ok_modes[r.mode], "p", (json_int_t)r.p, "k", (json_int_t)r.k, "q_max",
                  (json_int_t)r.q_max, "x_bits", (json_int_t)r.x_bits, "kernel", r.kernel,
                  "matrices", (json_int_t)r.matrices, "split_matrices", (json_int_t)r.split,
                  "bytes", (json_int_t)r.bytes, "rel_l2", r.rel_l2, "divisions",
                  (json_int_t)r.count.divisions, "remainders", (json_int_t)r.count.remainders));
}
