/* Writes a model's twin, see twin.h. */
#include "twin.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/keyed.h"
#include "engine/arch/arch.h"
#include "gguf/gguf_write.h"
#include "methods/ugt/ugt.h"
#include "subspace/activations.h"

#define OUTPUT "output.weight"
#define EMBEDDING "token_embd.weight"

enum side {
    AS_IT_IS,
    ONES,     /* gains, which have gone into matrices */
    READS,    /* rows of the width: W diag(g) Q^T */
    WRITES,   /* columns of it: Q W */
    SHIFT     /* a bias that joins the stream: Q b */
};

/* What a tensor of a layer is, behind "blk.N."; others are as they are. */
static const struct kind {
    const char *name;
    enum side side;
    int ffn; /* 1: its gains are ffn_norm's */
} kinds[] = {
    {"attn_norm.weight", ONES, 0}, {"ffn_norm.weight", ONES, 0}, {"attn_q.weight", READS, 0},        {"attn_k.weight", READS, 0},
    {"attn_v.weight", READS, 0},   {"ffn_gate.weight", READS, 1}, {"ffn_up.weight", READS, 1},       {"attn_output.weight", WRITES, 0},
    {"ffn_down.weight", WRITES, 0}, {"attn_output.bias", SHIFT, 0}, {"ffn_down.bias", SHIFT, 0},
};

/* A tensor of the twin. */
struct job {
    const struct hx_gguf_tensor *from;
    const char *name; /* NULL: from's */
    enum side side;
    const float *gain; /* [width]; NULL: none */
    size_t index;
};

struct work {
    const struct hx_model *m;
    const struct hx_twin *how;
    const struct hx_blas *blas;
    struct hx_gguf_writer *w;
    double *q;        /* [width][width] */
    double *in, *out; /* a slab, or a whole matrix that writes */
    size_t room;      /* numbers of each */
    float *row;       /* of the widest tensor */
    uint8_t *bytes;
};

enum { SLAB = 1 << 18 };

/* --- what there is */

