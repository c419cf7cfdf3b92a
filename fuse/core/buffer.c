/* Importing clients' buffers: which descriptor is which file, how long it stays cached, what it may be. */
#include "buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/closer.h"
#include "base/memory_fd.h"
#include "driver.h"

enum { IDLE_MAX = 64 }; /* cached buffers that nobody holds, per session */

enum { MAPS_MAX = 1024, MAPS_MIN = 16 }; /* buffers of a session */
enum { OWN_FDS = 512 }; /* channels, connections, the front end */
enum { NO_CLIENT_FD = -1 };

/* The next buffer from b on that had this number when it was imported: several did when the number was used again. */
static struct hx_buffer *with_number(struct hx_buffer *b, int client_fd)
{
    while (b && b->client_fd != client_fd)
        b = b->next;
    return b;
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
    s->n_buffers--;
    if (s->channel.rings)
        hx_channel_control(&s->channel, HX_CTL_UNMAP, b->id, 0, NULL, 0);
    close(b->fd);
    free(b);
}

/* Evicts the oldest idle buffer. */
static void evict(struct hx_session *s)
{
    struct hx_buffer *oldest = NULL;

    for (struct hx_buffer *b = s->buffers; b; b = b->next)
        if (b->refs == 0 && (!oldest || b->id < oldest->id))
            oldest = b;
    if (oldest)
        destroy(s, oldest);
}

unsigned hx_buffer_share(uint64_t descriptors, unsigned sessions)
{
    uint64_t left = descriptors > OWN_FDS ? descriptors - OWN_FDS : 0, share = left / sessions;

    return share > MAPS_MAX ? MAPS_MAX : share < MAPS_MIN ? MAPS_MIN : (unsigned)share;
}

/* Every buffer takes one of the rig's descriptors, and no client may use up those of the others. */
static int make_room(struct hx_session *s)
{
    if (s->idle_buffers >= IDLE_MAX || s->n_buffers >= s->driver->maps_max)
        evict(s);
    if (s->n_buffers < s->driver->maps_max)
        return 0;
    hx_log_client("client %d: %u buffers are mapped, at most %u per session", s->client_id,
                  s->n_buffers, s->driver->maps_max);
    return -ENOMEM;
}

/* Tells the PD of a buffer.  One that has just died, by itself or with the whole DSP, is not the call's fault: the loop is about to learn
 * which it was, and ends the call with the code that says so. */
static int announce(struct hx_session *s, const struct hx_buffer *b)
{
    int rc = hx_channel_map(&s->channel, b->id, b->client_fd, b->size, b->fd);

    return rc == -EPIPE || rc == -ECONNRESET ? 0 : rc;
}

static bool may_grow(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && !(seals & F_SEAL_GROW);
}

/* A PD has what was there mapped; the rest of the file is another buffer. */
static bool has_grown(const struct hx_buffer *b)
{
    struct stat st;

    return b->may_grow && fstat(b->fd, &st) == 0 && (uint64_t)st.st_size > b->size;
}

static int import(struct hx_session *s, int client_fd, int fd, const struct stat *st,
                  struct hx_buffer **out)
{
    struct hx_buffer *b;
    int rc;

    if (st->st_size <= 0)
        return -EINVAL;
    rc = make_room(s);
    if (rc)
        return rc;
    b = calloc(1, sizeof(*b));
    if (!b)
        return -ENOMEM;
    *b = (struct hx_buffer){.client_fd = client_fd, .fd = fd, .device = st->st_dev, .inode = st->st_ino,
                            .size = (uint64_t)st->st_size, .may_grow = may_grow(fd), .id = s->next_buffer_id};
    rc = announce(s, b);
    if (rc) {
        free(b);
        return rc;
    }
    s->next_buffer_id++;
    b->next = s->buffers;
    s->buffers = b;
    s->idle_buffers++;
    s->n_buffers++;
    s->stats.maps++;
    *out = b;
    return 0;
}

int hx_buffer_is_made(const struct hx_buffer *b)
{
    return b->client_fd == NO_CLIENT_FD;
}

void hx_buffer_strand_made(struct hx_session *s)
{
    for (struct hx_buffer *b = s->buffers; b; b = b->next)
        b->is_stranded |= hx_buffer_is_made(b) && b->mem_maps;
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
    struct hx_buffer *b = client_fd > 0 ? with_number(s->buffers, client_fd) : NULL;

    while (b && !b->handles)
        b = with_number(b->next, client_fd);
    if (b) {
        b->handles--;
        hx_buffer_put(s, b);
    }
}

/* The buffer that the descriptor means right now, as far as that can be told without a duplicate, which would take four
 * system calls. */
static struct hx_buffer *find_open_file(struct hx_call *call, int client_fd)
{
    struct hx_buffer *b = with_number(call->session->buffers, client_fd);

    while (b && !(call->front->same_file && call->front->same_file(call, client_fd, b->fd) && !has_grown(b)))
        b = with_number(b->next, client_fd);
    return b;
}

