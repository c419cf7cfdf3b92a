/* Models in several files, NAME-00001-of-00003.gguf and so on, as llama.cpp's gguf-split makes them: the first has the metadata, and
 * each has some of the tensors.  Which part a file is, split.no and split.count say, and split.tensors.count how many tensors there are
 * in all. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_impl.h"

enum { MOST_PARTS = 1024, ENDING = 40 /* bytes of one, and more */ };

struct split {
    uint32_t no, count, tensors; /* no: from 0 on */
};

/* count 0: it is no part of anything. */
static int read_split(const struct hx_gguf *g, struct split *s, struct hx_error *err)
{
    int rc = hx_gguf_u32(g, "split.count", &s->count, err);

    if (rc == -ENOENT)
        s->count = 0;
    if (rc == -ENOENT || s->count < 2)
        return rc == -ENOENT ? 0 : rc;
    if (hx_gguf_u32(g, "split.no", &s->no, NULL) || hx_gguf_u32(g, "split.tensors.count", &s->tensors, NULL))
        rc = hx_error_set(err, -EINVAL, "%s: one of %" PRIu32 " parts of a model, and does not say which (split.no, "
                          "split.tensors.count)", g->name, s->count);
    if (!rc && (s->count > MOST_PARTS || s->no >= s->count))
        rc = hx_error_set(err, -EINVAL, "%s: split.no %" PRIu32 " of split.count %" PRIu32 "; 2 to %d parts are legal", g->name, s->no,
                          s->count, MOST_PARTS);
    return rc;
}

static void ending(char out[ENDING], uint32_t no, uint32_t count)
{
    snprintf(out, ENDING, "-%05" PRIu32 "-of-%05" PRIu32 ".gguf", no + 1, count);
}

/* The first part's name up to what tells parts apart; -EINVAL: it has another ending, or is not the first. */
static int stem_of(const struct hx_gguf *g, const struct split *s, size_t *stem, struct hx_error *err)
{
    const size_t n = strlen(g->name);
    char own[ENDING], first[ENDING];

    ending(own, s->no, s->count);
    ending(first, 0, s->count);
    *stem = n - strlen(own);
    if (n < strlen(own) || strcmp(g->name + *stem, own) != 0)
        return hx_error_set(err, -EINVAL, "%s: part %" PRIu32 " of %" PRIu32 " of a model; without %s at the end of its name the others "
                            "cannot be found", g->name, s->no + 1, s->count, own);
    if (s->no)
        return hx_error_set(err, -EINVAL, "%s: part %" PRIu32 " of %" PRIu32 " of a model; the first is to be given, %.*s%s", g->name,
                            s->no + 1, s->count, (int)*stem, g->name, first);
    return 0;
}

static int open_part(struct hx_gguf *g, const char *path, const struct split *first, uint32_t no, struct hx_error *err)
{
    struct hx_gguf *part;
    struct split s = {0};
    int rc = hx_gguf_open_one(&part, path, HX_GGUF_TENSORS, err);

    if (rc)
        return rc;
    g->parts[g->n_parts++] = part;
    rc = read_split(part, &s, err);
    if (!rc && (s.no != no || s.count != first->count || s.tensors != first->tensors))
        rc = hx_error_set(err, -EINVAL, "%s: is no part %" PRIu32 " of the model that %s begins", path, no + 1, g->name);
    return rc;
}

static int open_parts(struct hx_gguf *g, const struct split *first, size_t stem, struct hx_error *err)
{
    char *path = malloc(stem + ENDING);
    int rc = 0;

    g->parts = calloc(first->count - 1, sizeof(*g->parts));
    if (!path || !g->parts)
        rc = hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);
    for (uint32_t no = 1; !rc && no < first->count; no++) {
        memcpy(path, g->name, stem);
        ending(path + stem, no, first->count);
        rc = open_part(g, path, first, no, err);
    }
    free(path);
    return rc;
}

/* One list of all tensors, in the order of the parts. */
static int join_tensors(struct hx_gguf *g, size_t wanted, struct hx_error *err)
{
    struct hx_gguf_tensor *all;
    size_t n = g->n_tensors;

    for (size_t i = 0; i < g->n_parts; i++)
        n += g->parts[i]->n_tensors;
    if (n != wanted)
        return hx_error_set(err, -EINVAL, "%s: its parts have %zu tensors, split.tensors.count is %zu", g->name, n, wanted);
    all = reallocarray(g->tensors, n + !n, sizeof(*all));
    if (!all)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", g->name);
    g->tensors = all;
    for (size_t i = 0; i < g->n_parts; i++) {
        const struct hx_gguf *part = g->parts[i];

        memcpy(g->tensors + g->n_tensors, part->tensors, part->n_tensors * sizeof(*all));
        g->n_tensors += part->n_tensors;
    }
    free(g->names.at);
    return hx_gguf_index_make(g, &g->names, g->tensors, g->n_tensors, sizeof(*g->tensors), "tensor", err);
}

int hx_gguf_open_keys(struct hx_gguf **out, const char *path, struct hx_error *err)
{
    return hx_gguf_open_one(out, path, HX_GGUF_KEYS, err);
}

int hx_gguf_open(struct hx_gguf **out, const char *path, struct hx_error *err)
{
    struct hx_gguf *g;
    struct split s = {0};
    size_t stem;
    int rc = hx_gguf_open_one(&g, path, HX_GGUF_TENSORS, err);

    if (rc)
        return rc;
    rc = read_split(g, &s, err);
    if (!rc && s.count > 1) {
        rc = stem_of(g, &s, &stem, err);
        if (!rc)
            rc = open_parts(g, &s, stem, err);
        if (!rc)
            rc = join_tensors(g, s.tensors, err);
    }
    if (rc)
        hx_gguf_close(g);
    else
        *out = g;
    return rc;
}
