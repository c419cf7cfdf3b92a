/* Weights page by page: which pages there are, and applying matrices out of them. */
#include "pager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/linear.h"
#include "pager_impl.h"
#include "quant/quant.h"

enum {
    ROWS = 16,     /* parts of a matrix are multiples of it, as methods like them */
    GAP = 4096,    /* bytes between two tensors that are worth reading for one page instead of two */
    VECTORS = 64,  /* multiplied at once with a part of a matrix */
};

/* --- which pages there are */

static size_t row_bytes(const struct hx_linear *w)
{
    return hx_quant_row_bytes(w->type, w->cols);
}

/* Rows of a matrix that go into a page of their own. */
static size_t rows_of_part(const struct hx_pager *p, const struct hx_linear *w)
{
    const size_t most = p->page_bytes / row_bytes(w) / ROWS * ROWS;
    const size_t rows = most ? most : ROWS;

    return rows < w->rows ? rows : w->rows;
}

/* Where `bytes` at `offset` of the file lie: in the last page, if they fit there, or in a new one. */
static void place(struct hx_pager *p, struct hx_pager_part *part, uint64_t offset, size_t bytes)
{
    struct hx_prefetch_item *last = p->n_pages ? &p->pages[p->n_pages - 1] : NULL;

    if (!last || offset < last->offset + last->bytes || offset > last->offset + last->bytes + GAP ||
        offset + bytes > last->offset + p->page_bytes) {
        last = &p->pages[p->n_pages++];
        *last = (struct hx_prefetch_item){offset, 0};
    }
    last->bytes = offset + bytes - last->offset;
    part->page = p->n_pages - 1;
    part->at = offset - last->offset;
}

static void cut(struct hx_pager *p, struct hx_paged *m)
{
    const struct hx_linear *w = &m->inner;
    const uint64_t offset = hx_gguf_offset(p->model->file, w->w);
    const size_t each = rows_of_part(p, w), bytes = row_bytes(w);

    m->first = p->n_parts;
    for (size_t row = 0; row < w->rows; row += each) {
        struct hx_pager_part *part = &p->parts[p->n_parts++];

        part->row = row;
        part->rows = w->rows - row < each ? w->rows - row : each;
        place(p, part, offset + row * bytes, part->rows * bytes);
    }
    m->n = p->n_parts - m->first;
    if (m->n > 1 && each > p->most_rows)
        p->most_rows = each;
    p->bytes += (uint64_t)w->rows * bytes;
}

static size_t n_places(const struct hx_matrices *m)
{
    return m->n_layer * HX_PER_LAYER + 1;
}

/* In the order of a forward pass; NULL: the architecture has no such matrix. */
static struct hx_linear *matrix_at(struct hx_matrices *m, size_t i)
{
    struct hx_linear *w = hx_matrices_at(m, i / HX_PER_LAYER, i + 1 < n_places(m) ? (enum hx_matrix)(i % HX_PER_LAYER) : HX_OUT);

    return w->rows ? w : NULL;
}

static int alloc_pages(struct hx_pager *p, struct hx_matrices *matrices)
{
    size_t parts = 0;

    for (size_t i = 0; i < n_places(matrices); i++) {
        const struct hx_linear *w = matrix_at(matrices, i);

        if (w)
            parts += (w->rows - 1) / rows_of_part(p, w) + 1;
    }
    p->matrices = calloc(n_places(matrices), sizeof(*p->matrices));
    p->parts = calloc(parts, sizeof(*p->parts));
    p->pages = calloc(parts, sizeof(*p->pages));
    return p->matrices && p->parts && p->pages ? 0 : -ENOMEM;
}

/* Biases stay with the caller: hx_linear_apply() adds them to the whole. */
static void adopt(struct hx_pager *p, struct hx_linear *w)
{
    struct hx_paged *m = &p->matrices[p->n_matrices];

    m->inner = *w;
    m->inner.bias = NULL;
    cut(p, m);
    w->ops = &hx_pager_linear;
    w->state = p;
    w->index = (uint32_t)p->n_matrices++;
}

/* --- pages, one at a time */

static void let_go(struct hx_pager *p)
{
    if (p->held)
        hx_prefetch_put(p->buffer, p->held);
    p->held = NULL;
}

static int hold(struct hx_pager *p, size_t page, struct hx_error *err)
{
    const void *bytes;
    int rc;

    if (p->held && p->held_page == page)
        return 0;
    let_go(p);
    rc = hx_prefetch_get(p->buffer, &p->pages[page], &bytes, err);
    if (rc)
        return rc;
    p->held = bytes;
    p->held_page = page;
    return 0;
}

/* --- applying */

/* One apply(): x, and the matrices out of one page that are to be applied together. */
struct job {
    struct hx_pager *p;
    const float *x;
    size_t n;
    float *scratch;
    struct hx_error *err;
    struct hx_linear w[HX_LINEAR_TOGETHER];
    float *y[HX_LINEAR_TOGETHER];
    size_t n_w;
};

