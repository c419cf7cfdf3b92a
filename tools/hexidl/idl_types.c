/* Tokens -> types. */
#include <string.h>

#include "idl_tree.h"

/* The words of a built-in type as one string: "unsigned long long". */
static const char *take_builtin_words(struct hx_idl *idl)
{
    const char *words = idl->token.text;

    if (idl_accept(idl, "unsigned")) {
        if (!idl_is(idl, "short") && !idl_is(idl, "long")) {
            idl_unexpected(idl, "'short' or 'long' after 'unsigned'");
            return words;
        }
        words = idl_format(idl, "unsigned %s", idl->token.text);
    }
    bool is_long = idl_is(idl, "long");
    idl_next(idl);
    if (is_long && idl_accept(idl, "long"))
        words = idl_format(idl, "%s long", words);
    return words;
}

bool idl_refuse_unsupported(struct hx_idl *idl)
{
    static const char *const words[] = {"union", "native", "module", "attribute", "readonly",
                                        "async", "ext_params", "local", "out", "inout"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (idl_is(idl, words[i])) {
            idl_fail(idl, &idl->token.pos, "'%s' is not supported", words[i]);
            return true;
        }
    return false;
}

static const struct idl_type *take_sequence(struct hx_idl *idl)
{
    struct idl_type *t = idl_alloc(idl, sizeof(*t));
    struct idl_pos pos;

    t->kind = IDL_SEQUENCE;
    idl_expect(idl, "<", "'sequence'");
    pos = idl->token.pos;
    t->of = idl_take_type(idl);
    if (idl_accept(idl, ","))
        idl_count(idl); /* a bound says nothing on the wire */
    idl_expect(idl, ">", "the sequence's type");
    if (idl->error)
        return t;
    if (t->of->kind == IDL_SEQUENCE)
        idl_fail(idl, &pos,
                 "a sequence of sequences needs a typedef for the inner one, which C names");
    else if (idl_resolve(t->of)->kind == IDL_DMA || idl_resolve(t->of)->kind == IDL_HANDLE)
        idl_fail(idl, &pos, "a sequence of handles is not supported");
    if (idl_resolve(t->of)->kind == IDL_STRING && idl->is_main)
        *(idl_resolve(t->of)->of->size == 1 ? &idl->uses_string_struct
                                            : &idl->uses_wstring_struct) = true;
    return t;
}

static const struct idl_type *take_string(struct hx_idl *idl, const char *character)
{
    struct idl_type *t = idl_alloc(idl, sizeof(*t));

    t->kind = IDL_STRING;
    t->of = idl_builtin(character);
    if (idl_accept(idl, "<")) {
        idl_count(idl);
        idl_expect(idl, ">", "the string's bound");
    }
    return t;
}

static const struct idl_type *take_named_type(struct hx_idl *idl)
{
    struct idl_token t = idl->token;
    const struct idl_type *b = t.kind == IDL_NAME ? idl_builtin(t.text) : NULL;
    const char *name = idl_take_name(idl, "a type");
    const struct idl_decl *d = idl->error ? NULL : idl_find(idl, name);

    if (d && d->kind == IDL_DECL_TYPE)
        return d->type;
    if (b && name == t.text)
        return b;
    idl_fail(idl, &t.pos, "'%.60s' is not a type", name);
    return idl_builtin("octet");
}

/* What the header has to define or include. */
static void note_use(struct hx_idl *idl, const struct idl_type *t)
{
    if (!idl->is_main)
        return;
    idl->uses_bool |= t && t->kind == IDL_BOOLEAN;
    idl->uses_int64 |= t && t->c_name && (strcmp(t->c_name, "int64") == 0 || strcmp(t->c_name, "uint64") == 0);
    idl->uses_dma |= t && t->kind == IDL_DMA;
    idl->uses_wchar |= idl_is(idl, "wstring") || (t && t->c_name && !strcmp(t->c_name, "_wchar_t"));
}

const struct idl_type *idl_take_type(struct hx_idl *idl)
{
    static const char *const words[] = {"octet", "char", "boolean", "short", "long", "unsigned",
                                        "float", "double", "wchar", "dmahandle"};
    const struct idl_type *t = NULL;

    if (++idl->depth > IDL_MAX_DEPTH)
        idl_fail(idl, &idl->token.pos, "the type is nested too deeply");
    if (idl->error || idl_refuse_unsupported(idl)) {
        idl->depth--;
        return idl_builtin("octet");
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !t; i++)
        if (idl_is(idl, words[i]))
            t = idl_builtin(take_builtin_words(idl));
    note_use(idl, t);
    if (!t && idl_accept(idl, "sequence"))
        t = take_sequence(idl);
    else if (!t && idl_accept(idl, "string"))
        t = take_string(idl, "char");
    else if (!t && idl_accept(idl, "wstring"))
        t = take_string(idl, "wchar");
    else if (!t)
        t = take_named_type(idl);
    idl->depth--;
    return t ? t : idl_builtin("octet");
}

/* `[2][3]` behind a name: an array of 2 arrays of 3. */
const struct idl_type *idl_take_dimensions(struct hx_idl *idl, const struct idl_type *base,
                                           unsigned level)
{
    struct idl_pos pos = idl->token.pos;
    uint64_t size;

    if (!idl_accept(idl, "[") || idl->error)
        return base;
    struct idl_type *t = idl_alloc(idl, sizeof(*t));
    t->kind = IDL_ARRAY;
    t->count = idl_count(idl);
    idl_expect(idl, "]", "the array's size");
    if (level == 8)
        idl_fail(idl, &pos, "an array has at most 8 dimensions");
    t->of = idl->error ? base : idl_take_dimensions(idl, base, level + 1);
    if (!idl->error && !idl_is_fixed(t->of))
        idl_fail(idl, &pos, "an array of sequences, strings or handles is not supported");
    size = (uint64_t)t->of->size * t->count;
    if (size > IDL_MAX_BYTES)
        idl_fail(idl, &pos, "the array has %llu bytes; %d are the limit", (unsigned long long)size,
                 IDL_MAX_BYTES);
    t->size = (uint32_t)size;
    t->align = t->of->align;
    return t;
}
