/* What one token costs at one position, by a plan: a question, and its answer.
 *
 * The figures are what the driver counts while the token goes through its methods; what came before (opening, the tokens at earlier
 * positions) is not in them, but for what it left in the DSP's memories: the token before ran as this one does.  Times are modelled.  An
 * answer follows from its question and the rig's profile, not from questions that were asked before: every one finds a session of its
 * own.
 *
 * The rig is the process's (hx_engine_opts_prepare()).  One thread at a time. */
#ifndef HX_DENSITY_ANSWER_H
#define HX_DENSITY_ANSWER_H

#include "engine/engine.h"
#include "hx_session_stats.h"
#include "model/geometry.h"

struct hx_density_memo;

enum hx_density_how {
    HX_DENSITY_AUTO,     /* analytic where counting would take long and adds nothing; the same for the same question */
    HX_DENSITY_COUNTED,
    HX_DENSITY_ANALYTIC, /* of a geometry, and behind the positions that it is counted at; else counted */
};
extern const char *const hx_density_how_names[]; /* "auto", ...; NULL-terminated */

struct hx_density_question {
    const struct hx_plan *plan;         /* resolved: methods, density, placement, --offload.  Borrowed for the call, like the others */
    const struct hx_geometry *geometry; /* NULL: a model */
    const struct hx_engine_cfg *model;  /* how to open that; its plan and n_ctx do not matter.  NULL with a geometry */
    size_t pos;                         /* of the token, 0-based */
    unsigned clients;                   /* that compute such a token each, side by side (clients.h); 0: one.  More make calls, no packets,
                                         * and are counted */
    size_t guesses;                     /* behind the token, in one batch with it; the plan has a drafter then, which is not asked */
    double accept;                      /* with guesses: the share of them that would be right */
    enum hx_density_how how;
    const char *profile;                /* name or path, as the rig was told; NULL: the rig knows its name */
    struct hx_density_memo *memo;       /* of this plan and geometry, on this rig; NULL: none */

    /* Called before the first call, with how many there will be, those that fill the cache before the token included.  NULL: nobody
     * wants to know. */
    void (*begins)(void *arg, double calls);
    void *arg;
};

struct hx_density_answer {
    enum hx_density_how how;     /* never AUTO */
    char basis[16];              /* of blocks; "none" */
    size_t n_layer;              /* of the model or geometry */
    unsigned clients;            /* 1 or more */
    size_t guesses;              /* of the question */
    double accept, tokens;       /* likewise; tokens: that a step makes then by the law (hx_spec_expected()): 1 without guesses */
    struct hx_calls formula;     /* what the methods' formulas say, of one token without guesses */
    struct hx_session_stats sum; /* for all clients' steps; clock_ns is until the last one was done */
};

/* What analytic answers have counted, so that the next one of the same plan and geometry need not: zero in the beginning.  Answers do
 * not depend on it. */
struct hx_density_memo {
    int known;
    struct hx_density_answer near[2];
};

/* 1: the answer follows from two tokens that are counted elsewhere, which all such answers of a plan and geometry share. */
int hx_density_is_analytic(const struct hx_density_question *q);

/* 0 or negative errno with a reason; -EINVAL: the position is beyond the model's context. */
int hx_density_answer(const struct hx_density_question *q, struct hx_density_answer *a, struct hx_error *err);

#endif
