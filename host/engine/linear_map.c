/* --linear MAP: which method applies which matrix of which layers. */
#include "linear_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad_item(struct hx_error *err, const char *item, size_t n, const char *what)
{
    return hx_error_set(err, -EINVAL, "%.*s: %s", (int)(n < 64 ? n : 64), item, what);
}

/* "FROM" or "FROM-TO", n characters. */
static int parse_layers(struct hx_linear_item *to, const char *text, size_t n)
{
    char copy[48], *end;

    if (n == 0 || n >= sizeof(copy) || *text < '0' || *text > '9')
        return -EINVAL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    errno = 0;
    to->from = to->to = strtoull(copy, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        to->to = strtoull(end + 1, &end, 10);
    return errno || *end || to->to < to->from || to->to == SIZE_MAX ? -EINVAL : 0; /* SIZE_MAX: there is no end */
}

/* "SET" or "SET@LAYERS", n characters. */
static int parse_set(struct hx_linear_item *to, const char *item, size_t n, struct hx_error *err)
{
    const char *at = memchr(item, '@', n);
    const size_t word = at ? (size_t)(at - item) : n;

    to->set = hx_matrix_set(item, word);
    if (!to->set)
        return bad_item(err, item, n, "no such matrices; legal: wq wk wv wo gate up down out (or their tensors' names), "
                        "attn, ffn, all");
    if (!at)
        return 0;
    if (to->set == 1u << HX_OUT)
        return bad_item(err, item, n, "the output matrix is of no layer");
    return parse_layers(to, at + 1, n - word - 1) ? bad_item(err, item, n, "layers are FROM or FROM-TO, from 0") : 0;
}

/* "METHOD" or "METHOD:ARG", n characters. */
static int parse_method(struct hx_linear_item *to, const struct hx_method *const *methods, const char *text, size_t n,
                        struct hx_error *err)
{
    const char *colon = memchr(text, ':', n);
    const size_t name = colon ? (size_t)(colon - text) : n;
    char legal[160];
    int rc;

    to->method = hx_method_find(methods, HX_SEAM_LINEAR, text, name);
    if (!to->method) {
        hx_method_list(methods, HX_SEAM_LINEAR, legal, sizeof(legal));
        return hx_error_set(err, -EINVAL, "unknown value '%.*s'; legal: %s", (int)(name < 64 ? name : 64),
                            text, legal);
    }
    if (colon && !(to->arg = strndup(colon + 1, n - name - 1)))
        return hx_error_set(err, -ENOMEM, "out of memory");
    rc = hx_method_check_arg(to->method, to->arg, legal, sizeof(legal));
    return rc ? bad_item(err, text, n, legal) : 0;
}

static int parse_item(struct hx_linear_item *to, const struct hx_method *const *methods, const char *item, size_t n,
                      struct hx_error *err)
{
    const char *equals = memchr(item, '=', n);
    int rc = 0;

    *to = (struct hx_linear_item){.text = strndup(item, n), .to = SIZE_MAX};
    if (!to->text)
        return hx_error_set(err, -ENOMEM, "out of memory");
    if (equals)
        rc = parse_set(to, item, (size_t)(equals - item), err);
    if (rc)
        return rc;
    return equals ? parse_method(to, methods, equals + 1, n - (size_t)(equals + 1 - item), err)
                  : parse_method(to, methods, item, n, err);
}

int hx_linear_map_begin(struct hx_linear_map *map, const struct hx_method *base, struct hx_error *err)
{
    map->at[0] = (struct hx_linear_item){.text = strdup(base->name), .method = base, .to = SIZE_MAX};
    map->n = 1;
    return map->at[0].text ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
}

int hx_linear_map_parse(struct hx_linear_map *map, const struct hx_method *const *methods, const char *text,
                        struct hx_error *err)
{
    for (const char *item = text;; item++) {
        const size_t n = strcspn(item, ",");
        int rc;

        if (map->n == sizeof(map->at) / sizeof(map->at[0]))
            return hx_error_set(err, -EINVAL, "more than %d items", HX_LINEAR_MAP_ITEMS);
        rc = parse_item(&map->at[map->n++], methods, item, n, err); /* counted in any case: it may own memory */
        if (rc)
            return rc;
        item += n;
        if (!*item)
            return 0;
    }
}

static int names(const struct hx_linear_item *i, size_t layer, enum hx_matrix which)
{
    if (!(i->set & 1u << which))
        return 0;
    /* a range of layers leaves the output matrix out */
    return which == HX_OUT ? i->from == 0 && i->to == SIZE_MAX : layer >= i->from && layer <= i->to;
}

const struct hx_linear_item *hx_linear_map_at(const struct hx_linear_map *map, size_t layer, enum hx_matrix which)
{
    for (size_t i = map->n; i-- > 0;)
        if (!map->at[i].set || names(&map->at[i], layer, which))
            return &map->at[i];
    return NULL;
}

const struct hx_linear_item *hx_linear_map_base(const struct hx_linear_map *map)
{
    for (size_t i = map->n; i-- > 0;)
        if (!map->at[i].set)
            return &map->at[i];
    return NULL;
}

void hx_linear_map_free(struct hx_linear_map *map)
{
    for (size_t i = 0; i < map->n; i++) {
        free(map->at[i].text);
        free(map->at[i].arg);
    }
    map->n = 0;
}
