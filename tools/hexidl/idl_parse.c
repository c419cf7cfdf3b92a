/* Tokens -> declarations, interfaces, files. */
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

/* --- declarations */

static void parse_typedef(struct hx_idl *idl, const char *doc)
{
    const struct idl_type *base = idl_take_type(idl);

    do {
        struct idl_pos pos = idl->token.pos;
        const char *name = idl_take_new_name(idl, "the name of the new type");
        const struct idl_type *of = idl_take_dimensions(idl, base, 0);
        struct idl_type *t = idl_alloc(idl, sizeof(*t));

        *t = (struct idl_type){.kind = IDL_ALIAS, .size = of->size, .align = of->align, .of = of,
                               .c_name = idl_scoped(idl, name)};
        if (!idl->scope && idl_builtin(name))
            continue; /* AEEStdDef.idl may spell out what is built in */
        struct idl_decl *d = idl_declare(idl, IDL_DECL_TYPE, t->c_name, &pos);
        d->type = t;
        d->doc = doc;
    } while (!idl->error && idl_accept(idl, ","));
    idl_expect(idl, ";", "the typedef");
}

static void add_member(struct hx_idl *idl, struct idl_type *s, struct idl_member **end,
                       struct idl_member *m)
{
    for (const struct idl_member *o = s->members; o; o = o->next)
        if (strcmp(o->name, m->name) == 0)
            idl_fail(idl, &m->pos, "two members are called '%s'", m->name);
    if (!idl->error && !idl_is_fixed(m->type))
        idl_fail(idl, &m->pos, "member '%s': sequences and strings inside structs are not "
                 "supported", m->name);
    if (idl->error)
        return;
    uint32_t align = m->type->align;
    s->size = (s->size + align - 1) / align * align + m->type->size;
    s->align = align > s->align ? align : s->align;
    if (s->size > IDL_MAX_BYTES)
        idl_fail(idl, &m->pos, "the struct has more than %d bytes", IDL_MAX_BYTES);
    *end = m;
}

static void parse_struct(struct hx_idl *idl, const char *doc)
{
    struct idl_pos pos = idl->token.pos;
    const char *name = idl_take_new_name(idl, "the struct's name");
    struct idl_type *t = idl_alloc(idl, sizeof(*t));
    struct idl_member **end = &t->members;

    *t = (struct idl_type){.kind = IDL_STRUCT, .align = 1, .c_name = idl_scoped(idl, name)};
    idl_expect(idl, "{", "the struct's name");
    while (!idl->error && !idl_is(idl, "}")) {
        const struct idl_type *base = idl_take_type(idl);

        do {
            struct idl_member *m = idl_alloc(idl, sizeof(*m));

            m->pos = idl->token.pos;
            m->name = idl_take_local_name(idl, "the member's name");
            m->type = idl_take_dimensions(idl, base, 0);
            add_member(idl, t, end, m);
            end = &m->next;
        } while (!idl->error && idl_accept(idl, ","));
        idl_expect(idl, ";", "the member");
    }
    idl_expect(idl, "}", "the struct's members");
    idl_expect(idl, ";", "the struct");
    if (!idl->error && !t->members)
        idl_fail(idl, &pos, "struct '%s' has no members", name);
    t->size = (t->size + t->align - 1) / t->align * t->align;
    struct idl_decl *d = idl_declare(idl, IDL_DECL_TYPE, t->c_name, &pos);
    d->type = t;
    d->doc = doc;
}

/* Enumerators are not scoped, as in C; they count from 0. */
static void parse_enum(struct hx_idl *idl, const char *doc)
{
    struct idl_pos pos = idl->token.pos;
    const char *name = idl_take_new_name(idl, "the enum's name");
    struct idl_type *t = idl_alloc(idl, sizeof(*t));
    struct idl_member **end = &t->members;
    int64_t value = 0;

    *t = (struct idl_type){.kind = IDL_ENUM, .size = 4, .align = 4,
                           .c_name = idl_scoped(idl, name)};
    struct idl_decl *d = idl_declare(idl, IDL_DECL_TYPE, t->c_name, &pos);
    d->type = t;
    d->doc = doc;
    idl_expect(idl, "{", "the enum's name");
    do {
        struct idl_member *m = idl_alloc(idl, sizeof(*m));

        m->pos = idl->token.pos;
        m->name = idl_take_new_name(idl, "an enumerator");
        if (idl_is(idl, "="))
            idl_fail(idl, &idl->token.pos, "enumerators count from 0: a value cannot be given");
        struct idl_decl *e = idl_declare(idl, IDL_DECL_ENUMERATOR, m->name, &m->pos);
        e->value = value++;
        e->type = t;
        *end = m;
        end = &m->next;
    } while (!idl->error && idl_accept(idl, ",") && !idl_is(idl, "}"));
    idl_expect(idl, "}", "the enumerators");
    idl_expect(idl, ";", "the enum");
}

