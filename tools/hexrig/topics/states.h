/* What a model makes of texts by topic: final hidden states, and how likely it finds the texts.  Each text runs in a fresh context, K and
 * V in f32, by this CPU's kernels on the weights as the file has them, or on others in their place. */
#ifndef HX_TOPICS_STATES_H
#define HX_TOPICS_STATES_H

#include "base/pool.h"
#include "engine/tap.h"
#include "model/matrix.h"
#include "topics.h"

/* A forward pass over a model's own matrices or others. */
struct hx_runner {
    const struct hx_model *m;
    struct hx_matrices matrices; /* what it runs */
    struct hx_linear_method *linear;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_forward *forward;
};

/* Opens it over `matrices`, whose layers become the runner's; NULL: a copy of the model's.  taps: NULL-terminated and kept, or NULL.
 * In any case to be closed. */
int hx_runner_open(struct hx_runner *r, const struct hx_model *m, struct hx_pool *pool, struct hx_matrices *matrices, size_t ctx,
                   struct hx_tap *const *taps, struct hx_error *err);
void hx_runner_close(struct hx_runner *r);

struct hx_states {
    double *h;     /* [n][d] */
    size_t *topic; /* [n] */
    size_t *text;  /* [n] index of the text that it is of */
    size_t n, d;
    double *nll;   /* [topics] mean over predictions within texts, nats; 0 where there are none */
};

struct hx_states_cfg {
    const struct hx_model *model;
    struct hx_pool *pool;
    enum hx_tap_point point; /* HX_TAP_BEFORE_NORM or HX_TAP_IN_OUT */
    int every;               /* 1: of every token; 0: of each text's last */
    int nll;                 /* 1: also likelihoods, which takes as long again */
};

/* 0; -ENOMEM; -EDOM: a state that is not finite; others as hx_forward_run().  In any case to be freed. */
int hx_states_take(struct hx_states *s, const struct hx_topics *t, const struct hx_states_cfg *cfg, struct hx_error *err);

/* Accepts zeroes. */
void hx_states_free(struct hx_states *s);

#endif
