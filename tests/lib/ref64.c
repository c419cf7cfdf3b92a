/* The fp64 reference, see ref64.h.  Sources of the formulas: Vaswani et al. 2017 (attention), Su et al. 2021 (RoPE, pairs of
 * neighbours), Zhang & Sennrich 2019 (RMSNorm), Ba et al. 2016 (LayerNorm), Shazeer 2020 (gated feed-forward), Radford et
 * al. 2019 (GPT-2), Zhang et al. 2022 (OPT), Wang & Komatsuzaki 2021 (GPT-J), Gemma Team 2024 and 2025. */
#include "ref64.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ref {
    const struct gen_model *g;
    const uint32_t *ids;
    size_t n;
    double *x;          /* [n][width] */
    double *h, *out;    /* [n][width] input and output of a sub-layer */
    double *q, *k, *v;  /* [n][heads * dh] */
};

static int is(const struct ref *r, const char *arch)
{
    return strcmp(r->g->arch, arch) == 0;
}

static int has_layer_norm(const struct ref *r)
{
    return is(r, "gpt2") || is(r, "opt") || is(r, "gptj");
}

static double *zeros(size_t n)
{
    double *p = calloc(n, sizeof(*p));

    if (!p)
        abort();
    return p;
}

static const char *name(long layer, const char *what, const char *kind)
{
    static char full[4][64];
    static unsigned turn;
    char *s = full[turn++ % 4];

    if (layer < 0)
        snprintf(s, sizeof(full[0]), "%s.%s", what, kind);
    else
        snprintf(s, sizeof(full[0]), "blk.%ld.%s.%s", layer, what, kind);
    return s;
}

/* y[n_rows] = W x + b, W being rows first.. of the tensor. */
static void times(const struct ref *r, double *y, long layer, const char *what, size_t first,
                  size_t n_rows, const double *x, size_t n_cols)
{
    const float *w = gen_weights(r->g, name(layer, what, "weight"));
    const float *b = gen_find(r->g, name(layer, what, "bias"));

    for (size_t i = 0; i < n_rows; i++) {
        double sum = b ? b[first + i] : 0;

        for (size_t j = 0; j < n_cols; j++)
            sum += (double)w[(first + i) * n_cols + j] * x[j];
        y[i] = sum;
    }
}

static void norm(const struct ref *r, double *y, const double *x, long layer, const char *what,
                 size_t n)
{
    const float *w = gen_weights(r->g, name(layer, what, "weight"));
    double mean = 0, square = 0, root;

    for (size_t i = 0; has_layer_norm(r) && i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    root = sqrt(square + (double)r->g->eps);
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) / root * w[i] +
               (has_layer_norm(r) ? gen_weights(r->g, name(layer, what, "bias"))[i] : 0);
}

static void norm_all(const struct ref *r, double *to, const double *from, long layer,
                     const char *what)
{
    for (size_t p = 0; p < r->n; p++)
        norm(r, to + p * r->g->width, from + p * r->g->width, layer, what, r->g->width);
}

/* --- positions */

/* In a model with a window all layers but the last of each period see the window only. */
static int is_local(const struct ref *r, size_t layer)
{
    return r->g->window && (layer + 1) % r->g->period != 0;
}

/* Frequency of pair i in the layer. */
static double frequency(const struct ref *r, size_t layer, size_t i)
{
    const struct gen_model *g = r->g;
    const double base = is_local(r, layer) ? g->local_base : g->rope_base;
    const int scaled = !(is(r, "gemma3") && is_local(r, layer));
    double f = 1 / pow(base, 2.0 * (double)i / (double)g->rot);

    if (g->linear_factor > 0 && scaled)
        f /= (double)g->linear_factor;
    if (g->factors)
        f /= (double)gen_weights(g, "rope_freqs.weight")[i];
    if (g->llama3_keys) { /* Llama 3.1: factor 8, wave lengths between original/4 and original/1 go over */
        const double wave = 2 * M_PI / f, original = (double)g->n_ctx;
        const double smooth = (original / wave - 1) / (4 - 1);

        if (wave > original / 1)
            f /= 8;
        else if (wave >= original / 4)
            f = (1 - smooth) * f / 8 + smooth * f;
    }
    return f;
}

