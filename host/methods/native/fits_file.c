/* Files of matrices in k dimensions, see fits.h. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fits.h"
#include "hx_block.h"
#include "methods/capture/part.h"
#include "text/text.h"

enum { VERSION = 1, FLAG_TEXT = 1, MOST_PARTS = 1 << 20 };

static const char magic[8] = "HXNATIVE";

struct header {
    char magic[8];
    uint32_t version, parts;
    uint64_t fingerprint;
    uint32_t flags, reserved;
};

struct record {
    uint32_t layer, which, rows, cols, k, reserved;
    double loss, bound;
};
_Static_assert(sizeof(struct header) == 32 && sizeof(struct record) == 40, "layout of the file");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static size_t numbers_of(const struct record *r)
{
    return (size_t)hx_native_params(r->rows, r->cols, r->k);
}

/* --- writing */

struct writer {
    FILE *file;
    uint32_t crc;
    int failed;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    w->crc = hx_crc32(w->crc, bytes, n);
    w->failed |= fwrite(bytes, 1, n, w->file) != n;
}

static void put_numbers(struct writer *w, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float narrow = (float)x[i];

        put(w, &narrow, sizeof(narrow));
    }
}

static void put_all(struct writer *w, const struct hx_native_fits *f)
{
    struct header h = {.version = VERSION, .parts = (uint32_t)f->n, .fingerprint = f->fingerprint, .flags = f->of_text ? FLAG_TEXT : 0};
    uint32_t crc;

    memcpy(h.magic, magic, sizeof(magic));
    put(w, &h, sizeof(h));
    for (size_t i = 0; i < f->n; i++) {
        const struct hx_native_part *p = &f->at[i];
        const struct record r = {(uint32_t)p->layer, (uint32_t)p->which, (uint32_t)p->n.rows, (uint32_t)p->n.cols, (uint32_t)p->n.k, 0,
                                 p->loss, p->bound};

        put(w, &r, sizeof(r));
    }
    for (size_t i = 0; i < f->n; i++) {
        const struct hx_native *n = &f->at[i].n;

        put_numbers(w, n->out, n->k * n->rows);
        put_numbers(w, n->core, n->k * n->k);
        put_numbers(w, n->in, n->k * n->cols);
    }
    crc = w->crc;
    put(w, &crc, sizeof(crc));
}