static const struct kind *kind_of(struct hx_str name, size_t *layer)
{
    char text[128], rest[96];

    if (name.n >= sizeof(text))
        return NULL;
    memcpy(text, name.p, name.n);
    text[name.n] = 0;
    if (sscanf(text, "blk.%zu.%95s", layer, rest) != 2)
        return NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(rest, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

static struct job job_of(const struct hx_model *m, const struct hx_gguf_tensor *t, size_t index)
{
    struct job j = {.from = t, .index = index};
    size_t layer = 0;
    const struct kind *k = kind_of(t->name, &layer);

    if (hx_str_is(t->name, EMBEDDING)) {
        j.side = READS;
    } else if (hx_str_is(t->name, "output_norm.weight")) {
        j.side = ONES;
    } else if (hx_str_is(t->name, OUTPUT)) {
        j.side = READS;
        j.gain = m->out_norm.w;
    } else if (k && layer < m->n_layer) {
        j.side = k->side;
        j.gain = k->ffn ? m->layers[layer].ffn_norm.w : m->layers[layer].attn_norm.w;
    }
    return j;
}

static int is_matrix(const struct job *j)
{
    return j->side == READS || j->side == WRITES;
}

static uint32_t type_of(const struct job *j, const struct hx_twin *how)
{
    return is_matrix(j) ? how->type : j->side == AS_IT_IS ? j->from->type : HX_QUANT_F32;
}

static size_t rows_of(const struct job *j)
{
    return (size_t)(j->from->dims[1] * j->from->dims[2] * j->from->dims[3]);
}

/* --- a tensor */

/* Rows first..first+n-1 as doubles, with gains. */
static void load(const struct work *w, const struct job *j, size_t first, size_t n)
{
    const size_t cols = (size_t)j->from->dims[0];
    const uint8_t *from = (const uint8_t *)j->from->data + first * hx_quant_row_bytes(j->from->type, cols);

    for (size_t r = 0; r < n; r++, from += hx_quant_row_bytes(j->from->type, cols)) {
        hx_quant_info(j->from->type)->widen(w->row, from, cols);
        for (size_t k = 0; k < cols; k++)
            w->in[r * cols + k] = (double)w->row[k] * (j->gain && j->side == READS ? (double)j->gain[k] : 1);
    }
}

/* Turning leaves it what it is. */
static double rms_of(const struct work *w, const struct job *j)
{
    const size_t cols = (size_t)j->from->dims[0], rows = rows_of(j);
    double sum = 0;

    for (size_t r = 0; r < rows; r++) {
        load(w, j, r, 1);
        for (size_t k = 0; k < cols; k++)
            sum += w->in[k] * w->in[k];
    }
    return sqrt(sum / ((double)rows * (double)cols));
}

static int store(const struct work *w, const struct job *j, size_t first, size_t n, double noise, struct hx_error *err)
{
    const size_t cols = (size_t)j->from->dims[0];
    const uint32_t type = type_of(j, w->how);
    const uint64_t key = hx_keyed(hx_keyed(w->how->seed, 1), j->index);
    int rc = 0;

    for (size_t r = 0; r < n && !rc; r++) {
        for (size_t k = 0; k < cols; k++)
            w->row[k] = (float)(w->out[r * cols + k] + (noise > 0 ? noise * hx_normal_at(key, (first + r) * cols + k) : 0));
        hx_quant_info(type)->narrow(w->bytes, w->row, cols);
        rc = hx_gguf_writer_data(w->w, w->bytes, hx_quant_row_bytes(type, cols), err);
    }
    return rc;
}

static double noise_of(const struct work *w, const struct job *j)
{
    return w->how->noise > 0 && is_matrix(j) ? w->how->noise * rms_of(w, j) : 0;
}

/* Rows times Q^T, a slab at a time. */
static int turn_rows(const struct work *w, const struct job *j, struct hx_error *err)
{
    const size_t cols = (size_t)j->from->dims[0], rows = rows_of(j), most = w->room / cols;
    const double one = 1, zero = 0, noise = noise_of(w, j);
    const int d = (int)cols;
    int rc = 0;

    for (size_t first = 0; first < rows && !rc; first += most) {
        const size_t n = rows - first < most ? rows - first : most;
        const int m = (int)n;

        load(w, j, first, n);
        w->blas->dgemm("T", "N", &d, &m, &d, &one, w->q, &d, w->in, &d, &zero, w->out, &d);
        rc = store(w, j, first, n, noise, err);
    }
    return rc;
}

/* Q times the whole of it. */
static int turn_columns(const struct work *w, const struct job *j, struct hx_error *err)
{
    const size_t cols = (size_t)j->from->dims[0], rows = rows_of(j);
    const double one = 1, zero = 0, noise = noise_of(w, j);
    const int n = (int)cols, d = (int)rows;

    load(w, j, 0, rows);
    w->blas->dgemm("N", "N", &n, &d, &d, &one, w->in, &n, w->q, &d, &zero, w->out, &n);
    return store(w, j, 0, rows, noise, err);
}

static int put_ones(const struct work *w, const struct job *j, struct hx_error *err)
{
    for (size_t k = 0; k < j->from->dims[0]; k++)
        w->out[k] = 1;
    return store(w, j, 0, 1, 0, err);
}

static int write_tensor(const struct work *w, const struct job *j, struct hx_error *err)
{
    switch (j->side) {
    case ONES:
        return put_ones(w, j, err);
    case WRITES:
        return turn_columns(w, j, err);
    case READS:
    case SHIFT:
        return turn_rows(w, j, err);
    default:
        return hx_gguf_writer_data(w->w, j->from->data, (size_t)j->from->bytes, err);
    }
}

/* --- the file */

int hx_twin_rotation(double *q, size_t d, uint64_t seed, struct hx_error *err)
{
    for (size_t i = 0; i < d * d; i++)
        q[i] = hx_normal_at(hx_keyed(seed, 0), i);
    return hx_ugt_orthonormal(q, d, d, err);
}

static int check(const struct hx_model *m, struct hx_error *err)
{
    const struct {
        uint32_t part;
        const char *what;
    } bad[] = {
        {HX_PART_NORM_BIAS, "layer norms"}, {HX_PART_POST_NORMS, "norms behind sub-layers"}, {HX_PART_POSITIONS, "learned positions"},
        {HX_PART_QKV_FUSED, "one matrix for q, k and v"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (m->arch->needs & bad[i].part)
            return hx_error_set(err, -EINVAL, "%s: architecture %s has %s, which do not let its stream be turned", hx_gguf_name(m->file),
                                m->arch->name, bad[i].what);
    return 0;
}

/* The output matrix of a model that has none is its embedding, from here on with gains. */
static struct job last_job(const struct hx_model *m, size_t index)
{
    struct job j = {.from = hx_gguf_tensor(m->file, EMBEDDING), .name = OUTPUT, .side = READS, .gain = m->out_norm.w, .index = index};

    return j;
}

static size_t jobs(const struct hx_model *m)
{
    return hx_gguf_facts(m->file).n_tensors + (hx_gguf_tensor(m->file, OUTPUT) ? 0 : 1);
}

static struct job job_at(const struct hx_model *m, size_t i)
{
    const struct hx_gguf_facts f = hx_gguf_facts(m->file);

    return i < f.n_tensors ? job_of(m, &f.tensors[i], i) : last_job(m, i);
}

static void put_header(const struct work *w)
{
    const struct hx_gguf_facts f = hx_gguf_facts(w->m->file);

    for (size_t i = 0; i < f.n_kv; i++)
        if (!hx_str_is(f.kv[i].key, "general.file_type") && !hx_str_is(f.kv[i].key, "general.quantization_version") &&
            !(f.kv[i].key.n > 6 && memcmp(f.kv[i].key.p, "split.", 6) == 0))
            hx_gguf_writer_kv(w->w, &f.kv[i]);
    hx_gguf_writer_u32(w->w, "general.file_type", w->how->type == HX_QUANT_F32 ? 0 : 1);
    for (size_t i = 0; i < jobs(w->m); i++) {
        const struct job j = job_at(w->m, i);
        struct hx_gguf_tensor t = *j.from;

        t.type = type_of(&j, w->how);
        if (j.name)
            t.name = (struct hx_str){j.name, strlen(j.name)};
        hx_gguf_writer_tensor(w->w, &t);
    }
}

static int make_room(struct work *w, struct hx_error *err)
{
    size_t widest = 1;

    w->room = SLAB;
    for (size_t i = 0; i < jobs(w->m); i++) {
        const struct job j = job_at(w->m, i);
        const size_t cols = (size_t)j.from->dims[0], whole = j.side == WRITES ? cols * rows_of(&j) : cols;

        widest = cols > widest ? cols : widest;
        w->room = whole > w->room ? whole : w->room;
    }
    w->q = malloc(w->m->width * w->m->width * sizeof(double));
    w->in = malloc(w->room * sizeof(double));
    w->out = malloc(w->room * sizeof(double));
    w->row = malloc(widest * sizeof(float));
    w->bytes = malloc(widest * sizeof(float));
    return w->q && w->in && w->out && w->row && w->bytes ? 0 : hx_error_set(err, -ENOMEM, "out of memory for a twin's matrices");
}

static int write_all(struct work *w, struct hx_error *err)
{
    const size_t n = jobs(w->m);
    int rc = 0;

    put_header(w);
    for (size_t i = 0; i < n && !rc; i++) {
        const struct job j = job_at(w->m, i);

        if (w->how->tell && w->how->tell(w->how->arg, i, n))
            return hx_error_set(err, -EINTR, "stopped at tensor %zu of %zu", i, n);
        rc = write_tensor(w, &j, err);
    }
    return rc;
}

int hx_twin_write(const struct hx_model *m, const char *path, const struct hx_twin *how, struct hx_error *err)
{
    struct work w = {.m = m, .how = how, .blas = hx_blas(err)};
    int rc = w.blas ? check(m, err) : -ELIBACC;

    if (!rc)
        rc = make_room(&w, err);
    if (!rc)
        rc = hx_twin_rotation(w.q, m->width, how->seed, err);
    if (!rc)
        rc = hx_gguf_writer_open(&w.w, path, hx_gguf_facts(m->file).alignment, err);
    if (!rc)
        rc = write_all(&w, err);
    if (!rc)
        rc = hx_gguf_writer_finish(w.w, err);
    hx_gguf_writer_close(w.w);
    free(w.q);
    free(w.in);
    free(w.out);
    free(w.row);
    free(w.bytes);
    return rc;
}
