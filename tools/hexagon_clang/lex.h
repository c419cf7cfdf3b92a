/* Tokens of preprocessed C or C++, as far as finding asm statements needs them, with the file and line that they came from. */
#ifndef HX_LEX_H
#define HX_LEX_H

#include <stddef.h>

enum hx_token_kind {
    HX_TOKEN_END,
    HX_TOKEN_SPACE,  /* anything but a newline, or one newline */
    HX_TOKEN_MARKER, /* a line that begins with #, without its newline */
    HX_TOKEN_NAME,
    HX_TOKEN_NUMBER,
    HX_TOKEN_STRING, /* with its quotes; of a raw string also the R */
    HX_TOKEN_OTHER   /* one character, or a character constant */
};

struct hx_token {
    enum hx_token_kind kind;
    const char *text; /* in the lexer's text */
    size_t bytes;
    unsigned line; /* where it begins */
};

struct hx_lexer {
    const char *at, *end;
    const char *file; /* in the text, `file_bytes` long, as the compiler quoted it; NULL before the first marker */
    size_t file_bytes;
    unsigned line;
    int in_system; /* the file is a system header */
    int at_line_start;
};

/* `text` stays the caller's and must outlive the lexer. */
void hx_lex_begin(struct hx_lexer *lexer, const char *text, size_t bytes);

/* The next token.  What is not closed ends with the text. */
struct hx_token hx_lex_next(struct hx_lexer *lexer);

/* The same, without space and markers. */
struct hx_token hx_lex_word(struct hx_lexer *lexer);

/* 1 when the token is `text`. */
int hx_token_is(const struct hx_token *token, const char *text);

#endif