/* The buffer of this number and file, with all its bytes.  Cached ones of the same number are let go: the client has closed their
 * files, or made this one larger. */
static struct hx_buffer *find_file(struct hx_session *s, int client_fd, const struct stat *st)
{
    struct hx_buffer *found = NULL, *next;

    for (struct hx_buffer *b = with_number(s->buffers, client_fd); b; b = next) {
        next = with_number(b->next, client_fd);
        if (b->inode == st->st_ino && b->device == st->st_dev && (uint64_t)st->st_size <= b->size)
            found = b;
        else if (!b->refs)
            destroy(s, b);
    }
    return found;
}

/* A duplicate of the client's descriptor when it is memory, else -EINVAL with a line in the log, or -EBADF when it is not open.  The
 * kernel's driver takes dma-bufs alone, this one memfds too. */
static int take_memory(struct hx_call *call, int client_fd, struct stat *st)
{
    const uid_t uid = call->session->uid;
    int fd = hx_closer_may_take(uid) ? call->front->fd(call, client_fd) : -EBUSY, rc;

    if (fd >= 0 && hx_fd_is_memory(fd) && fstat(fd, st) == 0)
        return fd;
    rc = fd < 0 ? -fd : EINVAL;
    hx_log_client("client %d: fd %d cannot be imported: %s", call->session->client_id, client_fd,
                  strerror(rc));
    if (fd >= 0)
        hx_close_later(uid, &fd, 1);
    return rc == EBADF ? -EBADF : -EINVAL;
}

static bool has_bytes(uint64_t size, uint64_t bytes)
{
    return bytes <= (size + 4095) / 4096 * 4096;
}

bool hx_buffer_has(const struct hx_buffer *b, uint64_t bytes)
{
    return has_bytes(b->size, bytes);
}

int hx_buffer_check(struct hx_call *call, int client_fd, uint64_t bytes)
{
    struct stat st;
    int fd = client_fd < 0 ? -EBADF : take_memory(call, client_fd, &st);

    if (fd < 0)
        return fd;
    close(fd);
    return has_bytes((uint64_t)st.st_size, bytes) ? 0 : -EINVAL;
}

/* By way of a duplicate: finds the file's buffer, or makes one. */
static int look_at_file(struct hx_call *call, int client_fd, struct hx_buffer **out)
{
    struct hx_session *s = call->session;
    struct stat st;
    int fd = take_memory(call, client_fd, &st), rc;

    if (fd < 0)
        return fd;
    *out = find_file(s, client_fd, &st);
    rc = *out ? 0 : import(s, client_fd, fd, &st, out);
    if (rc || (*out)->fd != fd)
        close(fd);
    return !rc || rc == -ENOMEM ? rc : -EINVAL;
}

int hx_buffer_get(struct hx_call *call, int client_fd, struct hx_buffer **out)
{
    struct hx_session *s = call->session;
    struct hx_buffer *b;
    int rc = 0;

    if (client_fd < 0)
        return -EBADF;
    b = find_open_file(call, client_fd);
    if (!b)
        rc = look_at_file(call, client_fd, &b);
    if (rc)
        return rc;
    s->idle_buffers -= b->refs == 0;
    b->refs++;
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

int hx_buffer_offset(struct hx_call *call, const struct hx_buffer *b, uint64_t addr, uint64_t *offset)
{
    int rc = call->front->locate(call, b->client_fd, b->inode, addr, offset);

    if (rc == -ENOENT)
        *offset = addr & 4095; /* no mapping of this file: the kernel driver then counts from the page */
    return rc == -ENOENT ? 0 : rc;
}

/* A memfd is never mapped here: its client may truncate it at any time, and touching such a mapping ends the driver. */
static int alter_memfd(int fd, uint64_t at, uint64_t len, hx_buffer_alterer alter)
{
    uint8_t chunk[4096];

    while (len) {
        ssize_t n = pread(fd, chunk, len < sizeof(chunk) ? len : sizeof(chunk), (off_t)at);

        if (n <= 0)
            return n ? -errno : -EFAULT;
        alter(chunk, (size_t)n);
        if (pwrite(fd, chunk, (size_t)n, (off_t)at) != n)
            return -EIO;
        at += (uint64_t)n;
        len -= (uint64_t)n;
    }
    return 0;
}

/* A dma-buf has no read(), and its size is fixed. */
static int alter_dma_buf(const struct hx_buffer *b, uint64_t at, uint64_t len,
                         hx_buffer_alterer alter)
{
    uint8_t *bytes = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);

    if (bytes == MAP_FAILED)
        return -errno;
    alter(bytes + at, len);
    munmap(bytes, b->size);
    return 0;
}

int hx_buffer_alter(struct hx_buffer *b, uint64_t at, uint64_t len, hx_buffer_alterer alter)
{
    if (at > b->size || len > b->size - at)
        return -EFAULT;
    return fcntl(b->fd, F_GET_SEALS) >= 0 ? alter_memfd(b->fd, at, len, alter)
                                          : alter_dma_buf(b, at, len, alter);
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
