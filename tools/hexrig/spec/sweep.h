/* Drafters times guesses per step: what `hexrig spec sweep` and `table` measure, each with options of its own.
 *
 * A drafter's engine has a cache of its own, as a text with that drafter has, and is gone before the next one's is opened; model and
 * matrices are the same. */
#ifndef HX_SPEC_SWEEP_H
#define HX_SPEC_SWEEP_H

#include <jansson.h>

#include "list.h"
#include "measure.h"
#include "options/engine_opts.h"

struct hx_spec_sweep {
    struct hx_engine_opts o;
    const char *drafts, *prompts, *text; /* as given; NULL: not */
    size_t most, tokens;                 /* texts of each kind, and tokens of a text */
    struct hx_spec_words draft;
    struct hx_spec_numbers guesses;
    struct hx_plan *plan[HX_SPEC_LIST];  /* [draft.n], resolved */
    int csv;
    char *shipped_text;
    int rest;                            /* a file in memory: the part of the shipped text that drafters may count; -1: none */
    size_t skip;                         /* its bytes */

    json_t *plain;                       /* without a drafter, as a row is (rows.h) */
    size_t n_layer;
};

/* Options that both have.  Their keys are HX_OPT_FREE and above; a command's own begin at HX_SPEC_OPT_FREE. */
enum { HX_SPEC_OPT_DRAFT = HX_OPT_FREE, HX_SPEC_OPT_BATCH, HX_SPEC_OPT_PROMPTS, HX_SPEC_OPT_TEXTS, HX_SPEC_OPT_CSV, HX_SPEC_OPT_FREE };

#define HX_SPEC_TEXT_OPTIONS                                                                                                         \
    {"prompts", HX_SPEC_OPT_PROMPTS, "FILE", 0, "a prompt in each line, for greedy texts (20 of its own)", 0},                        \
    {"file", 'f', "TEXT", 0, "a text that guesses are made along (the last quarter of share/hexrig/books-holdout.txt, of which "     \
     "drafters count the rest alone)", 0},                                                                                           \
    {"texts", HX_SPEC_OPT_TEXTS, "N", 0, "the first N prompts, and N pieces of the text, evenly spread (4)", 0},                     \
    {"tokens", 'n', "N", 0, "of each (64)", 0},                                                                                      \
    {"csv", HX_SPEC_OPT_CSV, NULL, 0, "comma-separated values instead of the table", 0}

/* Before parsing.  Returns an enum hx_exit. */
int hx_spec_sweep_init(struct hx_spec_sweep *s, const char *cmd);

/* One of these, or --draft.  0, an enum hx_exit after a message, or HX_OPT_UNKNOWN. */
int hx_spec_sweep_option(struct hx_spec_sweep *s, int key, const char *arg);

/* After parsing: drafters, and guesses per step as a list; what is not legal is said before anything runs.  Returns an enum hx_exit after
 * a message. */
int hx_spec_sweep_check(struct hx_spec_sweep *s, const char *batches);

/* Rows as they are done, drafter by drafter, borrowed; the first one is s->plain.  Returns an enum hx_exit after a message. */
typedef int hx_spec_take(void *arg, json_t *row);
int hx_spec_sweep_run(struct hx_spec_sweep *s, hx_spec_take *take, void *arg);

/* {"version", what every report of an engine has, "rows"}.  rows: borrowed.  NULL: out of memory. */
json_t *hx_spec_sweep_report(const struct hx_spec_sweep *s, json_t *rows);

void hx_spec_sweep_free(struct hx_spec_sweep *s);

#endif
