/* Clients of the driver's core for fuzz targets: see fuzz_client.h. */
#include "fuzz_client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fuzz_client fuzz_client[FUZZ_CLIENTS];
static struct fuzz_file files[FUZZ_FILES];

/* --- files ------------------------------------------------------------------------------------------------------ */

static void destroy(struct fuzz_file *f)
{
    munmap(f->map, f->size);
    free(f->want);
    close(f->fd);
    f->fd = 0;
}

struct fuzz_file *fuzz_file_open(struct fuzz_client *c, unsigned i)
{
    struct fuzz_file *f = files;

    if (c->file[i])
        return c->file[i];
    while (f < files + FUZZ_FILES && f->fd)
        f++;
    if (f == files + FUZZ_FILES)
        return NULL;
    f->size = 4096 * (1 + (uint32_t)(f - files) % 2);
    f->fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_must(f->fd > 0 && ftruncate(f->fd, f->size) == 0, "there are files");
    f->map = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    f->want = malloc(f->size);
    fuzz_must(f->map != MAP_FAILED && f->want, "files can be mapped");
    memset(f->map, 0x40 + (int)(f - files), f->size);
    memcpy(f->want, f->map, f->size);
    c->file[i] = f;
    return f;
}

/* Calls may still use it. */
void fuzz_file_close(struct fuzz_client *c, unsigned i)
{
    c->file[i] = NULL;
}

void fuzz_clients_reset(void)
{
    for (int i = 0; i < FUZZ_FILES; i++)
        if (files[i].fd)
            destroy(&files[i]);
    for (int i = 0; i < FUZZ_CLIENTS; i++) {
        struct fuzz_client *c = &fuzz_client[i];
        memset(c, 0, sizeof(*c));
        for (int j = 0; j < FUZZ_MEMORY; j++)
            c->memory[j] = c->want[j] = (uint8_t)(i * 7 + j * 13 + j / 256);
    }
}

/* --- the front end ---------------------------------------------------------------------------------------------- */

bool fuzz_memory_has(uint64_t addr, uint64_t len)
{
    return addr >= FUZZ_MEMORY_AT && addr - FUZZ_MEMORY_AT <= FUZZ_MEMORY && len <= FUZZ_MEMORY - (addr - FUZZ_MEMORY_AT);
}

static struct fuzz_client *client_of(struct hx_call *call)
{
    return ((struct fuzz_call *)call->request)->client;
}

static int read_memory(struct hx_call *call, void *dst, uint64_t addr, uint64_t len)
{
    struct fuzz_client *c = client_of(call);

    if (fuzz_memory_has(addr, len))
        memcpy(dst, c->memory + (addr - FUZZ_MEMORY_AT), len);
    else if (addr >= FUZZ_ARGS_AT && len <= sizeof(c->args) && addr - FUZZ_ARGS_AT <= sizeof(c->args) - len)
        memcpy(dst, c->args + (addr - FUZZ_ARGS_AT), len);
    else
        return -14;
    return 0;
}

static int write_memory(struct hx_call *call, uint64_t addr, const void *src, uint64_t len)
{
    if (!fuzz_memory_has(addr, len))
        return -14;
    memcpy(client_of(call)->memory + (addr - FUZZ_MEMORY_AT), src, len);
    return 0;
}

static int move_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n, bool to_client)
{
    int rc = 0;

    fuzz_must(n >= 1 && n <= HX_PIECES_MAX, "a batch is no larger than agreed");
    for (unsigned i = 0; i < n && !rc; i++)
        rc = to_client ? write_memory(call, p[i].there, p[i].here, p[i].len) : read_memory(call, p[i].here, p[i].there, p[i].len);
    return rc;
}

static int read_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    return move_pieces(call, p, n, false);
}

static int write_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    return move_pieces(call, p, n, true);
}

static struct fuzz_file *file_of(struct hx_call *call, int fd)
{
    return fd >= FUZZ_FD && fd < FUZZ_FD + FUZZ_FDS ? client_of(call)->file[fd - FUZZ_FD] : NULL;
}

static int fd_of_client(struct hx_call *call, int fd)
{
    struct fuzz_file *f = file_of(call, fd);

    return f ? dup(f->fd) : -9;
}

static bool same_file(struct hx_call *call, int fd, int own)
{
    struct fuzz_file *f = file_of(call, fd);
    struct stat a, b;

    return f && fstat(f->fd, &a) == 0 && fstat(own, &b) == 0 && a.st_ino == b.st_ino;
}

static int locate(struct hx_call *call, int fd, uint64_t inode, uint64_t addr, uint64_t *offset)
{
    struct fuzz_file *f = file_of(call, fd);
    uint64_t at = FUZZ_FILES_AT + (uint64_t)(fd - FUZZ_FD) * FUZZ_FILE_STEP;
    struct stat st;

    if (!f || fstat(f->fd, &st) || st.st_ino != inode || addr < at || addr - at >= f->size)
        return -2;
    *offset = addr - at;
    return 0;
}

