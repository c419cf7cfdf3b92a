/* Log-probabilities of tokens. */
#include "logprobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log_sum.h"

int hx_logprobs_open(struct hx_logprobs *p, size_t n, size_t top)
{
    *p = (struct hx_logprobs){.top = top, .room = n};
    p->made = calloc(n, sizeof(*p->made));
    p->best = top ? calloc(n, top * sizeof(*p->best)) : NULL;
    return p->made && (!top || p->best) ? 0 : -ENOMEM;
}

void hx_logprobs_close(struct hx_logprobs *p)
{
    free(p->made);
    free(p->best);
    memset(p, 0, sizeof(*p));
}

/* One more candidate for the list [n], which stays in order; returns its new length. */
static size_t insert(struct hx_logprob *list, size_t n, size_t most, struct hx_logprob p)
{
    size_t at = n;

    while (at && list[at - 1].logprob < p.logprob)
        at--;
    if (at == most)
        return n;
    n += n < most;
    memmove(list + at + 1, list + at, (n - 1 - at) * sizeof(*list));
    list[at] = p;
    return n;
}

void hx_logprobs_look(struct hx_logprobs *p, const float *logits, size_t vocab)
{
    struct hx_logprob *best = p->best ? p->best + p->n * p->top : NULL;
    struct hx_log_sum sum;
    size_t n = 0;

    if (p->n == p->room)
        return;
    sum = hx_log_sum(logits, vocab);
    p->log_sum = sum.rest + (double)sum.most;
    for (size_t i = 0; best && i < vocab; i++)
        if (!isnan(logits[i]) && (n < p->top || logits[i] > best[n - 1].logprob))
            n = insert(best, n, p->top, (struct hx_logprob){(uint32_t)i, logits[i]});
    for (size_t i = 0; i < n; i++)
        best[i].logprob = (float)((double)best[i].logprob - p->log_sum);
}

void hx_logprobs_made(struct hx_logprobs *p, uint32_t id, float logit)
{
    if (p->n < p->room)
        p->made[p->n++] = (struct hx_logprob){id, (float)((double)logit - p->log_sum)};
}
