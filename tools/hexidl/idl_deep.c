/* Records and nodes of deep types: what a method with deep parameters has on the wire, and which functions its code needs. */
#include "idl_deep.h"

#include <string.h>

enum idl_kind idl_kind_of(const struct idl_type *t)
{
    return idl_resolve(t)->kind;
}

bool idl_is_deep(const struct idl_type *t)
{
    const struct idl_type *below = idl_resolve(t);

    return (below->kind == IDL_STRUCT && below->size == 0) ||
           (below->kind == IDL_SEQUENCE && !idl_is_fixed(below->of));
}

static bool is_wide(const struct idl_type *t)
{
    const struct idl_type *below = idl_resolve(t);

    return below->kind == IDL_STRING && below->of->size == 2;
}

bool idl_method_is_deep(const struct idl_method *m)
{
    for (const struct idl_param *p = m->params; p; p = p->next)
        if (idl_is_deep(p->type) || idl_kind_of(p->type) == IDL_DMA || is_wide(p->type))
            return true;
    return false;
}

bool idl_has_deep(const struct idl_interface *i)
{
    for (const struct idl_method *m = i->methods; m; m = m->next)
        if (m->is_deep)
            return true;
    return false;
}

/* --- records */

uint32_t idl_record_place(const struct idl_type *t, enum idl_role role, uint32_t *at)
{
    struct idl_record r = idl_record_of(t, role);
    uint32_t here = idl_align_up(*at, r.align);

    *at = here + r.size;
    return here;
}

struct idl_record idl_record_of(const struct idl_type *t, enum idl_role role)
{
    const struct idl_type *below = idl_resolve(t);
    struct idl_record r = {0, 1};

    if (below->size)
        return role == IDL_ROLE_ASK ? r : (struct idl_record){below->size, below->align};
    if (below->kind == IDL_STRING || below->kind == IDL_SEQUENCE)
        return role == IDL_ROLE_GIVE ? r : (struct idl_record){4, 4};
    for (const struct idl_member *m = below->members; m; m = m->next) {
        struct idl_record inner = idl_record_of(m->type, role);

        idl_record_place(m->type, role, &r.size);
        r.align = inner.align > r.align ? inner.align : r.align;
    }
    r.size = idl_align_up(r.size, r.align);
    return r;
}

/* --- the layout of a method: every leaf of the records as a field */

static void add_leaves(struct hx_idl *idl, struct idl_prim *prim, const char *name,
                       const struct idl_type *t, enum idl_role role, const struct idl_pos *pos)
{
    const struct idl_type *below = idl_resolve(t);
    struct idl_record r = idl_record_of(t, role);

    if (r.size == 0 || idl->error)
        return;
    if (below->size) {
        idl_add_field(idl, prim, name, t, pos);
        return;
    }
    if (below->kind != IDL_STRUCT) {
        idl_add_field(idl, prim, idl_format(idl, "%sLen", name), NULL, pos);
        return;
    }
    prim->size = idl_align_up(prim->size, r.align);
    for (const struct idl_member *m = below->members; m; m = m->next)
        add_leaves(idl, prim, idl_format(idl, "%s.%s", name, m->name), m->type, role, pos);
    prim->size = idl_align_up(prim->size, r.align);
}

/* The buffers and handles that a value has when all deep sequences in it are empty. */
static void count_least(struct idl_method *m, const struct idl_type *t, enum idl_dir dir)
{
    const struct idl_type *below = idl_resolve(t);
    bool in = dir == IDL_IN;

    if (below->size)
        return;
    if (below->kind == IDL_DMA) {
        *(in ? &m->n_dma_in : &m->n_dma_rout) += 1;
    } else if (below->kind == IDL_STRUCT) {
        for (const struct idl_member *s = below->members; s; s = s->next)
            count_least(m, s->type, dir);
    } else if (!idl_is_deep(t)) {
        *(in ? &m->n_in : &m->n_rout) += 1;
    } else {
        m->varies = true;
        m->n_in += idl_record_of(below->of, in ? IDL_ROLE_IN : IDL_ROLE_ASK).size > 0;
        m->n_rout += !in && idl_record_of(below->of, IDL_ROLE_GIVE).size > 0;
    }
}

