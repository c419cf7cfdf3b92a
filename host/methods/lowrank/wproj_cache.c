/* Files of factors, see wproj_cache.h. */
#include "wproj_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"

static const char magic[8] = {'W', 'P', 'R', 'O', 'J', 'V', '0', '1'};

struct header {
    char magic[8];
    uint64_t key, model, digest, bytes;
    uint32_t parts, format;
    uint64_t zero[2];
};

struct record {
    uint32_t layer, which, rows, cols, rank, basis;
    uint64_t down, up;
    double rel_f2, eckart_young;
};

_Static_assert(sizeof(struct header) == 64 && sizeof(struct record) == 56, "as wproj_cache.h has them");

static size_t head_of(const struct hx_lowrank_factors *f)
{
    return (sizeof(struct header) + f->n_parts * sizeof(struct record) + 63) / 64 * 64;
}

static struct record record_of(const struct hx_wproj_cache *c, const struct hx_lowrank_factors *f, size_t i)
{
    const struct hx_lowrank_part *p = &f->parts[i];
    const struct hx_lowrank_basis *b = &f->bases[p->basis];

    return (struct record){(uint32_t)p->layer, (uint32_t)p->which, (uint32_t)p->w->rows, (uint32_t)p->w->cols, (uint32_t)b->rank,
                           (uint32_t)p->basis, c->head + b->down_at[0], c->head + p->up_at[0], p->rel_f2, p->eckart_young};
}

static struct record *records(const struct hx_wproj_cache *c)
{
    return (struct record *)(c->map + sizeof(struct header));
}

static uint64_t digest_of(const struct hx_wproj_cache *c)
{
    return hx_digest(0, c->map + sizeof(struct header), c->bytes - sizeof(struct header));
}

/* --- a file that is there */

/* NULL: it is what is wanted; else why not. */
static const char *whats_wrong(const struct hx_wproj_cache *c, const struct hx_lowrank_factors *f)
{
    const struct header *h = (const struct header *)c->map;

    if (memcmp(h->magic, magic, sizeof(magic)) != 0)
        return "is no cache of factors";
    if (h->key != c->key || h->model != c->model || h->parts != f->n_parts || h->format != f->format)
        return "is of another model, or of other options";
    if (h->bytes != c->bytes || h->digest != digest_of(c))
        return "is damaged";
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct record want = record_of(c, f, i);

        if (memcmp(&want, &records(c)[i], offsetof(struct record, rel_f2)) != 0)
            return "has other matrices";
    }
    return NULL;
}

static void take_figures(const struct hx_wproj_cache *c, struct hx_lowrank_factors *f)
{
    for (size_t i = 0; i < f->n_parts; i++) {
        f->parts[i].rel_f2 = records(c)[i].rel_f2;
        f->parts[i].eckart_young = records(c)[i].eckart_young;
    }
}

/* 1: found, mapped and right.  0: there is none, or one that is to be replaced. */
static int find(struct hx_wproj_cache *c, struct hx_lowrank_factors *f, const struct hx_watch *watch)
{
    const int fd = open(c->path, O_RDONLY | O_CLOEXEC);
    const char *wrong = "is damaged";
    struct stat st;

    if (fd < 0)
        return 0;
    c->map = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == c->bytes)
        c->map = mmap(NULL, c->bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (c->map != MAP_FAILED) {
        wrong = whats_wrong(c, f);
        if (!wrong) {
            take_figures(c, f);
            return 1;
        }
        munmap(c->map, c->bytes);
    }
    c->map = NULL;
    c->state = HX_WPROJ_REBUILT;
    hx_watch_note(watch, "%s %s: it is made anew", c->path, wrong);
    return 0;
}

/* --- a file that is made */

/* Like mkdir -p.  0 or -errno. */
static int make_folder(char *path)
{
    for (char *p = path + 1;; p++) {
        const char end = *p;

        if (end && end != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) && errno != EEXIST)
            return -errno;
        *p = end;
        if (!end)
            return 0;
    }
}

static int name_part(struct hx_wproj_cache *c)
{
    if (asprintf(&c->part, "%s.%d.part", c->path, (int)getpid()) >= 0)
        return 0;
    c->part = NULL;
    return -ENOMEM;
}

