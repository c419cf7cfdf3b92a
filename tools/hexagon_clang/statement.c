#include "statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the template --------------------------------------------------------------------------------------------------------- */

/* The character behind a backslash; `*at` moves behind it. */
static char escape(const char **at, const char *end)
{
    static const char letters[] = "nt\\\"'ar0v", values[] = "\n\t\\\"'\a\r\0\v";
    const char *found = *at < end ? memchr(letters, **at, sizeof(letters) - 1) : NULL;

    if (*at < end)
        (*at)++;
    return found ? values[found - letters] : '?';
}

static int add_string(struct hx_asm_statement *s, const struct hx_token *token)
{
    const char *at = token->text + 1, *end = token->text + token->bytes - 1;

    if (*token->text != '"' || token->bytes < 2)
        return -ENOMSG; /* a raw string, or one that is not closed */
    while (at < end) {
        char c = *at++;

        if (s->bytes + 1 == HX_ASM_TEMPLATE)
            return -E2BIG;
        if (c == '\\')
            c = escape(&at, end);
        s->text[s->bytes] = c;
        s->line[s->bytes++] = token->line;
    }
    return 0;
}

/* --- operands ------------------------------------------------------------------------------------------------------------- */

/* From behind the first parenthesis to behind the one that closes it. */
static int skip_parentheses(struct hx_lexer *lexer)
{
    struct hx_token token;

    for (int depth = 1; depth > 0;) {
        token = hx_lex_word(lexer);
        if (token.kind == HX_TOKEN_END)
            return -ENOMSG;
        depth += hx_token_is(&token, "(") - hx_token_is(&token, ")");
    }
    return 0;
}

/* [name] "constraint" (expression), of which `token` is the first. */
static int read_operand(struct hx_asm_statement *s, struct hx_lexer *lexer, struct hx_token token)
{
    struct hx_asm_operand *operand = &s->operands[s->count];

    if (s->count++ == HX_ASM_OPERANDS)
        return -E2BIG;
    *operand = (struct hx_asm_operand){0};
    if (hx_token_is(&token, "[")) {
        token = hx_lex_word(lexer);
        operand->name = token.text;
        operand->name_bytes = token.bytes;
        token = hx_lex_word(lexer);
        if (!hx_token_is(&token, "]"))
            return -ENOMSG;
        token = hx_lex_word(lexer);
    }
    while (token.kind == HX_TOKEN_STRING)
        token = hx_lex_word(lexer);
    if (!hx_token_is(&token, "("))
        return -ENOMSG;
    operand->expr = token.text;
    if (skip_parentheses(lexer) != 0)
        return -ENOMSG;
    operand->expr_bytes = (size_t)(lexer->at - operand->expr);
    return 0;
}

void hx_asm_print_operand(FILE *out, const struct hx_asm_operand *operand)
{
    struct hx_lexer lexer;
    struct hx_token token;

    hx_lex_begin(&lexer, operand->expr, operand->expr_bytes);
    while ((token = hx_lex_next(&lexer)).kind != HX_TOKEN_END)
        if (token.kind == HX_TOKEN_SPACE)
            putc(' ', out);
        else if (token.kind != HX_TOKEN_MARKER)
            fwrite(token.text, 1, token.bytes, out);
}

/* --- all of it ------------------------------------------------------------------------------------------------------------ */

static int is_qualifier(struct hx_asm_statement *s, const struct hx_token *token)
{
    static const char *const words[] = {"volatile", "__volatile__", "__volatile", "inline", "__inline", "__inline__", "goto"};

    s->is_goto |= hx_token_is(token, "goto");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (hx_token_is(token, words[i]))
            return 1;
    return 0;
}

/* Sections are template, outputs, inputs, clobbers, labels, with a colon before all but the first. */
static int read_sections(struct hx_asm_statement *s, struct hx_lexer *lexer)
{
    int section = 0, rc = 0;

    while (rc == 0) {
        struct hx_token token = hx_lex_word(lexer);

        if (token.kind == HX_TOKEN_END)
            return -ENOMSG;
        if (hx_token_is(&token, ")"))
            break;
        if (hx_token_is(&token, ":"))
            section++;
        else if (section == 0)
            rc = token.kind == HX_TOKEN_STRING ? add_string(s, &token) : -ENOMSG;
        else if (section <= 2 && !hx_token_is(&token, ","))
            rc = read_operand(s, lexer, token);
        if (section == 1)
            s->outputs = s->count;
    }
    s->only_text = section == 0;
    return rc;
}

int hx_asm_read(struct hx_asm_statement *s, struct hx_lexer *lexer)
{
    struct hx_token token;
    int rc;

    s->bytes = 0;
    s->outputs = s->count = s->is_goto = 0;
    do
        token = hx_lex_word(lexer);
    while (is_qualifier(s, &token));
    if (!hx_token_is(&token, "("))
        return -ENOMSG;
    rc = read_sections(s, lexer);
    s->text[s->bytes] = '\0';
    return rc;
}
