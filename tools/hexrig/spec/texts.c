/* Reads prompts and texts, see texts.h. */
#include "texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "generate/ppl.h"
#include "prompts.h"
#include "text/text.h"

static int no_memory(struct hx_error *err)
{
    return hx_error_set(err, -ENOMEM, "out of memory");
}

static int add_prompt(struct hx_spec_texts *t, const struct hx_tokenizer *tok, const char *line, size_t n, struct hx_error *err)
{
    struct hx_spec_text *to = &t->prompt[t->n_prompts];
    int rc = hx_tokenizer_encode_with(tok, line, n, HX_ENCODE_BOS | HX_ENCODE_SPECIAL, &to->ids, &to->n);

    if (rc)
        return no_memory(err);
    t->n_prompts += to->n > 0;
    return 0;
}

/* Empty lines are none. */
static int read_prompts(struct hx_spec_texts *t, const struct hx_tokenizer *tok, const struct hx_spec_texts_cfg *cfg,
                        struct hx_error *err)
{
    char *all, *rest, *line;
    size_t n;
    int rc = hx_text_read(cfg->prompts, &all, &n, err);

    if (rc)
        return rc;
    for (rest = all; !rc && t->n_prompts < cfg->most && (line = strsep(&rest, "\n"));)
        if (*line)
            rc = add_prompt(t, tok, line, strlen(line), err);
    free(all);
    return rc || t->n_prompts ? rc : hx_error_set(err, -EINVAL, "%s: there is no prompt in it", cfg->prompts);
}

static int take_prompts(struct hx_spec_texts *t, const struct hx_tokenizer *tok, size_t most, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < HX_SPEC_PROMPTS && t->n_prompts < most; i++)
        rc = add_prompt(t, tok, hx_spec_prompts[i], strlen(hx_spec_prompts[i]), err);
    return rc;
}

static int copy_piece(struct hx_spec_text *to, const struct hx_tokenizer *tok, const uint32_t *ids, size_t n, struct hx_error *err)
{
    to->ids = malloc(n * sizeof(*to->ids));
    if (!to->ids)
        return no_memory(err);
    memcpy(to->ids, ids, n * sizeof(*ids));
    to->n = n;
    if (hx_tokenizer_adds_bos(tok))
        to->ids[0] = hx_tokenizer_bos(tok);
    return 0;
}

static int cut_pieces(struct hx_spec_texts *t, const struct hx_tokenizer *tok, const struct hx_spec_texts_cfg *cfg, const uint32_t *ids,
                      size_t n, struct hx_error *err)
{
    const size_t piece = HX_SPEC_FROM + cfg->tokens;
    int rc = 0;

    if (n < piece + 1)
        return hx_error_set(err, -EINVAL, "%s: %zu tokens; a piece has %zu", cfg->text, n, piece);
    while (!rc && t->n_given < cfg->most) {
        rc = copy_piece(&t->given[t->n_given], tok, ids + hx_ppl_window(n, piece, cfg->most, t->n_given), piece, err);
        t->n_given += !rc;
    }
    return rc;
}

static int read_given(struct hx_spec_texts *t, const struct hx_tokenizer *tok, const struct hx_spec_texts_cfg *cfg, struct hx_error *err)
{
    char *all;
    uint32_t *ids = NULL;
    size_t bytes, n;
    int rc = hx_text_read(cfg->text, &all, &bytes, err);

    if (rc)
        return rc;
    if (hx_tokenizer_encode(tok, all + cfg->skip, bytes - cfg->skip, &ids, &n))
        rc = no_memory(err);
    if (!rc)
        rc = cut_pieces(t, tok, cfg, ids, n, err);
    free(ids);
    free(all);
    return rc;
}

int hx_spec_texts_read(struct hx_spec_texts *t, const struct hx_tokenizer *tok, const struct hx_spec_texts_cfg *cfg,
                       struct hx_error *err)
{
    int rc;

    *t = (struct hx_spec_texts){.prompt = calloc(cfg->most, sizeof(*t->prompt)), .given = calloc(cfg->most, sizeof(*t->given))};
    if (!t->prompt || !t->given)
        return no_memory(err);
    rc = cfg->prompts ? read_prompts(t, tok, cfg, err) : take_prompts(t, tok, cfg->most, err);
    return rc ? rc : read_given(t, tok, cfg, err);
}

void hx_spec_texts_free(struct hx_spec_texts *t)
{
    while (t->n_prompts)
        free(t->prompt[--t->n_prompts].ids);
    while (t->n_given)
        free(t->given[--t->n_given].ids);
    free(t->prompt);
    free(t->given);
}