/* GPT-J and the llama files pair neighbours, the others halves. */
static void turn(const struct ref *r, size_t layer, double *head, size_t pos)
{
    const size_t half = r->g->rot / 2;
    const int neighbours = is(r, "llama") || is(r, "gptj");

    for (size_t i = 0; i < half; i++) {
        double *a = head + (neighbours ? 2 * i : i), *b = a + (neighbours ? 1 : half);
        const double angle = (double)pos * frequency(r, layer, i), x = *a, y = *b;

        *a = x * cos(angle) - y * sin(angle);
        *b = y * cos(angle) + x * sin(angle);
    }
}

/* --- sub-layers */

static void finish_heads(const struct ref *r, size_t layer, double *heads, size_t n_heads,
                         const char *normed, size_t pos)
{
    for (size_t i = 0; i < n_heads; i++) {
        double *head = heads + i * r->g->dh;

        if (is(r, "qwen3") || is(r, "gemma3"))
            norm(r, head, head, (long)layer, normed, r->g->dh);
        turn(r, layer, head, pos);
    }
}

static void make_qkv(const struct ref *r, size_t layer)
{
    const struct gen_model *g = r->g;
    const size_t q = g->n_head * g->dh, kv = g->n_kv * g->dh, w = g->width;
    const int fused = is(r, "gpt2");
    const char *const of_q = fused ? "attn_qkv" : "attn_q", *const of_k = fused ? of_q : "attn_k";
    const char *const of_v = fused ? of_q : "attn_v";

    for (size_t p = 0; p < r->n; p++) {
        const double *h = r->h + p * w;

        times(r, r->q + p * q, (long)layer, of_q, 0, q, h, w);
        times(r, r->k + p * kv, (long)layer, of_k, fused ? q : 0, kv, h, w);
        times(r, r->v + p * kv, (long)layer, of_v, fused ? q + kv : 0, kv, h, w);
        finish_heads(r, layer, r->q + p * q, g->n_head, "attn_q_norm", p);
        finish_heads(r, layer, r->k + p * kv, g->n_kv, "attn_k_norm", p);
    }
}

static double capped(double s, float cap)
{
    return cap > 0 ? (double)cap * tanh(s / (double)cap) : s;
}

/* What scores are divided by: the root of a head's values, in the 27B models of Gemma of the heads' share of the width. */
static double root(const struct ref *r)
{
    const struct gen_model *g = r->g;
    const int of_27b = (is(r, "gemma2") && g->n_layer == 46) ||
                       (is(r, "gemma3") && g->n_layer == 62);

    return sqrt(of_27b ? (double)g->width / (double)g->n_head : (double)g->dh);
}

/* One head of position p; out: [dh]. */
static void attend(const struct ref *r, size_t layer, size_t p, size_t head, double *out)
{
    const struct gen_model *g = r->g;
    const size_t kv = g->n_kv * g->dh, shared = head / (g->n_head / g->n_kv) * g->dh;
    const double *q = r->q + p * g->n_head * g->dh + head * g->dh;
    const size_t first = is_local(r, layer) && p + 1 > g->window ? p + 1 - g->window : 0;
    double *weight = zeros(p + 1), sum = 0;

    for (size_t t = first; t <= p; t++) {
        double s = 0;

        for (size_t i = 0; i < g->dh; i++)
            s += q[i] * r->k[t * kv + shared + i];
        weight[t] = exp(capped(s / root(r), g->attn_cap));
        sum += weight[t];
    }
    for (size_t i = 0; i < g->dh; i++) {
        out[i] = 0;
        for (size_t t = first; t <= p; t++)
            out[i] += weight[t] / sum * r->v[t * kv + shared + i];
    }
    free(weight);
}

static void attention(const struct ref *r, size_t layer)
{
    const struct gen_model *g = r->g;
    const size_t n = g->n_head * g->dh, w = g->width;
    double *heads = zeros(n);

    make_qkv(r, layer);
    for (size_t p = 0; p < r->n; p++) {
        for (size_t head = 0; head < g->n_head; head++)
            attend(r, layer, p, head, heads + head * g->dh);
        times(r, r->out + p * w, (long)layer, "attn_output", 0, w, heads, n);
    }
    free(heads);
}

