/* Cuts a model's weights into items in the order of a forward pass, and computes with each as one would. */
#include "bench_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/arch/arch.h"
#include "model/model.h"

enum { RAW_COLS = 1024 };

static int add(struct hx_walk *w, struct hx_walk_item item)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 64;
        struct hx_walk_item *items = realloc(w->items, cap * sizeof(*items));

        if (!items)
            return -ENOMEM;
        w->items = items;
        w->cap = cap;
    }
    w->items[w->n++] = item;
    w->bytes += item.at.bytes;
    return 0;
}

/* `rows` rows from `offset` on, in items of at most item_bytes, but of one row at least. */
static int add_rows(struct hx_walk *w, uint64_t offset, uint32_t type, size_t rows, size_t cols,
                    size_t item_bytes)
{
    const size_t row = hx_quant_row_bytes(type, cols);
    const size_t fit = item_bytes / row ? item_bytes / row : 1;
    int rc = 0;

    for (size_t at = 0; !rc && at < rows; at += fit) {
        size_t now = rows - at < fit ? rows - at : fit;

        rc = add(w, (struct hx_walk_item){{offset + at * row, now * row}, type, now, cols});
    }
    return rc;
}

static int add_matrix(struct hx_walk *w, const struct hx_model *m, const struct hx_linear *l,
                      size_t item_bytes)
{
    return add_rows(w, hx_gguf_offset(m->file, l->w), l->type, l->rows, l->cols, item_bytes);
}

/* In the order in which a forward pass asks for them. */
static int add_layer(struct hx_walk *w, const struct hx_model *m, const struct hx_layer *l,
                     size_t item_bytes)
{
    const struct hx_linear *const all[] = {&l->q, &l->k, &l->v, &l->o, &l->gate, &l->up, &l->down};
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i]->rows) /* not every architecture has a gate */
            rc = add_matrix(w, m, all[i], item_bytes);
    return rc;
}

static int finish(struct hx_walk *w, const char *path, int rc, struct hx_error *err)
{
    if (!rc)
        w->plan = calloc(w->n, sizeof(*w->plan));
    if (rc || !w->plan)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    for (size_t i = 0; i < w->n; i++)
        w->plan[i] = w->items[i].at;
    return 0;
}

int hx_walk_model(struct hx_walk *w, const char *path, size_t item_bytes, struct hx_error *err)
{
    struct hx_model *m;
    int rc = hx_model_open(&m, path, hx_archs, err);

    if (rc)
        return rc;
    w->layers = m->n_layer;
    for (size_t i = 0; !rc && i < m->n_layer; i++)
        rc = add_layer(w, m, &m->layers[i], item_bytes);
    if (!rc)
        rc = add_matrix(w, m, &m->out, item_bytes);
    hx_model_close(m); /* a mapped page would not leave the page cache */
    return finish(w, path, rc, err);
}

int hx_walk_file(struct hx_walk *w, const char *path, size_t item_bytes, struct hx_error *err)
{
    struct stat st;
    size_t rows;

    if (stat(path, &st))
        return hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    rows = S_ISREG(st.st_mode)
               ? (size_t)st.st_size / hx_quant_row_bytes(HX_QUANT_F16, RAW_COLS)
               : 0;
    if (!rows)
        return hx_error_set(err, -EINVAL, "%s: a regular file of at least %zu bytes is needed", path,
                          hx_quant_row_bytes(HX_QUANT_F16, RAW_COLS));
    w->layers = 1;
    return finish(w, path, add_rows(w, 0, HX_QUANT_F16, rows, RAW_COLS, item_bytes), err);
}

int hx_walk_prepare(struct hx_walk *w, size_t tokens, struct hx_error *err)
{
    size_t cols = 0, rows = 0;
    uint32_t state = 1;

    for (size_t i = 0; i < w->n; i++) {
        cols = w->items[i].cols > cols ? w->items[i].cols : cols;
        rows = w->items[i].rows > rows ? w->items[i].rows : rows;
    }
    w->tokens = tokens;
    w->x = calloc(tokens, cols * sizeof(float));
    w->y = calloc(tokens, rows * sizeof(float));
    w->scratch = calloc(cols, sizeof(float));
    if (!w->x || !w->y || !w->scratch)
        return hx_error_set(err, -ENOMEM, "no memory for %zu vectors of %zu", tokens, cols + rows);
    for (size_t i = 0; i < tokens * cols; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes' generator: any numbers will do */
        w->x[i] = (float)(int32_t)state * 0x1p-31f;
    }
    return 0;
}

uint64_t hx_walk_compute(const struct hx_walk *w, const struct hx_walk_item *item, const void *bytes)
{
    const struct hx_linear l = {.ops = &hx_linear_ref, .w = bytes, .type = item->type,
                                .rows = item->rows, .cols = item->cols};
    const struct hx_linear *const w_of = &l;
    uint64_t sum = 0;

    l.ops->apply(&w_of, &w->y, 1, w->x, w->tokens, w->scratch, NULL); /* the reference cannot fail */
    for (size_t i = 0; i < w->tokens * item->rows; i++) {
        uint32_t bits;

        memcpy(&bits, &w->y[i], sizeof(bits));
        sum = sum * 31 + bits;
    }
    return sum;
}

void hx_walk_free(struct hx_walk *w)
{
    free(w->items);
    free(w->plan);
    free(w->x);
    free(w->y);
    free(w->scratch);
    *w = (struct hx_walk){0};
}
