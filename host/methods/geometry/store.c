/* A file of trajectories, see store.h. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "hx_block.h"
#include "hx_f16.h"
#include "quant/quant.h"

enum { VERSION = 1, TRAJECTORY = 1, EVICTION = 2, CRC_BYTES = 4, MOST_WIDTH = 1 << 20, MOST_STEPS = 1 << 20 };

static const char magic[8] = "HXGTC";

struct head {
    char magic[8];
    uint32_t version, n, width, steps, neighbours, candidates;
    float step;
    uint32_t reserved;
    uint64_t model, text;
};
_Static_assert(sizeof(struct head) == 56, "the header's size is part of the format");

uint64_t hx_store_model(const struct hx_model *m)
{
    const uint64_t shape[] = {m->fingerprint, m->out.type, m->out.rows, m->out.cols};
    const size_t row = hx_quant_row_bytes(m->out.type, m->out.cols);
    const uint64_t h = hx_digest(0, shape, sizeof(shape));

    return m->out.w && m->out.rows ? hx_digest(hx_digest(h, m->out.w, row), (const char *)m->out.w + (m->out.rows - 1) * row, row) : h;
}

/* --- bytes */

/* Writes or reads values one behind the other. */
struct cursor {
    uint8_t *p;
    int reading;
};

static void put(struct cursor *c, void *value, size_t bytes)
{
    if (c->reading)
        memcpy(value, c->p, bytes);
    else
        memcpy(c->p, value, bytes);
    c->p += bytes;
}

static void put_f32(struct cursor *c, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float v = (float)x[i];

        put(c, &v, sizeof(v));
        x[i] = c->reading ? v : x[i];
    }
}

static void put_f16(struct cursor *c, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t v = hx_f16_from_f32((float)x[i]);

        put(c, &v, sizeof(v));
        x[i] = c->reading ? (double)hx_f32_from_f16(v) : x[i];
    }
}

static void put_state(struct cursor *c, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t v = hx_f16_from_f32(x[i]);

        put(c, &v, sizeof(v));
        x[i] = c->reading ? hx_f32_from_f16(v) : x[i];
    }
}

size_t hx_store_record_bytes(const struct hx_store_frame *f)
{
    const size_t n = f->w.n;

    return 8 + 4 * (3 * n + 2 * n * n) + 2 * HX_TRAJECTORY_POINTS * n + 4 * 3 + 4 + 8 * f->candidates + 2 * f->w.width + CRC_BYTES;
}

static size_t header_bytes(size_t n, size_t width)
{
    return sizeof(struct head) + 4 * (width + n * width + n) + CRC_BYTES;
}

/* r->state is there. */
static void put_record(struct cursor *c, const struct hx_store_frame *f, uint32_t *kind, uint32_t *of, struct hx_store_record *r)
{
    const size_t n = f->w.n;
    double *const one[] = {&r->rho, &r->t.reach, &r->t.drift};

    put(c, kind, sizeof(*kind));
    put(c, of, sizeof(*of));
    put_f32(c, r->t.q, n);
    put_f32(c, r->t.v, n);
    put_f32(c, r->t.end, n);
    put_f32(c, r->t.correct, n * n);
    put_f32(c, r->t.g, n * n);
    for (size_t i = 0; i < HX_TRAJECTORY_POINTS; i++)
        put_f16(c, r->t.way[i], n);
    for (size_t i = 0; i < 3; i++)
        put_f32(c, one[i], 1);
    put(c, &r->token, sizeof(r->token));
    for (size_t i = 0; i < f->candidates; i++) {
        put(c, &r->best[i].id, sizeof(r->best[i].id));
        put(c, &r->best[i].logit, sizeof(r->best[i].logit));
    }
    put_state(c, r->state, f->w.width);
    r->t.n = n;
}

static void seal(uint8_t *bytes, size_t n)
{
    const uint32_t crc = hx_crc32(0, bytes, n - CRC_BYTES);

    memcpy(bytes + n - CRC_BYTES, &crc, sizeof(crc));
}

static int is_whole(const uint8_t *bytes, size_t n)
{
    uint32_t crc;

    memcpy(&crc, bytes + n - CRC_BYTES, sizeof(crc));
    return crc == hx_crc32(0, bytes, n - CRC_BYTES);
}