/* A file without a name, which is gone with the process, or at least under another one.  0 or -errno. */
static int open_part(struct hx_wproj_cache *c)
{
    c->fd = open(c->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (c->fd >= 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
        return -errno;
    if (name_part(c))
        return -ENOMEM;
    c->fd = open(c->part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    return c->fd < 0 ? -errno : 0;
}

/* All of its blocks now: a full disk is no reason to be killed in the middle. */
static int map_part(struct hx_wproj_cache *c)
{
    const int rc = posix_fallocate(c->fd, 0, (off_t)c->bytes);

    if (rc)
        return -rc;
    c->map = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (c->map != MAP_FAILED)
        return 0;
    c->map = NULL;
    return -errno;
}

static void drop_part(struct hx_wproj_cache *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->part)
        unlink(c->part);
    free(c->part);
    c->part = NULL;
}

static int in_memory(struct hx_wproj_cache *c, struct hx_error *err)
{
    c->state = HX_WPROJ_NONE;
    c->map = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c->map != MAP_FAILED)
        return 0;
    c->map = NULL;
    return hx_error_set(err, -ENOMEM, "lowrank: no memory for %zu bytes of factors", c->bytes);
}

static int begin(struct hx_wproj_cache *c, const struct hx_watch *watch, struct hx_error *err)
{
    int rc = make_folder(c->folder);

    if (!rc)
        rc = open_part(c);
    if (!rc)
        rc = map_part(c);
    if (!rc)
        return 0;
    drop_part(c);
    hx_watch_note(watch, "%s: factors are not kept: %s", c->path, strerror(-rc));
    return in_memory(c, err);
}

/* Gives the file without a name one, in the place of what has it.  0 or -errno. */
static int give_name(struct hx_wproj_cache *c)
{
    const int has_name = c->part != NULL;
    char from[40];
    int rc = has_name ? 0 : name_part(c);

    if (rc)
        return rc;
    snprintf(from, sizeof(from), "/proc/self/fd/%d", c->fd);
    if (!has_name) {
        unlink(c->part); /* of a process of that number before */
        if (linkat(AT_FDCWD, from, AT_FDCWD, c->part, AT_SYMLINK_FOLLOW))
            return -errno;
    }
    return rename(c->part, c->path) ? -errno : 0;
}

void hx_wproj_cache_keep(struct hx_wproj_cache *c, const struct hx_lowrank_factors *f, const struct hx_watch *watch)
{
    struct header h = {.key = c->key, .model = c->model, .bytes = c->bytes, .parts = (uint32_t)f->n_parts, .format = f->format};
    int rc;

    if (c->fd < 0)
        return;
    memcpy(h.magic, magic, sizeof(magic));
    for (size_t i = 0; i < f->n_parts; i++)
        records(c)[i] = record_of(c, f, i);
    h.digest = digest_of(c);
    memcpy(c->map, &h, sizeof(h));
    rc = give_name(c);
    if (rc)
        hx_watch_note(watch, "%s: factors are not kept: %s", c->path, strerror(-rc));
    drop_part(c);
    mprotect(c->map, c->bytes, PROT_READ);
}

/* --- both */

static int name(struct hx_wproj_cache *c, const char *folder, struct hx_error *err)
{
    c->folder = strdup(folder);
    if (c->folder && asprintf(&c->path, "%s/ott_wproj_cache_%08x.bin", folder, (uint32_t)c->key) >= 0)
        return 0;
    c->path = NULL;
    return hx_error_set(err, -ENOMEM, "out of memory");
}

int hx_wproj_cache_open(struct hx_wproj_cache *c, struct hx_lowrank_factors *f, const char *folder, uint64_t key, uint64_t model,
                        const struct hx_watch *watch, struct hx_error *err)
{
    int rc = 0;

    *c = (struct hx_wproj_cache){.state = HX_WPROJ_BUILT, .key = key, .model = model, .fd = -1, .head = head_of(f)};
    c->bytes = c->head + f->bytes;
    if (folder)
        rc = name(c, folder, err);
    if (rc)
        return rc;
    if (folder && find(c, f, watch))
        c->state = HX_WPROJ_HIT;
    else
        rc = folder ? begin(c, watch, err) : in_memory(c, err);
    if (!rc)
        hx_lowrank_place(f, c->map + c->head);
    return rc;
}

void hx_wproj_cache_close(struct hx_wproj_cache *c)
{
    if (c->map)
        munmap(c->map, c->bytes);
    if (c->path)
        drop_part(c);
    free(c->folder);
    free(c->path);
    *c = (struct hx_wproj_cache){.fd = -1};
}

char *hx_wproj_cache_folder(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;

    if (cache && *cache == '/' && asprintf(&folder, "%s/hexrig", cache) >= 0)
        return folder;
    if (home && *home == '/' && asprintf(&folder, "%s/.cache/hexrig", home) >= 0)
        return folder;
    return NULL;
}
