/* Draft method `bigram`: after each token the one that followed it most often in a text, which should be another one than what
 * is written.  The least that a drafter with a table must beat. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "engine/draft.h"
#include "engine/method.h"
#include "engine/plan.h"
#include "text/text.h"

#define SHIPPED "books-holdout.txt"

struct bigram {
    struct hx_draft draft; /* first */
    struct { uint32_t next; float share; } *at; /* [vocab] by the token before; share 0: it was not there */
    size_t n_pairs;        /* of the text */
};

static int propose(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err)
{
    const struct bigram *b = (const struct bigram *)d;
    uint32_t last = ids[n - 1];
    int more = 1;

    (void)err;
    while (more && b->at[last].share > 0) {
        more = hx_draft_add(out, room, b->at[last].next, b->at[last].share);
        last = b->at[last].next;
    }
    return 0;
}

static int by_value(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

/* pairs [n]: token and next token, in order: the most frequent next one of each token, the lowest among equals. */
static void count(struct bigram *b, const uint64_t *pairs, size_t n)
{
    for (size_t i = 0, of_token; i < n; i += of_token) {
        const uint32_t token = (uint32_t)(pairs[i] >> 32);
        size_t most = 0;

        for (of_token = 0; i + of_token < n && pairs[i + of_token] >> 32 == token;) {
            size_t same = 1;

            while (i + of_token + same < n && pairs[i + of_token + same] == pairs[i + of_token])
                same++;
            if (same > most) {
                most = same;
                b->at[token].next = (uint32_t)pairs[i + of_token];
            }
            of_token += same;
        }
        b->at[token].share = (float)most / (float)of_token;
    }
    b->n_pairs = n;
}

static int count_ids(struct bigram *b, const uint32_t *ids, size_t n, struct hx_error *err)
{
    uint64_t *pairs = n > 1 ? calloc(n - 1, sizeof(*pairs)) : NULL;

    if (n < 2)
        return hx_error_set(err, -EINVAL, "draft bigram: a text of %zu tokens has no pairs", n);
    if (!pairs)
        return hx_error_set(err, -ENOMEM, "draft bigram: out of memory");
    for (size_t i = 0; i + 1 < n; i++)
        pairs[i] = (uint64_t)ids[i] << 32 | ids[i + 1];
    qsort(pairs, n - 1, sizeof(*pairs), by_value);
    count(b, pairs, n - 1);
    free(pairs);
    return 0;
}

/* Of --draft-text, or of the text that comes with hexrig. */
static int count_text(struct bigram *b, const struct hx_open *o, struct hx_error *err)
{
    const char *path = hx_plan_text(o->plan, "draft-text");
    char *shipped = NULL;
    uint32_t *ids = NULL;
    size_t n;
    int rc = 0;

    if (!path && (!o->share || asprintf(&shipped, "%s/" SHIPPED, o->share) < 0))
        return hx_error_set(err, -ENOENT, "draft bigram: no folder with " SHIPPED " is known: %s FILE",
                            hx_plan_spell(o->plan, "draft-text"));
    rc = hx_text_encode(o->model->tok, path ? path : shipped, &ids, &n, err);
    if (!rc)
        rc = count_ids(b, ids, n, err);
    free(ids);
    free(shipped);
    return rc;
}

static void close_bigram(struct hx_draft *d)
{
    free(((struct bigram *)d)->at);
    free(d);
}

static const struct hx_draft_ops ops = {.name = "bigram", .propose = propose, .close = close_bigram};

static int open_bigram(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    struct bigram *b = calloc(1, sizeof(*b));
    int rc;

    if (!b)
        return hx_error_set(err, -ENOMEM, "draft bigram: out of memory");
    b->draft.ops = &ops;
    b->at = calloc(o->model->vocab, sizeof(*b->at));
    rc = b->at ? count_text(b, o, err) : hx_error_set(err, -ENOMEM, "draft bigram: out of memory");
    if (rc)
        close_bigram(&b->draft);
    else
        *out = &b->draft;
    return rc;
}

static json_t *report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct bigram *b = self;
    const char *path = hx_plan_text(p, "draft-text");

    (void)kv;
    return json_pack("{s:o, s:I}", "text", hx_json_text(path ? path : SHIPPED), "pairs", (json_int_t)b->n_pairs);
}

static const struct hx_option options[] = {
    {.name = "draft-text", .arg = "FILE", .help = "the text that is counted, or baked from (" SHIPPED ")"},
    {.name = NULL},
};

const struct hx_method hx_method_draft_bigram = {
    .name = "bigram",
    .seam = HX_SEAM_DRAFT,
    .about = "what followed the last token most often in another text",
    .options = options,
    .open.draft = open_bigram,
    .reports = "bigram",
    .report = report,
};