/* --- nodes */

/* All strings of one width are one node. */
static const struct idl_type *key_of(const struct idl_type *t)
{
    const struct idl_type *below = idl_resolve(t);

    return below->kind == IDL_STRING ? below->of : below;
}

const struct idl_node *idl_node_of(const struct idl_interface *i, const struct idl_type *t)
{
    for (const struct idl_node *n = i->nodes; n; n = n->next)
        if (n->key == key_of(t))
            return n;
    return NULL;
}

static bool has_get(const struct idl_interface *i, const struct idl_node *n)
{
    for (const struct idl_member *m = n->members; m; m = m->next) {
        enum idl_kind kind = idl_kind_of(m->type);

        if (idl_is_fixed(m->type) || kind == IDL_STRING ||
            (kind == IDL_STRUCT && idl_node_of(i, m->type)->any_get))
            return true;
    }
    return false;
}

/* The node of a deep struct or of a deep sequence's element, and before it those that it needs. */
static void collect(struct hx_idl *idl, struct idl_interface *i, const struct idl_type *t,
                    enum idl_dir dir)
{
    const struct idl_type *below = idl_resolve(t);
    struct idl_node *n = (struct idl_node *)idl_node_of(i, t), **end = &i->nodes;
    struct idl_member *only;

    if (n && (dir == IDL_IN ? n->in : n->rout))
        return;
    if (!n) {
        n = idl_alloc(idl, sizeof(*n));
        n->key = key_of(t);
        n->c_name = idl_value_c_name(t);
        n->members = below->members;
    }
    if (!n->members) {
        only = idl_alloc(idl, sizeof(*only));
        only->name = "data";
        only->type = below;
        n->members = only;
    }
    for (const struct idl_member *m = n->members; m; m = m->next) {
        if (idl_kind_of(m->type) == IDL_STRUCT && idl_is_deep(m->type))
            collect(idl, i, m->type, dir);
        else if (idl_is_deep(m->type))
            collect(idl, i, idl_resolve(m->type)->of, dir);
    }
    *(dir == IDL_IN ? &n->in : &n->rout) = true;
    n->any_get = has_get(i, n);
    while (*end && *end != n)
        end = &(*end)->next;
    *end = n;
}

static void add_direction(struct hx_idl *idl, struct idl_interface *i, struct idl_method *m,
                          struct idl_param *p, enum idl_dir dir)
{
    const bool is_in_part = p->dir == IDL_INROUT && !idl_is_fixed(p->type) && dir == IDL_IN;
    const char *in_part = is_in_part ? "In" : "";
    uint32_t *at = dir == IDL_IN ? &p->in_at : &p->rout_at;
    enum idl_role role = dir == IDL_IN ? IDL_ROLE_IN : IDL_ROLE_ASK;

    p->ask_at = idl_align_up(m->in.size, idl_record_of(p->type, role).align);
    if (dir == IDL_IN)
        *at = p->ask_at;
    add_leaves(idl, &m->in, idl_format(idl, "%s%s", p->name, in_part), p->type, role, &p->pos);
    if (dir == IDL_ROUT) {
        *at = idl_align_up(m->rout.size, idl_record_of(p->type, IDL_ROLE_GIVE).align);
        add_leaves(idl, &m->rout, p->name, p->type, IDL_ROLE_GIVE, &p->pos);
    }
    count_least(m, p->type, dir);
    if (idl_kind_of(p->type) == IDL_STRUCT && idl_is_deep(p->type))
        collect(idl, i, p->type, dir);
    else if (idl_is_deep(p->type))
        collect(idl, i, idl_resolve(p->type)->of, dir);
}

