/* What the pager tells about pages, reads and waits. */
#include "pager_impl.h"

static json_t *pages_json(const struct hx_pager *p)
{
    size_t largest = 0;

    for (size_t i = 0; i < p->n_pages; i++)
        largest = p->pages[i].bytes > largest ? p->pages[i].bytes : largest;
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "matrices", (json_int_t)p->n_matrices, "pages", (json_int_t)p->n_pages,
                     "weight_bytes", (json_int_t)p->bytes, "largest_page", (json_int_t)largest, "slots",
                     (json_int_t)HX_PREFETCH_SLOTS);
}

json_t *hx_pager_report(struct hx_pager *p)
{
    struct hx_prefetch_stats s;
    json_t *j = pages_json(p);

    hx_prefetch_stats(p->buffer, &s);
    if (j && !hx_pager_how_report(&p->how, &s, j))
        return j;
    json_decref(j);
    return NULL;
}
