/* Writing C: text that grows, lists that break before column 100, names of types, prototypes. */
#include "idl_emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMN = 100 };

static void vput(struct idl_text *t, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (t->room - t->n <= n) {
        t->room = (t->n + n + 1) * 2;
        t->p = realloc(t->p, t->room);
        if (!t->p) {
            fprintf(stderr, "hexidl: out of memory\n");
            exit(1);
        }
    }
    vsnprintf(t->p + t->n, t->room - t->n, fmt, ap);
    t->n += n;
}

void idl_put(struct idl_text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vput(t, fmt, ap);
    va_end(ap);
}

/* --- lists */

static size_t column_of(const struct idl_text *t)
{
    size_t i = t->n;

    while (i > 0 && t->p[i - 1] != '\n')
        i--;
    return t->n - i;
}

void idl_list_begin(struct idl_list *l, struct idl_text *out, const char *between, const char *fmt,
                    ...)
{
    va_list ap;

    va_start(ap, fmt);
    vput(out, fmt, ap);
    va_end(ap);
    *l = (struct idl_list){.out = out, .between = between};
    l->column = l->indent = column_of(out);
}

void idl_list_item(struct idl_list *l, const char *fmt, ...)
{
    struct idl_text item = {0};
    size_t gap = l->n ? strlen(l->between) : 0;
    va_list ap;

    va_start(ap, fmt);
    vput(&item, fmt, ap);
    va_end(ap);
    if (l->n && l->column + gap + item.n + 3 > MAX_COLUMN) {
        /* the separator without its last blank, then a new line */
        idl_put(l->out, "%.*s\n%*s", (int)gap - 1, l->between, (int)l->indent, "");
        l->column = l->indent;
    } else if (l->n) {
        idl_put(l->out, "%s", l->between);
        l->column += gap;
    }
    idl_put(l->out, "%s", item.p);
    l->column += item.n;
    l->n++;
    free(item.p);
}

void idl_list_end(struct idl_list *l, const char *close)
{
    idl_put(l->out, "%s", close);
}

/* --- names */

const char *idl_c_name(const struct idl_type *type)
{
    while (!type->c_name && type->of)
        type = type->of;
    return type->c_name;
}

const char *idl_value_c_name(const struct idl_type *t)
{
    const struct idl_type *below = idl_resolve(t);

    if (below->kind == IDL_STRING)
        return below->of->size == 1 ? "_cstring1_t" : "_wstring1_t";
    return idl_c_name(t);
}

bool idl_is_bool(const struct idl_type *type)
{
    return idl_resolve(type)->kind == IDL_BOOLEAN;
}

void idl_put_variable(struct idl_text *t, const struct idl_type *type, const char *name)
{
    const struct idl_type *base = type;

    while (base->kind == IDL_ARRAY)
        base = base->of;
    idl_put(t, "%s %s", base->c_name, name);
    for (; type->kind == IDL_ARRAY; type = type->of)
        idl_put(t, "[%u]", type->count);
}

/* Comment text that cannot end or open a comment. */
static void put_comment_line(struct idl_text *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_mark = i + 1 < n && ((p[i] == '*' && p[i + 1] == '/') ||
                                     (p[i] == '/' && p[i + 1] == '*'));

        idl_put(t, is_mark ? "%c " : "%c", p[i] && (unsigned char)p[i] >= ' ' ? p[i] : ' ');
    }
}

void idl_put_doc(struct idl_text *t, const char *indent, const char *doc)
{
    const char *end;

    if (!doc)
        return;
    for (const char *p = doc; *p; p = end + 1) {
        end = strchr(p, '\n');
        idl_put(t, "%s%s", indent, p == doc ? "/* " : end == p ? " *" : " * ");
        put_comment_line(t, p, (size_t)(end - p));
        idl_put(t, end[1] ? "\n" : " */\n");
    }
}

void idl_put_banner(struct idl_text *t, const struct hx_idl *idl, const char *what)
{
    idl_put(t, "/* %s.\n * Made by hexidl from %s.idl: change that file, not this one. */\n", what,
            idl->stem);
}

/* --- prototypes */

static void put_param(struct idl_list *l, const struct idl_param *p)
{
    const struct idl_type *below = idl_resolve(p->type);
    const char *type = idl_c_name(p->type), *constant = p->dir == IDL_IN ? "const " : "";

    switch (below->kind) {
    case IDL_SEQUENCE:
        idl_list_item(l, "%s%s *%s", constant, idl_value_c_name(below->of), p->name);
        idl_list_item(l, "int %sLen", p->name);
        break;
    case IDL_STRING:
        idl_list_item(l, "%s%s *%s", constant, below->of->c_name, p->name);
        if (p->dir != IDL_IN)
            idl_list_item(l, "int %sLen", p->name);
        break;
    case IDL_ARRAY:
        idl_list_item(l, "%s%s %s", constant, type, p->name);
        break;
    case IDL_STRUCT:
        idl_list_item(l, "%s%s *%s", constant, type, p->name);
        break;
    case IDL_DMA:
        idl_list_item(l, "int %s", p->name);
        idl_list_item(l, "uint32_t %sOffset", p->name);
        idl_list_item(l, "uint32_t %sLen", p->name);
        break;
    default:
        idl_list_item(l, p->dir == IDL_IN ? "%s %s" : "%s *%s", type, p->name);
    }
}

void idl_put_prototype(struct idl_text *t, const struct idl_interface *i,
                       const struct idl_method *m)
{
    struct idl_list l;

    idl_list_begin(&l, t, ", ", "int %s(", m->c_name);
    if (i->has_handle)
        idl_list_item(&l, "remote_handle64 _h");
    for (const struct idl_param *p = m->params; p; p = p->next)
        put_param(&l, p);
    if (!l.n)
        idl_list_item(&l, "void");
    idl_list_end(&l, ")");
}
