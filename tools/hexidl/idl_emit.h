/* Writing C: a growing text, names of types, lists that break before column 100. */
#ifndef HX_IDL_EMIT_H
#define HX_IDL_EMIT_H

#include "idl_tree.h"

struct idl_text {
    char *p; /* malloc'ed, terminated */
    size_t n, room;
};

void idl_put(struct idl_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A list like `name(a, b, c);`: open, items with `, ` between them, close.  Lines that would pass column 100 continue
 * below the first item. */
struct idl_list {
    struct idl_text *out;
    size_t column, indent; /* of the first item */
    unsigned n;
    const char *between;   /* ", " or " || " */
};

void idl_list_begin(struct idl_list *l, struct idl_text *out, const char *between, const char *fmt,
                    ...) __attribute__((format(printf, 4, 5)));
void idl_list_item(struct idl_list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void idl_list_end(struct idl_list *l, const char *close);

/* `int name[2][3]`, `enum calc_op name`, ...: in a declaration. */
void idl_put_variable(struct idl_text *t, const struct idl_type *type, const char *name);

/* A comment block from the lines of `doc`, indented; nothing when doc is NULL. */
void idl_put_doc(struct idl_text *t, const char *indent, const char *doc);

/* The C prototype without `;`, one item per argument. */
void idl_put_prototype(struct idl_text *t, const struct idl_interface *i,
                       const struct idl_method *m);

/* C spelling of what a sequence's elements or a parameter are ("char" for strings). */
const char *idl_c_name(const struct idl_type *type);

/* The C type of a sequence's elements, a struct's member or a parameter, without its `*`. */
const char *idl_value_c_name(const struct idl_type *t);

/* A boolean is a byte on the wire: any value of a byte may arrive. */
bool idl_is_bool(const struct idl_type *type);

/* The first line of each file. */
void idl_put_banner(struct idl_text *t, const struct hx_idl *idl, const char *what);

#endif
