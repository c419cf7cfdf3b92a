/* Memory of one encoding: the ids that it makes, and scratch text. */
#include <errno.h>
#include <stdlib.h>

#include "tokenizer_impl.h"

int hx_ids_reserve(struct hx_ids *ids, size_t n)
{
    size_t need, cap;
    uint32_t *p;

    if (n <= ids->cap - ids->n)
        return 0;
    if (__builtin_add_overflow(ids->n, n, &need) || need > SIZE_MAX / (2 * sizeof(*p)))
        return -ENOMEM;
    cap = need < 2 * ids->cap ? 2 * ids->cap : need;
    p = realloc(ids->p, cap * sizeof(*p));
    if (!p)
        return -ENOMEM;
    ids->p = p;
    ids->cap = cap;
    return 0;
}

int hx_encode_text_room(struct hx_encode_work *w, size_t n)
{
    if (n <= w->text_cap)
        return 0;
    free(w->text);
    w->text = malloc(n);
    w->text_cap = w->text ? n : 0;
    return w->text ? 0 : -ENOMEM;
}