static void finish(struct hx_call *call, int result)
{
    struct fuzz_call *fc = call->request;

    fuzz_must(fc->client && !fc->answers, "every ioctl is answered once");
    fc->answers++;
    fc->result = result;
}

const struct hx_front_ops fuzz_slow_front = {
    .name = "fuzz",
    .read = read_memory,
    .write = write_memory,
    .fd = fd_of_client,
    .locate = locate,
    .finish = finish,
};
const struct hx_front_ops fuzz_fast_front = {
    .name = "fuzz",
    .read = read_memory,
    .write = write_memory,
    .fd = fd_of_client,
    .locate = locate,
    .finish = finish,
    .read_pieces = read_pieces,
    .write_pieces = write_pieces,
    .same_file = same_file,
    .reads_pages = true,
};

/* --- what has to come out --------------------------------------------------------------------------------------- */

uint64_t fuzz_offset(const struct fuzz_client *c, const struct fuzz_buf *b)
{
    for (unsigned i = 0; i < FUZZ_FDS; i++) {
        uint64_t at = FUZZ_FILES_AT + i * (uint64_t)FUZZ_FILE_STEP;
        if (c->file[i] == b->file && b->ptr >= at && b->ptr - at < b->file->size)
            return b->ptr - at;
    }
    return b->ptr & 4095;
}

static uint8_t *wanted(const struct fuzz_call *fc, const struct fuzz_buf *b)
{
    if (b->file)
        return b->len <= b->file->size && b->offset <= b->file->size - b->len ? b->file->want + b->offset : NULL;
    return fuzz_memory_has(b->ptr, b->len) ? fc->client->want + (b->ptr - FUZZ_MEMORY_AT) : NULL;
}

/* As fuzz_pd_execute() does. */
static uint64_t sum_of(const struct fuzz_call *fc)
{
    uint64_t sum = fc->call.arg.invoke.handle ^ fc->call.arg.invoke.sc;

    for (unsigned i = 0; i < fc->n_in; i++) {
        const struct fuzz_buf *b = &fc->buf[i];
        sum = fuzz_chain(sum, b->file ? fuzz_sum(wanted(fc, b), b->len) : b->sum);
    }
    return sum;
}

int fuzz_expect(const struct fuzz_call *fc, int result)
{
    bool fault = false;
    uint64_t sum;

    for (unsigned i = 0; i < fc->n_bufs; i++)
        if (fc->buf[i].file && !wanted(fc, &fc->buf[i]))
            return FUZZ_REFUSED;
    sum = sum_of(fc);
    for (unsigned i = fc->n_in; i < fc->n_bufs; i++) {
        const struct fuzz_buf *b = &fc->buf[i];
        uint8_t *out = b->len ? wanted(fc, b) : NULL;

        fault |= b->len && !out;
        for (size_t j = 0; out && j < b->len; j++)
            out[j] = fuzz_out(sum, i, j);
    }
    return fault ? FUZZ_FAULT : result;
}

void fuzz_forgive(const struct fuzz_call *fc)
{
    for (unsigned i = fc->n_in; i < fc->n_bufs; i++) {
        const struct fuzz_buf *b = &fc->buf[i];
        const uint64_t at = b->ptr - FUZZ_MEMORY_AT;

        for (uint64_t j = at; !b->file && at < FUZZ_MEMORY && j < FUZZ_MEMORY && j < at + b->len; j++)
            fc->client->want[j] = fc->client->memory[j]; /* a copy in pieces reaches the end of the memory before it fails */
    }
}

void fuzz_forgive_files(void)
{
    for (int i = 0; i < FUZZ_FILES; i++)
        if (files[i].fd)
            memcpy(files[i].want, files[i].map, files[i].size);
}

void fuzz_clients_check(void)
{
    for (int i = 0; i < FUZZ_CLIENTS; i++)
        fuzz_must(memcmp(fuzz_client[i].memory, fuzz_client[i].want, FUZZ_MEMORY) == 0, "a client's memory is what it has to be");
    for (int i = 0; i < FUZZ_FILES; i++)
        fuzz_must(!files[i].fd || memcmp(files[i].map, files[i].want, files[i].size) == 0, "a file is what it has to be");
}

/* References that contexts hold. */
static unsigned held(const struct hx_driver *d, const struct hx_buffer *b)
{
    unsigned n = 0;

    for (int id = 1; id < FASTRPC_CTX_MAX; id++)
        for (unsigned i = 0; d->context[id] && i < d->context[id]->n_args; i++)
            n += d->context[id]->args[i].buffer == b;
    return n;
}

void fuzz_session_check(const struct hx_session *s)
{
    unsigned n = 0, idle = 0;

    for (const struct hx_buffer *b = s->buffers; b; b = b->next) {
        n++;
        idle += b->refs == 0;
        fuzz_must(b->mem_maps + b->handles + held(s->driver, b) == b->refs, "references are those of calls, maps and handles");
    }
    fuzz_must(n == s->n_buffers && idle == s->idle_buffers, "buffers are counted");
    fuzz_must(n <= s->driver->maps_max, "no session has more buffers than it may");
}
