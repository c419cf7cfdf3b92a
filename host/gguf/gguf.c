/* GGUF files: opening and closing them, and facts about a file as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gguf_impl.h"

static int open_bytes(struct hx_gguf **out, const char *name, const void *bytes, size_t n, enum hx_gguf_depth depth,
                      struct hx_error *err)
{
    struct hx_gguf *g = calloc(1, sizeof(*g));
    int rc;

    if (!g)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", name);
    g->base = bytes;
    g->size = n;
    g->name = strdup(name);
    rc = g->name ? hx_gguf_parse(g, depth, err) : hx_error_set(err, -ENOMEM, "%s: out of memory", name);
    if (rc) {
        hx_gguf_close(g);
        return rc;
    }
    *out = g;
    return 0;
}

int hx_gguf_open_bytes(struct hx_gguf **out, const char *name, const void *bytes, size_t n,
                       struct hx_error *err)
{
    return open_bytes(out, name, bytes, n, HX_GGUF_TENSORS, err);
}

int hx_gguf_open_one(struct hx_gguf **out, const char *path, enum hx_gguf_depth depth, struct hx_error *err)
{
    void *map = MAP_FAILED;
    struct stat st;
    int fd, rc;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0 || fstat(fd, &st)) {
        rc = hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        rc = hx_error_set(err, -EINVAL, "%s: is a directory", path);
    } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        rc = hx_error_set(err, -EINVAL, "%s: not a GGUF file (%s)", path,
                          S_ISREG(st.st_mode) ? "empty" : "not a regular file");
    } else {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        rc = map == MAP_FAILED ? hx_error_set(err, -errno, "%s: mmap: %s", path, strerror(errno))
                               : open_bytes(out, path, map, (size_t)st.st_size, depth, err);
    }
    if (fd >= 0)
        close(fd);
    if (rc && map != MAP_FAILED)
        munmap(map, (size_t)st.st_size);
    if (!rc)
        (*out)->mapped = 1;
    return rc;
}

static void will_need(const struct hx_gguf *g, uint64_t total)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t memory = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
    const uint64_t from = g->data_start & -page;

    /* only advice: a kernel that does not take it reads page by page */
    if (g->mapped && from < g->size && total - from <= memory / 2)
        madvise((void *)(g->base + from), g->size - from, MADV_WILLNEED);
}

static uint64_t total_bytes(const struct hx_gguf *g)
{
    uint64_t bytes = g->size;

    for (size_t i = 0; i < g->n_parts; i++)
        bytes += g->parts[i]->size;
    return bytes;
}

void hx_gguf_will_need(const struct hx_gguf *g)
{
    const uint64_t total = total_bytes(g);

    will_need(g, total);
    for (size_t i = 0; i < g->n_parts; i++)
        will_need(g->parts[i], total);
}

void hx_gguf_close(struct hx_gguf *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_parts; i++)
        hx_gguf_close(g->parts[i]);
    free(g->parts);
    if (g->mapped)
        munmap((void *)g->base, g->size);
    free(g->keys.at);
    free(g->names.at);
    free(g->kv);
    free(g->tensors);
    free(g->name);
    free(g);
}

const char *hx_gguf_name(const struct hx_gguf *g)
{
    return g->name;
}

uint64_t hx_gguf_offset(const struct hx_gguf *g, const void *p)
{
    const uint8_t *at = p;
    uint64_t before = g->size;

    for (size_t i = 0; i < g->n_parts; before += g->parts[i++]->size)
        if (at >= g->parts[i]->base && at < g->parts[i]->base + g->parts[i]->size)
            return before + (uint64_t)(at - g->parts[i]->base);
    return (uint64_t)(at - g->base);
}

struct hx_gguf_facts hx_gguf_facts(const struct hx_gguf *g)
{
    return (struct hx_gguf_facts){.version = g->version, .alignment = g->alignment,
                                  .file_bytes = total_bytes(g), .data_start = g->data_start,
                                  .kv = g->kv, .n_kv = g->n_kv,
                                  .tensors = g->tensors, .n_tensors = g->n_tensors,
                                  .n_files = 1 + g->n_parts};
}
