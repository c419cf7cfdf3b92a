/* The published claims about trajectories, each beside what is measured here. */
#ifndef HX_GEOMETRY_CLAIMS_H
#define HX_GEOMETRY_CLAIMS_H

#include "closed_forms.h"
#include "questions.h"
#include "trajectories.h"

/* The published 18, and what the papers leave open. */
enum { HX_CLAIMS = 20, HX_CLAIM_TRAJECTORIES = 12 };

struct hx_claims {
    struct hx_space of;        /* as it was asked for, never opened: its options are both clouds' */
    struct hx_space small, dense; /* of 64 points, of `of.points`; opened when first needed */
    int small_open, dense_open, forms_known, made;
    struct hx_made how;
    struct hx_closed_forms forms;
    struct hx_trajectory trajectory[HX_CLAIM_TRAJECTORIES]; /* of the dense cloud's first points */
    int straight[HX_CLAIM_TRAJECTORIES];                    /* 1: it has left what numbers can say */
    size_t questions;
    struct hx_substituted substituted; /* of the dense cloud */
    int substituted_known;
};

/* What a claim came to. */
struct hx_claim_result {
    double number;
    const char *status;  /* "holds", "reproduced", "not reproduced", "no evidence" */
    char note[160];      /* other numbers that belong to it */
};

struct hx_claim {
    const char *name, *published, *reading; /* what the number is */
    const char *command;                    /* that tells more */
    int (*find)(struct hx_claims *c, struct hx_claim_result *out, struct hx_error *err);
};

extern const struct hx_claim hx_claims[HX_CLAIMS];

/* Accepts zeroes. */
void hx_claims_free(struct hx_claims *c);

#endif