static const char *take_literal(struct hx_idl *idl, const struct idl_type *type)
{
    bool minus = type->kind == IDL_FLOATING && idl_accept(idl, "-");
    struct idl_token t = idl->token;
    bool ok = type->kind == IDL_STRING ? t.kind == IDL_TEXT
                                       : t.kind == IDL_REAL || t.kind == IDL_NUMBER;

    if (!ok) {
        idl_unexpected(idl, type->kind == IDL_STRING ? "a \"text\"" : "a number");
        return "";
    }
    idl_next(idl);
    return minus ? idl_format(idl, "(-%s)", t.text) : t.text;
}

static void parse_const(struct hx_idl *idl, const char *doc)
{
    struct idl_pos type_pos = idl->token.pos;
    const struct idl_type *type = idl_take_type(idl), *below = idl_resolve(type);
    struct idl_pos pos = idl->token.pos;
    const char *name = idl_take_new_name(idl, "the constant's name");
    struct idl_decl v = {0};

    if (!idl->error && below->kind != IDL_INTEGER && below->kind != IDL_FLOATING &&
        below->kind != IDL_BOOLEAN && below->kind != IDL_STRING)
        idl_fail(idl, &type_pos, "a constant cannot be of this type");
    idl_expect(idl, "=", "the constant's name");
    if (below->kind == IDL_FLOATING || below->kind == IDL_STRING)
        v.literal = take_literal(idl, below);
    else
        v.value = idl_constant(idl, type);
    idl_expect(idl, ";", "the constant");
    struct idl_decl *d = idl_declare(idl, IDL_DECL_CONST, idl_scoped(idl, name), &pos);
    d->type = type;
    d->doc = doc;
    d->value = v.value;
    d->literal = v.literal;
}

/* --- interfaces */

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

static void parse_method(struct hx_idl *idl, struct idl_interface *iface,
                         struct idl_method **end, const char *doc)
{
    struct idl_method *m = idl_alloc(idl, sizeof(*m));
    struct idl_param **params = &m->params;
    struct idl_pos type_pos = idl->token.pos;
    const struct idl_type *type = idl_resolve(idl_take_type(idl));

    if (!idl->error && (type->kind != IDL_INTEGER || type->size != 4 || !type->is_signed))
        idl_fail(idl, &type_pos, "a method returns long (or AEEResult), an AEE code");
    m->doc = doc;
    m->pos = idl->token.pos;
    m->name = idl_take_new_name(idl, "the method's name");
    m->c_name = idl_scoped(idl, m->name);
    m->id = iface->n_methods++;
    idl_declare(idl, IDL_DECL_NAME, m->c_name, &m->pos);
    idl_expect(idl, "(", "the method's name");
    if (!idl_accept(idl, ")")) {
        do {
            *params = take_param(idl);
            params = &(*params)->next;
        } while (!idl->error && idl_accept(idl, ","));
        idl_expect(idl, ")", "the parameters");
    }
    idl_expect(idl, ";", "the method");
    *end = m;
}

static bool parse_declaration(struct hx_idl *idl)
{
    const char *doc = idl->token.doc;

    if (idl_accept(idl, "typedef"))
        parse_typedef(idl, doc);
    else if (idl_accept(idl, "struct"))
        parse_struct(idl, doc);
    else if (idl_accept(idl, "enum"))
        parse_enum(idl, doc);
    else if (idl_accept(idl, "const"))
        parse_const(idl, doc);
    else
        return false;
    return true;
}

/* The names that the generated code declares beside methods and types. */
static void declare_generated(struct hx_idl *idl, const struct idl_interface *i)
{
    static const char *const suffixes[] = {"URI", "method", "N_METHODS", "skel_invoke",
                                           "skel_handle_invoke", "open", "close"};

    for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++)
        if (i->has_handle || k < 4)
            idl_declare(idl, IDL_DECL_NAME, idl_format(idl, "%s_%s", i->name, suffixes[k]),
                        &i->pos);
}

static void parse_base(struct hx_idl *idl, struct idl_interface *i)
{
    struct idl_token base = idl->token;
    const char *name = idl_take_name(idl, "the base interface");
    const struct idl_decl *d = idl->error ? NULL : idl_find_exact(idl, name);

    if (idl->error)
        return;
    if (strcmp(name, "remote_handle64"))
        idl_fail(idl, &base.pos, "'%.60s' cannot be a base; only remote_handle64 can", name);
    else if (!d)
        idl_fail(idl, &base.pos, "'remote_handle64' is not declared; #include \"remote.idl\"");
    i->has_handle = true;
    i->n_methods = 2;
}

