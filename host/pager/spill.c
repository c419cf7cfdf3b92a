/* Records of a cache in a file: the pages being filled, the full ones, and the plan in which they are read.
 *
 * Pages of a layer below its `filling` are in the file, that one is in memory, even when it is full: it goes to the file when a later
 * one begins.  `planned` pages of each layer are in the plan of the buffer; what is in the file beyond them is read when it is asked
 * for.  A layer that goes back behind the plan ends it: what was read ahead may be of the text that is forgotten. */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hx_spill {
    struct hx_spill_cfg cfg;
    size_t page_bytes, pages; /* pages of a layer, at most */
    int fd;
    char *path; /* for messages */
    uint8_t *memory;          /* [n_layer][page_bytes] the pages being filled */
    size_t *filling;          /* [n_layer] which they are */
    struct hx_prefetch *ahead, *direct; /* what the plan has; what it has not */
    size_t planned;
    struct hx_prefetch_item *plan; /* [n_layer * pages] */
};

static uint8_t *filling(const struct hx_spill *s, size_t layer)
{
    return s->memory + layer * s->page_bytes;
}

static struct hx_prefetch_item item(const struct hx_spill *s, size_t layer, size_t page)
{
    return (struct hx_prefetch_item){(layer * s->pages + page) * s->page_bytes, s->page_bytes};
}

/* --- the file */

/* Called by the oracle's thread, too; the descriptor stays the same. */
static ssize_t read_file(void *arg, void *buf, size_t n, uint64_t offset)
{
    const struct hx_spill *s = arg;
    ssize_t got = pread(s->fd, buf, n, (off_t)offset);

    if (got < 0)
        return -errno;
    if (s->cfg.how.from_disk)
        posix_fadvise(s->fd, (off_t)offset, got, POSIX_FADV_DONTNEED);
    return got;
}

