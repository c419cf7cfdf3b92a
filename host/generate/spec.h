/* Speculation: how a drafter's guesses are asked for, taken and counted while a text is made.
 *
 * --spec-batch     most guesses of a step at the beginning
 * --spec-adapt     after a step whose guesses were all right one more, up to 16; after one with less than half of them right as many
 *                  as were right and one
 * --spec-thresh    guesses that the drafter itself gives less are not verified
 * --spec-warmup    so many tokens the model makes alone first
 * --no-verifier    the guesses are the text, and the model is not asked
 *
 * Greedy texts are those without a drafter, token for token.  Where tokens are drawn and the drafter chooses by drawing, too, its
 * guess is accepted with probability min(1, p/q), else the token is drawn from what p has more than q (sampler.h), so it has the
 * model's distribution, but is another token than without a drafter.  A drafter that does not draw is held against the token that is
 * drawn anyway: the text is the same token for token.
 *
 * A drafter that fails is not asked again in this text, which goes on; `off` of the figures says why. */
#ifndef HX_SPEC_H
#define HX_SPEC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/draft.h"
#include "engine/linear.h"
#include "engine/plan.h"
#include "sampler.h"

enum { HX_SPEC_ADAPT_MOST = 16, HX_SPEC_GUARDED = 4 }; /* guesses; tokens that --eos-guard keeps from ending a text */

struct hx_spec_cfg {
    size_t batch;  /* 1..HX_DRAFT_MAX */
    double thresh; /* [0, 1] */
    size_t warmup; /* tokens */
    int adapt;
    int alone;     /* 1: --no-verifier */
};

/* What was counted, of one text. */
struct hx_spec_stats {
    uint64_t steps;      /* that made tokens */
    uint64_t emitted;    /* tokens */
    uint64_t proposed;   /* guesses, of trees in a row */
    uint64_t verified;   /* tokens of trees, all branches */
    uint64_t accepted;   /* guesses that became text */
    uint64_t wrong;      /* steps that ended at a wrong guess, or with the text in front of a guess */
    uint64_t drafts;     /* times that the drafter was asked */
    double draft_s;      /* host seconds of that */
    struct {
        uint64_t n;
        double s;
    } pass[1 + HX_DRAFT_MAX]; /* passes of the model with so many guesses, and their host seconds, choices included */
    uint64_t deep[1 + HX_DRAFT_MAX]; /* the same passes by guesses in a row: of a tree its deepest branch */
    size_t final_batch;  /* most guesses of a next step */
    char off[256];       /* why the drafter was switched off; "": it was not */
};

struct hx_spec;

/* What the plan's options say. */
struct hx_spec_cfg hx_spec_cfg_of(const struct hx_plan *p);

/* Who guesses for which text. */
struct hx_spec_of {
    const struct hx_draft *draft;
    const struct hx_sampler *sampler;      /* the text's; kept until close */
    const struct hx_sampler_cfg *sampling; /* its settings */
    size_t vocab;
    int trees;                             /* 1: guesses may be trees */
    struct hx_batch_cost cost;             /* of tokens of a batch; zeros: they cost nothing */
};

/* *out NULL: the drafter never guesses.  0 or -ENOMEM. */
int hx_spec_open(struct hx_spec **out, const struct hx_spec_cfg *cfg, const struct hx_spec_of *of);

/* Accepts NULL. */
void hx_spec_close(struct hx_spec *s);

const struct hx_spec_cfg *hx_spec_cfg(const struct hx_spec *s);
const struct hx_spec_stats *hx_spec_stats(const struct hx_spec *s);

/* Before a step: limits what room says, which is not empty.  0: no guesses are wanted. */
int hx_spec_room(struct hx_spec *s, struct hx_draft_room *room);

/* Behind a proposal: the first n of it stay that make most tokens in a pass's time, or none; with --spec-adapt off or --spec-thresh 0
 * all do.  By what the drafter gives them (a guess of which it says nothing is right), so all stay of one that draws, too, or whose
 * guesses are passes: they are paid by then. */
void hx_spec_pay(const struct hx_spec *s, struct hx_draft_tree *t);

/* The drafter has failed, for this reason. */
void hx_spec_switch_off(struct hx_spec *s, const char *why);

/* The distribution that guess i of the last proposal was drawn from, [vocab]; NULL: it was not drawn. */
const float *hx_spec_drawn_from(const struct hx_spec *s, size_t i);

/* Scratch for the logits of n tokens, [n][vocab]; NULL: of one, or more than a batch with guesses has. */
float *hx_spec_rows(struct hx_spec *s, size_t n);

/* Scratch, [vocab]; only where guesses are drawn. */
float *hx_spec_scratch(struct hx_spec *s);

/* Seconds of a clock for the figures below. */
double hx_spec_clock(void);

/* A proposal was asked for in s seconds. */
void hx_spec_drafted(struct hx_spec *s, double seconds, const struct hx_draft_tree *t);

/* A step has ended: t was verified in `seconds` and made n_new tokens. */
void hx_spec_stepped(struct hx_spec *s, double seconds, const struct hx_draft_tree *t, size_t n_new);

/* Tokens per step that a share `a` of accepted guesses, each independent of the others, gives with g of them:
 * (1 - a^(g+1)) / (1 - a) (Leviathan et al. 2023, equation 1). */
double hx_spec_expected(double a, size_t g);

/* That law's a: of the guesses that were compared with the model's choice the share that was right.  A step compares up to the first wrong
 * one, so accepted / proposed is less.  0: none was. */
double hx_spec_share_right(const struct hx_spec_stats *n);

/* Tokens per step that the law gives for what was proposed, with that a; 0: no step. */
double hx_spec_law(const struct hx_spec_stats *n);

/* The figures as an object; NULL: out of memory. */
json_t *hx_spec_report(const struct hx_spec *s);

#endif
