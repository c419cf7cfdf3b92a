/* Writes a planted model: checks what is asked for, then writes keys, list of tensors, and their rows, which all threads make. */
#include "planted.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "gguf/gguf_write.h"
#include "keys.h"
#include "model/key.h"
#include "quant/quant.h"
#include "rows.h"
#include "tensors.h"

enum { ALIGNMENT = 32, SLAB_WEIGHTS = 1 << 20 };

/* --- what is asked for */

static int check_range(const char *what, size_t value, size_t min, size_t max, struct hx_error *err)
{
    if (value >= min && value <= max)
        return 0;
    return hx_error_set(err, -EINVAL, "%s %zu; legal: %zu..%zu", what, value, min, max);
}

static int check_shape(const struct hx_geometry *g, size_t tokens, struct hx_error *err)
{
    if (!g->width || !g->ffn)
        return hx_error_set(err, -EINVAL, "geometry %s has no %s; a model needs all its matrices", g->name,
                            g->width ? "feed-forward" : "width");
    if (!g->gated)
        return hx_error_set(err, -EINVAL, "geometry %s: its feed-forward has no gate; planted models are llama's, which has", g->name);
    if (g->n_head % g->n_kv || g->dh % 2)
        return hx_error_set(err, -EINVAL, "geometry %s: %zu heads, %zu KV heads, head size %zu do not fit together", g->name, g->n_head,
                            g->n_kv, g->dh);
    if (g->n_layer > HX_MAX_LAYERS)
        return hx_error_set(err, -EINVAL, "geometry %s: %zu layers; at most %d", g->name, g->n_layer, HX_MAX_LAYERS);
    if (g->vocab < tokens)
        return hx_error_set(err, -EINVAL, "geometry %s: vocabulary of %zu; the tokenizer has %zu", g->name, g->vocab, tokens);
    return 0;
}

/* Rows are whole blocks. */
static int check_type(const struct hx_planted *p, struct hx_error *err)
{
    const size_t block = hx_quant_info(p->type)->weights, rows[] = {p->g.width, p->g.n_head * p->g.dh, p->g.ffn};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i] % block)
            return hx_error_set(err, -EINVAL, "geometry %s: rows of %zu weights; %s codes %zu at a time", p->g.name, rows[i],
                                hx_quant_name(p->type), block);
    return 0;
}

static int check_planted(const struct hx_planted *p, struct hx_error *err)
{
    const size_t reserved = hx_planted_reserved(p);
    int rc = p->phases ? check_range("layers with phases", p->g.n_layer, HX_PLANTED_WIDE, HX_MAX_LAYERS, err) : 0;

    if (!rc && p->phases)
        rc = check_range("act-rank with phases", p->rank, 2, p->g.ffn + reserved, err);
    if (!rc && p->triggered && p->sink)
        rc = hx_error_set(err, -EINVAL, "sink and trigger: both have the direction that is outside of the subspace");
    if (!rc)
        rc = check_range("norm-spread", p->norm_spread, 0, HX_PLANTED_SPREAD, err);
    if (!rc)
        rc = check_range("act-rank", p->rank, 1 + reserved, p->g.width - (size_t)(p->sink || p->triggered), err);
    return rc ? rc : check_range("zones", p->zones, 1, p->rank - reserved, err);
}

/* Bytes that are free where `path` will be; UINT64_MAX: nobody knows. */
static uint64_t room_for(const char *path)
{
    char *copy = strdup(path);
    struct statvfs fs;
    const int told = copy && !statvfs(dirname(copy), &fs) && fs.f_blocks;

    free(copy);
    return told ? (uint64_t)fs.f_bavail * fs.f_frsize : UINT64_MAX;
}

static int check_bytes(const struct hx_planted *p, const char *path, uint64_t most, struct hx_error *err)
{
    const double bytes = hx_planted_bytes(&p->g, p->type);
    const uint64_t room = room_for(path);

    if (bytes > (double)most)
        return hx_error_set(err, -EFBIG, "geometry %s: %.0f bytes in %s; at most %" PRIu64, p->g.name, bytes, hx_quant_name(p->type), most);
    if (bytes > (double)room)
        return hx_error_set(err, -ENOSPC, "%s: %.0f bytes are needed, %" PRIu64 " are free: %s", path, bytes, room, strerror(ENOSPC));
    return 0;
}

/* --- data */

/* Rows of a tensor that are made at once. */
struct slab {
    const struct hx_planted_rows *rows;
    const struct hx_planted_tensor *t;
    size_t first, n;   /* of the tensor */
    float *wide;       /* [n][cols] */
    uint8_t *out;
    size_t row_bytes;
};

