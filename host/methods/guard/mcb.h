/* MCB: five scores of a batch of texts, for whether steps of states still lead to different texts.
 *
 * Each is 0..100; the index weighs them .30 .20 .20 .15 .15:
 *     D1 spread   mean cosine distance of pairs of final states
 *     D2 blend    of pairs of neighbours: how far the state of both texts, one behind the other, is from the nearer one
 *     D3 wording  (1 - self-BLEU-4 + distinct-2) / 2 of the tokens
 *     D4 rules    share of three rules that are met (lipogram: a letter does not occur; rhyme: a text ends on the same two letters as the
 *                 one before it; length: within a quarter of the mean), times D1
 *     D5 way      mean cosine distance of the states in the middle and at the end of each text
 * Tiers: S from 80, A 65, B 50, C 35, else D.  Distances are 1 - cosine, and 1 where they are more.  What is random in it: nothing.
 * Source: published MCB, of which the text has names and weights; the measures are ours.  Pure functions, any thread. */
#ifndef HX_MCB_H
#define HX_MCB_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_mcb_text {
    const uint32_t *ids;  /* [n] */
    size_t n;
    const char *text;     /* terminated */
    const double *middle, *end; /* [d] states */
    const double *both;   /* [d] of this text and the next one as one; NULL: of the last */
};

enum { HX_MCB_SCORES = 5 };
extern const char *const hx_mcb_names[]; /* "spread", "blend", "wording", "rules", "way", NULL */

struct hx_mcb {
    double score[HX_MCB_SCORES], index;
    char tier; /* 'S', 'A', 'B', 'C', 'D' */
};

/* n >= 2 texts of at least 2 tokens; letter: of the lipogram, lower case.  0; -EINVAL: fewer; -ENOMEM. */
int hx_mcb_score(const struct hx_mcb_text *t, size_t n, size_t d, char letter, struct hx_mcb *out, struct hx_error *err);

#endif
