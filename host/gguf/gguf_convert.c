/* Writes a GGUF file again with its matrices in another number format, slab by slab on all threads. */
#include "gguf_convert.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_write.h"

enum { QUANTIZATION_VERSION = 2 /* of the block formats in quant.h */ };

/* The formats that can be wanted, and what llama.cpp takes when rows do not fit. */
static const struct target {
    uint32_t type, file_type; /* the second: general.file_type */
    uint32_t fall_back;
} targets[] = {
    {HX_QUANT_F16, 1, HX_QUANT_F16},
    {HX_QUANT_Q4_0, 2, HX_QUANT_F16},
    {HX_QUANT_Q8_0, 7, HX_QUANT_F16},
    {HX_QUANT_Q4_K, 14, HX_QUANT_Q5_0},
    {HX_QUANT_Q6_K, 18, HX_QUANT_Q8_0},
};

static const struct target *find_target(uint32_t type)
{
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (targets[i].type == type)
            return &targets[i];
    return NULL;
}

static int ends_with(struct hx_str s, const char *end)
{
    const size_t n = strlen(end);

    return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* Matrices that llama.cpp leaves alone. */
static int stays(const struct hx_gguf_tensor *t)
{
    static const char *const ends[] = {"_norm.weight", "position_embd.weight",
                                       "token_types.weight", "ffn_gate_inp.weight"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_with(t->name, ends[i]))
            return 1;
    return !ends_with(t->name, ".weight");
}

static uint64_t n_rows(const struct hx_gguf_tensor *t)
{
    return t->dims[1] * t->dims[2] * t->dims[3];
}

static int fits(const struct hx_gguf_tensor *t, uint32_t type)
{
    return t->dims[0] % hx_quant_info(type)->weights == 0;
}

static void plan(struct hx_convert_step *s, const struct target *want)
{
    const struct hx_gguf_tensor *t = s->from;

    s->fell_back = 0;
    if (n_rows(t) == 1) {
        s->type = HX_QUANT_F32;
    } else if (stays(t)) {
        s->type = t->type;
    } else {
        s->fell_back = !fits(t, want->type);
        s->type = !s->fell_back               ? want->type
                  : fits(t, want->fall_back) ? want->fall_back
                                             : HX_QUANT_F16;
    }
    s->in_bytes = t->bytes;
    s->out_bytes = n_rows(t) * hx_quant_row_bytes(s->type, t->dims[0]);
}

/* --- one tensor: a slab of rows at a time, in parts that the pool's threads convert */

enum { PART_WEIGHTS = 1 << 16, PARTS_PER_THREAD = 2 };

struct part {
    float *in, *back; /* [dims[0]] */
    int rc;
    struct hx_error err;
};

struct slab {
    const struct hx_convert_step *step;
    uint64_t first, n;      /* rows */
    uint64_t rows_per_part; /* >= 1 */
    size_t row_bytes;       /* of the new type */
    uint8_t *out;           /* [n][row_bytes] */
    struct part *parts;
    size_t n_parts;         /* allocated */
};

/* The largest magnitude in x; NAN when a value is not finite. */
static float peak(const float *x, size_t n)
{
    float top = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return NAN;
        top = fmaxf(top, fabsf(x[i]));
    }
    return top;
}

static int convert_row(const struct hx_convert_step *s, uint64_t row, struct part *p, uint8_t *out)
{
    const struct hx_gguf_tensor *t = s->from;
    const size_t n = t->dims[0];
    const uint8_t *from = (const uint8_t *)t->data + row * hx_quant_row_bytes(t->type, n);
    const struct hx_quant_info *to = hx_quant_info(s->type);
    float top;

    hx_quant_info(t->type)->widen(p->in, from, n);
    top = peak(p->in, n);
    if (isnan(top))
        return hx_error_set(&p->err, -EINVAL, "tensor '%s', row %" PRIu64 ": a weight that is "
                          "infinite or no number", hx_str_shown(t->name).text, row);
    to->narrow(out, p->in, n);
    to->widen(p->back, out, n);
    if (isnan(peak(p->back, n)))
        return hx_error_set(&p->err, -EINVAL, "tensor '%s', row %" PRIu64 ": a weight of magnitude "
                          "%g is too large for %s", hx_str_shown(t->name).text, row, (double)top,
                          to->name);
    return 0;
}

static void convert_part(void *arg, size_t part, size_t n_parts)
{
    struct slab *s = arg;
    struct part *p = &s->parts[part];
    const uint64_t from = part * s->rows_per_part, end = from + s->rows_per_part;

    (void)n_parts;
    p->rc = 0;
    for (uint64_t r = from; !p->rc && r < end && r < s->n; r++)
        p->rc = convert_row(s->step, s->first + r, p, s->out + r * s->row_bytes);
}

static void close_slab(struct slab *s)
{
    for (size_t i = 0; s->parts && i < s->n_parts; i++) {
        free(s->parts[i].in);
        free(s->parts[i].back);
    }
    free(s->parts);
    free(s->out);
}

static int open_slab(struct slab *s, const struct hx_convert_step *step, size_t n_threads,
                     struct hx_error *err)
{
    const size_t n = step->from->dims[0];
    int ok;