static void make_rows(void *arg, size_t part, size_t n_parts)
{
    const struct slab *s = arg;
    const struct hx_quant_info *type = hx_quant_info(s->t->type);

    for (size_t i = part * s->n / n_parts; i < (part + 1) * s->n / n_parts; i++) {
        float *row = s->wide + i * s->t->cols;

        hx_planted_row(s->rows, s->t->kind, s->first + i, row, s->t->cols);
        type->narrow(s->out + i * s->row_bytes, row, s->t->cols);
    }
}

static int write_tensor(struct hx_gguf_writer *w, const struct hx_planted_rows *rows, const struct hx_planted_tensor *t,
                        struct hx_pool *pool, struct hx_error *err)
{
    const size_t most = SLAB_WEIGHTS / t->cols + 1, n = most < t->rows ? most : t->rows;
    struct slab s = {.rows = rows, .t = t, .row_bytes = hx_quant_row_bytes(t->type, t->cols)};
    int rc = 0;

    s.wide = malloc(n * t->cols * sizeof(*s.wide));
    s.out = malloc(n * s.row_bytes);
    if (!s.wide || !s.out)
        rc = hx_error_set(err, -ENOMEM, "out of memory for rows of %zu weights", t->cols);
    for (s.first = 0; s.first < t->rows && !rc; s.first += s.n) {
        s.n = t->rows - s.first < n ? t->rows - s.first : n;
        hx_pool_run(pool, s.n < 64 ? s.n : 64, make_rows, &s);
        rc = hx_gguf_writer_data(w, s.out, s.n * s.row_bytes, err);
    }
    free(s.wide);
    free(s.out);
    return rc;
}

static void announce(struct hx_gguf_writer *w, const struct hx_planted_tensor *t)
{
    const struct hx_gguf_tensor as = {.name = {t->name, strlen(t->name)}, .n_dims = t->rows > 1 ? 2 : 1, .dims = {t->cols, t->rows, 1, 1},
                                      .type = t->type};

    hx_gguf_writer_tensor(w, &as);
}

static int write_all(struct hx_gguf_writer *w, const struct hx_planted *p, struct hx_planted_rows *rows,
                     const struct hx_planted_work *work, struct hx_error *err)
{
    const size_t n = hx_planted_tensors(&p->g);
    size_t layer = SIZE_MAX;
    int rc = hx_planted_keys_write(w, p, work->tokenizer, err);

    for (size_t i = 0; i < n && !rc; i++) {
        const struct hx_planted_tensor t = hx_planted_tensor(&p->g, p->type, i);

        announce(w, &t);
    }
    for (size_t i = 0; i < n && !rc; i++) {
        const struct hx_planted_tensor t = hx_planted_tensor(&p->g, p->type, i);

        if (work->tell && work->tell(work->arg, i, n))
            return hx_error_set(err, -EINTR, "stopped at tensor %zu of %zu", i, n);
        if (t.layer != SIZE_MAX && t.layer != layer)
            hx_planted_rows_layer(rows, layer = t.layer);
        rc = write_tensor(w, rows, &t, work->pool, err);
    }
    return rc;
}

int hx_planted_write(const struct hx_planted *asked, const char *path, const struct hx_planted_work *work, struct hx_planted_told *told,
                     struct hx_error *err)
{
    struct hx_planted p = *asked;
    struct hx_planted_rows rows = {.p = &p};
    struct hx_planted_words words = {0};
    struct hx_gguf_writer *w = NULL;
    int rc = hx_planted_words_read(&words, work->tokenizer, err);

    p.g.vocab = p.g.vocab ? p.g.vocab : words.n;
    if (!rc)
        rc = check_shape(&p.g, words.n, err);
    if (!rc)
        rc = check_type(&p, err);
    if (!rc)
        rc = check_planted(&p, err);
    if (!rc && p.triggered)
        rc = check_range("trigger", p.trigger, 0, words.n - 1, err);
    if (!rc)
        rc = check_bytes(&p, path, work->most_bytes, err);
    if (!rc)
        rc = hx_gguf_writer_open(&w, path, ALIGNMENT, err);
    rows.tokens = words.n;
    rows.bos = words.bos;
    rows.eos = words.eos;
    if (!rc && hx_planted_rows_open(&rows))
        rc = hx_error_set(err, -ENOMEM, "out of memory for %zu directions of %zu", p.rank, p.g.width);
    if (!rc)
        rc = write_all(w, &p, &rows, work, err);
    if (!rc)
        rc = hx_gguf_writer_finish(w, err);
    hx_gguf_writer_close(w);
    hx_planted_rows_free(&rows);
    if (!rc)
        *told = (struct hx_planted_told){(uint64_t)hx_planted_bytes(&p.g, p.type), hx_planted_tensors(&p.g), p.g.vocab};
    return rc;
}
