/* Inside the plan: --linear MAP, which method applies which matrix; see plan.h for the text. */
#ifndef HX_LINEAR_MAP_H
#define HX_LINEAR_MAP_H

#include "method.h"

enum { HX_LINEAR_MAP_ITEMS = 32 }; /* most of a text */

struct hx_linear_map {
    struct hx_linear_item {
        char *text;       /* the item as it was given */
        const struct hx_method *method;
        char *arg;        /* NULL: none */
        uint32_t set;     /* bits of matrices; 0: all, whatever the layer */
        size_t from, to;  /* layers, inclusive; the output matrix is of none */
    } at[1 + HX_LINEAR_MAP_ITEMS]; /* the default method, and what was said */
    size_t n;
};

/* Begins a map: this method applies all matrices.  0 or -ENOMEM. */
int hx_linear_map_begin(struct hx_linear_map *map, const struct hx_method *base, struct hx_error *err);

/* Adds the items of a text to a map that has begun; methods: those that it may name.  0; -EINVAL with a reason that names
 * the item; -ENOMEM. */
int hx_linear_map_parse(struct hx_linear_map *map, const struct hx_method *const *methods, const char *text,
                        struct hx_error *err);

/* The item that a matrix falls under: the last one that covers it; NULL: none does. */
const struct hx_linear_item *hx_linear_map_at(const struct hx_linear_map *map, size_t layer, enum hx_matrix which);

/* The last item for all matrices; NULL: there is none. */
const struct hx_linear_item *hx_linear_map_base(const struct hx_linear_map *map);

void hx_linear_map_free(struct hx_linear_map *map);

#endif
