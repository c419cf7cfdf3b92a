/* Tokens -> declarations: typedef, struct, enum, const. */
#include <string.h>

#include "idl_tree.h"

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

/* A sequence or string NAME is followed by its NAMELen. */
static bool has_length(const struct idl_type *t)
{
    enum idl_kind kind = idl_resolve(t)->kind;

    return kind == IDL_SEQUENCE || kind == IDL_STRING;
}

static void check_member_name(struct hx_idl *idl, const struct idl_type *s,
                              const struct idl_member *m)
{
    for (const struct idl_member *o = s->members; o; o = o->next) {
        const char *mine = has_length(m->type) ? idl_format(idl, "%sLen", m->name) : m->name;
        const char *theirs = has_length(o->type) ? idl_format(idl, "%sLen", o->name) : o->name;

        if (!strcmp(o->name, m->name) || !strcmp(o->name, mine) || !strcmp(theirs, m->name))
            idl_fail(idl, &m->pos, "two members are called '%s'",
                     strcmp(o->name, mine) ? m->name : mine);
    }
}

static void add_member(struct hx_idl *idl, struct idl_type *s, struct idl_member **end,
                       struct idl_member *m)
{
    check_member_name(idl, s, m);
    if (!idl->error && idl_resolve(m->type)->kind == IDL_HANDLE)
        idl_fail(idl, &m->pos, "member '%s': a remote_handle64 in a struct is not supported",
                 m->name);
    if (idl->error)
        return;
    if (idl_is_fixed(m->type)) {
        s->size = idl_align_up(s->size, m->type->align) + m->type->size;
        s->align = m->type->align > s->align ? m->type->align : s->align;
    }
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
    bool deep = false;

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
            deep |= !idl_is_fixed(m->type);
            end = &m->next;
        } while (!idl->error && idl_accept(idl, ","));
        idl_expect(idl, ";", "the member");
    }
    idl_expect(idl, "}", "the struct's members");
    idl_expect(idl, ";", "the struct");
    if (!idl->error && !t->members)
        idl_fail(idl, &pos, "struct '%s' has no members", name);
    t->size = deep ? 0 : idl_align_up(t->size, t->align);
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
        m->name = idl_c_safe(idl, idl_take_new_name(idl, "an enumerator"));
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

/* "1", "1.2" or "1.2.3", each number of at most three digits: stub and skel compare it. */
static void take_version(struct hx_idl *idl, const char *literal, const struct idl_pos *pos)
{
    size_t n = strlen(literal) - 2, digits = 0, numbers = 1;

    for (size_t i = 1; i <= n; i++) {
        bool dot = literal[i] == '.';

        if ((dot && digits == 0) || (!dot && (literal[i] < '0' || literal[i] > '9')) || digits > 3)
            break;
        numbers += dot;
        digits = dot ? 0 : digits + 1;
        if (i == n && digits > 0 && digits <= 3 && numbers <= 3) {
            idl->version = idl_string(idl, literal + 1, n);
            return;
        }
    }
    idl_fail(idl, pos, "IDL_VERSION is one to three numbers below 1000: \"1.2.3\"");
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
    if (!idl->error && below->kind == IDL_STRING && strcmp(name, "IDL_VERSION") == 0) {
        if (idl->scope)
            idl_fail(idl, &pos, "IDL_VERSION is the file's: it belongs outside of the interface");
        else
            take_version(idl, v.literal, &pos);
    }
    d->type = type;
    d->doc = doc;
    d->value = v.value;
    d->literal = v.literal;
}

bool idl_parse_declaration(struct hx_idl *idl)
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
