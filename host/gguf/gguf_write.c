/* Writes a GGUF file in order: header and metadata, tensor list, data; under a temporary name until it is complete. */
#include "gguf_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 3 };

/* Bytes in memory that grow. */
struct bytes {
    uint8_t *p;
    size_t n, cap;
    int failed; /* out of memory */
};

struct hx_gguf_writer {
    char *path, *part;
    FILE *f;             /* of `part` */
    uint64_t alignment;
    struct bytes kv, tensors; /* as they will be in the file */
    struct bytes sizes;  /* u64 per tensor: bytes of its data */
    uint64_t n_kv, n_tensors;
    uint64_t promised;   /* bytes of the data section so far, with gaps */
    uint64_t done;       /* tensors whose data is complete */
    uint64_t missing;    /* bytes of the next one */
    int started;         /* the header is written */
    int failed;          /* -errno of the first write that did */
};

static void put(struct bytes *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        const size_t cap = 2 * (b->n + n);
        uint8_t *bigger = b->failed ? NULL : realloc(b->p, cap);

        if (!bigger) {
            b->failed = 1;
            return;
        }
        b->p = bigger;
        b->cap = cap;
    }
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void put_u32(struct bytes *b, uint32_t v)
{
    put(b, &v, sizeof(v));
}

static void put_u64(struct bytes *b, uint64_t v)
{
    put(b, &v, sizeof(v));
}

static void put_str(struct bytes *b, const char *p, size_t n)
{
    put_u64(b, n);
    put(b, p, n);
}

void hx_gguf_writer_kv(struct hx_gguf_writer *w, const struct hx_gguf_kv *kv)
{
    put_str(&w->kv, kv->key.p, kv->key.n);
    put_u32(&w->kv, kv->type);
    if (kv->type == HX_GGUF_ARRAY) {
        put_u32(&w->kv, kv->elem);
        put_u64(&w->kv, kv->n);
    }
    put(&w->kv, kv->data, kv->bytes);
    w->n_kv++;
}

void hx_gguf_writer_u32(struct hx_gguf_writer *w, const char *key, uint32_t v)
{
    put_str(&w->kv, key, strlen(key));
    put_u32(&w->kv, HX_GGUF_U32);
    put_u32(&w->kv, v);
    w->n_kv++;
}

/* What is missing from n to the next multiple. */
static uint64_t gap(const struct hx_gguf_writer *w, uint64_t n)
{
    return -n & (w->alignment - 1);
}

void hx_gguf_writer_tensor(struct hx_gguf_writer *w, const struct hx_gguf_tensor *t)
{
    uint64_t bytes = hx_quant_row_bytes(t->type, t->dims[0]);

    put_str(&w->tensors, t->name.p, t->name.n);
    put_u32(&w->tensors, t->n_dims);
    for (uint32_t i = 0; i < t->n_dims; i++) {
        put_u64(&w->tensors, t->dims[i]);
        bytes *= i ? t->dims[i] : 1;
    }
    put_u32(&w->tensors, t->type);
    put_u64(&w->tensors, w->promised);
    put_u64(&w->sizes, bytes);
    w->promised += bytes + gap(w, bytes);
    w->n_tensors++;
}

static void emit(struct hx_gguf_writer *w, const void *p, size_t n)
{
    if (!w->failed && n && fwrite(p, n, 1, w->f) != 1)
        w->failed = errno ? -errno : -EIO;
}

static void emit_gap(struct hx_gguf_writer *w, uint64_t after)
{
    static const uint8_t zeros[4096];

    for (uint64_t n = gap(w, after), now; n; n -= now) {
        now = n < sizeof(zeros) ? n : sizeof(zeros);
        emit(w, zeros, now);
    }
}

static uint64_t size_of(const struct hx_gguf_writer *w, uint64_t tensor)
{
    uint64_t n;

    memcpy(&n, w->sizes.p + tensor * sizeof(n), sizeof(n));
    return n;
}

