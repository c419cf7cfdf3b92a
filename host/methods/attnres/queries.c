/* Queries of blocks from a capture, see queries.h. */
#include "queries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "methods/capture/capture.h"

/* Sums of the rows at the blocks' ends. */
struct sums {
    size_t n_layer, width, block, blocks;
    double *sum;  /* [blocks][width] */
    size_t *rows; /* [blocks] */
};

/* The block whose last layer this is; `blocks`: none's. */
static size_t ends(const struct sums *s, size_t layer)
{
    return layer + 1 == s->n_layer || (layer + 1) % s->block == 0 ? layer / s->block : s->blocks;
}

static void add(struct sums *s, const struct hx_capture_record *r, const float *rows)
{
    const size_t block = ends(s, r->layer);

    if (r->point != HX_TAP_AFTER_FFN || block == s->blocks)
        return;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < s->width; k++)
            s->sum[block * s->width + k] += (double)rows[i * s->width + k];
    s->rows[block] += r->n;
}

static int check(const struct hx_capture_header *h, const char *path, const struct hx_model *m, struct hx_error *err)
{
    if (h->fingerprint == m->fingerprint && h->width == m->width && h->n_layer == m->n_layer)
        return 0;
    return hx_error_set(err, -EINVAL, "%s: queries of another model (fingerprint %016" PRIx64 ", %s has %016" PRIx64 ")", path,
                        h->fingerprint, hx_gguf_name(m->file), m->fingerprint);
}

static int read_all(struct sums *s, struct hx_capture_reader *r, struct hx_error *err)
{
    struct hx_capture_record record;
    const uint32_t *tokens, *positions;
    const float *rows;
    int rc;

    while ((rc = hx_capture_next(r, &record, &tokens, &positions, &rows, err)) == 1)
        add(s, &record, rows);
    return rc;
}

/* Means in place of sums. */
static int finish(float *out, const struct sums *s, const char *path, struct hx_error *err)
{
    for (size_t b = 0; b < s->blocks; b++) {
        const size_t last = (b + 1) * s->block < s->n_layer ? (b + 1) * s->block - 1 : s->n_layer - 1;

        if (!s->rows[b])
            return hx_error_set(err, -EINVAL, "%s: has no point after_ffn of layer %zu, where block %zu ends", path, last, b);
        for (size_t k = 0; k < s->width; k++)
            out[b * s->width + k] = (float)(s->sum[b * s->width + k] / (double)s->rows[b]);
    }
    return 0;
}

int hx_attnres_queries(float **out, const char *path, const struct hx_model *m, size_t block, struct hx_error *err)
{
    struct sums s = {.n_layer = m->n_layer, .width = m->width, .block = block, .blocks = (m->n_layer + block - 1) / block};
    struct hx_capture_reader *r = NULL;
    float *queries = calloc(s.blocks * s.width, sizeof(*queries));
    int rc = 0;

    s.sum = calloc(s.blocks * s.width, sizeof(*s.sum));
    s.rows = calloc(s.blocks, sizeof(*s.rows));
    if (!queries || !s.sum || !s.rows)
        rc = hx_error_set(err, -ENOMEM, "attnres: out of memory");
    if (!rc)
        rc = hx_capture_read(&r, path, err);
    if (!rc)
        rc = check(hx_capture_header(r), path, m, err);
    if (!rc)
        rc = read_all(&s, r, err);
    if (!rc)
        rc = finish(queries, &s, path, err);
    hx_capture_read_close(r);
    free(s.sum);
    free(s.rows);
    if (rc)
        free(queries);
    else
        *out = queries;
    return rc;
}
