/* Texts by topic as what the output matrix reads of them, and what is said there when directions are projected out.
 *
 * Prompts alternate: of each topic's, every other one is for finding (directions, thresholds), the others are held out.  What a removal
 * does is measured in the model's predictions of the next token within the prompts: as mean negative log likelihood of what stands there;
 * of a planted model, whose texts mean nothing, as share of positions with another likeliest token. */
#ifndef HX_GUARD_BENCH_H
#define HX_GUARD_BENCH_H

#include "methods/guard/probe.h"
#include "methods/ugt/ugt.h"
#include "ugt/source.h"

struct hx_bench {
    struct hx_ugt_source from; /* states: of every token */
    const char *basis;         /* file of hexrig ugt: states are those in front of the last norm, and projected there; NULL: behind it */
    size_t k, most;            /* coordinates; of them that a topic may get */
    double budget;
    uint64_t seed;
    int planted;
    struct hx_ugt u;           /* of the states for finding, or the file's */
    double *z;                 /* [n][k] B^T h, without the mean: coordinates of what is projected */
    float *rows;               /* [n][d] states in f32 */
    unsigned char *held_out;   /* [n] 1: of a prompt that is held out */
    struct hx_runner runner;   /* whose output matrix it is */
    double *plain;             /* [n] -log p of the token behind, or the likeliest token, as the model has it; -1: there is none */
};

/* Options that build and topics have: those of a source, and these. */
enum { HX_OPT_BUDGET_GUARD = HX_OPT_FREE + 96, HX_OPT_MOST, HX_OPT_BASIS };
#define HX_BENCH_OPTIONS                                                                                       \
    HX_UGT_SOURCE_OPTIONS,                                                                                     \
    {"k", HX_OPT_K, "K", 0, "coordinates that are probed (64)", 0},                                            \
    {"basis", HX_OPT_BASIS, "FILE", 0, "of hexrig ugt build: its coordinates, of states in front of the last norm, not behind it", 0}, \
    {"most", HX_OPT_MOST, "N", 0, "of them that a topic gets; twice as many are tried (12)", 0},                                        \
    {"budget", HX_OPT_BUDGET_GUARD, "X", 0, "most that other topics may lose, in percent (2)", 0},             \
    {"seed", HX_OPT_SEED, "S", 0, "of the random directions that stand beside it (1)", 0}

int hx_bench_option(struct hx_bench *b, int key, char *arg);

/* Runs all prompts.  Returns an enum hx_exit after a message. */
int hx_bench_open(struct hx_bench *b);

/* The same for the basis alone, which is what hx_bench_directions() reads: no predictions, and one topic will do. */
int hx_bench_open_basis(struct hx_bench *b);
void hx_bench_close(struct hx_bench *b);

/* Relative change (of a planted model: share of changed tokens) of the topic's predictions and the others' without these directions q
 * [f][d], in the prompts for finding or the held-out ones.  0 or negative errno. */
int hx_bench_without(struct hx_bench *b, size_t topic, int held_out, const float *q, size_t f, double *own, double *others,
                     struct hx_error *err);

/* Mean -log p of others and of the topic as the model has them; not of a planted one. */
void hx_bench_plain(const struct hx_bench *b, size_t topic, int held_out, double nll[2]);

/* Rows of the basis as f32: q [n][d]. */
void hx_bench_directions(const struct hx_bench *b, const size_t *coordinates, size_t n, float *q);

/* What was found for a topic. */
struct hx_found {
    struct hx_probe_coordinate *order; /* [k] */
    struct hx_snipe_step *steps;       /* [n_steps] */
    size_t n_steps, n;                 /* tried, 2 * most at most: what breaks the budget makes room; kept */
    size_t *chosen;                    /* [n] coordinates */
    float *q;                          /* [n][d] */
    double own, others;                /* held out: of the topic, of the others */
    double all_own, all_others;        /* likewise without all coordinates that were probed */
    double random_others, random_own;  /* without as many random directions */
    struct hx_teh_roc found, held_out; /* a prompt's TEH is its largest token's; the threshold comes from those for finding */
    struct hx_teh_roc random;          /* held out, of as many random directions with a threshold of their own */
    double teh_own, teh_others;        /* held out, means over prompts of that, 0..1 */
    double token_own, token_others;    /* likewise over all their tokens */
};

/* 0 or negative errno; in any case to be freed.  n may be 0: each coordinate breaks the budget. */
int hx_bench_find(struct hx_bench *b, size_t topic, struct hx_found *to, struct hx_error *err);
void hx_found_free(struct hx_found *f);

/* Effect on the topic by effect on the others; 0 where others lose nothing. */
double hx_found_specificity(double own, double others);

#endif
