/* The reads that fill slots of a prefetch buffer, by its thread or by its caller. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "prefetch_impl.h"

ssize_t hx_prefetch_read_file(void *arg, void *buf, size_t n, uint64_t offset)
{
    const struct hx_prefetch *p = arg;
    ssize_t got = pread(p->fd, buf, n, (off_t)offset);

    if (got < 0)
        return -errno;
    if (p->cfg.from == HX_PREFETCH_FROM_DISK)
        posix_fadvise(p->fd, (off_t)offset, got, POSIX_FADV_DONTNEED); /* a copy is enough */
    return got;
}

/* The whole item to buf.  *got: bytes read, also when it fails. */
static int read_item(struct hx_prefetch *p, const struct hx_prefetch_item *item, uint8_t *buf,
                     size_t *got, struct hx_error *err)
{
    for (*got = 0; *got < item->bytes;) {
        ssize_t rc = p->cfg.read(p->cfg.arg, buf + *got, item->bytes - *got, item->offset + *got);

        if (rc == -EINTR)
            continue;
        if (rc < 0)
            return hx_error_set(err, (int)rc, "%s: %zu bytes at %llu: %s", p->path, item->bytes,
                                (unsigned long long)item->offset, strerror((int)-rc));
        if (rc == 0)
            return hx_error_set(err, -EIO, "%s: truncated: %zu bytes at %llu are needed, the file ends "
                              "at %llu", p->path, item->bytes, (unsigned long long)item->offset,
                              (unsigned long long)(item->offset + *got));
        *got += (size_t)rc;
    }
    return 0;
}

void hx_prefetch_announce(struct hx_prefetch *p, uint64_t until)
{
    if (p->fd < 0 || p->sequential)
        return;
    for (; p->announced < until; p->announced++) {
        const struct hx_prefetch_item *it = &p->plan[p->announced % p->n];

        posix_fadvise(p->fd, (off_t)it->offset, (off_t)it->bytes, POSIX_FADV_WILLNEED);
    }
}

/* With the lock: when the bytes, which have just been read, are there. */
static void note_arrival(struct hx_prefetch *p, struct hx_slot *s, uint64_t asked, size_t bytes)
{
    const uint64_t now = hx_prefetch_now();

    s->there_ns = 0;
    if (hx_storage_is_modelled(&p->cfg.storage))
        s->there_ns = hx_storage_arrival(&p->cfg.storage, &p->busy_ns, asked, bytes);
    hx_hist_add(&p->stats.read, (s->there_ns > now ? s->there_ns : now) - asked);
}

int hx_prefetch_fill(struct hx_prefetch *p, struct hx_slot *s, struct hx_prefetch_item item, struct hx_error *err)
{
    const uint64_t asked = hx_prefetch_now();
    size_t got;
    int rc;

    pthread_mutex_unlock(&p->lock);
    rc = read_item(p, &item, s->bytes, &got, err);
    pthread_mutex_lock(&p->lock);
    p->stats.bytes_read += got;
    p->stats.read_ns += hx_prefetch_now() - asked;
    s->state = rc ? HX_SLOT_FAILED : HX_SLOT_READY;
    if (!rc)
        note_arrival(p, s, asked, item.bytes);
    return rc;
}
