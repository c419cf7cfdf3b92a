/* A drafter that is an engine: it runs what of the text its cache does not hold yet, then makes guess behind guess.  What was
 * guessed wrong lies behind the text in its cache and is overwritten when the text gets there, whatever kind of cache that is. */
#ifndef HX_ENGINE_DRAFT_H
#define HX_ENGINE_DRAFT_H

#include "engine/draft.h"
#include "engine/method.h"

/* Who follows what becomes of the guesses. */
struct hx_engine_draft_follower {
    struct hx_tap *guessing, *verifying; /* of the drafter's engine, of the model's; NULL: none */

    /* Before guesses are made.  0, or negative errno with a reason. */
    int (*begin)(void *arg, struct hx_error *err);

    /* A guess was wrong that was made behind position pos, which both have run.  Errors likewise. */
    int (*wrong)(void *arg, size_t pos, struct hx_error *err);
    void (*close)(void *arg);
    void *arg;
};

struct hx_engine_draft_cfg {
    const char *name;            /* of the method; kept */
    const char *model;           /* path; NULL: the model that is drafted for */
    const char *const *settings; /* of its plan, "kv=f32" and others, NULL-terminated; NULL: a twin of the engine that is opened */
    const struct hx_engine_draft_follower *follower; /* copied; closed with the drafter, also where that is not opened.  NULL: nobody */
    int certain;                 /* 1: it is the model itself, so its guesses have no probability that a threshold could be for */
};

/* The engine has o's threads and as many positions.  0; -EINVAL with a reason: its vocabulary is another, or its context is
 * smaller; or as hx_engine_open(). */
int hx_engine_draft_open(struct hx_draft **out, const struct hx_engine_draft_cfg *cfg, const struct hx_open *o,
                         struct hx_error *err);

/* The engine, for reports. */
const struct hx_engine *hx_engine_draft_engine(const struct hx_draft *d);

/* The follower's arg. */
void *hx_engine_draft_follower(const struct hx_draft *d);

#endif