/* The root of all handles, as remote.idl declares it: a type, no code. */
static void declare_handle_type(struct hx_idl *idl, const struct idl_pos *pos)
{
    struct idl_type *t = idl_alloc(idl, sizeof(*t));

    *t = (struct idl_type){.kind = IDL_HANDLE, .c_name = "remote_handle64"};
    idl_declare(idl, IDL_DECL_TYPE, "remote_handle64", pos)->type = t;
}

static void parse_interface(struct hx_idl *idl, const char *doc)
{
    struct idl_interface *i = idl_alloc(idl, sizeof(*i));
    struct idl_method **end = &i->methods;

    i->doc = doc;
    i->pos = idl->token.pos;
    if (idl_is(idl, "remote_handle64")) {
        declare_handle_type(idl, &i->pos);
        i->name = "remote_handle64";
        idl_next(idl);
    } else {
        i->name = idl_take_new_name(idl, "the interface's name");
        idl_declare(idl, IDL_DECL_INTERFACE, i->name, &i->pos);
        if (!idl->error && idl->is_main && idl->interface)
            idl_fail(idl, &i->pos, "a second interface; a file has one");
        if (!idl->error && idl->is_main)
            idl->interface = i;
    }
    if (idl_accept(idl, ":"))
        parse_base(idl, i);
    idl_expect(idl, "{", "the interface's name");
    declare_generated(idl, i);
    idl->scope = i->name;
    while (!idl->error && !idl_is(idl, "}")) {
        const char *method_doc = idl->token.doc;

        if (idl->token.kind == IDL_INCLUDE)
            idl_fail(idl, &idl->token.pos, "#include inside an interface is not supported");
        else if (!parse_declaration(idl)) {
            parse_method(idl, i, end, method_doc);
            if (*end)
                end = &(*end)->next;
        }
    }
    idl->scope = NULL;
    if (!idl->error && i->n_methods == 0)
        idl_fail(idl, &i->pos, "interface '%s' has no methods", i->name);
    idl_expect(idl, "}", "the interface's methods");
    idl_expect(idl, ";", "the interface");
}

/* --- files */

static const char *after_slash(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Beside the including file first, then in the given folders. */
static const char *find_include(struct hx_idl *idl, const char *name, char **text, size_t *n)
{
    const char *from = idl->input->file;
    int folder = (int)(after_slash(from) - from);
    const char *path = name[0] == '/' ? name : idl_format(idl, "%.*s%s", folder, from, name);

    *text = idl->read ? idl->read(path, n) : NULL;
    for (size_t i = 0; i < idl->n_dirs && !*text && idl->read; i++) {
        path = idl_format(idl, "%s/%s", idl->dirs[i], name);
        *text = idl->read(path, n);
    }
    return path;
}

/* Each file is read once, however often it is included. */
static void parse_include(struct hx_idl *idl)
{
    struct idl_token t = idl->token;
    struct idl_include *inc = idl_alloc(idl, sizeof(*inc));
    const char *dot = strrchr(after_slash(t.text), '.');
    size_t n = 0;
    char *text = NULL;

    inc->path = find_include(idl, t.text, &text, &n);
    inc->c_header = idl_format(idl, "%.*s.h", dot ? (int)(dot - t.text) : (int)strlen(t.text),
                               t.text);
    inc->is_mine = idl->is_main;
    if (!text)
        idl_fail(idl, &t.pos, "cannot read '%.200s'", t.text);
    else if (idl->n_open_files == IDL_MAX_INCLUDES)
        idl_fail(idl, &t.pos, "more than %d files inside one another", IDL_MAX_INCLUDES);
    bool seen = false;
    for (struct idl_include *o = idl->includes; o; o = o->next) {
        if (strcmp(o->path, inc->path) == 0) {
            o->is_mine |= inc->is_mine;
            seen = true;
        }
    }
    if (!seen && !idl->error) {
        bool was_main = idl->is_main;

        *idl->includes_end = inc;
        idl->includes_end = &inc->next;
        idl->is_main = false;
        idl_parse_file(idl, text, n, inc->path);
        idl->is_main = was_main;
    }
    free(text);
    idl_next(idl);
}

void idl_parse_file(struct hx_idl *idl, const char *text, size_t n, const char *file)
{
    struct idl_input *outer = idl->input, *in = idl_alloc(idl, sizeof(*in));

    idl_input_open(in, file, text, n);
    idl->input = in;
    idl->n_open_files++;
    idl_next(idl);
    while (!idl->error && idl->token.kind != IDL_END) {
        const char *doc = idl->token.doc;

        if (idl->token.kind == IDL_INCLUDE)
            parse_include(idl);
        else if (idl_accept(idl, "interface"))
            parse_interface(idl, doc);
        else if (!idl_refuse_unsupported(idl) && !parse_declaration(idl))
            idl_unexpected(idl, "interface, typedef, struct, enum, const or #include");
    }
    idl_input_end(idl);
    idl->n_open_files--;
    idl->input = outer;
}
