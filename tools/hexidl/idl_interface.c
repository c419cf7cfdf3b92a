/* Interfaces: methods, bases, and the names that generated code takes for them. */
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

static struct idl_param *take_param(struct hx_idl *idl)
{
    struct idl_param *p = idl_alloc(idl, sizeof(*p));

    if (idl_accept(idl, "in"))
        p->dir = IDL_IN;
    else if (idl_accept(idl, "rout"))
        p->dir = IDL_ROUT;
    else if (idl_accept(idl, "inrout"))
        p->dir = IDL_INROUT;
    else
        idl_unexpected(idl, "'in', 'rout' or 'inrout'");
    p->type = idl_take_type(idl);
    p->pos = idl->token.pos;
    p->name = idl_take_local_name(idl, "the parameter's name");
    if (!idl->error && idl_is(idl, "["))
        idl_fail(idl, &idl->token.pos, "an array parameter needs a typedef");
    return p;
}

static void add_method(struct hx_idl *idl, struct idl_interface *i, struct idl_method *m)
{
    m->c_name = idl_scoped(idl, m->name);
    m->id = i->n_methods++;
    idl_declare(idl, IDL_DECL_NAME, m->c_name, &m->pos);
    *i->methods_end = m;
    i->methods_end = &m->next;
}

static void parse_method(struct hx_idl *idl, struct idl_interface *i, const char *doc)
{
    struct idl_method *m = idl_alloc(idl, sizeof(*m));
    struct idl_param **params = &m->params;
    struct idl_pos type_pos = idl->token.pos;

    if (!idl_accept(idl, "void")) { /* a code comes back all the same */
        const struct idl_type *type = idl_resolve(idl_take_type(idl));

        if (!idl->error && (type->kind != IDL_INTEGER || type->size != 4 || !type->is_signed))
            idl_fail(idl, &type_pos, "a method returns long (or AEEResult), an AEE code");
    }
    m->doc = doc;
    m->pos = idl->token.pos;
    m->name = idl_take_new_name(idl, "the method's name");
    add_method(idl, i, m);
    idl_expect(idl, "(", "the method's name");
    if (!idl_accept(idl, ")")) {
        do {
            *params = take_param(idl);
            params = &(*params)->next;
        } while (!idl->error && idl_accept(idl, ","));
        idl_expect(idl, ")", "the parameters");
    }
    idl_expect(idl, ";", "the method");
}

/* The names that the generated code declares beside methods and types. */
static void declare_generated(struct hx_idl *idl, const struct idl_interface *i)
{
    static const char *const suffixes[] = {"URI", "method", "N_METHODS", "skel_invoke", "skel_methods",
                                           "skel_handle_invoke", "open", "close"};

    for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++)
        if (i->has_handle || k < 5)
            idl_declare(idl, IDL_DECL_NAME, idl_format(idl, "%s_%s", i->name, suffixes[k]),
                        &i->pos);
}

/* --- bases */

static const struct idl_interface *find_above(const struct hx_idl *idl, const char *name,
                                              const struct idl_interface *below)
{
    for (const struct idl_interface *i = idl->interfaces; i && i != below; i = i->next)
        if (strcmp(i->name, name) == 0)
            return i;
    return NULL;
}

static void parse_base(struct hx_idl *idl, struct idl_interface *i)
{
    struct idl_token base = idl->token;
    const char *name = idl_take_name(idl, "the base interface");

    if (idl->error)
        return;
    i->base = find_above(idl, name, i);
    if (i->base) {
        i->has_handle = i->base->has_handle;
    } else {
        i->has_handle = strcmp(name, "remote_handle64") == 0;
        if (!i->has_handle)
            idl_fail(idl, &base.pos, "'%.60s' is no interface that is declared above", name);
        else if (!idl_find_exact(idl, name))
            idl_fail(idl, &base.pos, "'remote_handle64' is not declared; #include \"remote.idl\"");
    }
    i->n_methods = i->has_handle ? 2 : 0;
    if (!idl->error && idl_is(idl, ","))
        idl_fail(idl, &idl->token.pos, "an interface has one base");
}

