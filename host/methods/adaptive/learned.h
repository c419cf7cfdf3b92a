/* Ranks that are learned: a soft choice among levels of rank for each layer, which pays for what it harms and for what it costs.
 *
 * Layer l takes level r with p_lr = softmax(theta_l)_r, so its soft rank is sum_r p_lr R_r.  The loss, and its exact derivative:
 *
 *     L = sum_l sum_r p_lr c_lr,   c_lr = harm_lr + price R_r,   dL / dtheta_lr = p_lr (c_lr - sum_s p_ls c_ls)
 *
 * harm: nats per token that level r of layer l alone moves the model's distributions on a text; price: nats per unit of rank, lambda
 * times what one costs (struct hx_tpj).  Source: the published differentiable rank plan and its energy term, whose gradient is this with
 * harm 0; no sampling is needed, though it is spoken of. */
#ifndef HX_LEARNED_H
#define HX_LEARNED_H

#include <stddef.h>

#include "base/error.h"

enum { HX_LEVELS = 8 };

/* 8, 16, 32, 64, 128, 192, 256, 512. */
extern const double hx_level_ranks[HX_LEVELS];

struct hx_learned {
    size_t layers, levels;   /* levels: the first so many of hx_level_ranks */
    const double *harm;      /* [layers][levels] */
    double price;
    double *theta;           /* [layers][levels] */
};

/* soft [layers]: soft ranks; gradient [layers][levels]; each may be NULL.  Returns the loss. */
double hx_learned_loss(const struct hx_learned *l, double *soft, double *gradient);

struct hx_learned_told {
    double first, last;  /* losses */
    size_t steps;
};

/* From theta as it is: theta -= rate * gradient, at half the rate after a step that would have raised the loss and is not taken; until a
 * step gains less than 1e-12, or `steps` are done.  0 or -ENOMEM. */
int hx_learned_train(struct hx_learned *l, double rate, size_t steps, struct hx_learned_told *told, struct hx_error *err);

/* --- what a unit of rank costs */

enum { HX_TPJ_WINDOW = 256, HX_TPJ_LEAST = 4, HX_TPJ_MIDDLE = 128 /* rank */ };

/* Joules per token, of the last tokens.  (The published name says tokens per joule.) */
struct hx_tpj {
    double joules[HX_TPJ_WINDOW];
    size_t n;  /* of all so far */
};

/* watt > 0, tokens_per_s > 0. */
void hx_tpj_observe(struct hx_tpj *t, double watt, double tokens_per_s);

/* Joules of a unit of rank: the observations' mean by the middle rank; before there are HX_TPJ_LEAST of them, of this estimate. */
double hx_tpj_per_rank(const struct hx_tpj *t, double watt, double tokens_per_s);

#endif