static int write_page(struct hx_spill *s, size_t layer, struct hx_error *err)
{
    const struct hx_prefetch_item at = item(s, layer, s->filling[layer]);
    const uint8_t *bytes = filling(s, layer);

    for (size_t done = 0; done < at.bytes;) {
        ssize_t n = pwrite(s->fd, bytes + done, at.bytes - done, (off_t)(at.offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hx_error_set(err, n ? -errno : -EIO, "%s: cannot write a page of the cache, %zu bytes at %llu: %s", s->path,
                                at.bytes, (unsigned long long)at.offset, strerror(n ? errno : EIO));
        done += (size_t)n;
    }
    if (s->cfg.how.from_disk && fdatasync(s->fd)) /* the page cache drops clean pages only */
        return hx_error_set(err, -errno, "%s: %s", s->path, strerror(errno));
    return 0;
}

static int fetch(struct hx_prefetch *from, struct hx_prefetch_item at, void *out, size_t bytes,
                 struct hx_error *err)
{
    const void *page;
    int rc = hx_prefetch_get(from, &at, &page, err);

    if (rc)
        return rc;
    memcpy(out, page, bytes);
    hx_prefetch_put(from, page);
    return 0;
}

/* --- putting */

static void forget_plan(struct hx_spill *s)
{
    hx_prefetch_forget(s->ahead);
    s->planned = 0;
}

/* The page that a put goes to becomes the one being filled, with what it has of the positions before. */
static int turn_to(struct hx_spill *s, size_t layer, size_t page, int has_before, struct hx_error *err)
{
    int rc = 0;

    if (page > s->filling[layer])
        rc = write_page(s, layer, err);
    else if (has_before)
        rc = fetch(s->direct, item(s, layer, page), filling(s, layer), s->page_bytes, err);
    if (!rc)
        s->filling[layer] = page;
    return rc;
}

int hx_spill_put(struct hx_spill *s, size_t layer, size_t pos, size_t n, const void *records, struct hx_error *err)
{
    const size_t each = s->cfg.positions, record = s->cfg.record;
    const uint8_t *from = records;
    int rc = 0;

    if (pos / each < s->planned)
        forget_plan(s);
    while (n && !rc) {
        const size_t page = pos / each, at = pos % each, now = n < each - at ? n : each - at;

        if (page != s->filling[layer])
            rc = turn_to(s, layer, page, at > 0, err);
        if (rc)
            break;
        memcpy(filling(s, layer) + at * record, from, now * record);
        from += now * record;
        pos += now;
        n -= now;
    }
    return rc;
}

/* --- reading */

/* Pages that all layers have in the file. */
static size_t full_pages(const struct hx_spill *s)
{
    size_t least = s->filling[0];

    for (size_t i = 1; i < s->cfg.n_layer; i++)
        least = s->filling[i] < least ? s->filling[i] : least;
    return least;
}

static int plan(struct hx_spill *s, size_t pages, struct hx_error *err)
{
    size_t n = 0;
    int rc;

    for (size_t layer = 0; layer < s->cfg.n_layer; layer++)
        for (size_t page = 0; page < pages; page++)
            s->plan[n++] = item(s, layer, page);
    s->planned = 0;
    rc = hx_prefetch_plan(s->ahead, s->plan, n, err);
    if (!rc)
        s->planned = pages;
    return rc;
}

int hx_spill_read(struct hx_spill *s, size_t layer, size_t n, void *out, struct hx_error *err)
{
    const size_t each = s->cfg.positions, record = s->cfg.record, full = full_pages(s);
    int rc = layer == 0 && full > s->planned ? plan(s, full, err) : 0;

    for (size_t page = 0; page * each < n && !rc; page++) {
        const size_t left = n - page * each, bytes = (left < each ? left : each) * record;
        uint8_t *to = (uint8_t *)out + page * s->page_bytes;

        if (page == s->filling[layer])
            memcpy(to, filling(s, layer), bytes);
        else
            rc = fetch(page < s->planned ? s->ahead : s->direct, item(s, layer, page), to, bytes, err);
    }
    return rc;
}

/* --- open and close */

static int make_file(struct hx_spill *s, struct hx_error *err)
{
    const char *dir = getenv("TMPDIR");

    if (asprintf(&s->path, "%s/hexrig-cache-XXXXXX", dir && *dir ? dir : "/tmp") < 0) {
        s->path = NULL;
        return hx_error_set(err, -ENOMEM, "pages of the cache: out of memory");
    }
    s->fd = mkostemp(s->path, O_CLOEXEC);
    if (s->fd < 0)
        return hx_error_set(err, -errno, "%s: cannot make a file for the cache: %s", s->path, strerror(errno));
    unlink(s->path);
    return 0;
}

static int open_buffers(struct hx_spill *s, struct hx_error *err)
{
    struct hx_prefetch_cfg cfg = hx_pager_buffer(&s->cfg.how);
    const struct hx_prefetch_item any = {0, s->page_bytes};
    int rc;

    cfg.read = read_file;
    cfg.arg = s;
    rc = hx_prefetch_open(&s->ahead, s->path, &cfg, err);
    cfg.slots = 1;
    cfg.no_reader = 1;
    if (!rc)
        rc = hx_prefetch_open(&s->direct, s->path, &cfg, err);
    return rc ? rc : hx_prefetch_plan(s->direct, &any, 1, err); /* for the size of its slot */
}

static int alloc(struct hx_spill *s)
{
    const size_t layers = s->cfg.n_layer;
    size_t all;

    s->pages = s->cfg.n_ctx / s->cfg.positions + 1;
    if (__builtin_mul_overflow(s->cfg.record, s->cfg.positions, &s->page_bytes) || __builtin_mul_overflow(s->pages, layers, &all))
        return -ENOMEM;
    s->memory = calloc(layers, s->page_bytes);
    s->filling = calloc(layers, sizeof(*s->filling));
    s->plan = calloc(all, sizeof(*s->plan));
    return s->memory && s->filling && s->plan ? 0 : -ENOMEM;
}

int hx_spill_open(struct hx_spill **out, const struct hx_spill_cfg *cfg, struct hx_error *err)
{
    struct hx_spill *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return hx_error_set(err, -ENOMEM, "pages of the cache: out of memory");
    s->cfg = *cfg;
    s->fd = -1;
    rc = alloc(s) ? hx_error_set(err, -ENOMEM, "pages of the cache: no memory for %zu positions", cfg->n_ctx) : 0;
    if (!rc)
        rc = make_file(s, err);
    if (!rc)
        rc = open_buffers(s, err);
    if (rc) {
        hx_spill_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

json_t *hx_spill_report(struct hx_spill *s)
{
    json_t *j = json_pack("{s:I, s:I, s:I, s:I}", "pages", (json_int_t)(full_pages(s) * s->cfg.n_layer), "page_positions",
                          (json_int_t)s->cfg.positions, "page_bytes", (json_int_t)s->page_bytes, "slots",
                          (json_int_t)HX_PREFETCH_SLOTS);
    struct hx_prefetch_stats sum, more;

    hx_prefetch_stats(s->ahead, &sum);
    hx_prefetch_stats(s->direct, &more);
    hx_prefetch_add_stats(&sum, &more);
    sum.wrong -= more.wrong; /* its plan is none */
    if (j && !hx_pager_how_report(&s->cfg.how, &sum, j))
        return j;
    json_decref(j);
    return NULL;
}

void hx_spill_close(struct hx_spill *s)
{
    if (!s)
        return;
    hx_prefetch_close(s->ahead);
    hx_prefetch_close(s->direct);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    free(s->plan);
    free(s->filling);
    free(s->memory);
    free(s);
}
