#include "lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

void hx_lex_begin(struct hx_lexer *lexer, const char *text, size_t bytes)
{
    *lexer = (struct hx_lexer){.at = text, .end = text + bytes, .line = 1, .at_line_start = 1};
}

int hx_token_is(const struct hx_token *token, const char *text)
{
    return token->bytes == strlen(text) && memcmp(token->text, text, token->bytes) == 0;
}

/* --- line markers: # 12 "file.c" 1 3 ------------------------------------------------------------------------------------ */

static void take_marker(struct hx_lexer *lexer, const char *end)
{
    const char *at = lexer->at + 1, *quote, *last;

    while (at < end && *at == ' ')
        at++;
    if (at == end || !isdigit((unsigned char)*at))
        return; /* a #pragma */
    lexer->line = (unsigned)strtoul(at, NULL, 10) - 1; /* the newline behind it makes it this line */
    quote = memchr(at, '"', (size_t)(end - at));
    last = memrchr(at, '"', (size_t)(end - at));
    if (!quote || quote == last)
        return;
    lexer->file = quote + 1;
    lexer->file_bytes = (size_t)(last - quote - 1);
    lexer->in_system = memchr(last, '3', (size_t)(end - last)) != NULL;
}

/* --- strings ------------------------------------------------------------------------------------------------------------------ */

static const char *end_of_quoted(const char *at, const char *end)
{
    const char quote = *at++;

    while (at < end && *at != quote)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

/* R"mark(...)mark", from its first quote on. */
static const char *end_of_raw(const char *at, const char *end)
{
    const char *open = memchr(at, '(', (size_t)(end - at));
    size_t mark = open ? (size_t)(open - at - 1) : 0;

    for (const char *p = open; p && p + mark + 1 < end; p++)
        if (*p == ')' && memcmp(p + 1, at + 1, mark) == 0 && p[mark + 1] == '"')
            return p + mark + 2;
    return end;
}

static const char *end_of_name(const char *at, const char *end)
{
    while (at < end && is_name(*at))
        at++;
    return at;
}

/* Digits, letters, points, signs of exponents and C++'s marks between digits. */
static const char *end_of_number(const char *at, const char *end)
{
    while (at < end && (is_name(*at) || *at == '.' || (*at == '\'' && at + 1 < end && is_name(at[1])) ||
                        ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]))))
        at++;
    return at;
}

struct hx_token hx_lex_next(struct hx_lexer *lexer)
{
    const char *at = lexer->at, *end = lexer->end, *stop = at;
    struct hx_token token = {HX_TOKEN_END, at, 0, lexer->line};
    int line_start = lexer->at_line_start;

    if (at == end)
        return token;
    lexer->at_line_start = *at == '\n';
    if (*at == '#' && line_start) {
        token.kind = HX_TOKEN_MARKER;
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        take_marker(lexer, stop);
    } else if (*at == '\n') {
        token.kind = HX_TOKEN_SPACE;
        stop = at + 1;
    } else if (isspace((unsigned char)*at)) {
        token.kind = HX_TOKEN_SPACE;
        while (stop < end && *stop != '\n' && isspace((unsigned char)*stop))
            stop++;
        lexer->at_line_start = line_start;
    } else if (isdigit((unsigned char)*at)) {
        token.kind = HX_TOKEN_NUMBER;
        stop = end_of_number(at, end);
    } else if (is_name(*at)) {
        token.kind = HX_TOKEN_NAME;
        stop = end_of_name(at, end);
        if (stop < end && *stop == '"' && stop[-1] == 'R' && stop - at <= 3) {
            token.kind = HX_TOKEN_STRING;
            stop = end_of_raw(stop, end);
        }
    } else if (*at == '"') {
        token.kind = HX_TOKEN_STRING;
        stop = end_of_quoted(at, end);
    } else {
        token.kind = HX_TOKEN_OTHER;
        stop = *at == '\'' ? end_of_quoted(at, end) : at + 1;
    }
    token.bytes = (size_t)(stop - at);
    if (token.kind != HX_TOKEN_MARKER)
        for (const char *p = at; p < stop; p++)
            lexer->line += *p == '\n';
    lexer->at = stop;
    return token;
}

struct hx_token hx_lex_word(struct hx_lexer *lexer)
{
    struct hx_token token;

    do
        token = hx_lex_next(lexer);
    while (token.kind == HX_TOKEN_SPACE || token.kind == HX_TOKEN_MARKER);
    return token;
}
