/* Names: which may be declared, what is declared, and the parser's small steps from token to token. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

/* --- tokens */

bool idl_is(const struct hx_idl *idl, const char *text)
{
    enum idl_token_kind kind = idl->token.kind;

    return (kind == IDL_PUNCT || kind == IDL_NAME) && strcmp(idl->token.text, text) == 0;
}

bool idl_accept(struct hx_idl *idl, const char *text)
{
    if (!idl_is(idl, text))
        return false;
    idl_next(idl);
    return true;
}

void idl_unexpected(struct hx_idl *idl, const char *wanted)
{
    const struct idl_token *t = &idl->token;

    if (t->kind == IDL_END)
        idl_fail(idl, &t->pos, "the file ends where %s should be", wanted);
    else
        idl_fail(idl, &t->pos, "unexpected '%.60s'; %s should be here", t->text, wanted);
}

void idl_expect(struct hx_idl *idl, const char *text, const char *after)
{
    char wanted[80];

    if (idl_accept(idl, text))
        return;
    snprintf(wanted, sizeof(wanted), "'%s' after %s", text, after);
    idl_unexpected(idl, wanted);
}

/* True for one of the words, which have a blank at both ends. */
static bool is_among(const char *words, const char *name)
{
    char padded[48];

    if (strlen(name) > 40)
        return false;
    snprintf(padded, sizeof(padded), " %s ", name);
    return strstr(words, padded) != NULL;
}

/* Words of IDL, and names that the generated code calls. */
static bool is_reserved(const char *name)
{
    return is_among(
        " attribute boolean char const double dmahandle enum float in inout inrout interface long module native "
        "object octet out rout sequence short string struct switch typedef union unsigned wchar wstring "
        "errno memcmp memcpy memmove memset remote_arg remote_buf remote_handle remote_handle64 size_t strlen "
        "strstr strtoul stub_in_buf stub_out_buf stub_string_bytes skel_take skel_has skel_is_string skel_room "
        "uint32_t uint64_t uintptr_t ", name);
}

static bool is_c_word(const char *name)
{
    return is_among(
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch class compl concept const_cast "
        "constexpr continue decltype default delete do dynamic_cast else explicit export extern false for friend "
        "goto if inline int mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
        "public register reinterpret_cast requires restrict return signed sizeof static static_assert static_cast "
        "template this thread_local throw true try typeid typename using virtual void volatile wchar_t while xor "
        "xor_eq ", name);
}

/* A word of C or C++ gets a prefix in C, as qaic documents it. */
const char *idl_c_safe(struct hx_idl *idl, const char *name)
{
    return is_c_word(name) ? idl_format(idl, "_cxx_%s", name) : name;
}

const char *idl_take_name(struct hx_idl *idl, const char *what)
{
    struct idl_token t = idl->token;

    if (t.kind != IDL_NAME) {
        idl_unexpected(idl, what);
        return "";
    }
    idl_next(idl);
    if (!idl_is(idl, "::"))
        return t.text;
    /* A::B is the symbol A_B */
    const char *name = t.text;
    while (idl_accept(idl, "::")) {
        if (idl->token.kind != IDL_NAME) {
            idl_unexpected(idl, "a name after '::'");
            return "";
        }
        name = idl_format(idl, "%s_%s", name, idl->token.text);
        idl_next(idl);
    }
    return name;
}

/* A name that is declared here. */
const char *idl_take_new_name(struct hx_idl *idl, const char *what)
{
    struct idl_token t = idl->token;

    if (t.kind != IDL_NAME) {
        idl_unexpected(idl, what);
        return "";
    }
    if (t.text[0] == '_')
        idl_fail(idl, &t.pos, "'%s': names that begin with '_' belong to the generated code",
                 t.text);
    else if (is_reserved(t.text))
        idl_fail(idl, &t.pos, "'%s' is a word of IDL or of the generated code", t.text);
    else if (strlen(t.text) > 200)
        idl_fail(idl, &t.pos, "'%.40s...' is longer than 200 characters", t.text);
    idl_next(idl);
    return t.text;
}

/* --- symbols */

const struct idl_decl *idl_find_exact(const struct hx_idl *idl, const char *c_name)
{
    for (const struct idl_decl *d = idl->decls; d; d = d->next)
        if (strcmp(d->c_name, c_name) == 0)
            return d;
    return NULL;
}

const struct idl_decl *idl_find(const struct hx_idl *idl, const char *name)
{
    for (const struct idl_interface *i = idl->scope; i; i = i->base) {
        size_t n = strlen(i->name);

        for (const struct idl_decl *d = idl->decls; d; d = d->next)
            if (strncmp(d->c_name, i->name, n) == 0 && d->c_name[n] == '_' &&
                strcmp(d->c_name + n + 1, name) == 0)
                return d;
    }
    return idl_find_exact(idl, name);
}

/* Constants are macros and enumerators are global: these names of locals and members must stay free. */
static bool is_local_name(const char *name)
{
    static const char *const names[] = {
        "arg", "b", "buf", "bytes", "code", "count", "data", "dataLen", "e", "end", "from", "get", "give", "h", "h64",
        "i", "in", "jobs", "k", "left", "len", "length", "limit", "list", "mine", "method", "methods", "n", "nLen", "name",
        "nul", "next", "offset", "out", "p", "pra", "pv", "r", "rc", "rec", "s", "sc", "serve", "shape", "shape_mask",
        "size", "text", "theirs", "to", "type", "uri"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

struct idl_decl *idl_declare(struct hx_idl *idl, enum idl_decl_kind kind, const char *c_name,
                             const struct idl_pos *pos)
{
    struct idl_decl *d = idl_alloc(idl, sizeof(*d));

    if ((kind == IDL_DECL_CONST || kind == IDL_DECL_ENUMERATOR) && is_local_name(c_name))
        idl_fail(idl, pos, "a constant '%s' would disturb the generated code", c_name);
    if (idl_builtin(c_name))
        idl_fail(idl, pos, "'%s' is a built-in type", c_name);
    if (!idl->error && idl_find_exact(idl, c_name))
        idl_fail(idl, pos, "'%s' is declared already", c_name);
    d->kind = kind;
    d->c_name = c_name;
    d->is_mine = idl->is_main;
    *idl->decls_end = d;
    idl->decls_end = &d->next;
    return d;
}

const char *idl_scoped(struct hx_idl *idl, const char *name)
{
    return idl->scope ? idl_format(idl, "%s_%s", idl->scope->name, name)
                      : idl_c_safe(idl, name);
}

/* A member or parameter: in C a constant, which is a macro, would replace it, and it would hide a type or enumerator. */
const char *idl_take_local_name(struct hx_idl *idl, const char *what)
{
    struct idl_pos pos = idl->token.pos;
    const char *name = idl_c_safe(idl, idl_take_new_name(idl, what));
    const struct idl_decl *d = idl->error ? NULL : idl_find_exact(idl, name);

    if (d && (d->kind == IDL_DECL_CONST || d->kind == IDL_DECL_ENUMERATOR))
        idl_fail(idl, &pos, "'%s' is a constant", name);
    else if (idl_builtin(name) || (d && d->kind == IDL_DECL_TYPE && idl_is_fixed(d->type)))
        idl_fail(idl, &pos, "'%s' is a type", name);
    return name;
}
