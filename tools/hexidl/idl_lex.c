/* Bytes -> tokens.  Comments are kept for the declaration below them; #if lines are obeyed here. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "idl_tree.h"

enum { MAX_DOC = 4096 }; /* bytes of a comment that are kept */

void idl_input_open(struct idl_input *in, const char *file, const char *text, size_t n)
{
    memset(in, 0, sizeof(*in));
    in->file = file;
    in->p = in->line_start = text;
    in->end = text + n;
    in->line = 1;
}

static struct idl_pos here(const struct idl_input *in)
{
    return (struct idl_pos){in->file, in->line, (unsigned)(in->p - in->line_start) + 1};
}

static int peek(const struct idl_input *in, size_t ahead)
{
    return (size_t)(in->end - in->p) > ahead ? (unsigned char)in->p[ahead] : -1;
}

static void step(struct idl_input *in)
{
    if (*in->p++ == '\n') {
        in->line++;
        in->line_start = in->p;
    }
}

static bool is_name_char(int c)
{
    return c == '_' || (c >= 0 && c < 128 && isalnum(c));
}

/* --- comments */

/* Adds one line of a comment to the doc text: without `*`, without blanks at both ends. */
static void add_doc_line(struct hx_idl *idl, const char **doc, const char *p, const char *end)
{
    while (p < end && isspace((unsigned char)*p))
        p++;
    while (p < end && (*p == '*' || *p == '/' || *p == '!' || *p == '%'))
        p++;
    if (p < end && *p == ' ')
        p++;
    while (p < end && (isspace((unsigned char)end[-1])))
        end--;
    if ((p == end && !*doc) || (*doc && strlen(*doc) > MAX_DOC))
        return;
    *doc = idl_format(idl, "%s%.*s\n", *doc ? *doc : "", (int)(end - p), p);
}

static void skip_line_comment(struct hx_idl *idl, const char **doc)
{
    struct idl_input *in = idl->input;
    const char *start = in->p;

    while (in->p < in->end && *in->p != '\n')
        in->p++;
    if (doc)
        add_doc_line(idl, doc, start, in->p);
}

static void skip_block_comment(struct hx_idl *idl, const char **doc)
{
    struct idl_input *in = idl->input;
    struct idl_pos pos = here(in);
    const char *start = in->p;

    in->p += 2;
    for (;; step(in)) {
        bool closes = peek(in, 0) == '*' && peek(in, 1) == '/';

        if (in->p == in->end) {
            idl_fail(idl, &pos, "this comment has no end");
            return;
        }
        if (doc && (closes || *in->p == '\n')) {
            add_doc_line(idl, doc, start, in->p);
            start = in->p;
        }
        if (closes)
            break;
    }
    in->p += 2;
}

/* Skips blanks and comments.  *doc gets the comments above the next token: not one that trails the last token, and none
 * that a blank line separates from what follows. */
static void skip_blanks(struct hx_idl *idl, const char **doc)
{
    struct idl_input *in = idl->input;
    unsigned doc_end = 0;

    *doc = NULL;
    while (in->p < in->end && !idl->error) {
        bool is_line = peek(in, 0) == '/' && peek(in, 1) == '/';
        bool is_block = peek(in, 0) == '/' && peek(in, 1) == '*';

        if (!is_line && !is_block) {
            if (!isspace((unsigned char)*in->p))
                break;
            step(in);
            continue;
        }
        if (in->line > doc_end + 1)
            *doc = NULL;
        bool trails = in->last_line && in->line == in->last_line;
        is_line ? skip_line_comment(idl, trails ? NULL : doc)
                : skip_block_comment(idl, trails ? NULL : doc);
        doc_end = in->line;
    }
    if (in->line > doc_end + 1)
        *doc = NULL;
}

/* --- tokens */

static const char *token_text(struct hx_idl *idl, const char *start)
{
    return idl->token.text = idl_string(idl, start, (size_t)(idl->input->p - start));
}

static void lex_name(struct hx_idl *idl)
{
    const char *start = idl->input->p;

    while (is_name_char(peek(idl->input, 0)))
        idl->input->p++;
    idl->token.kind = IDL_NAME;
    token_text(idl, start);
}

