/* What drafters guess at: prompts that greedy texts begin with, and pieces of a text that is given. */
#ifndef HX_SPEC_TEXTS_H
#define HX_SPEC_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "text/tokenizer.h"

enum { HX_SPEC_TEXTS = 1024, HX_SPEC_FROM = 16 }; /* FROM: known tokens of a given piece, in front of the first guess */

struct hx_spec_text {
    uint32_t *ids;
    size_t n;
};

struct hx_spec_texts {
    struct hx_spec_text *prompt, *given; /* [n_prompts], [n_given] */
    size_t n_prompts, n_given;
};

struct hx_spec_texts_cfg {
    const char *prompts; /* path: a prompt in each line; NULL: prompts.h */
    const char *text;    /* path */
    size_t skip;         /* bytes at its beginning that no piece comes from */
    size_t most;         /* prompts and pieces each, 1..HX_SPEC_TEXTS: the first prompts, and pieces evenly spread */
    size_t tokens;       /* of a piece, behind those that are known */
};

/* 0 or negative errno with a reason; -EINVAL: no prompt, or a text that is too short.  The caller frees in any case. */
int hx_spec_texts_read(struct hx_spec_texts *t, const struct hx_tokenizer *tok, const struct hx_spec_texts_cfg *cfg,
                       struct hx_error *err);

void hx_spec_texts_free(struct hx_spec_texts *t);

#endif
