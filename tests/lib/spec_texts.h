/* Texts with and without a drafter, for tests of speculation: what was made, and how guesses did. */
#ifndef SPEC_TEXTS_H
#define SPEC_TEXTS_H

#include "generate/completion.h"
#include "golden.h"
#include "open_engine.h"

enum { SPEC_CTX = 128, SPEC_MOST = 64 };

struct spec_text {
    uint32_t ids[SPEC_MOST];
    size_t n, steps;
    struct hx_spec_stats stats; /* zeros without a drafter */
};

/* The golden prompts: 20. */
struct spec_prompts {
    struct { uint32_t *ids; size_t n; } at[32];
    size_t n;
};

static inline void spec_prompts_read(struct spec_prompts *p)
{
    json_t *j = golden_json(GOLDEN "reference-q8_0.json"), *list = json_object_get(j, "greedy");

    for (p->n = 0; p->n < json_array_size(list) && p->n < HXT_LEN(p->at); p->n++)
        p->at[p->n].ids = golden_ids(json_object_get(json_array_get(list, p->n), "prompt_tokens"), &p->at[p->n].n);
    json_decref(j);
}

static inline void spec_prompts_free(struct spec_prompts *p)
{
    while (p->n)
        free(p->at[--p->n].ids);
}

/* settings of an engine: those of `base`, then these; NULL ends either. */
static inline const char *const *spec_settings(const char *const *base, const char *const *more)
{
    static const char *all[32];
    size_t n = 0;

    for (size_t i = 0; base && base[i]; i++)
        all[n++] = base[i];
    for (size_t i = 0; more && more[i]; i++)
        all[n++] = more[i];
    all[n] = NULL;
    return all;
}

static inline struct hx_engine *spec_engine(const char *const *base, const char *const *more)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_Q8_0, .share = HXT_SRC "/host/data", .threads = 2,
                                                   .n_ctx = SPEC_CTX, .settings = spec_settings(base, more)});
}

/* Makes n tokens.  0, or what the step that failed returned; then t has what was made before. */
static inline int spec_make(struct spec_text *t, struct hx_engine *e, const struct hx_completion_cfg *cfg, struct hx_error *err)
{
    struct hx_completion c;
    int more = hx_completion_open(&c, e, cfg, err);

    if (more)
        fail_msg("%s", err->text);
    do
        more = hx_completion_step(&c, err);
    while (more > 0);
    *t = (struct spec_text){.n = c.n_made, .steps = c.steps};
    memcpy(t->ids, c.ids + cfg->n_prompt, c.n_made * sizeof(*t->ids));
    if (c.g.spec)
        t->stats = *hx_spec_stats(c.g.spec);
    hx_completion_close(&c);
    return more;
}

static inline void spec_text(struct spec_text *t, struct hx_engine *e, const struct hx_completion_cfg *cfg)
{
    struct hx_error err;

    if (spec_make(t, e, cfg, &err))
        fail_msg("%s", err.text);
}

static inline void spec_same(const struct spec_text *got, const struct spec_text *want, const char *who)
{
    for (size_t i = 0; i < want->n; i++)
        if (i >= got->n || got->ids[i] != want->ids[i])
            fail_msg("%s: token %zu of %zu is %u, without a drafter %u", who, i, got->n, i < got->n ? got->ids[i] : 0, want->ids[i]);
    assert_int_equal(got->n, want->n);
}

#endif
