/* What drafters with OneDecode's table share: where it comes from, looking tokens up, and what became of what it said. */
#ifndef HX_OTT_DRAFT_H
#define HX_OTT_DRAFT_H

#include <jansson.h>

#include "engine/draft.h"
#include "engine/method.h"
#include "ott_bake.h"

/* Of the text that was made: how often a table had an entry, and knew the token that came. */
struct ott_seen {
    uint64_t tokens;      /* that were made */
    uint64_t entries;     /* of those, behind a token with an entry */
    uint64_t first, best; /* of those, the entry's first candidate, one of the K that are proposed */
    uint64_t followed;    /* of those, what had followed the token most often in the text: a bigram table of the same size */
    uint64_t accepted;    /* tokens that the drafter had proposed */
    uint64_t lookups;
    double lookup_s;
};

struct ott_draft {
    struct hx_draft draft;  /* first */
    const struct hx_model *model;
    struct hx_ott *table, *of_prompt; /* of_prompt: NULL: there is none now */
    size_t k;               /* candidates of a slot */
    int bakes_prompts, geodesic;
    struct hx_ott_space space; /* of prompts whose steps are geodesics; else zeros */
    uint32_t *prompt;       /* [n_prompt] that of_prompt is of */
    size_t n_prompt;
    char *file, *text;      /* file: NULL: none */
    char *readiness;        /* a file's name; NULL: none is wanted */
    const char *origin;     /* "file" or "baked" */
    struct hx_error why;    /* a file there was, and was not taken: its fault; else empty */
    double bake_s;          /* 0: it came from a file */
    size_t n_text;          /* tokens of the text that have been looked at; 0: no text has been met */
    uint32_t last;          /* of these */
    struct ott_seen seen;
};

extern const struct hx_option ott_options[];

/* ops: the drafter's.  0 or negative errno with a reason. */
int ott_draft_open(struct hx_draft **out, const struct hx_draft_ops *ops, const struct hx_open *o, size_t k, struct hx_error *err);
void ott_draft_close(struct hx_draft *d);

/* struct hx_method: what the options say together. */
int ott_draft_check(const struct hx_plan *p, struct hx_error *err);

/* Before a proposal behind ids [n]: looks at what was made since the last one; with prompts baked, a text that does not go on the last
 * one is a prompt. */
int ott_draft_meet(struct ott_draft *d, const uint32_t *ids, size_t n, struct hx_error *err);

/* The prompt's entry before the table's; NULL: neither has one. */
const struct hx_ott_entry *ott_draft_find(struct ott_draft *d, uint32_t token);

/* struct hx_draft_ops */
int ott_draft_accept(struct hx_draft *draft, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err);
int ott_draft_finish(struct hx_draft *draft, struct hx_error *err);

/* struct hx_method */
json_t *ott_draft_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p);

#endif
