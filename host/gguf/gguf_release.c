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
    if (from < to && mmap((void *)(g->base + from), to - from, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1, 0) == MAP_FAILED)
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

int hx_gguf_release(struct hx_gguf *g, struct hx_gguf_span *gone, size_t n, struct hx_gguf_released *out, struct hx_error *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (g->size + page - 1) / page * page;
    size_t at = 0;
    int rc = 0;

    *out = (struct hx_gguf_released){0, 0};
    if (!g->mapped)
        return hx_error_set(err, -EINVAL, "%s: is no file that was mapped", g->name);
    qsort(gone, n, sizeof(*gone), by_start);
    n = join(g, gone, n);
    for (size_t i = 0; i < n && !rc; i++) { /* to whole pages; what has none is empty */
        gone[i].from = (gone[i].from + page - 1) / page * page;
        gone[i].to = gone[i].to / page * page;
        if (gone[i].from >= gone[i].to)
            continue;
        rc = keep(g, at, gone[i].from, err);
        out->kept_bytes += gone[i].from - at;
        out->gone_bytes += gone[i].to - gone[i].from;
        at = gone[i].to;
    }
    if (!rc)
        rc = keep(g, at, end, err);
    out->kept_bytes += end - at;
    for (size_t i = 0; i < n && !rc; i++)
        rc = drop(g, gone[i].from, gone[i].to, err);
    return rc;
}
