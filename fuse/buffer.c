/* Imported client buffers, see buffer.h. */
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

enum { IDLE_MAX = 64 }; /* cached buffers that nobody holds, per session */

enum { NO_CLIENT_FD = -1 };

static struct hx_buffer *find(struct hx_session *s, int client_fd)
{
    for (struct hx_buffer *b = s->buffers; b; b = b->next)
        if (b->client_fd == client_fd)
            return b;
    return NULL;
}

static void destroy(struct hx_session *s, struct hx_buffer *b)
{
    for (struct hx_buffer **p = &s->buffers; *p; p = &(*p)->next)
        if (*p == b) {
            *p = b->next;
            break;
        }
    if (b->refs == 0)
        s->idle_buffers--;
    if (s->channel.rings)
        hx_channel_control(&s->channel, HX_CTL_UNMAP, b->id, 0, NULL, 0);
    if (b->bytes)
        munmap(b->bytes, b->size);
    close(b->fd);
    free(b);
}

/* The oldest idle buffer makes room. */
static void evict(struct hx_session *s)
{
    struct hx_buffer *oldest = NULL;

    for (struct hx_buffer *b = s->buffers; b; b = b->next)
        if (b->refs == 0 && (!oldest || b->id < oldest->id))
            oldest = b;
    if (oldest)
        destroy(s, oldest);
}

static int import(struct hx_session *s, int client_fd, int fd, const struct stat *st,
                  struct hx_buffer **out)
{
    struct hx_buffer *b;
    int rc;

    if (st->st_size <= 0)
        return -EINVAL;
    b = calloc(1, sizeof(*b));
    if (!b)
        return -ENOMEM;
    *b = (struct hx_buffer){.client_fd = client_fd, .fd = fd, .inode = st->st_ino,
                            .size = (uint64_t)st->st_size, .id = s->next_buffer_id};
    rc = hx_channel_map(&s->channel, b->id, client_fd, b->size, fd);
    if (rc) {
        free(b);
        return rc;
    }
    s->next_buffer_id++;
    b->next = s->buffers;
    s->buffers = b;
    s->idle_buffers++;
    s->stats.maps++;
    *out = b;
    return 0;
}

int hx_buffer_is_made(const struct hx_buffer *b)
{
    return b->client_fd == NO_CLIENT_FD;
}

int hx_buffer_make(struct hx_session *s, uint64_t size, struct hx_buffer **out)
{
    int fd = memfd_create("hexrig-mmap", MFD_CLOEXEC), rc;
    struct stat st;

    if (fd < 0)
        return -errno;
    rc = ftruncate(fd, (off_t)size) || fstat(fd, &st) ? -errno : 0;
    if (!rc)
        rc = import(s, NO_CLIENT_FD, fd, &st, out);
    if (rc) {
        close(fd);
        return rc;
    }
    s->idle_buffers--;
    (*out)->refs = 1;
    return 0;
}

void hx_buffer_return(struct hx_session *s, int client_fd)
{
    struct hx_buffer *b = client_fd > 0 ? find(s, client_fd) : NULL;

    if (b && b->handles) {
        b->handles--;
        hx_buffer_put(s, b);
    }
}

int hx_buffer_get(struct hx_call *call, int client_fd, struct hx_buffer **out)
{
    struct hx_session *s = call->session;
    struct hx_buffer *b = find(s, client_fd);
    struct stat st;
    int fd, rc = 0;

    if (client_fd < 0)
        return -EINVAL;
    if (b && b->refs) {
        b->refs++;
        *out = b;
        return 0;
    }
    fd = call->front->fd(call, client_fd);
    if (fd < 0 || fstat(fd, &st)) {
        hx_log("client %d: fd %d cannot be imported: %s", s->client_id, client_fd,
               strerror(fd < 0 ? -fd : errno));
        if (fd >= 0)
            close(fd);
        return -EINVAL;
    }
    if (b && b->inode != st.st_ino) {
        destroy(s, b); /* the number was closed and used again */
        b = NULL;
    }
    if (b) {
        close(fd);
    } else {
        if (s->idle_buffers >= IDLE_MAX)
            evict(s);
        rc = import(s, client_fd, fd, &st, &b);
        if (rc) {
            close(fd);
            return -EINVAL;
        }
    }
    s->idle_buffers--;
    b->refs = 1;
    *out = b;
    return 0;
}

void hx_buffer_put(struct hx_session *s, struct hx_buffer *b)
{
    if (--b->refs)
        return;
    s->idle_buffers++;
    if (hx_buffer_is_made(b))
        destroy(s, b);
}

uint64_t hx_buffer_offset(struct hx_call *call, struct hx_buffer *b, uint64_t addr)
{
    if (!b->va_len || addr - b->va >= b->va_len)
        if (call->front->locate(call, b->client_fd, b->inode, addr, &b->va, &b->va_len,
                                &b->va_offset))
            return addr & 4095; /* no mapping of this file: the kernel driver then counts from the page */
    return addr - b->va + b->va_offset;
}

uint8_t *hx_buffer_bytes(struct hx_buffer *b)
{
    if (!b->bytes) {
        b->bytes = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
        if (b->bytes == MAP_FAILED)
            b->bytes = NULL;
    }
    return b->bytes;
}

void hx_buffer_forget_all(struct hx_session *s)
{
    while (s->buffers) {
        struct hx_buffer *b = s->buffers;
        if (b->refs) {
            b->refs = 0;
            s->idle_buffers++;
        }
        destroy(s, b);
    }
}
