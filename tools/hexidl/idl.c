/* One compilation from the outside: its file, the steps from text to layout, its first error. */
#include "idl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

enum { MAX_FILE = 16 << 20 };

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
    struct hx_idl *idl = idl_new();
    size_t n = 0;

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
    if (idl)
        idl_free(idl);
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
