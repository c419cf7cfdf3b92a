/* Constant expressions, in 64 bits; what does not fit is an error.  Operators as in C: | ^ & << >> + - * / % and unary
 * + - ~. */
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

static int64_t binary(struct hx_idl *idl, unsigned level);

static int64_t from_name(struct hx_idl *idl)
{
    struct idl_token t = idl->token;
    const char *name = idl_take_name(idl, "a constant");
    const struct idl_decl *d = idl->error ? NULL : idl_find(idl, name);

    if (idl->error)
        return 0;
    if (strcmp(name, "TRUE") == 0 || strcmp(name, "FALSE") == 0)
        return name[0] == 'T';
    if (!d || (d->kind != IDL_DECL_CONST && d->kind != IDL_DECL_ENUMERATOR) || d->literal) {
        idl_fail(idl, &t.pos, "'%s' is not a whole-numbered constant", name);
        return 0;
    }
    return d->value;
}

static int64_t primary(struct hx_idl *idl)
{
    struct idl_token t = idl->token;
    int64_t v;

    if (idl_accept(idl, "(")) {
        v = binary(idl, 0);
        idl_expect(idl, ")", "the expression");
        return v;
    }
    if (t.kind == IDL_NUMBER || t.kind == IDL_CHAR) {
        idl_next(idl);
        idl->is_wide |= t.number > INT64_MAX;
        return (int64_t)t.number;
    }
    if (t.kind == IDL_NAME)
        return from_name(idl);
    idl_unexpected(idl, "a constant");
    return 0;
}

static int64_t unary(struct hx_idl *idl)
{
    bool minus = idl_is(idl, "-"), plus = idl_is(idl, "+"), flip = idl_is(idl, "~");
    int64_t v;

    if (++idl->depth > IDL_MAX_DEPTH)
        idl_fail(idl, &idl->token.pos, "the expression is nested too deeply");
    if (minus || plus || flip)
        idl_next(idl);
    v = idl->error ? 0 : minus || plus || flip ? unary(idl) : primary(idl);
    idl->depth--;
    return minus ? (int64_t)(0 - (uint64_t)v) : flip ? ~v : v;
}

/* Loosest first; `>>` arrives as two tokens. */
static const char *const levels[] = {"|", "^", "&", "<>", "+-", "*/%"};

/* The operator of this level that comes next, taken; 0 for none. */
static char take_operator(struct hx_idl *idl, unsigned level)
{
    const char *text = idl->token.text;
    char op = text[0];

    if (idl->token.kind != IDL_PUNCT)
        return 0;
    if (level == 3) {
        if (strcmp(text, "<<") && strcmp(text, ">"))
            return 0;
        idl_next(idl);
        if (op == '>')
            idl_expect(idl, ">", "the first half of >>");
        return op;
    }
    if (text[1] || !strchr(levels[level], op))
        return 0;
    idl_next(idl);
    return op;
}

static int64_t apply(struct hx_idl *idl, const struct idl_pos *pos, char op, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool bad = false;

    switch (op) {
    case '|': v = a | b; break;
    case '^': v = a ^ b; break;
    case '&': v = a & b; break;
    case '+': bad = __builtin_add_overflow(a, b, &v); break;
    case '-': bad = __builtin_sub_overflow(a, b, &v); break;
    case '*': bad = __builtin_mul_overflow(a, b, &v); break;
    case '<':
    case '>':
        bad = b < 0 || b > 63;
        if (!bad)
            v = op == '<' ? (int64_t)((uint64_t)a << b) : a >> b;
        break;
    default:
        bad = b == 0 || (a == INT64_MIN && b == -1);
        if (!bad)
            v = op == '/' ? a / b : a % b;
    }
    if (bad)
        idl_fail(idl, pos, "the constant cannot be computed in 64 bits");
    return v;
}

static int64_t binary(struct hx_idl *idl, unsigned level)
{
    int64_t v;
    char op;

    if (level == sizeof(levels) / sizeof(levels[0]))
        return unary(idl);
    v = binary(idl, level + 1);
    for (;;) {
        struct idl_pos pos = idl->token.pos;

        op = take_operator(idl, level);
        if (!op || idl->error)
            return v;
        v = apply(idl, &pos, op, v, binary(idl, level + 1));
    }
}

/* A 64-bit unsigned type holds every bit pattern except those that were written as a negative number, a signed one those whose
 * sign was. */
static bool fits(const struct idl_type *t, int64_t v, bool was_negated, bool is_wide)
{
    unsigned bits = t->size * 8;

    if (t->kind == IDL_BOOLEAN)
        return v == 0 || v == 1;
    if (bits == 64)
        return t->is_signed ? v >= 0 || !is_wide || was_negated : !was_negated;
    if (t->is_signed)
        return v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1);
    return v >= 0 && v < INT64_C(1) << bits;
}

int64_t idl_constant(struct hx_idl *idl, const struct idl_type *type)
{
    struct idl_pos pos = idl->token.pos;
    bool was_negated = idl_is(idl, "-");
    int64_t v;

    idl->is_wide = false;
    v = binary(idl, 0);
    if (!idl->error && !fits(idl_resolve(type), v, was_negated, idl->is_wide))
        idl_fail(idl, &pos, "the value %s does not fit %s",
                 idl->is_wide && !was_negated ? idl_format(idl, "%llu", (unsigned long long)v)
                                              : idl_format(idl, "%lld", (long long)v),
                 type->c_name);
    return v;
}

uint32_t idl_count(struct hx_idl *idl)
{
    struct idl_pos pos = idl->token.pos;
    int64_t v = binary(idl, 4); /* a `>` may close a sequence: shifts need parentheses here */

    if (!idl->error && (v < 1 || v > IDL_MAX_BYTES))
        idl_fail(idl, &pos, "the count %lld is not within 1..%d", (long long)v, IDL_MAX_BYTES);
    return idl->error ? 1 : (uint32_t)v;
}
