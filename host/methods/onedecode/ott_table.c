/* OneDecode's table in memory and in files, see ott_table.h. */
#include "ott_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hx_block.h"
#include "text/text.h"

enum { VERSION = 2, FLAGS = HX_OTT_STRAIGHT, CRC_BYTES = 4 };

static const char magic[8] = "HXOTT";

struct header {
    char magic[8];
    uint32_t version, flags;
    uint64_t model, made_of;
    uint32_t n, candidates;
    struct hx_ott_geometry geometry;
};
_Static_assert(sizeof(struct header) == 72, "as the file has it");

/* An entry's share in front of its candidates. */
struct entry_head {
    uint32_t token, followed;
    float share;
};

struct hx_ott *hx_ott_alloc(size_t n, size_t candidates)
{
    struct hx_ott *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->n = n;
    t->candidates = candidates;
    t->at = calloc(n, sizeof(*t->at));
    if (t->at || !n)
        return t;
    free(t);
    return NULL;
}

void hx_ott_free(struct hx_ott *t)
{
    if (!t)
        return;
    free(t->at);
    free(t);
}

static int by_token(const void *x, const void *y)
{
    const uint32_t a = ((const struct hx_ott_entry *)x)->token, b = ((const struct hx_ott_entry *)y)->token;

    return (a > b) - (a < b);
}

const struct hx_ott_entry *hx_ott_find(const struct hx_ott *t, uint32_t token)
{
    const struct hx_ott_entry key = {.token = token};

    return t->n ? bsearch(&key, t->at, t->n, sizeof(key), by_token) : NULL;
}

/* FNV-1a, 64 bits. */
uint64_t hx_ott_digest(uint64_t so_far, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t h = so_far ^ 0xcbf29ce484222325;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

/* --- reading */

static size_t entry_bytes(size_t candidates)
{
    return sizeof(struct entry_head) + candidates * sizeof(struct hx_ott_candidate);
}

/* What was counted of a table, and of its steps. */
static int is_geometry(const struct header *h)
{
    const struct hx_ott_geometry *g = &h->geometry;
    const struct hx_ott_axioms *a = &g->axioms;

    if (h->flags & HX_OTT_STRAIGHT)
        return !g->geodesic && !g->straight && g->drift == 0 && g->turn == 0 && !a->accepted && !a->noise_accepted && !a->survived &&
               !a->noise_survived;
    return (uint64_t)g->geodesic + g->straight <= h->n && g->drift >= 0 && g->turn >= 0 && a->survived <= a->accepted &&
           a->noise_survived <= a->noise_accepted;
}

static int check_header(const struct header *h, const char *name, size_t n, struct hx_error *err)
{
    const size_t body = n - sizeof(*h) - CRC_BYTES;

    if (memcmp(h->magic, magic, sizeof(magic)))
        return hx_error_set(err, -EINVAL, "%s: not a OneDecode table", name);
    if (h->version != VERSION)
        return hx_error_set(err, -EINVAL, "%s: OneDecode table of version %u, only %d is supported", name, h->version, VERSION);
    if (h->flags & ~(uint32_t)FLAGS)
        return hx_error_set(err, -EINVAL, "%s: unknown flags 0x%x", name, h->flags);
    if (h->candidates < 1 || h->candidates > HX_OTT_BEST)
        return hx_error_set(err, -EINVAL, "%s: %u candidates of an entry; 1 to %d are legal", name, h->candidates, HX_OTT_BEST);
    if (!is_geometry(h))
        return hx_error_set(err, -EINVAL, "%s: steps or axioms that cannot be", name);
    if (body / entry_bytes(h->candidates) != h->n || body % entry_bytes(h->candidates))
        return hx_error_set(err, -EINVAL, "%s: truncated or damaged: %zu bytes for %u entries", name, n, h->n);
    return 0;
}

static int is_share(float p)
{
    return p >= 0 && p <= 1; /* no NaN either */
}

static int check_entry(const struct hx_ott *t, size_t i, const char *name, size_t vocab, struct hx_error *err)
{
    const struct hx_ott_entry *e = &t->at[i];
    int good = e->token < vocab && (!i || e[-1].token < e->token) && e->followed.id < vocab && is_share(e->followed.p);

    for (size_t k = 0; k < t->candidates; k++)
        good = good && e->best[k].id < vocab && is_share(e->best[k].p) && (!k || e->best[k].p <= e->best[k - 1].p);
    return good ? 0 : hx_error_set(err, -EINVAL, "%s: entry %zu, of token %u, is not legal with a vocabulary of %zu", name, i,
                                   e->token, vocab);
}

static int take_entries(struct hx_ott *t, const char *name, const uint8_t *p, size_t vocab, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < t->n && !rc; i++, p += entry_bytes(t->candidates)) {
        struct entry_head head;

        memcpy(&head, p, sizeof(head));
        t->at[i].token = head.token;
        t->at[i].followed = (struct hx_ott_candidate){head.followed, head.share};
        memcpy(t->at[i].best, p + sizeof(head), t->candidates * sizeof(t->at[i].best[0]));
        rc = check_entry(t, i, name, vocab, err);
    }
    return rc;
}