/* A base's methods, its own bases' among them, come first and bear this interface's name. */
static void inherit(struct hx_idl *idl, struct idl_interface *i)
{
    for (const struct idl_method *b = i->base ? i->base->methods : NULL; b; b = b->next) {
        struct idl_method *m = idl_alloc(idl, sizeof(*m));
        struct idl_param **end = &m->params;

        m->name = b->name;
        m->doc = b->doc;
        m->pos = i->pos;
        for (const struct idl_param *p = b->params; p; p = p->next) {
            *end = idl_alloc(idl, sizeof(**end));
            **end = *p;
            (*end)->next = NULL;
            end = &(*end)->next;
        }
        add_method(idl, i, m);
    }
}

/* --- the interface */

static void parse_body(struct hx_idl *idl, struct idl_interface *i);

/* An #include inside an interface: what the file declares is the interface's. */
static void include_body(struct hx_idl *idl, struct idl_interface *i)
{
    struct idl_token t = idl->token;
    struct idl_input *outer = idl->input, *in = idl_alloc(idl, sizeof(*in));
    const char *path;
    size_t n = 0;
    char *text = idl_open_include(idl, &t, &path, &n);

    if (!text)
        return;
    idl_input_open(in, path, text, n);
    idl->input = in;
    idl->n_open_files++;
    idl_next(idl);
    parse_body(idl, i);
    if (!idl->error && idl->token.kind != IDL_END)
        idl_unexpected(idl, "a method or the file's end");
    idl_input_end(idl);
    idl->n_open_files--;
    idl->input = outer;
    free(text);
    idl_next(idl);
}

static void parse_body(struct hx_idl *idl, struct idl_interface *i)
{
    while (!idl->error && !idl_is(idl, "}") && idl->token.kind != IDL_END) {
        const char *doc = idl->token.doc;

        if (idl->token.kind == IDL_INCLUDE)
            include_body(idl, i);
        else if (!idl_refuse_unsupported(idl) && !idl_parse_declaration(idl))
            parse_method(idl, i, doc);
    }
}

/* The root of all handles, as remote.idl declares it: a type, no code. */
static void declare_handle_type(struct hx_idl *idl, const struct idl_pos *pos)
{
    struct idl_type *t = idl_alloc(idl, sizeof(*t));

    *t = (struct idl_type){.kind = IDL_HANDLE, .c_name = "remote_handle64"};
    idl_declare(idl, IDL_DECL_TYPE, "remote_handle64", pos)->type = t;
}

static void take_interface_name(struct hx_idl *idl, struct idl_interface *i)
{
    i->pos = idl->token.pos;
    if (idl_is(idl, "remote_handle64")) {
        declare_handle_type(idl, &i->pos);
        i->name = "remote_handle64";
        idl_next(idl);
        return;
    }
    i->name = idl_take_new_name(idl, "the interface's name");
    idl_declare(idl, IDL_DECL_INTERFACE, i->name, &i->pos);
    i->is_mine = idl->is_main;
    *idl->interfaces_end = i;
    idl->interfaces_end = &i->next;
}

void idl_parse_interface(struct hx_idl *idl, const char *doc)
{
    struct idl_interface *i = idl_alloc(idl, sizeof(*i));

    i->doc = doc;
    i->methods_end = &i->methods;
    take_interface_name(idl, i);
    if (idl_accept(idl, ":"))
        parse_base(idl, i);
    idl_expect(idl, "{", "the interface's name");
    declare_generated(idl, i);
    idl->scope = i;
    inherit(idl, i);
    parse_body(idl, i);
    idl->scope = NULL;
    if (!idl->error && i->n_methods == 0)
        idl_fail(idl, &i->pos, "interface '%s' has no methods", i->name);
    idl_expect(idl, "}", "the interface's methods");
    idl_expect(idl, ";", "the interface");
}

const struct idl_interface *idl_interface_at(const struct hx_idl *idl, size_t n)
{
    for (const struct idl_interface *i = idl->interfaces; i; i = i->next)
        if (i->is_mine && n-- == 0)
            return i;
    return NULL;
}
