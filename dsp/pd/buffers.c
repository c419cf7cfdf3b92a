/* The client's buffers that the driver has announced to this PD: mapping, uses, unmapping. */
#include "buffers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "bindings.h"
#include "base/low_memory.h"

struct buffer {
    uint8_t *base; /* NULL = no buffer with this id */
    uint64_t size;
    int client_fd; /* -1 = the client has no number for it */
    unsigned uses; /* HAP_mmap_get() without HAP_mmap_put() */
    int returned;  /* last put since the driver was told */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static pthread_cond_t applied = PTHREAD_COND_INITIALIZER;
static struct buffer *table; /* [table_len], index = id */
static int32_t table_len;
static uint32_t last_seq;

static int grow(int32_t id)
{
    int32_t want = table_len ? table_len : 16;

    while (want <= id)
        want *= 2;
    if (want == table_len)
        return 0;
    struct buffer *t = realloc(table, (size_t)want * sizeof(*t));
    if (!t)
        return -ENOMEM;
    for (int32_t i = table_len; i < want; i++)
        t[i] = (struct buffer){0};
    table = t;
    table_len = want;
    return 0;
}

static int map(const struct hx_ctl *ctl, int fd)
{
    int rc;

    if (ctl->id < 0 || ctl->id >= 1 << 20 || fd < 0)
        return -EINVAL;
    rc = grow(ctl->id);
    if (rc)
        return rc;
    table[ctl->id].base = hx_low_map(ctl->size, fd);
    table[ctl->id].size = ctl->size;
    table[ctl->id].client_fd = ctl->client_fd;
    table[ctl->id].uses = 0;
    table[ctl->id].returned = 0;
    return table[ctl->id].base ? 0 : -errno;
}

static int unmap(int32_t id)
{
    if (id < 0 || id >= table_len || !table[id].base)
        return -ENOENT;
    if (!hx_bindings_keep(id)) /* a dspqueue may still refer to it */
        hx_low_unmap(table[id].base, table[id].size);
    table[id] = (struct buffer){0};
    return 0;
}

static int apply(const struct hx_ctl *ctl, int fd)
{
    switch (ctl->op) {
    case HX_CTL_MAP:
        return map(ctl, fd);
    case HX_CTL_UNMAP:
        return unmap(ctl->id);
    case HX_CTL_UNBIND:
        hx_bindings_unbind(ctl->id);
        return 0;
    default:
        return -EPROTO;
    }
}

int hx_buffers_bind(int32_t id)
{
    int rc = -ENOENT;

    pthread_mutex_lock(&lock);
    if (id >= 0 && id < table_len && table[id].base) /* what the kernel made has no number to be found by */
        rc = table[id].client_fd < 0
                 ? 0
                 : hx_bindings_bind(id, table[id].client_fd, table[id].base, table[id].size);
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_buffers_apply(const struct hx_ctl *ctl, int fd)
{
    int rc;

    pthread_mutex_lock(&lock);
    rc = apply(ctl, fd);
    last_seq = ctl->seq;
    pthread_cond_broadcast(&applied);
    pthread_mutex_unlock(&lock);
    if (fd >= 0)
        close(fd);
    if (rc)
        FARF(ERROR, "buffer %d of %llu bytes, control %u: errno %d", ctl->id,
             (unsigned long long)ctl->size, ctl->op, -rc);
    return rc;
}

void hx_buffers_seen(uint32_t seq)
{
    pthread_mutex_lock(&lock);
    last_seq = seq;
    pthread_cond_broadcast(&applied);
    pthread_mutex_unlock(&lock);
}

void hx_buffers_wait(uint32_t seq)
{
    pthread_mutex_lock(&lock);
    while ((int32_t)(last_seq - seq) < 0)
        pthread_cond_wait(&applied, &lock);
    pthread_mutex_unlock(&lock);
}

/* The newest buffer with this number: a number that the client has used again means the new file. */
static struct buffer *find_fd(int client_fd)
{
    for (int32_t i = table_len; i-- > 0 && client_fd >= 0;)
        if (table[i].base && table[i].client_fd == client_fd)
            return &table[i];
    return NULL;
}

int hx_buffers_get_fd(int client_fd, void **vaddr)
{
    pthread_mutex_lock(&lock);
    struct buffer *b = find_fd(client_fd);
    if (b) {
        b->uses++;
        b->returned = 0;
        *vaddr = b->base;
    }
    pthread_mutex_unlock(&lock);
    return b ? AEE_SUCCESS : AEE_ENOSUCHMAP;
}

int hx_buffers_size_fd(int client_fd, uint64_t *bytes)
{
    pthread_mutex_lock(&lock);
    struct buffer *b = find_fd(client_fd);
    if (b)
        *bytes = b->size;
    pthread_mutex_unlock(&lock);
    return b ? AEE_SUCCESS : AEE_ENOSUCHMAP;
}

/* The newest of this number that the skel has hold of, else the newest. */
static struct buffer *find_used(int client_fd)
{
    for (int32_t i = table_len; i-- > 0 && client_fd >= 0;)
        if (table[i].base && table[i].client_fd == client_fd && table[i].uses)
            return &table[i];
    return find_fd(client_fd);
}

int hx_buffers_put_fd(int client_fd)
{
    int rc = AEE_ENOSUCHMAP;

    pthread_mutex_lock(&lock);
    struct buffer *b = find_used(client_fd);
    if (b)
        rc = b->uses ? AEE_SUCCESS : AEE_EBADSTATE;
    if (rc == AEE_SUCCESS && --b->uses == 0)
        b->returned = 1;
    pthread_mutex_unlock(&lock);
    return rc;
}

int hx_buffers_put_addr(const void *addr, uint64_t len)
{
    int rc = AEE_ENOSUCHMAP;

    pthread_mutex_lock(&lock);
    for (int32_t i = 0; i < table_len && rc; i++) {
        struct buffer *b = &table[i];
        uint64_t offset = (uintptr_t)addr - (uintptr_t)b->base;

        if (!b->base || !b->uses || offset >= b->size || len > b->size - offset)
            continue;
        rc = AEE_SUCCESS;
        b->returned |= --b->uses == 0;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Linux maps shared memory a second time for who asks for 0 bytes of it to be moved (mremap(2)). */
void *hx_buffers_twin(uint64_t addr, uint64_t len)
{
    void *twin = MAP_FAILED;

    pthread_mutex_lock(&lock);
    for (int32_t i = 0; i < table_len && twin == MAP_FAILED; i++) {
        const uint64_t offset = addr - (uintptr_t)table[i].base;

        if (table[i].base && offset < table[i].size && len <= table[i].size - offset)
            twin = mremap(table[i].base + offset, 0, len, MREMAP_MAYMOVE);
    }
    pthread_mutex_unlock(&lock);
    return twin == MAP_FAILED ? NULL : twin;
}

unsigned hx_buffers_returned(uint64_t *fds, unsigned max)
{
    unsigned n = 0;

    pthread_mutex_lock(&lock);
    for (int32_t i = 0; i < table_len && n < max; i++)
        if (table[i].base && table[i].returned) {
            table[i].returned = 0;
            fds[n++] = (uint64_t)table[i].client_fd;
        }
    pthread_mutex_unlock(&lock);
    return n;
}

void *hx_buffers_at(int32_t id, uint64_t offset, uint64_t len)
{
    void *p = NULL;

    pthread_mutex_lock(&lock);
    if (id >= 0 && id < table_len && table[id].base && offset <= table[id].size &&
        len <= table[id].size - offset)
        p = table[id].base + offset;
    pthread_mutex_unlock(&lock);
    return p;
}
