/* Reading whole text files. */
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads f to its end; works for pipes too.  0 or negative errno: a directory opens, but does not read. */
static int read_all(FILE *f, char **text, size_t *n)
{
    size_t cap = 1 << 16, used = 0, got;
    char *p = malloc(cap + 1), *more;

    errno = 0;
    while (p && (got = fread(p + used, 1, cap - used, f)) > 0) {
        used += got;
        if (used < cap)
            continue;
        more = cap < SIZE_MAX / 4 ? realloc(p, 2 * cap + 1) : NULL;
        if (!more)
            free(p);
        p = more;
        cap *= 2;
    }
    if (!p)
        return -ENOMEM;
    if (ferror(f)) {
        int err = errno ? errno : EIO;

        free(p);
        return -err;
    }
    p[used] = '\0';
    *text = p;
    *n = used;
    return 0;
}

int hx_text_read(const char *path, char **text, size_t *n, struct hx_error *err)
{
    FILE *f = fopen(path, "rbe");
    int rc;

    if (!f)
        return hx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    rc = read_all(f, text, n);
    if (rc == -EISDIR)
        hx_error_set(err, rc, "%s: is a directory", path);
    else if (rc)
        hx_error_set(err, rc, "%s: cannot read: %s", path, strerror(-rc));
    fclose(f);
    return rc;
}

int hx_text_encode(const struct hx_tokenizer *t, const char *path, uint32_t **ids, size_t *n_ids,
                   struct hx_error *err)
{
    size_t n;
    char *text;
    int rc = hx_text_read(path, &text, &n, err);

    if (rc)
        return rc;
    rc = hx_tokenizer_encode(t, text, n, ids, n_ids);
    free(text);
    return rc ? hx_error_set(err, rc, "%s: out of memory while encoding", path) : 0;
}
