/* What a compilation owns: blocks that live until its end, strings made in them, and its first error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

struct idl_block {
    struct idl_block *next;
    max_align_t bytes[];
};

static void no_memory(void)
{
    fprintf(stderr, "hexidl: out of memory\n");
    exit(1);
}

struct hx_idl *idl_new(void)
{
    struct hx_idl *idl = calloc(1, sizeof(*idl));

    if (!idl)
        no_memory();
    return idl;
}

void idl_free(struct hx_idl *idl)
{
    struct idl_block *next;

    for (struct idl_block *b = idl->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
    free(idl);
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
