/* --release-file: the model's file goes once the methods have its weights in a form of their own. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core.h"
#include "linear.h"

/* Resident memory of this process, bytes; the pages counted one by one where the kernel does that.  0: it does not say. */
static uint64_t rss(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    unsigned long long kib = 0, pages = 0;
    char line[256];

    while (f && !kib && fgets(line, sizeof(line), f))
        if (sscanf(line, "Rss: %llu kB", &kib) != 1)
            kib = 0;
    if (f)
        fclose(f);
    if (kib)
        return kib << 10;
    f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* 1: nobody reads this matrix from the file any more.  Embeddings and positions are read row by row, whoever else has them. */
static int is_copied(const struct hx_core *c, const struct hx_linear *w)
{
    return w->rows && !w->ops->reads_file && w->w != c->model->embd.w && w->w != c->model->positions.w;
}

static struct hx_gguf_span span_of(const struct hx_core *c, const struct hx_linear *w)
{
    const uint64_t from = hx_gguf_offset(c->model->file, w->w);

    return (struct hx_gguf_span){from, from + w->rows * hx_quant_row_bytes(w->type, w->cols)};
}

/* Takes the spans of all matrices that can go; in the model and in the engine they point nowhere from now on. */
static size_t take_spans(struct hx_core *c, struct hx_gguf_span *spans)
{
    size_t n = 0;

    for (size_t i = 0; i < c->matrices.n_layer * HX_PER_LAYER + 1; i++) {
        const size_t layer = i / HX_PER_LAYER;
        const enum hx_matrix which = layer < c->matrices.n_layer ? (enum hx_matrix)(i % HX_PER_LAYER) : HX_OUT;
        struct hx_linear *w = hx_matrices_at(&c->matrices, layer, which);
        struct hx_linear *own = which == HX_OUT ? &c->own_model->out : hx_layer_matrix(&c->own_model->layers[layer], which);

        if (!is_copied(c, w))
            continue;
        spans[n++] = span_of(c, w);
        w->w = own->w = NULL;
    }
    return n;
}

int hx_core_release(struct hx_core *c, const struct hx_plan *plan, struct hx_error *err)
{
    struct hx_gguf_span *spans;
    int rc;

    if (c->released.before)
        return 0;
    if (!c->own_model)
        return hx_error_set(err, -EINVAL, "%s: the model is not this engine's own", hx_plan_spell(plan, "release-file"));
    spans = calloc(c->matrices.n_layer * HX_PER_LAYER + 1, sizeof(*spans));
    if (!spans)
        return hx_error_set(err, -ENOMEM, "out of memory");
    c->released.before = rss();
    rc = hx_gguf_release(c->own_model->file, spans, take_spans(c, spans), &c->released.file, err);
    c->released.after = rss();
    free(spans);
    return rc;
}

json_t *hx_core_release_report(const struct hx_core *c)
{
    const struct hx_core_released *r = &c->released;

    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "rss_before_mb", (double)r->before / 1e6, "rss_after_mb",
                     (double)r->after / 1e6, "rss_drop_mb", ((double)r->before - (double)r->after) / 1e6, "gone_mb",
                     (double)r->file.gone_bytes / 1e6, "kept_mb", (double)r->file.kept_bytes / 1e6);
}
