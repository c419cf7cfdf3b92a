/* Letting go of a mapped file: what is still needed moves into memory of its own at the same addresses, the rest goes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gguf_impl.h"

static int by_start(const void *a, const void *b)
{
    const struct hx_gguf_span *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* The pages from..to of the map, bytes, become private memory with the same content. */
static int keep(const struct hx_gguf *g, size_t from, size_t to, struct hx_error *err)
{
    const size_t bytes = to - from, inside = to < g->size ? bytes : g->size - from;
    void *copy;

    if (!bytes)
        return 0;
    copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return hx_error_set(err, -ENOMEM, "%s: no memory for %zu bytes of it", g->name, bytes);
    memcpy(copy, g->base + from, inside);
    mprotect(copy, bytes, PROT_READ);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(g->base + from)) == MAP_FAILED) {
        munmap(copy, bytes);
        return hx_error_set(err, -ENOMEM, "%s: mremap: %s", g->name, strerror(errno));
    }
    return 0;
}

/* These pages go, but their addresses stay the map's until close, so that nothing else comes to lie there. */
static int drop(const struct hx_gguf *g, size_t from, size_t to, struct hx_error *err)
{
    if (mmap((void *)(g->base + from), to - from, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
        MAP_FAILED)
        return hx_error_set(err, -ENOMEM, "%s: mmap: %s", g->name, strerror(errno));
    return 0;
}

/* Neighbours with nothing but padding between them become one; returns how many are left.  The spans are in order. */
static size_t join(const struct hx_gguf *g, struct hx_gguf_span *s, size_t n)
{
    size_t last = 0;

    for (size_t i = 1; i < n; i++)
        if (s[i].from < s[last].to + g->alignment)
            s[last].to = s[i].to > s[last].to ? s[i].to : s[last].to;
        else
            s[++last] = s[i];
    return n ? last + 1 : 0;
}

/* Whole pages of a span that lie in g, which begins `before` bytes behind the first file's start.  1; 0: there are none. */
static int pages_in(const struct hx_gguf *g, uint64_t before, const struct hx_gguf_span *s, size_t *from, size_t *to)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = before + g->size;

    if (s->to <= before || s->from >= end)
        return 0;
    *from = ((s->from > before ? s->from - before : 0) + page - 1) / page * page;
    *to = ((s->to < end ? s->to : end) - before) / page * page;
    return *from < *to;
}

/* One file of a model; the spans are in order. */
static int release_file(const struct hx_gguf *g, uint64_t before, const struct hx_gguf_span *gone, size_t n,
                        struct hx_gguf_released *out, struct hx_error *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (g->size + page - 1) / page * page;
    size_t at = 0, from, to;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        if (!pages_in(g, before, &gone[i], &from, &to))
            continue;
        rc = keep(g, at, from, err);
        out->kept_bytes += from - at;
        out->gone_bytes += to - from;
        at = to;
    }
    if (!rc)
        rc = keep(g, at, end, err);
    out->kept_bytes += end - at;
    for (size_t i = 0; i < n && !rc; i++)
        if (pages_in(g, before, &gone[i], &from, &to))
            rc = drop(g, from, to, err);
    return rc;
}

int hx_gguf_release(struct hx_gguf *g, struct hx_gguf_span *gone, size_t n, struct hx_gguf_released *out, struct hx_error *err)
{
    uint64_t before = g->size;
    int rc;

    *out = (struct hx_gguf_released){0, 0};
    if (!g->mapped)
        return hx_error_set(err, -EINVAL, "%s: is no file that was mapped", g->name);
    qsort(gone, n, sizeof(*gone), by_start);
    n = join(g, gone, n);
    rc = release_file(g, 0, gone, n, out, err);
    for (size_t i = 0; i < g->n_parts && !rc; before += g->parts[i++]->size)
        rc = release_file(g->parts[i], before, gone, n, out, err);
    return rc;
}
