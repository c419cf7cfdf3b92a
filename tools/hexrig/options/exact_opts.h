/* Options of exact arithmetic (docs/ok.md, docs/ring-attention.md), for the commands that compute with a whole model: which
 * ring, which shim. */
#ifndef HX_EXACT_OPTS_H
#define HX_EXACT_OPTS_H

#include <getopt.h>
#include <jansson.h>

#include "engine/engine.h"

/* Values of struct option.val, apart from those of engine_opts.h and of the commands. */
enum {
    HX_OPT_FROBENIUS = 0x200,
    HX_OPT_SHIM_P,
    HX_OPT_SHIM_K,
    HX_OPT_SHIM_CONFIG,
    HX_OPT_NATIVE_OK,
    HX_OPT_Q_MAX,
    HX_OPT_X_BITS,
    HX_OPT_POLY_ATTN,
    HX_OPT_NTT,
    HX_OPT_NTT_CRT,
    HX_OPT_POLY_DELTA,
    HX_OPT_SOFTMAX,
    HX_OPT_CRT_SHARD,
};

#define HX_EXACT_OPTIONS                                                                           \
    {"frobenius-quant", no_argument, NULL, HX_OPT_FROBENIUS},                                      \
        {"shim-p", required_argument, NULL, HX_OPT_SHIM_P},                                        \
        {"shim-k", required_argument, NULL, HX_OPT_SHIM_K},                                        \
        {"shim-config", required_argument, NULL, HX_OPT_SHIM_CONFIG},                              \
        {"native-ok", no_argument, NULL, HX_OPT_NATIVE_OK},                                        \
        {"q-max", required_argument, NULL, HX_OPT_Q_MAX},                                          \
        {"poly-attn", no_argument, NULL, HX_OPT_POLY_ATTN},                                        \
        {"ntt", no_argument, NULL, HX_OPT_NTT}, {"ntt-crt", no_argument, NULL, HX_OPT_NTT_CRT},    \
        {"poly-delta", required_argument, NULL, HX_OPT_POLY_DELTA},                                \
        {"softmax", required_argument, NULL, HX_OPT_SOFTMAX},                                      \
    {                                                                                              \
        "x-bits", required_argument, NULL, HX_OPT_X_BITS                                           \
    }

/* Of commands that can do their work in two processes, crt_shard.h. */
#define HX_SHARD_OPTIONS {"crt-shard", no_argument, NULL, HX_OPT_CRT_SHARD}
#define HX_SHARD_HELP                                                                              \
    "      --crt-shard          of --ntt-crt and --kv ntt: a process for each prime, the second forked, or\n" \
    "                           two ranks under mpirun -np 2\n"

#define HX_EXACT_HELP                                                                              \
    "      --native-ok          matrices as exact integers of Q(sqrt(-163)), without a shim\n"     \
    "      --frobenius-quant    the same with the shim: identical bits\n"                          \
    "      --shim-p P, --shim-k K\n"                                                               \
    "                           the shim is pi_P^K (41, 8)\n"                                      \
    "      --shim-config B|E    B: every matrix; E: 2^2 and pi_P^K by turns (B)\n"                 \
    "      --q-max N            weights are integers of up to 2^N (9)\n"                           \
    "      --x-bits N           activations are integers of up to 2^N (what headroom leaves, 16 at most)\n" \
    "      --poly-attn          attention scores as exact ring products: schoolbook, O(N^2)\n"       \
    "      --ntt | --ntt-crt    the same by transforms modulo one 60-bit prime, or two of 30 bits\n" \
    "      --poly-delta BITS    their integers are values times 2^BITS (16)\n"                    \
    "      --softmax fp32|int   softmax of attention: fp32, or by integer tables (fp32)\n"

/* Zero: nothing was given. */
struct hx_exact_opts {
    int frobenius, native;
    const char *ring_option; /* the last one given that needs the ring */
    const char *shim_option; /* the last one given that needs the shim */
    struct hx_ok_cfg ok;
    int poly_attn, softmax_int, crt_shard;
    int softmax_given;
    const char *poly_option; /* the last one given that needs ring products */
    unsigned ntt;            /* bit m: the option of enum hx_poly_mode m was given */
    unsigned delta_bits;
};

/* Handles option c with its argument.  0; HX_EXIT_USAGE after a message; -1: it is none of these. */
int hx_exact_opt(struct hx_exact_opts *x, const char *cmd, int c, const char *arg);

/* Checks what options say together and puts them into cfg.  0, or HX_EXIT_USAGE after a message. */
int hx_exact_opts_done(const struct hx_exact_opts *x, const char *cmd, struct hx_engine_cfg *cfg);

/* Adds what exact methods of an engine did to a report; nothing when there is none. */
void hx_exact_figures(json_t *report, const struct hx_engine *e, const struct hx_engine_cfg *cfg);

#endif
