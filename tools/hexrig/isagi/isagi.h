/* hexrig isagi: turns over an engine with a memory. */
#ifndef HX_ISAGI_H
#define HX_ISAGI_H

#include "engine/engine.h"
#include "methods/cog/miku.h"
#include "options/engine_opts.h"

struct hx_isagi_watch; /* turn.c */

struct hx_isagi {
    struct hx_engine_opts o;
    const char *script, *state, *prompts, *topic;
    size_t k, n;               /* coordinates of a new memory; tokens of an answer */
    size_t snipe;              /* an enum hx_cog_snipe: where spare coordinates leave a question's point */
    double novel;              /* distance beyond which the metric grows */
    struct hx_engine *e;
    struct hx_cog cog;
    struct hx_isagi_watch *watch;
    size_t turns;
};

/* What a turn did; printed as one line. */
struct hx_isagi_turn {
    enum hx_cog_tier tier;
    double teh, similarity, growth; /* teh: of the answer's states, the largest, 0..1; of one that was known, as it was then */
    double mean;                    /* TEH of the answer's states; not of one that was known */
    double pre, post; /* shares, 0..1, of the question's point in the forbidden coordinates: as the metric takes it, as it is kept */
    size_t trajectories;
    double calls;                   /* calls and packets that the driver counted meanwhile */
    double ms;                      /* measured */
    char *answer;                   /* malloc'ed */
};

/* A memory of this model: its basis is that of final states of the prompts; with a topic, forbidden coordinates are those that tell it
 * best, and those that others can spare are projected out.  Returns an enum hx_exit after a message. */
int hx_isagi_born(struct hx_isagi *s);

/* Sees the engine's states from here on.  0 or -ENOMEM; -ENOTSUP. */
int hx_isagi_watch_open(struct hx_isagi *s, struct hx_error *err);
void hx_isagi_watch_close(struct hx_isagi *s);

/* One question.  0 or negative errno; t->answer is to be freed in any case. */
int hx_isagi_turn(struct hx_isagi *s, const char *question, struct hx_isagi_turn *t, struct hx_error *err);

#endif
