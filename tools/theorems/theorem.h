/* The theorem suite: statements of the project's source papers, each checked mechanically.
 *
 * A theorem is a row of hx_theorems: an id, the claim, and a function that computes witnesses and says what came of it.
 * Everything is deterministic: random cases come from a fixed seed.  docs/theorems.md tells
 * what each line computes and where the papers had to be read or corrected. */
#ifndef HX_THEOREM_H
#define HX_THEOREM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum hx_verdict {
    HX_VERIFIED,
    HX_PENDING,       /* the part that a machine can check holds; the claim itself stays open */
    HX_EXPECTED_FAIL, /* the claim is false, and the counterexample was found */
    HX_SKIPPED,       /* cannot be computed here; a witness says why */
    HX_FAILED,        /* what should hold does not */
    HX_VERDICTS
};

extern const char *const hx_verdict_names[HX_VERDICTS]; /* VERIFIED, PENDING, EXPECTED-FAIL, SKIPPED, FAILED */

/* What a run needs, and where its witnesses go. */
struct hx_theorem_run {
    const char *share;   /* folder of the shipped model and calibrations */
    const char *libexec; /* folder of the second compiler's program, see t6b */
    void (*witness)(void *arg, const char *line); /* one line of text, without newline; borrowed for the call */
    void *arg;
    uint64_t random; /* state of hx_theorem_random() */
    char stopped[256]; /* why it could not be computed, which says nothing about the theorem: no memory, a file; empty = it could */
};

/* Prints a witness. */
void hx_witness(struct hx_theorem_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Notes why the theorem cannot be computed, and prints it as a witness.  HX_FAILED. */
enum hx_verdict hx_theorem_stopped(struct hx_theorem_run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* splitmix64, seeded for each theorem by its place in the table. */
uint64_t hx_theorem_random(struct hx_theorem_run *r);

struct hx_theorem {
    const char *id, *claim;
    enum hx_verdict (*check)(struct hx_theorem_run *r);
};

/* All of them, in the order in which they are printed; ends with a NULL id. */
extern const struct hx_theorem hx_theorems[];

/* Runs row i; r->random is set first. */
enum hx_verdict hx_theorem_check(size_t i, struct hx_theorem_run *r);

#endif
