/* Sizes and places of values: types behind their typedefs, alignment, fields one behind the other. */
#include <string.h>

#include "idl_tree.h"

const struct idl_type *idl_resolve(const struct idl_type *t)
{
    while (t->kind == IDL_ALIAS)
        t = t->of;
    return t;
}

bool idl_is_fixed(const struct idl_type *t)
{
    return idl_resolve(t)->size > 0;
}

uint32_t idl_align_up(uint32_t at, uint32_t align)
{
    return (at + align - 1) / align * align;
}

void idl_add_field(struct hx_idl *idl, struct idl_prim *prim, const char *name,
                   const struct idl_type *type, const struct idl_pos *pos)
{
    uint32_t size = type ? type->size : 4, align = type ? type->align : 4;
    struct idl_field **end = &prim->fields, *f = idl_alloc(idl, sizeof(*f));

    while (*end) {
        if (strcmp((*end)->name, name) == 0)
            idl_fail(idl, pos, "two arguments would be called '%s'", name);
        end = &(*end)->next;
    }
    f->name = name;
    f->type = type;
    f->offset = idl_align_up(prim->size, align);
    prim->size = f->offset + size;
    if (prim->size > IDL_MAX_BYTES)
        idl_fail(idl, pos, "the values of this method have more than %d bytes", IDL_MAX_BYTES);
    *end = f;
}