/* --- the header */

static void put_frame(struct cursor *c, struct hx_store_frame *f)
{
    put_f32(c, f->w.mean, f->w.width);
    put_f32(c, f->w.axes, f->w.n * f->w.width);
    put_f32(c, f->w.deviation, f->w.n);
}

int hx_store_create(const char *path, const struct hx_store_frame *f, struct hx_error *err)
{
    const size_t bytes = header_bytes(f->w.n, f->w.width);
    struct head h = {.version = VERSION, .n = (uint32_t)f->w.n, .width = (uint32_t)f->w.width, .steps = (uint32_t)f->steps,
                     .neighbours = (uint32_t)f->neighbours, .candidates = (uint32_t)f->candidates, .step = (float)f->step,
                     .model = f->model, .text = f->text};
    struct hx_store_frame copy = *f; /* whose values are only read */
    struct cursor c = {malloc(bytes), 0};
    uint8_t *all = c.p;
    char *beside = NULL;
    int fd, rc = 0;

    if (!all || asprintf(&beside, "%s.%ld", path, (long)getpid()) < 0) {
        free(all);
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    }
    memcpy(h.magic, magic, sizeof(magic));
    put(&c, &h, sizeof(h));
    put_frame(&c, &copy);
    seal(all, bytes);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, all, bytes) != (ssize_t)bytes || fsync(fd))
        rc = hx_error_set(err, -errno, "%s: cannot write the store: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!rc && link(beside, path)) /* unlike rename() it replaces nothing */
        rc = hx_error_set(err, -errno, "%s: cannot write the store: %s", path, strerror(errno));
    unlink(beside);
    free(beside);
    free(all);
    return rc;
}

static int check_head(const struct head *h, const char *path, size_t bytes, uint64_t model, struct hx_error *err)
{
    if (bytes < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) != 0)
        return hx_error_set(err, -EINVAL, "%s: not a store of trajectories", path);
    if (h->version != VERSION)
        return hx_error_set(err, -EINVAL, "%s: a store of version %u, only %d is supported", path, h->version, VERSION);
    if (h->n < 1 || h->n > HX_METRIC_MOST || h->width < h->n || h->width > MOST_WIDTH || h->candidates > HX_STORE_BEST ||
        h->steps < 1 || h->steps > MOST_STEPS || !(h->step > 0))
        return hx_error_set(err, -EINVAL, "%s: a store of %u axes of %u, %u steps, %u candidates", path, h->n, h->width, h->steps,
                            h->candidates);
    if (bytes < header_bytes(h->n, h->width))
        return hx_error_set(err, -EINVAL, "%s: truncated: %zu bytes, of which the header has %zu", path, bytes,
                            header_bytes(h->n, h->width));
    if (model && h->model != model)
        return hx_error_set(err, -EINVAL, "%s: the store is of another model", path);
    return 0;
}

static int take_frame(struct hx_store_frame *f, const uint8_t *bytes, const char *path, struct hx_error *err)
{
    struct head h;
    struct cursor c = {(uint8_t *)bytes, 1};

    put(&c, &h, sizeof(h));
    *f = (struct hx_store_frame){.steps = h.steps, .neighbours = h.neighbours, .candidates = h.candidates, .step = (double)h.step,
                                 .model = h.model, .text = h.text};
    f->w = (struct hx_whitening){.n = h.n, .width = h.width, .mean = malloc(h.width * sizeof(double)),
                                 .axes = malloc(h.n * h.width * sizeof(double)), .deviation = malloc(h.n * sizeof(double))};
    if (!f->w.mean || !f->w.axes || !f->w.deviation)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    put_frame(&c, f);
    for (size_t i = 0; i < f->w.n; i++)
        if (!(f->w.deviation[i] > 0))
            return hx_error_set(err, -EINVAL, "%s: axis %zu has no deviation", path, i);
    return is_whole(bytes, header_bytes(h.n, h.width)) ? 0
                                                        : hx_error_set(err, -EINVAL, "%s: the header's checksum does not match", path);
}

/* --- reading */

