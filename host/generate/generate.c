/* The generation loop, see generate.h. */
#include "generate.h"

#include <errno.h>
#include <stdlib.h>

int hx_generate_prefill(const struct hx_generate *g, const uint32_t *prompt, size_t n_prompt,
                        struct hx_error *err)
{
    return n_prompt > 1 ? hx_engine_run(g->e, prompt, n_prompt - 1, 0, err) : 0;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* The token that follows token `index` of the last run. */
static int choose(const struct hx_generate *g, size_t index, float *logits, uint32_t *id,
                  struct hx_error *err)
{
    if (g->e->argmax)
        return hx_forward_argmax(g->e->forward, index, 1, id, err);
    int rc = hx_forward_logits(g->e->forward, index, 1, logits, err);

    if (!rc)
        *id = hx_sampler_pick(g->s, logits);
    return rc;
}

/* The last of the n known tokens and the guesses after it run as one batch; tokens are picked as long as the guesses were
 * right.  The cache holds wrong guesses until the next step overwrites them. */
long hx_generate_step(const struct hx_generate *g, uint32_t *ids, size_t n, size_t left,
                      float *logits, struct hx_error *err)
{
    uint32_t batch[1 + HX_DRAFT_MAX] = {ids[n - 1]};
    size_t max = min3(HX_DRAFT_MAX, left - 1, hx_forward_max_batch(g->e->forward) - 1);
    size_t guesses = max ? g->draft->ops->propose(g->draft, ids, n, batch + 1, max) : 0, made = 0;
    int rc = hx_forward_run(g->e->forward, batch, 1 + guesses, n - 1, err);

    if (rc)
        return rc;
    do {
        rc = choose(g, made, logits, &ids[n + made], err);
        if (rc)
            return rc;
        made++;
    } while (made <= guesses && ids[n + made - 1] == batch[made]);
    return (long)made;
}

int hx_generate_run(const struct hx_generate *g, uint32_t *ids, size_t n_prompt, size_t n,
                    size_t *steps, struct hx_error *err)
{
    float *logits = malloc(g->e->model->vocab * sizeof(*logits));
    long made = 0;

    if (!logits)
        return hx_error_set(err, -ENOMEM, "out of memory");
    *steps = 0;
    for (size_t done = 0; done < n; done += (size_t)made, ++*steps) {
        made = hx_generate_step(g, ids, n_prompt + done, n - done, logits, err);
        if (made < 0)
            break;
    }
    free(logits);
    return made < 0 ? (int)made : 0;
}
