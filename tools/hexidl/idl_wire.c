/* The wire format of methods.  In-buffer 0 (primIn) holds, in declaration order with natural alignment, the method
 * number if it does not fit `sc`, every `in` value, and a u32 length for every sequence and string of any direction;
 * out-buffer 0 (primROut) every `rout` value.  Each exists only when it has something to hold.  Then comes one buffer per
 * sequence or string and direction.  An inrout parameter counts as an `in` one followed by a `rout` one, so an inrout
 * sequence has two lengths. */
#include <string.h>

#include "idl_deep.h"

static void pad(struct idl_prim *prim)
{
    uint32_t align = 1;

    for (const struct idl_field *f = prim->fields; f; f = f->next) {
        uint32_t a = f->type ? f->type->align : 4;

        align = a > align ? a : align;
    }
    prim->size = idl_align_up(prim->size, align);
}

/* One direction of a parameter. */
static void add_direction(struct hx_idl *idl, struct idl_method *m, const struct idl_param *p,
                          enum idl_dir dir)
{
    const char *in_part = p->dir == IDL_INROUT && dir == IDL_IN ? "In" : "";

    if (idl_is_fixed(p->type)) {
        idl_add_field(idl, dir == IDL_IN ? &m->in : &m->rout, p->name, p->type, &p->pos);
        return;
    }
    idl_add_field(idl, &m->in, idl_format(idl, "%s%sLen", p->name, in_part), NULL, &p->pos);
    *(dir == IDL_IN ? &m->n_in : &m->n_rout) += 1;
}

/* The C prototype has NAME and NAMELen. */
static void check_names(struct hx_idl *idl, const struct idl_method *m, const struct idl_param *p)
{
    enum idl_kind kind = idl_resolve(p->type)->kind;
    const char *len = kind == IDL_SEQUENCE || kind == IDL_STRING || kind == IDL_DMA
                          ? idl_format(idl, "%sLen", p->name) : p->name;
    const char *offset = kind == IDL_DMA ? idl_format(idl, "%sOffset", p->name) : p->name;

    for (const struct idl_param *o = m->params; o; o = o->next)
        if (o != p && (strcmp(o->name, p->name) == 0 || strcmp(o->name, len) == 0 ||
                       strcmp(o->name, offset) == 0))
            idl_fail(idl, o->pos.line > p->pos.line || (o->pos.line == p->pos.line &&
                     o->pos.column > p->pos.column) ? &o->pos : &p->pos,
                     "two arguments would be called '%s'", o->name);
}

static void lay_out(struct hx_idl *idl, struct idl_interface *i, struct idl_method *m)
{
    m->is_deep = idl_method_is_deep(m);
    if (m->id >= IDL_METHOD_ESCAPE)
        idl_add_field(idl, &m->in, "_mid", NULL, &m->pos);
    for (struct idl_param *p = m->params; p && !idl->error; p = p->next) {
        if (idl_resolve(p->type)->kind == IDL_HANDLE)
            idl_fail(idl, &p->pos, "parameter '%s': handles are not supported", p->name);
        check_names(idl, m, p);
        if (m->is_deep) {
            idl_deep_add_param(idl, i, m, p);
            continue;
        }
        if (p->dir & IDL_IN)
            add_direction(idl, m, p, IDL_IN);
        if (p->dir & IDL_ROUT)
            add_direction(idl, m, p, IDL_ROUT);
    }
    pad(&m->in);
    pad(&m->rout);
    m->n_in += m->in.fields != NULL;
    m->n_rout += m->rout.fields != NULL;
    if (m->n_in > IDL_MAX_BUFFERS || m->n_rout > IDL_MAX_BUFFERS)
        idl_fail(idl, &m->pos, "'%s' needs %u in and %u out buffers; %d of each are the limit",
                 m->name, m->n_in, m->n_rout, IDL_MAX_BUFFERS);
}

void idl_wire_layout(struct hx_idl *idl, struct idl_interface *i)
{
    for (struct idl_method *m = i->methods; m && !idl->error; m = m->next) {
        lay_out(idl, i, m);
        if (m->in.fields && !m->is_deep)
            idl_declare(idl, IDL_DECL_NAME, idl_format(idl, "%s_primIn", m->c_name), &m->pos);
        if (m->rout.fields && !m->is_deep)
            idl_declare(idl, IDL_DECL_NAME, idl_format(idl, "%s_primROut", m->c_name), &m->pos);
        idl_declare(idl, IDL_DECL_NAME,
                    idl_format(idl, "%s_METHOD_%s", i->name, m->name), &m->pos);
    }
}

uint32_t idl_scalars(const struct idl_method *m)
{
    uint32_t id = m->id < IDL_METHOD_ESCAPE ? m->id : IDL_METHOD_ESCAPE;

    return id << 24 | m->n_in << 16 | m->n_rout << 8 | m->n_dma_in << 4 | m->n_dma_rout;
}