static void lex_number(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;
    struct idl_token *t = &idl->token;
    const char *start = in->p;
    bool is_hex = peek(in, 0) == '0' && (peek(in, 1) | 0x20) == 'x';
    char *end;

    for (;;) {
        int c = peek(in, 0);
        bool is_sign = (c == '+' || c == '-') && !is_hex && in->p > start &&
                       (in->p[-1] | 0x20) == 'e';

        if (!is_name_char(c) && c != '.' && !is_sign)
            break;
        in->p++;
    }
    token_text(idl, start);
    if (!is_hex && strpbrk(t->text, ".eE")) {
        t->kind = IDL_REAL;
        strtod(t->text, &end);
    } else {
        t->kind = IDL_NUMBER;
        errno = 0;
        t->number = strtoull(t->text, &end, 0);
        if (errno == ERANGE)
            idl_fail(idl, &t->pos, "the number '%s' does not fit 64 bits", t->text);
    }
    if (*end)
        idl_fail(idl, &t->pos, "'%s' is not a number", t->text);
}

/* 'x' and "text"; escapes stay as written, they mean the same in C. */
static void lex_quoted(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;
    struct idl_token *t = &idl->token;
    const char *start = in->p;
    char quote = *in->p++;

    while (in->p < in->end && *in->p != quote && *in->p != '\n') {
        if (*in->p == '\\' && peek(in, 1) >= ' ')
            in->p++;
        if ((unsigned char)*in->p < ' ' || *in->p == 127) {
            idl_fail(idl, &t->pos, "a control character in a literal");
            return;
        }
        in->p++;
    }
    if (in->p == in->end || *in->p != quote) {
        idl_fail(idl, &t->pos, "this literal has no closing %c", quote);
        return;
    }
    in->p++;
    token_text(idl, start);
    t->kind = quote == '"' ? IDL_TEXT : IDL_CHAR;
    if (quote == '"')
        return;
    if (strlen(t->text) == 3 && t->text[1] != '\\')
        t->number = (unsigned char)t->text[1];
    else if (strcmp(t->text, "'\\0'") == 0)
        t->number = 0;
    else if (strcmp(t->text, "'\\n'") == 0)
        t->number = '\n';
    else if (strcmp(t->text, "'\\t'") == 0)
        t->number = '\t';
    else if (strcmp(t->text, "'\\\\'") == 0 || strcmp(t->text, "'\\''") == 0)
        t->number = (unsigned char)t->text[2];
    else
        idl_fail(idl, &t->pos, "the character %s is not one of 'x' '\\0' '\\n' '\\t' '\\\\' '\\''",
                 t->text);
}

/* --- lines that begin with # */

static struct idl_decl *find_macro(struct hx_idl *idl, const char *name)
{
    struct idl_decl *m = idl->macros;

    while (m && strcmp(m->c_name, name))
        m = m->next;
    return m;
}

static const char *directive_word(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;

    while (peek(in, 0) == ' ' || peek(in, 0) == '\t')
        in->p++;
    const char *start = in->p;
    while (is_name_char(peek(in, 0)))
        in->p++;
    return idl_string(idl, start, (size_t)(in->p - start));
}

/* Only blanks and comments may follow on the line. */
static void end_directive(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;

    while (in->p < in->end && *in->p != '\n' && !idl->error) {
        struct idl_pos pos = here(in);

        if (peek(in, 0) == '/' && peek(in, 1) == '/')
            skip_line_comment(idl, NULL);
        else if (peek(in, 0) == '/' && peek(in, 1) == '*')
            skip_block_comment(idl, NULL);
        else if (isspace((unsigned char)*in->p))
            in->p++;
        else
            idl_fail(idl, &pos, "unexpected text after this directive");
    }
}

static bool is_on(const struct idl_input *in)
{
    return !in->n_conditions || in->conditions[in->n_conditions - 1].on;
}

static void push_condition(struct hx_idl *idl, const struct idl_pos *pos, bool on)
{
    struct idl_input *in = idl->input;
    bool parent = is_on(in);

    if (in->n_conditions == IDL_MAX_DEPTH) {
        idl_fail(idl, pos, "more than %d conditions inside one another", IDL_MAX_DEPTH);
        return;
    }
    in->conditions[in->n_conditions++] = (struct idl_condition){*pos, parent, parent && on, false};
}

static void directive_if(struct hx_idl *idl, const char *word, const struct idl_pos *pos)
{
    const char *name = directive_word(idl);
    bool wants = strcmp(word, "ifdef") == 0;

    if (strcmp(word, "if") == 0 && (strcmp(name, "0") == 0 || strcmp(name, "1") == 0))
        push_condition(idl, pos, name[0] == '1');
    else if (strcmp(word, "if") == 0)
        idl_fail(idl, pos, "#if takes 0 or 1 only; use #ifdef or #ifndef");
    else if (!*name)
        idl_fail(idl, pos, "#%s needs a name", word);
    else
        push_condition(idl, pos, wants == (find_macro(idl, name) != NULL));
    end_directive(idl);
}