static int flush(struct job *j)
{
    const struct hx_linear *w[HX_LINEAR_TOGETHER];
    const size_t n = j->n_w;

    for (size_t i = 0; i < n; i++)
        w[i] = &j->w[i];
    j->n_w = 0;
    return n ? hx_linear_apply(w, j->y, n, j->x, j->n, j->scratch, j->err) : 0;
}

/* Some rows of y[n][rows] come out side by side, so those of several vectors go through a buffer. */
static int apply_rows(struct job *j, const struct hx_linear *part, size_t first, size_t rows, float *y)
{
    float *to = j->p->rows;
    int rc = 0;

    for (size_t i = 0; i < j->n && !rc; i += VECTORS) {
        const size_t now = j->n - i < VECTORS ? j->n - i : VECTORS;

        rc = hx_linear_apply(&part, &to, 1, j->x + i * part->cols, now, j->scratch, j->err);
        for (size_t v = 0; v < now && !rc; v++)
            memcpy(y + (i + v) * rows + first, to + v * part->rows, part->rows * sizeof(*y));
    }
    return rc;
}

static int apply_part(struct job *j, const struct hx_paged *m, const struct hx_pager_part *part, float *y)
{
    struct hx_linear w = m->inner;
    int rc = 0;

    if (!(j->p->held && j->p->held_page == part->page)) {
        rc = flush(j);
        if (!rc)
            rc = hold(j->p, part->page, j->err);
    }
    if (rc)
        return rc;
    w.w = j->p->held + part->at;
    w.rows = part->rows;
    if (m->n > 1 && j->n > 1)
        return apply_rows(j, &w, part->row, m->inner.rows, y);
    if (j->n_w == HX_LINEAR_TOGETHER)
        rc = flush(j);
    j->w[j->n_w] = w;
    j->y[j->n_w++] = y + part->row;
    return rc;
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, float *scratch,
                 struct hx_error *err)
{
    struct job j = {.p = w[0]->state, .x = x, .n = n, .scratch = scratch, .err = err};
    int rc = 0;

    for (size_t i = 0; i < n_m && !rc; i++) {
        const struct hx_paged *m = &j.p->matrices[w[i]->index];

        for (size_t k = 0; k < m->n && !rc; k++)
            rc = apply_part(&j, m, &j.p->parts[m->first + k], y[i]);
    }
    return rc ? rc : flush(&j);
}

const struct hx_linear_ops hx_pager_linear = {"paged", apply, NULL, 1, NULL};

/* --- open and close */

static int open_buffer(struct hx_pager *p, struct hx_error *err)
{
    const struct hx_prefetch_cfg cfg = hx_pager_buffer(&p->how);
    int rc = hx_prefetch_open(&p->buffer, hx_gguf_name(p->model->file), &cfg, err);

    return rc ? rc : hx_prefetch_plan(p->buffer, p->pages, p->n_pages, err);
}

int hx_pager_open(struct hx_pager **out, const struct hx_model *m, struct hx_matrices *matrices, size_t page_bytes,
                  const struct hx_pager_how *how, struct hx_error *err)
{
    struct hx_pager *p = calloc(1, sizeof(*p));
    int rc = 0;

    if (!p)
        return hx_error_set(err, -ENOMEM, "pages of weights: out of memory");
    p->model = m;
    p->how = *how;
    p->page_bytes = page_bytes;
    if (!m->file)
        rc = hx_error_set(err, -EINVAL, "pages of weights: the model has no file");
    else if (hx_gguf_facts(m->file).n_files > 1)
        rc = hx_error_set(err, -EINVAL, "%s: the model is in %zu files; pages of weights come from one", hx_gguf_name(m->file),
                          hx_gguf_facts(m->file).n_files);
    else if (alloc_pages(p, matrices))
        rc = hx_error_set(err, -ENOMEM, "%s: no memory for a list of its pages", hx_gguf_name(m->file));
    for (size_t i = 0; i < n_places(matrices) && !rc; i++)
        if (matrix_at(matrices, i))
            adopt(p, matrix_at(matrices, i));
    if (!rc && p->most_rows && !(p->rows = malloc(VECTORS * p->most_rows * sizeof(*p->rows))))
        rc = hx_error_set(err, -ENOMEM, "%s: no memory for products of %zu rows", hx_gguf_name(m->file), p->most_rows);
    if (!rc)
        rc = open_buffer(p, err);
    if (rc) {
        hx_pager_close(p);
        return rc;
    }
    *out = p;
    return 0;
}

struct hx_pager_sums hx_pager_sums(struct hx_pager *p)
{
    struct hx_prefetch_stats s;

    hx_prefetch_stats(p->buffer, &s);
    return (struct hx_pager_sums){1e-9 * (double)s.stall.sum, 1e-9 * (double)s.read_ns, s.bytes_read};
}

void hx_pager_close(struct hx_pager *p)
{
    if (!p)
        return;
    let_go(p);
    hx_prefetch_close(p->buffer);
    free(p->rows);
    free(p->pages);
    free(p->parts);
    free(p->matrices);
    free(p);
}
