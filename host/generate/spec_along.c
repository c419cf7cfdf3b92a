/* Guesses along a text, see spec_along.h. */
#include "spec_along.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int steps(const struct hx_generate *g, const uint32_t *ids, size_t n, size_t from, uint32_t *text, float *logits,
                 struct hx_error *err)
{
    const size_t n_ctx = g->e->kv->n_ctx;
    int rc = hx_generate_prefill(g, ids, from, err);

    for (size_t i = from; !rc && i <= n; i++) {
        const size_t most = n_ctx - i + 1, left = most < 1 + HX_DRAFT_MAX ? most : 1 + HX_DRAFT_MAX;
        long made;

        memcpy(text, ids, i * sizeof(*text)); /* without what the step before has made */
        made = hx_generate_step(g, text, i, left, logits, err);
        rc = made < 0 ? (int)made : 0;
    }
    return rc;
}

int hx_spec_along(const struct hx_generate *g, const uint32_t *ids, size_t n, size_t from, struct hx_error *err)
{
    uint32_t *text = calloc(n + 1 + HX_DRAFT_MAX, sizeof(*text));
    float *logits = calloc(g->e->model->vocab, sizeof(*logits));
    int rc = text && logits ? steps(g, ids, n, from, text, logits, err) : hx_error_set(err, -ENOMEM, "out of memory");

    free(text);
    free(logits);
    return rc;
}