int hx_ott_parse(struct hx_ott **out, const char *name, const void *bytes, size_t n, size_t vocab, struct hx_error *err)
{
    const uint8_t *p = bytes;
    struct hx_ott *t;
    struct header h;
    uint32_t crc;
    int rc;

    if (n < sizeof(h) + CRC_BYTES)
        return hx_error_set(err, -EINVAL, "%s: not a OneDecode table (%zu bytes)", name, n);
    memcpy(&h, p, sizeof(h));
    rc = check_header(&h, name, n, err);
    if (rc)
        return rc;
    memcpy(&crc, p + n - CRC_BYTES, sizeof(crc));
    if (crc != hx_crc32(0, p, n - CRC_BYTES))
        return hx_error_set(err, -EINVAL, "%s: damaged: the CRC-32 does not match", name);
    t = hx_ott_alloc(h.n, h.candidates);
    if (!t)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", name);
    t->flags = h.flags;
    t->model = h.model;
    t->made_of = h.made_of;
    t->geometry = h.geometry;
    rc = take_entries(t, name, p + sizeof(h), vocab, err);
    if (rc)
        hx_ott_free(t);
    else
        *out = t;
    return rc;
}

int hx_ott_read(struct hx_ott **out, const char *path, size_t vocab, struct hx_error *err)
{
    char *bytes;
    size_t n;
    int rc = hx_text_read(path, &bytes, &n, err);

    if (rc)
        return rc;
    rc = hx_ott_parse(out, path, bytes, n, vocab, err);
    free(bytes);
    return rc;
}

/* --- writing */

static uint8_t *bytes_of(const struct hx_ott *t, size_t *n)
{
    struct header h = {.version = VERSION, .flags = t->flags, .model = t->model, .made_of = t->made_of, .n = (uint32_t)t->n,
                       .candidates = (uint32_t)t->candidates, .geometry = t->geometry};
    const size_t each = entry_bytes(t->candidates), body = sizeof(h) + t->n * each;
    uint8_t *bytes = malloc(body + CRC_BYTES), *p = bytes;
    uint32_t crc;

    if (!bytes)
        return NULL;
    memcpy(h.magic, magic, sizeof(magic));
    memcpy(p, &h, sizeof(h));
    p += sizeof(h);
    for (size_t i = 0; i < t->n; i++, p += each) {
        const struct hx_ott_entry *e = &t->at[i];
        const struct entry_head head = {e->token, e->followed.id, e->followed.p};

        memcpy(p, &head, sizeof(head));
        memcpy(p + sizeof(head), e->best, t->candidates * sizeof(e->best[0]));
    }
    crc = hx_crc32(0, bytes, body);
    memcpy(p, &crc, sizeof(crc));
    *n = body + CRC_BYTES;
    return bytes;
}

static int write_all(const char *path, const uint8_t *bytes, size_t n, struct hx_error *err)
{
    FILE *f = fopen(path, "wbe");
    int failed;

    if (!f)
        return hx_error_set(err, -errno, "%s: cannot write a OneDecode table: %s", path, strerror(errno));
    failed = fwrite(bytes, 1, n, f) != n;
    failed |= fclose(f) != 0;
    return failed ? hx_error_set(err, -EIO, "%s: cannot write a OneDecode table: %s", path, strerror(errno)) : 0;
}

int hx_ott_write(const struct hx_ott *t, const char *path, struct hx_error *err)
{
    char *beside = NULL;
    size_t n;
    uint8_t *bytes = bytes_of(t, &n);
    int rc;

    if (!bytes || asprintf(&beside, "%s.%ld", path, (long)getpid()) < 0) {
        free(bytes);
        return hx_error_set(err, -ENOMEM, "%s: out of memory", path);
    }
    rc = write_all(beside, bytes, n, err);
    if (!rc && rename(beside, path))
        rc = hx_error_set(err, -errno, "%s: cannot write a OneDecode table: %s", path, strerror(errno));
    if (rc)
        unlink(beside);
    free(beside);
    free(bytes);
    return rc;
}
