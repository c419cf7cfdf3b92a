/* Inside the pager: pager.c makes and applies pages, pager_report.c tells about them. */
#ifndef HX_PAGER_IMPL_H
#define HX_PAGER_IMPL_H

#include "engine/linear.h"
#include "pager.h"

/* Some rows of a matrix, and where they lie. */
struct hx_pager_part {
    size_t row, rows;
    size_t page, at; /* `at` bytes behind the page's first */
};

struct hx_paged {
    struct hx_linear inner; /* as the method behind the pager had it, without bias */
    size_t first, n;        /* parts */
};

struct hx_pager {
    const struct hx_model *model;
    struct hx_pager_how how;
    size_t page_bytes;
    struct hx_prefetch *buffer;
    struct hx_paged *matrices;      /* [n_matrices] in the order of a forward pass */
    struct hx_pager_part *parts;    /* [n_parts] likewise */
    struct hx_prefetch_item *pages; /* [n_pages] likewise */
    size_t n_matrices, n_parts, n_pages;
    size_t most_rows;    /* of a part of a matrix that has several */
    uint64_t bytes;      /* of all weights */
    float *rows;         /* [VECTORS][most_rows] */
    const uint8_t *held; /* a page; NULL: none */
    size_t held_page;
};

extern const struct hx_linear_ops hx_pager_linear;

#endif