void idl_deep_add_param(struct hx_idl *idl, struct idl_interface *i, struct idl_method *m,
                        struct idl_param *p)
{
    if (p->dir == IDL_INROUT && (idl_is_deep(p->type) || idl_kind_of(p->type) == IDL_DMA)) {
        idl_fail(idl, &p->pos, "parameter '%s': inrout is not possible for a type with sequences, strings "
                 "or handles inside, nor for a handle", p->name);
        return;
    }
    if (p->dir & IDL_IN)
        add_direction(idl, i, m, p, IDL_IN);
    if (p->dir & IDL_ROUT)
        add_direction(idl, i, m, p, IDL_ROUT);
    if (m->n_dma_in > IDL_MAX_HANDLES || m->n_dma_rout > IDL_MAX_HANDLES)
        idl_fail(idl, &p->pos, "'%s' has more than %d handles of one direction", m->name,
                 IDL_MAX_HANDLES);
}

/* --- text */

bool idl_has_dma(const struct idl_interface *i)
{
    for (const struct idl_method *m = i->methods; m; m = m->next)
        for (const struct idl_param *p = m->params; p; p = p->next)
            if (idl_kind_of(p->type) == IDL_DMA)
                return true;
    for (const struct idl_node *n = i->nodes; n; n = n->next)
        for (const struct idl_member *m = n->members; m; m = m->next)
            if (idl_kind_of(m->type) == IDL_DMA)
                return true;
    return false;
}

void idl_put_address(struct idl_text *t, const struct idl_value *v)
{
    idl_put(t, "%s%s%s", v->by_address ? "" : "&", v->prefix, v->name);
}

void idl_put_to_record(struct idl_text *t, const struct idl_value *v, const char *rec)
{
    idl_put(t, "    memcpy(%s + %u, ", rec, v->at);
    idl_put_address(t, v);
    idl_put(t, ", %u);\n", idl_resolve(v->type)->size);
}

void idl_put_from_record(struct idl_text *t, const struct idl_value *v, const char *rec)
{
    if (idl_is_bool(v->type)) {
        idl_put(t, "    %s%s%s = %s[%u] != 0;\n", v->by_address ? "*" : "", v->prefix, v->name, rec, v->at);
        return;
    }
    idl_put(t, "    memcpy(");
    idl_put_address(t, v);
    idl_put(t, ", %s + %u, %u);\n", rec, v->at, idl_resolve(v->type)->size);
}

void idl_put_struct(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                    const char *function, const char *rec)
{
    idl_put(t, "    %s_%s(_k, %s + %u, ", function, idl_node_of(i, v->type)->c_name, rec, v->at);
    idl_put_address(t, v);
    idl_put(t, ");\n");
}

void idl_put_elements(struct idl_text *t, const struct idl_interface *i, const struct idl_value *v,
                      const char *function, uint32_t bytes)
{
    idl_put(t, "    for (int _i = 0; !_k->rc && _i < %s%sLen; _i++)\n        %s_%s(_k, ", v->prefix, v->name,
            function, idl_node_of(i, idl_resolve(v->type)->of)->c_name);
    idl_put(t, bytes ? "_r + (size_t)_i * %u" : "NULL", bytes);
    idl_put(t, ", &%s%s[_i]);\n", v->prefix, v->name);
}

/* A member is a sequence of deep elements, which have records of their own. */
static bool has_elements(const struct idl_node *n)
{
    for (const struct idl_member *m = n->members; m; m = m->next)
        if (idl_kind_of(m->type) == IDL_SEQUENCE && idl_is_deep(m->type))
            return true;
    return false;
}

void idl_put_node_body(struct idl_text *t, const struct idl_interface *i, const struct idl_node *n,
                       enum idl_role role, idl_put_member *put)
{
    uint32_t at = 0;

    if (has_elements(n) && role == IDL_ROLE_ASK)
        idl_put(t, "    unsigned char *_g __attribute__((unused)) = NULL;\n");
    if (has_elements(n) && role != IDL_ROLE_GIVE)
        idl_put(t, "    unsigned char *_r __attribute__((unused)) = NULL;\n\n");
    for (const struct idl_member *m = n->members; m; m = m->next) {
        struct idl_value v = {m->type, "_v->", m->name, false,
                              idl_record_place(m->type, role, &at)};

        put(t, i, &v, "_rec");
    }
    idl_put(t, "}\n\n");
}