static double gelu(double x)
{
    return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * pow(x, 3))));
}

static double activation(const struct ref *r, double x)
{
    if (is(r, "opt"))
        return fmax(x, 0);
    if (is(r, "llama") || is(r, "qwen2") || is(r, "qwen3"))
        return x / (1 + exp(-x));
    return gelu(x);
}

static void feed_forward(const struct ref *r, size_t layer)
{
    const struct gen_model *g = r->g;
    double *up = zeros(g->ffn), *gate = zeros(g->ffn);

    for (size_t p = 0; p < r->n; p++) {
        times(r, up, (long)layer, "ffn_up", 0, g->ffn, r->h + p * g->width, g->width);
        if (!has_layer_norm(r))
            times(r, gate, (long)layer, "ffn_gate", 0, g->ffn, r->h + p * g->width, g->width);
        for (size_t i = 0; i < g->ffn; i++)
            up[i] = has_layer_norm(r) ? activation(r, up[i]) : activation(r, gate[i]) * up[i];
        times(r, r->out + p * g->width, (long)layer, "ffn_down", 0, g->width, up, g->ffn);
    }
    free(up);
    free(gate);
}

static void add_out(const struct ref *r)
{
    for (size_t i = 0; i < r->n * r->g->width; i++)
        r->x[i] += r->out[i];
}

static void run_layer(const struct ref *r, size_t layer)
{
    const int gemma = is(r, "gemma2") || is(r, "gemma3");

    norm_all(r, r->h, r->x, (long)layer, "attn_norm");
    attention(r, layer);
    if (gemma)
        norm_all(r, r->out, r->out, (long)layer, "post_attention_norm");
    add_out(r);
    if (!is(r, "gptj")) /* its feed-forward reads what the attention read */
        norm_all(r, r->h, r->x, (long)layer, "ffn_norm");
    feed_forward(r, layer);
    if (gemma)
        norm_all(r, r->out, r->out, (long)layer, "post_ffw_norm");
    add_out(r);
}

static void embed(const struct ref *r)
{
    const size_t w = r->g->width;
    const float *rows = gen_weights(r->g, "token_embd.weight");
    const int learned = is(r, "gpt2") || is(r, "opt"), gemma = is(r, "gemma2") || is(r, "gemma3");
    const size_t skipped = is(r, "opt") ? 2 : 0;

    for (size_t p = 0; p < r->n; p++)
        for (size_t i = 0; i < w; i++) {
            double *x = &r->x[p * w + i];

            *x = rows[r->ids[p] * w + i];
            if (gemma)
                *x *= sqrt((double)w);
            if (learned)
                *x += gen_weights(r->g, "position_embd.weight")[(p + skipped) * w + i];
        }
}

double *ref64_logits(const struct gen_model *g, const uint32_t *ids, size_t n)
{
    struct ref r = {
        .g = g, .ids = ids, .n = n, .x = zeros(n * g->width), .h = zeros(n * g->width),
        .out = zeros(n * g->width), .q = zeros(n * g->n_head * g->dh),
        .k = zeros(n * g->n_kv * g->dh), .v = zeros(n * g->n_kv * g->dh),
    };
    double *logits = zeros(n * GEN_VOCAB), *const all[] = {r.x, r.h, r.out, r.q, r.k, r.v};

    embed(&r);
    for (size_t layer = 0; layer < g->n_layer; layer++)
        run_layer(&r, layer);
    norm_all(&r, r.h, r.x, -1, "output_norm");
    for (size_t p = 0; p < n; p++)
        times(&r, logits + p * GEN_VOCAB, -1, g->own_output ? "output" : "token_embd", 0, GEN_VOCAB,
              r.h + p * g->width, g->width);
    for (size_t i = 0; i < n * GEN_VOCAB; i++)
        logits[i] = capped(logits[i], g->logit_cap);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
    return logits;
}
