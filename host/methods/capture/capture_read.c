/* Reading captures, which come from a file that anybody may have written; see capture.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture.h"

struct hx_capture_reader {
    FILE *file;
    char *path;
    struct hx_capture_header head;
    uint64_t read;  /* records so far */
    uint64_t left;  /* bytes of the file */
    void *data;     /* [room] of the last record */
    size_t room;
};

static int bad(const struct hx_capture_reader *r, struct hx_error *err, const char *what)
{
    return hx_error_set(err, -EINVAL, "%s: %s", r->path, what);
}

static int get(struct hx_capture_reader *r, void *to, size_t n, struct hx_error *err)
{
    if (n > r->left)
        return bad(r, err, "the capture ends in the middle of a record");
    errno = 0;
    if (fread(to, 1, n, r->file) != n)
        return hx_error_set(err, errno ? -errno : -EIO, "%s: cannot read: %s", r->path, strerror(errno ? errno : EIO));
    r->left -= n;
    return 0;
}

static int check_header(const struct hx_capture_reader *r, struct hx_error *err)
{
    const struct hx_capture_header *h = &r->head;

    if (memcmp(h->magic, HX_CAPTURE_MAGIC, sizeof(h->magic)) != 0)
        return bad(r, err, "no capture: it does not begin with " HX_CAPTURE_MAGIC);
    if (h->version != 1)
        return hx_error_set(err, -EINVAL, "%s: a capture of version %u; this program reads 1", r->path, h->version);
    if (!h->n_records)
        return bad(r, err, "the capture was not completed: its number of records is 0");
    if (!h->points || h->points >> HX_TAP_POINTS || h->layer_from > h->layer_to || h->layer_to >= h->n_layer ||
        h->reserved)
        return hx_error_set(err, -EINVAL, "%s: points 0x%x, layers %u..%u of %u: no such capture can be", r->path,
                            h->points, h->layer_from, h->layer_to, h->n_layer);
    return 0;
}

int hx_capture_read(struct hx_capture_reader **out, const char *path, struct hx_error *err)
{
    struct hx_capture_reader *r = calloc(1, sizeof(*r));
    struct stat st;
    int rc = 0;

    if (!r || !(r->path = strdup(path)))
        rc = hx_error_set(err, -ENOMEM, "capture: out of memory");
    if (!rc && (!(r->file = fopen(path, "rb")) || fstat(fileno(r->file), &st)))
        rc = hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!rc) {
        r->left = (uint64_t)st.st_size;
        rc = get(r, &r->head, sizeof(r->head), err);
    }
    if (!rc)
        rc = check_header(r, err);
    if (rc)
        hx_capture_read_close(r);
    else
        *out = r;
    return rc;
}

void hx_capture_read_close(struct hx_capture_reader *r)
{
    if (!r)
        return;
    if (r->file)
        fclose(r->file);
    free(r->path);
    free(r->data);
    free(r);
}

const struct hx_capture_header *hx_capture_header(const struct hx_capture_reader *r)
{
    return &r->head;
}

/* Floats of a row at a point. */
static uint64_t row_of(const struct hx_capture_header *h, uint32_t point)
{
    switch (point) {
    case HX_TAP_Q:
    case HX_TAP_IN_O:
        return (uint64_t)h->n_head * h->dh;
    case HX_TAP_K:
    case HX_TAP_V:
        return (uint64_t)h->n_kv * h->dh;
    case HX_TAP_IN_DOWN:
        return h->ffn;
    default:
        return h->width;
    }
}

static int can_be(const struct hx_capture_header *h, const struct hx_capture_record *c)
{
    if (c->point >= HX_TAP_POINTS || !(h->points & 1u << c->point) || !c->n || !c->row ||
        c->row != row_of(h, c->point))
        return 0;
    return hx_tap_in_layer((enum hx_tap_point)c->point) ? c->layer >= h->layer_from && c->layer <= h->layer_to
                                                        : c->layer == 0;
}

/* Bytes behind a record's head; -EINVAL: it cannot be. */
static int measure(const struct hx_capture_reader *r, const struct hx_capture_record *c, size_t *bytes,
                   struct hx_error *err)
{
    uint64_t per_token;

    if (!can_be(&r->head, c))
        return hx_error_set(err, -EINVAL, "%s: record %llu: point %u of layer %u, %u tokens, %u floats each", r->path,
                            (unsigned long long)r->read, c->point, c->layer, c->n, c->row);
    per_token = 2 * sizeof(uint32_t) + (uint64_t)c->row * sizeof(float);
    if (c->n > r->left / per_token)
        return bad(r, err, "the capture ends in the middle of a record");
    *bytes = c->n * per_token;
    return 0;
}

static int grow(struct hx_capture_reader *r, size_t bytes, struct hx_error *err)
{
    if (bytes <= r->room)
        return 0;
    free(r->data);
    r->data = malloc(bytes);
    r->room = r->data ? bytes : 0;
    return r->data ? 0 : hx_error_set(err, -ENOMEM, "%s: no memory for a record of %zu bytes", r->path, bytes);
}

static int check_tokens(const struct hx_capture_reader *r, const struct hx_capture_record *c, struct hx_error *err)
{
    const uint32_t *tokens = r->data;

    for (uint32_t i = 0; i < c->n; i++)
        if (tokens[i] >= r->head.vocab)
            return hx_error_set(err, -EINVAL, "%s: record %llu: token %u; the vocabulary has %u", r->path,
                                (unsigned long long)r->read, tokens[i], r->head.vocab);
    return 0;
}

int hx_capture_next(struct hx_capture_reader *r, struct hx_capture_record *record, const uint32_t **tokens,
                    const uint32_t **positions, const float **rows, struct hx_error *err)
{
    size_t bytes = 0;
    int rc;

    if (r->read == r->head.n_records)
        return r->left ? bad(r, err, "the capture goes on behind its last record") : 0;
    rc = get(r, record, sizeof(*record), err);
    if (!rc)
        rc = measure(r, record, &bytes, err);
    if (!rc)
        rc = grow(r, bytes, err);
    if (!rc)
        rc = get(r, r->data, bytes, err);
    if (!rc)
        rc = check_tokens(r, record, err);
    if (rc)
        return rc;
    r->read++;
    *tokens = r->data;
    *positions = *tokens + record->n;
    *rows = (const float *)(*positions + record->n);
    return 1;
}
