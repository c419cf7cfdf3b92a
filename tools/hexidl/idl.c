/* One compilation from the outside: memory, the first error, files. */
#include "idl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

enum { MAX_FILE = 16 << 20 };

struct idl_block {
    struct idl_block *next;
    max_align_t bytes[];
};

static void no_memory(void)
{
    fprintf(stderr, "hexidl: out of memory\n");
    exit(1);
}

void *idl_alloc(struct hx_idl *idl, size_t bytes)
{
    struct idl_block *b = calloc(1, sizeof(*b) + bytes);

    if (!b)
        no_memory();
    b->next = idl->blocks;
    idl->blocks = b;
    return b->bytes;
}

char *idl_string(struct hx_idl *idl, const char *bytes, size_t n)
{
    char *s = idl_alloc(idl, n + 1);

    memcpy(s, bytes, n);
    return s;
}

static char *vformat(struct hx_idl *idl, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *s = idl_alloc(idl, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

char *idl_format(struct hx_idl *idl, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *s = vformat(idl, fmt, ap);
    va_end(ap);
    return s;
}

void idl_fail(struct hx_idl *idl, const struct idl_pos *pos, const char *fmt, ...)
{
    va_list ap;

    if (idl->error)
        return;
    va_start(ap, fmt);
    char *message = vformat(idl, fmt, ap);
    va_end(ap);
    idl->error = idl_format(idl, "%s:%u:%u: %s", pos->file, pos->line, pos->column, message);
    idl->token.kind = IDL_END;
    idl->token.text = "";
}

/* The rest of f, malloc'ed; NULL and errno. */
static char *read_rest(FILE *f, size_t *n)
{
    size_t room = 65536;
    char *text = malloc(room), *bigger;

    *n = 0;
    while (text) {
        *n += fread(text + *n, 1, room - *n, f);
        if (*n < room)
            break;
        errno = EFBIG;
        bigger = room < MAX_FILE ? realloc(text, 2 * room) : NULL;
        if (!bigger)
            free(text);
        text = bigger;
        room *= 2;
    }
    if (!text || !ferror(f))
        return text;
    free(text);
    return NULL;
}

char *hx_idl_read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text;
    int err;

    if (!f)
        return NULL;
    text = read_rest(f, n);
    err = errno;
    fclose(f);
    errno = err;
    return text;
}

/* "a/calc.idl" -> "calc". */
static const char *stem_of(struct hx_idl *idl, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);

    if (n > 4 && strcmp(name + n - 4, ".idl") == 0)
        n -= 4;
    return idl_string(idl, name, n);
}

int hx_idl_compile(struct hx_idl **out, const char *path, hx_idl_reader *read,
                   const char *const *dirs, size_t n_dirs)
{
    struct hx_idl *idl = calloc(1, sizeof(*idl));
    size_t n = 0;

    if (!idl)
        no_memory();
    *out = idl;
    idl->read = read;
    idl->dirs = dirs;
    idl->n_dirs = n_dirs;
    idl->decls_end = &idl->decls;
    idl->includes_end = &idl->includes;
    idl->interfaces_end = &idl->interfaces;
    path = idl_string(idl, path, strlen(path));
    idl->stem = stem_of(idl, path);
    idl->is_main = true;
    char *text = read(path, &n);
    if (text)
        idl_parse_file(idl, text, n, path);
    else
        idl_fail(idl, &(struct idl_pos){path, 1, 1}, "cannot read this file: %s", strerror(errno));
    free(text);
    for (struct idl_interface *i = idl->interfaces; i && !idl->error; i = i->next)
        if (i->is_mine)
            idl_wire_layout(idl, i);
    return idl->error ? -EINVAL : 0;
}

void hx_idl_close(struct hx_idl *idl)
{
    struct idl_block *next;

    for (struct idl_block *b = idl ? idl->blocks : NULL; b; b = next) {
        next = b->next;
        free(b);
    }
    free(idl);
}

const char *hx_idl_error(const struct hx_idl *idl)
{
    return idl->error;
}

const char *hx_idl_interface(const struct hx_idl *idl, size_t n)
{
    const struct idl_interface *i = idl_interface_at(idl, n);

    return i ? i->name : NULL;
}