static void start(struct hx_gguf_writer *w)
{
    const uint32_t version = VERSION;

    w->started = 1;
    if (w->kv.failed || w->tensors.failed || w->sizes.failed) {
        w->failed = -ENOMEM;
        return;
    }
    emit(w, "GGUF", 4);
    emit(w, &version, sizeof(version));
    emit(w, &w->n_tensors, sizeof(w->n_tensors));
    emit(w, &w->n_kv, sizeof(w->n_kv));
    emit(w, w->kv.p, w->kv.n);
    emit(w, w->tensors.p, w->tensors.n);
    emit_gap(w, 4 + sizeof(version) + sizeof(w->n_tensors) + sizeof(w->n_kv) + w->kv.n +
                    w->tensors.n);
    if (w->n_tensors)
        w->missing = size_of(w, 0);
}

static int write_result(const struct hx_gguf_writer *w, struct hx_error *err)
{
    return w->failed ? hx_error_set(err, w->failed, "%s: cannot write: %s", w->path,
                                  strerror(-w->failed)) : 0;
}

int hx_gguf_writer_data(struct hx_gguf_writer *w, const void *bytes, size_t n, struct hx_error *err)
{
    if (!w->started)
        start(w);
    if (!w->failed && (w->done == w->n_tensors || n > w->missing))
        return hx_error_set(err, -EINVAL, "%s: %zu bytes of data that belong to no tensor", w->path,
                            n);
    emit(w, bytes, n);
    w->missing -= w->failed ? 0 : n;
    if (!w->failed && w->missing == 0) {
        emit_gap(w, size_of(w, w->done));
        if (++w->done < w->n_tensors)
            w->missing = size_of(w, w->done);
    }
    return write_result(w, err);
}

int hx_gguf_writer_finish(struct hx_gguf_writer *w, struct hx_error *err)
{
    int failed;

    if (!w->started)
        start(w);
    if (!w->failed && w->done < w->n_tensors)
        return hx_error_set(err, -EINVAL, "%s: data of %llu tensors is missing", w->path,
                            (unsigned long long)(w->n_tensors - w->done));
    errno = 0;
    failed = fclose(w->f) != 0;
    w->f = NULL;
    if (!w->failed && (failed || rename(w->part, w->path)))
        w->failed = errno ? -errno : -EIO;
    if (!w->failed) {
        free(w->part);
        w->part = NULL;
    }
    return write_result(w, err);
}

/* A rename would take the place of anything, a device too. */
static int check_target(const char *path, struct hx_error *err)
{
    struct stat st;

    if (lstat(path, &st))
        return errno == ENOENT ? 0 : hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return hx_error_set(err, -EINVAL, "%s: is a directory", path);
    return S_ISREG(st.st_mode) ? 0 : hx_error_set(err, -EINVAL, "%s: not a regular file", path);
}

static int open_part(struct hx_gguf_writer *w, struct hx_error *err)
{
    int fd;

    if (asprintf(&w->part, "%s.%d.part", w->path, (int)getpid()) < 0) {
        w->part = NULL;
        return hx_error_set(err, -ENOMEM, "%s: out of memory", w->path);
    }
    fd = open(w->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    w->f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (w->f)
        return 0;
    const int rc = -errno;

    hx_error_set(err, rc, "%s: %s", w->part, strerror(-rc));
    if (fd >= 0) {
        close(fd);
        unlink(w->part);
    }
    free(w->part); /* not ours to remove */
    w->part = NULL;
    return rc;
}

int hx_gguf_writer_open(struct hx_gguf_writer **out, const char *path, uint32_t alignment,
                        struct hx_error *err)
{
    struct hx_gguf_writer *w;
    int rc = check_target(path, err);

    if (rc)
        return rc;
    w = calloc(1, sizeof(*w));
    if (!w)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    w->alignment = alignment;
    w->path = strdup(path);
    rc = w->path ? open_part(w, err) : hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    if (rc) {
        hx_gguf_writer_close(w);
        return rc;
    }
    *out = w;
    return 0;
}

void hx_gguf_writer_close(struct hx_gguf_writer *w)
{
    if (!w)
        return;
    if (w->f)
        fclose(w->f);
    if (w->part)
        unlink(w->part);
    free(w->kv.p);
    free(w->tensors.p);
    free(w->sizes.p);
    free(w->path);
    free(w->part);
    free(w);
}