static int read_all(int fd, const char *path, uint8_t **bytes, size_t *n, struct hx_error *err)
{
    struct stat st;
    size_t done = 0;

    if (fstat(fd, &st))
        return hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    *bytes = malloc((size_t)st.st_size + 1);
    if (!*bytes)
        return hx_error_set(err, -ENOMEM, "%s: no memory for %lld bytes", path, (long long)st.st_size);
    while (done < (size_t)st.st_size) {
        const ssize_t got = pread(fd, *bytes + done, (size_t)st.st_size - done, (off_t)done);

        if (got < 0 && errno != EINTR)
            return hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
        if (!got)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    *n = done;
    return 0;
}

static int is_legal(const struct hx_store_record *r)
{
    const struct hx_trajectory *t = &r->t;
    double sum = r->rho;

    for (size_t i = 0; i < t->n; i++)
        sum += t->q[i] + t->v[i] + t->end[i];
    for (size_t i = 0; i < t->n * t->n; i++)
        sum += t->correct[i] + t->g[i];
    return isfinite(sum) && r->rho >= 0;
}

/* Record i of the file goes to *to, whose state is there. */
static int take_record(const struct hx_store_frame *f, const uint8_t *bytes, size_t i, const char *path, uint32_t *kind, uint32_t *of,
                       struct hx_store_record *to, struct hx_error *err)
{
    const size_t each = hx_store_record_bytes(f);
    struct cursor c = {(uint8_t *)bytes + header_bytes(f->w.n, f->w.width) + i * each, 1};

    if (!is_whole(c.p, each))
        return hx_error_set(err, -EINVAL, "%s: record %zu: the checksum does not match", path, i);
    put_record(&c, f, kind, of, to);
    if (*kind == EVICTION ? *of >= i : *kind != TRAJECTORY || !is_legal(to))
        return hx_error_set(err, -EINVAL, "%s: record %zu: kind %u of %u is not legal", path, i, *kind, *of);
    return 0;
}

/* gone [all]: 1: evicted. */
static int mark_gone(const struct hx_store_frame *f, const uint8_t *bytes, size_t all, const char *path, uint8_t *gone,
                     struct hx_error *err)
{
    struct hx_store_record r = {.state = malloc(f->w.width * sizeof(float))};
    int rc = r.state ? 0 : hx_error_set(err, -ENOMEM, "%s: out of memory", path);

    for (size_t i = 0; i < all && !rc; i++) {
        uint32_t kind, of;

        rc = take_record(f, bytes, i, path, &kind, &of, &r, err);
        if (!rc && kind == EVICTION)
            gone[i] = gone[of] = 1;
    }
    free(r.state);
    return rc;
}

static int take_records(struct hx_store *s, const uint8_t *bytes, size_t n, const char *path, struct hx_error *err)
{
    const size_t head = header_bytes(s->frame.w.n, s->frame.w.width), each = hx_store_record_bytes(&s->frame), all = (n - head) / each;
    uint8_t *gone = calloc(all + 1, 1);
    int rc = gone ? mark_gone(&s->frame, bytes, all, path, gone, err) : hx_error_set(err, -ENOMEM, "%s: out of memory", path);

    s->torn = (n - head) % each;
    s->at = calloc(all + 1, sizeof(*s->at));
    s->states = malloc((all + 1) * s->frame.w.width * sizeof(*s->states));
    if (!rc && (!s->at || !s->states))
        rc = hx_error_set(err, -ENOMEM, "%s: no memory for %zu records", path, all);
    for (size_t i = 0; i < all && !rc; i++) {
        uint32_t kind, of;

        if (gone[i])
            continue;
        s->at[s->n].state = s->states + s->n * s->frame.w.width;
        rc = take_record(&s->frame, bytes, i, path, &kind, &of, &s->at[s->n++], err);
    }
    s->dropped = all - s->n;
    free(gone);
    return rc;
}

static int parse(struct hx_store **out, const uint8_t *bytes, size_t n, const char *path, uint64_t model, struct hx_error *err)
{
    struct hx_store *s = calloc(1, sizeof(*s));
    int rc = s ? check_head((const struct head *)bytes, path, n, model, err) : hx_error_set(err, -ENOMEM, "%s: out of memory", path);

    if (!rc)
        rc = take_frame(&s->frame, bytes, path, err);
    if (!rc)
        rc = take_records(s, bytes, n, path, err);
    if (rc)
        hx_store_close(s);
    else
        *out = s;
    return rc;
}

int hx_store_read(struct hx_store **out, const char *path, uint64_t model, struct hx_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = NULL;
    size_t n = 0;
    int rc = fd < 0 ? hx_error_set(err, -errno, "%s: %s", path, strerror(errno)) : read_all(fd, path, &bytes, &n, err);

    if (!rc)
        rc = parse(out, bytes, n, path, model, err);
    if (fd >= 0)
        close(fd);
    free(bytes);
    return rc;
}

void hx_store_close(struct hx_store *s)
{
    if (!s)
        return;
    hx_whitening_free(&s->frame.w);
    free(s->at);
    free(s->states);
    free(s);
}

/* --- appending */

struct hx_store_writer {
    int fd; /* locked as long as it is open */
    struct hx_store_frame frame;
    uint8_t *bytes; /* of a record */
    float *state;   /* [width] of an eviction */
    char *path;
};

int hx_store_append_open(struct hx_store_writer **out, const char *path, uint64_t model, size_t *n, struct hx_error *err)
{
    struct hx_store_writer *w = calloc(1, sizeof(*w));
    struct hx_store *s = NULL;
    int rc = w ? 0 : hx_error_set(err, -ENOMEM, "%s: out of memory", path);

    if (rc)
        return rc;
    w->path = strdup(path);
    w->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (w->fd < 0)
        rc = hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!rc && flock(w->fd, LOCK_EX | LOCK_NB))
        rc = hx_error_set(err, -EBUSY, "%s: another process writes the store", path);
    if (!rc)
        rc = hx_store_read(&s, path, model, err);
    if (!rc) {
        const size_t whole = header_bytes(s->frame.w.n, s->frame.w.width) + (s->n + s->dropped) * hx_store_record_bytes(&s->frame);

        *n = s->n + s->dropped;
        w->frame = s->frame;
        s->frame.w = (struct hx_whitening){0}; /* w has it now */
        w->bytes = malloc(hx_store_record_bytes(&w->frame));
        w->state = calloc(w->frame.w.width, sizeof(*w->state));
        if (!w->bytes || !w->state || !w->path)
            rc = hx_error_set(err, -ENOMEM, "%s: out of memory", path);
        else if (s->torn && ftruncate(w->fd, (off_t)whole))
            rc = hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    hx_store_close(s);
    if (rc)
        hx_store_append_close(w, &(struct hx_error){""});
    else
        *out = w;
    return rc;
}

static int append(struct hx_store_writer *w, uint32_t kind, uint32_t of, const struct hx_store_record *r, struct hx_error *err)
{
    const size_t n = hx_store_record_bytes(&w->frame);
    struct hx_store_record copy = *r; /* whose values are only read */
    struct cursor c = {w->bytes, 0};
    const off_t end = lseek(w->fd, 0, SEEK_END);
    ssize_t done;

    put_record(&c, &w->frame, &kind, &of, &copy);
    seal(w->bytes, n);
    do
        done = write(w->fd, w->bytes, n);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)n)
        return 0;
    /* a full disk: what there is of the record goes, so that the next one stands where it belongs */
    if (done > 0 && ftruncate(w->fd, end))
        return hx_error_set(err, -errno, "%s: %s", w->path, strerror(errno));
    return hx_error_set(err, done < 0 ? -errno : -ENOSPC, "%s: cannot append: %s", w->path, strerror(done < 0 ? errno : ENOSPC));
}

int hx_store_append(struct hx_store_writer *w, const struct hx_store_record *r, struct hx_error *err)
{
    return append(w, TRAJECTORY, 0, r, err);
}

int hx_store_evict(struct hx_store_writer *w, size_t of, struct hx_error *err)
{
    const struct hx_store_record none = {.state = w->state};

    return append(w, EVICTION, (uint32_t)of, &none, err);
}

int hx_store_append_close(struct hx_store_writer *w, struct hx_error *err)
{
    int rc = 0;

    if (!w)
        return 0;
    if (w->fd >= 0 && fdatasync(w->fd))
        rc = hx_error_set(err, -errno, "%s: %s", w->path, strerror(errno));
    if (w->fd >= 0)
        close(w->fd);
    hx_whitening_free(&w->frame.w);
    free(w->bytes);
    free(w->state);
    free(w->path);
    free(w);
    return rc;
}