static void directive_else(struct hx_idl *idl, const char *word, const struct idl_pos *pos)
{
    struct idl_input *in = idl->input;
    struct idl_condition *c = in->n_conditions ? &in->conditions[in->n_conditions - 1] : NULL;

    if (!c || (c->was_else && strcmp(word, "else") == 0)) {
        idl_fail(idl, pos, "#%s without an #if", word);
    } else if (strcmp(word, "endif") == 0) {
        in->n_conditions--;
    } else {
        c->was_else = true;
        c->on = c->parent_on && !c->on;
    }
    end_directive(idl);
}

static void directive_define(struct hx_idl *idl, const char *word, const struct idl_pos *pos)
{
    const char *name = directive_word(idl);
    struct idl_decl *m = find_macro(idl, name);

    if (!*name) {
        idl_fail(idl, pos, "#%s needs a name", word);
    } else if (strcmp(word, "undef") == 0) {
        if (m)
            m->c_name = "";
    } else if (!m) {
        m = idl_alloc(idl, sizeof(*m));
        m->c_name = name;
        m->next = idl->macros;
        idl->macros = m;
    }
    if (strcmp(word, "define") == 0)
        skip_line_comment(idl, NULL); /* no macro is expanded: const is the way to a value */
    else
        end_directive(idl);
}

static void directive_include(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;

    while (peek(in, 0) == ' ' || peek(in, 0) == '\t')
        in->p++;
    struct idl_pos pos = here(in);
    int close = peek(in, 0) == '"' ? '"' : peek(in, 0) == '<' ? '>' : -1;
    const char *start = in->p + 1;

    if (close > 0)
        for (in->p++; in->p < in->end && *in->p != '\n' && *in->p != close;)
            in->p++;
    if (close < 0 || peek(in, 0) != close || in->p == start) {
        idl_fail(idl, &pos, "#include needs \"file.idl\"");
        return;
    }
    idl->token.kind = IDL_INCLUDE;
    idl->token.pos = pos;
    token_text(idl, start);
    in->p++;
    end_directive(idl);
}

/* True when the line gives a token, which is an #include that is not switched off. */
static bool lex_directive(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;
    struct idl_pos pos = here(in);

    in->p++;
    const char *word = directive_word(idl);
    if (strcmp(word, "if") == 0 || strcmp(word, "ifdef") == 0 || strcmp(word, "ifndef") == 0) {
        directive_if(idl, word, &pos);
    } else if (strcmp(word, "else") == 0 || strcmp(word, "endif") == 0) {
        directive_else(idl, word, &pos);
    } else if (!is_on(in) || strcmp(word, "pragma") == 0) {
        skip_line_comment(idl, NULL);
    } else if (strcmp(word, "define") == 0 || strcmp(word, "undef") == 0) {
        directive_define(idl, word, &pos);
    } else if (strcmp(word, "include") == 0) {
        directive_include(idl);
        return true;
    } else {
        idl_fail(idl, &pos, "unknown directive '#%s'", word);
    }
    return false;
}

void idl_input_end(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;

    if (in->n_conditions)
        idl_fail(idl, &in->conditions[in->n_conditions - 1].pos, "this #if has no #endif");
}

static void lex_punct(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;
    const char *start = in->p;
    int c = peek(in, 0), d = peek(in, 1);

    if (c == 0 || !strchr("{}()[]<>;:,=+-*/%&|^~", c)) {
        if (c > ' ' && c < 127)
            idl_fail(idl, &idl->token.pos, "unexpected character '%c'", c);
        else
            idl_fail(idl, &idl->token.pos, "unexpected byte 0x%02x", (unsigned)c);
        return;
    }
    in->p += (c == ':' && d == ':') || (c == '<' && d == '<') ? 2 : 1;
    idl->token.kind = IDL_PUNCT; /* `>>` stays two tokens: it may close two sequences */
    token_text(idl, start);
}

static void lex_token(struct hx_idl *idl)
{
    int c = peek(idl->input, 0);

    if (c >= '0' && c <= '9')
        lex_number(idl);
    else if (is_name_char(c))
        lex_name(idl);
    else if (c == '"' || c == '\'')
        lex_quoted(idl);
    else
        lex_punct(idl);
}

void idl_next(struct hx_idl *idl)
{
    struct idl_input *in = idl->input;
    const char *doc;

    for (;;) {
        skip_blanks(idl, &doc);
        idl->token = (struct idl_token){.kind = IDL_END, .text = "", .doc = doc, .pos = here(in)};
        if (idl->error || in->p == in->end)
            break;
        if (*in->p == '#') {
            if (lex_directive(idl))
                break;
        } else if (!is_on(in)) {
            step(in);
        } else {
            lex_token(idl);
            break;
        }
    }
    if (idl->error)
        idl->token.kind = IDL_END;
    in->last_line = in->line;
}