int hx_native_fits_write(const struct hx_native_fits *f, const char *path, struct hx_error *err)
{
    struct hx_capture_part part;
    struct writer w = {.failed = 0};
    int rc = hx_capture_part_open(&part, path, magic, sizeof(magic), err);

    if (rc)
        return rc;
    w.file = part.file;
    put_all(&w, f);
    if (w.failed) {
        hx_capture_part_drop(&part);
        return hx_error_set(err, -EIO, "%s: cannot write", path);
    }
    rc = hx_capture_part_keep(&part);
    return rc ? hx_error_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

/* --- reading */

struct reader {
    const char *path, *bytes;
    size_t n;
    const struct hx_model *m;
    struct hx_error *err;
};

static int wrong(const struct reader *r, const char *what)
{
    return hx_error_set(r->err, -EINVAL, "%s: %s", r->path, what);
}

static struct record record_at(const struct reader *r, size_t i)
{
    struct record of;

    memcpy(&of, r->bytes + sizeof(struct header) + i * sizeof(of), sizeof(of));
    return of;
}

static int check_head(const struct reader *r, struct header *h)
{
    uint32_t crc;

    if (r->n < sizeof(*h) + sizeof(crc) || memcmp(r->bytes, magic, sizeof(magic)))
        return wrong(r, "no file of matrices in k dimensions (hexrig native)");
    memcpy(h, r->bytes, sizeof(*h));
    memcpy(&crc, r->bytes + r->n - sizeof(crc), sizeof(crc));
    if (h->version != VERSION)
        return hx_error_set(r->err, -EINVAL, "%s: version %u of matrices in k dimensions; %d is known", r->path, h->version, VERSION);
    if (crc != hx_crc32(0, r->bytes, r->n - sizeof(crc)))
        return wrong(r, "damaged: its checksum is another");
    if (h->flags > FLAG_TEXT || h->reserved || !h->parts || h->parts > MOST_PARTS ||
        r->n < sizeof(*h) + h->parts * sizeof(struct record) + sizeof(crc))
        return wrong(r, "damaged: its head is none that can be");
    if (h->fingerprint != r->m->fingerprint)
        return hx_error_set(r->err, -EINVAL, "%s: matrices of another model (fingerprint %016" PRIx64 ", %s has %016" PRIx64 ")", r->path,
                            h->fingerprint, hx_gguf_name(r->m->file), r->m->fingerprint);
    return 0;
}

/* Of a matrix of the model. */
static int check_record(const struct reader *r, const struct record *of)
{
    const struct hx_linear *w = of->layer < r->m->n_layer && of->which < HX_PER_LAYER
                                    ? hx_layer_matrix(&r->m->layers[of->layer], (enum hx_matrix)of->which)
                                    : NULL;
    const uint32_t most = of->rows < of->cols ? of->rows : of->cols;

    if (!w || w->rows != of->rows || w->cols != of->cols || !of->k || of->k > most || of->reserved || !isfinite(of->loss) ||
        !isfinite(of->bound))
        return wrong(r, "damaged: it has a matrix that the model has not");
    return 0;
}

/* The sum of all parts' numbers is what the file has. */
static int check_records(const struct reader *r, size_t parts)
{
    size_t left = (r->n - sizeof(struct header) - parts * sizeof(struct record) - sizeof(uint32_t)) / sizeof(float);
    int rc = (r->n - sizeof(uint32_t)) % sizeof(float) ? wrong(r, "damaged: it ends in the middle of a number") : 0;

    for (size_t i = 0; i < parts && !rc; i++) {
        const struct record of = record_at(r, i);

        rc = check_record(r, &of);
        if (!rc && numbers_of(&of) > left)
            rc = wrong(r, "damaged: it is too short for its matrices");
        left -= rc ? 0 : numbers_of(&of);
    }
    return rc || !left ? rc : wrong(r, "damaged: it is too long for its matrices");
}

static int take_numbers(const struct reader *r, double *to, size_t n, size_t *at)
{
    for (size_t i = 0; i < n; i++, *at += sizeof(float)) {
        float x;

        memcpy(&x, r->bytes + *at, sizeof(x));
        if (!isfinite(x))
            return wrong(r, "damaged: a number of it is infinite, or none");
        to[i] = x;
    }
    return 0;
}

static int take_part(const struct reader *r, struct hx_native_fits *f, const struct record *of, size_t room, size_t *at)
{
    struct hx_native_part *p = &f->at[f->n];
    const size_t most = of->rows < of->cols ? of->rows : of->cols, asked = room < most ? room : most;
    struct hx_native *n = &p->n;
    int rc = 0;

    if (hx_native_fits_find(f, of->layer, (enum hx_matrix)of->which))
        return wrong(r, "damaged: it has a matrix twice");
    *p = (struct hx_native_part){.layer = of->layer, .which = (enum hx_matrix)of->which, .loss = of->loss, .bound = of->bound,
                                 .plain = of->loss};
    f->n++;
    rc = hx_native_alloc(n, of->rows, of->cols, of->k, of->k > asked ? of->k : asked, r->err);
    if (!rc)
        rc = take_numbers(r, n->out, n->k * n->rows, at);
    if (!rc)
        rc = take_numbers(r, n->core, n->k * n->k, at);
    return rc ? rc : take_numbers(r, n->in, n->k * n->cols, at);
}

static int take_all(const struct reader *r, struct hx_native_fits *f, const struct header *h, size_t room)
{
    size_t at = sizeof(*h) + h->parts * sizeof(struct record);
    int rc = 0;

    f->fingerprint = h->fingerprint;
    f->of_text = h->flags & FLAG_TEXT;
    f->at = calloc(h->parts, sizeof(*f->at));
    if (!f->at)
        return hx_error_set(r->err, -ENOMEM, "%s: out of memory", r->path);
    for (size_t i = 0; i < h->parts && !rc; i++) {
        const struct record of = record_at(r, i);

        rc = take_part(r, f, &of, room, &at);
    }
    return rc;
}

int hx_native_fits_read(struct hx_native_fits *f, const char *path, const struct hx_model *m, size_t room, struct hx_error *err)
{
    struct reader r = {.path = path, .m = m, .err = err};
    struct header h;
    char *bytes = NULL;
    int rc = hx_text_read(path, &bytes, &r.n, err);

    r.bytes = bytes;
    if (!rc)
        rc = check_head(&r, &h);
    if (!rc)
        rc = check_records(&r, h.parts);
    if (!rc)
        rc = take_all(&r, f, &h, room);
    free(bytes);
    return rc;
}