    *s = (struct slab){.step = step, .rows_per_part = PART_WEIGHTS / n + 1,
                       .row_bytes = hx_quant_row_bytes(step->type, n),
                       .n_parts = n_threads * PARTS_PER_THREAD};
    s->parts = calloc(s->n_parts, sizeof(*s->parts));
    s->out = malloc(s->n_parts * s->rows_per_part * s->row_bytes);
    ok = s->parts && s->out;
    for (size_t i = 0; ok && i < s->n_parts; i++) {
        s->parts[i].in = malloc(n * sizeof(float));
        s->parts[i].back = malloc(n * sizeof(float));
        ok = s->parts[i].in && s->parts[i].back;
    }
    return ok ? 0 : hx_error_set(err, -ENOMEM, "out of memory for rows of %zu weights", n);
}

/* The first fault in the order of the rows, so that it does not depend on the threads. */
static int slab_fault(const struct slab *s, struct hx_error *err)
{
    for (size_t i = 0; i * s->rows_per_part < s->n; i++)
        if (s->parts[i].rc)
            return hx_error_set(err, s->parts[i].rc, "%s", s->parts[i].err.text);
    return 0;
}

static int convert_rows(struct hx_gguf_writer *w, struct slab *s, struct hx_pool *pool,
                        struct hx_error *err)
{
    const uint64_t rows = n_rows(s->step->from), most = s->n_parts * s->rows_per_part;
    int rc = 0;

    for (s->first = 0; !rc && s->first < rows; s->first += s->n) {
        s->n = rows - s->first < most ? rows - s->first : most;
        hx_pool_run(pool, (s->n + s->rows_per_part - 1) / s->rows_per_part, convert_part, s);
        rc = slab_fault(s, err);
        if (!rc)
            rc = hx_gguf_writer_data(w, s->out, s->n * s->row_bytes, err);
    }
    return rc;
}

static int convert_tensor(struct hx_gguf_writer *w, const struct hx_convert_step *step,
                          struct hx_pool *pool, struct hx_error *err)
{
    struct slab s;
    int rc;

    if (step->type == step->from->type)
        return hx_gguf_writer_data(w, step->from->data, step->from->bytes, err);
    rc = open_slab(&s, step, hx_pool_threads(pool), err);
    if (!rc)
        rc = convert_rows(w, &s, pool, err);
    close_slab(&s);
    return rc;
}

/* --- the file */

static int check_source(const struct hx_gguf *in, const struct hx_gguf_facts *f, struct hx_error *err)
{
    uint32_t parts;

    if (hx_gguf_find(in, "split.count") && !hx_gguf_u32(in, "split.count", &parts, NULL) &&
        parts > 1 && f->n_files != parts)
        return hx_error_set(err, -EINVAL, "%s: one of %" PRIu32 " parts of a model; merge them first "
                          "(llama-gguf-split --merge)", hx_gguf_name(in), parts);
    for (size_t i = 0; i < f->n_tensors; i++) {
        const struct hx_gguf_tensor *t = &f->tensors[i];

        if (t->type != HX_QUANT_F32 && t->type != HX_QUANT_F16 && t->type != HX_QUANT_BF16)
            return hx_error_set(err, -EINVAL, "%s: tensor '%s' is %s; conversion starts from F32, "
                              "F16 or BF16, because rounding twice costs quality",
                              hx_gguf_name(in), hx_str_shown(t->name).text,
                              hx_quant_name(t->type));
    }
    return 0;
}

/* What is written is one file. */
static int is_of_split(struct hx_str key)
{
    return key.n > 6 && memcmp(key.p, "split.", 6) == 0;
}

static void put_header(struct hx_gguf_writer *w, const struct hx_gguf_facts *f,
                       const struct target *want)
{
    for (size_t i = 0; i < f->n_kv; i++)
        if (!hx_str_is(f->kv[i].key, "general.file_type") &&
            !hx_str_is(f->kv[i].key, "general.quantization_version") && !is_of_split(f->kv[i].key))
            hx_gguf_writer_kv(w, &f->kv[i]);
    hx_gguf_writer_u32(w, "general.quantization_version", QUANTIZATION_VERSION);
    hx_gguf_writer_u32(w, "general.file_type", want->file_type);
    for (size_t i = 0; i < f->n_tensors; i++) {
        struct hx_convert_step s = {.from = &f->tensors[i]};
        struct hx_gguf_tensor t = f->tensors[i];

        plan(&s, want);
        t.type = s.type;
        hx_gguf_writer_tensor(w, &t);
    }
}

static int convert_all(struct hx_gguf_writer *w, const struct hx_gguf_facts *f,
                       const struct target *want, const struct hx_convert *how, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < f->n_tensors; i++) {
        struct hx_convert_step s = {.from = &f->tensors[i], .index = i, .n = f->n_tensors};

        plan(&s, want);
        if (how->tell && how->tell(how->arg, &s))
            return hx_error_set(err, -EINTR, "stopped at tensor %zu of %zu", i, f->n_tensors);
        rc = convert_tensor(w, &s, how->pool, err);
    }
    return rc;
}

int hx_gguf_convert(const struct hx_gguf *in, const char *path, const struct hx_convert *how,
                    struct hx_error *err)
{
    const struct hx_gguf_facts f = hx_gguf_facts(in);
    const struct target *want = find_target(how->type);
    struct hx_gguf_writer *w = NULL;
    int rc = want ? check_source(in, &f, err)
                  : hx_error_set(err, -EINVAL, "%s is no type to convert to",
                               hx_quant_name(how->type));

    if (!rc)
        rc = hx_gguf_writer_open(&w, path, f.alignment, err);
    if (rc)
        return rc;
    put_header(w, &f, want);
    rc = convert_all(w, &f, want, how, err);
    if (!rc)
        rc = hx_gguf_writer_finish(w, err);
    hx_gguf_writer_close(w);
    return rc;
}
