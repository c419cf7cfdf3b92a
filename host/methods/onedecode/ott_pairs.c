/* Pairs of tokens, see ott_pairs.h. */
#include "ott_pairs.h"

#include <errno.h>
#include <stdlib.h>

static int by_tokens(const void *x, const void *y)
{
    const struct hx_ott_pair *a = x, *b = y;

    if (a->token != b->token)
        return a->token < b->token ? -1 : 1;
    return (a->next > b->next) - (a->next < b->next);
}

int hx_ott_pairs_count(struct hx_ott_pairs *p, const uint32_t *ids, size_t n)
{
    *p = (struct hx_ott_pairs){.at = calloc(n, sizeof(*p->at))};
    if (!p->at)
        return -ENOMEM;
    for (size_t i = 0; i + 1 < n; i++)
        p->at[i] = (struct hx_ott_pair){ids[i], ids[i + 1], 1};
    qsort(p->at, n - 1, sizeof(*p->at), by_tokens);
    for (size_t i = 0; i + 1 < n; i++)
        if (p->n && by_tokens(&p->at[p->n - 1], &p->at[i]) == 0)
            p->at[p->n - 1].count++;
        else
            p->at[p->n++] = p->at[i];
    return 0;
}

void hx_ott_pairs_free(struct hx_ott_pairs *p)
{
    free(p->at);
    *p = (struct hx_ott_pairs){0};
}

const struct hx_ott_pair *hx_ott_pairs_of(const struct hx_ott_pairs *p, uint32_t token, size_t *n)
{
    size_t low = 0, high = p->n;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (p->at[middle].token < token)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < p->n && p->at[low + *n].token == token;)
        ++*n;
    return p->at + low;
}
