/* Seam `attn`: attention of new tokens over the past and themselves.  A method is an object with one table of functions;
 * attn_ref.c is the fp32 reference.  What it needs of the past it asks the cache for: rows, scores or the whole
 * attention, see kv.h. */
#ifndef HX_ATTN_H
#define HX_ATTN_H

#include <stddef.h>
#include <stdint.h>

#include "kv.h"
#include "base/pool.h"

/* One layer's batch: tokens at positions pos..pos+n-1, whose K and V have been put into kv already. */
struct hx_attn_in {
    size_t layer, pos, n;
    const float *q;      /* [n][n_head][dh], after RoPE */
    const float *k, *v;  /* the tokens' own K and V, f32: [n][n_kv][dh] */
    struct hx_kv *kv;    /* has n_kv and dh */
    size_t n_head;       /* a multiple of n_kv: heads share KV heads in equal groups */
    float scale;         /* of the products q.k, mostly 1 / sqrt(dh) */
    float softcap;       /* > 0: a scaled product s becomes softcap * tanh(s / softcap); 0: stays */
    size_t window;       /* > 0: a token sees itself and the window - 1 positions before it; 0: all */
};

struct hx_attn;

struct hx_attn_ops {
    const char *name;

    /* Token i attends to its own k, v in f32 and to positions 0..pos+i-1 as the cache holds them: out[i] = softmax(scale *
     * q.k) V, [n][n_head][dh].  A token's result must not depend on the batch or on the number of threads. */
    int (*run)(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err);

    void (*close)(struct hx_attn *a);
};

/* What integer softmax did: KL(fp32 || integers), nats, over rows (token and head).  measured: rows with a KL; where softmax is within
 * whole layers on the DSP, rows have none. */
struct hx_softmax_seen {
    uint64_t rows, measured;
    double kl_sum, kl_max;
};

/* A method embeds this as its first member. */
struct hx_attn {
    const struct hx_attn_ops *ops;
    int can_softmax_int; /* 1: the method knows softmax by integer tables (softmax.h) */
    int softmax_int;     /* 1: that is what it does; by hx_attn_softmax_int() */
    struct hx_softmax_seen seen;
};

/* The first position that a token at `pos` sees. */
static inline size_t hx_attn_first(const struct hx_attn_in *in, size_t pos)
{
    return in->window && pos + 1 > in->window ? pos + 1 - in->window : 0;
}

/* How many positions token i of the batch sees, its own among them. */
static inline size_t hx_attn_seen(const struct hx_attn_in *in, size_t i)
{
    return in->pos + i + 1 - hx_attn_first(in, in->pos + i);
}

/* Scores of a batch lie one behind the other, [token][head][position that the token sees]: how many there are before token i, and
 * with i = n all of them.  A token sees one position more than the one before it, until its window is full. */
static inline size_t hx_attn_scores_before(const struct hx_attn_in *in, size_t i)
{
    const size_t least = in->pos + 1;
    size_t growing = i;

    if (in->window && least + i > in->window)
        growing = in->window > least ? in->window - least : 0;
    return in->n_head * (growing * least + (growing ? growing * (growing - 1) / 2 : 0) + (i - growing) * in->window);
}

/* The reference: one thread, scores in order.  n_ctx: most positions.  0 or -ENOMEM. */
int hx_attn_ref_open(struct hx_attn **out, size_t n_ctx, struct hx_error *err);

/* All of it where the cache is: needs kv->ops->attend, refuses soft-caps and windows that leave positions out (-ENOTSUP). */
int hx_attn_kv_open(struct hx_attn **out, struct hx_error *err);

/* Softmax by integer tables from now on.  -ENOTSUP: the method cannot. */
int hx_attn_softmax_int(struct hx_attn *a, struct hx_error *err);

/* Accepts NULL. */
void hx_attn_close(struct hx_attn *a);

#endif
