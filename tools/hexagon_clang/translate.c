#include "translate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet.h"
#include "statement.h"

enum { PARENTHESES = 256 };

struct translator {
    FILE *out;
    struct hx_lexer lexer;
    struct hx_asm_statement statement;
    struct hx_token last;                     /* word before this one */
    unsigned char is_condition[PARENTHESES];  /* per open parenthesis: it follows if, while, for or switch */
    int depth;
    int after_condition; /* the last word closed such a one */
    int refused;
};

static void refuse(struct translator *t, unsigned line, const char *what, const char *detail)
{
    const struct hx_lexer *lexer = &t->lexer;

    fprintf(stderr, "%.*s:%u: error: %s%s\n", (int)lexer->file_bytes, lexer->file ? lexer->file : "", line, what, detail);
    t->refused = 1;
}

/* --- one statement -------------------------------------------------------------------------------------------------------------- */

/* Is the next `asm` a statement?  If not, it gives a name to the assembler: int f(void) asm("g"); */
static int begins_statement(const struct translator *t)
{
    static const char *const before[] = {";", "{", "}", ":", "else", "do"};

    if (t->last.kind == HX_TOKEN_END || (hx_token_is(&t->last, ")") && t->after_condition))
        return 1;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        if (hx_token_is(&t->last, before[i]))
            return 1;
    return 0;
}

static int has_instruction(const struct hx_asm_statement *s)
{
    return strspn(s->text, " \t\n;") != s->bytes;
}

static void print_packet(struct translator *t, const char *packet, unsigned line)
{
    char shown[HX_PACKET_BYTES + 64];

    if (hx_packet_print(t->out, packet, &t->statement) == 0)
        return;
    snprintf(shown, sizeof(shown), "'%s' is not among the instructions that are translated", packet);
    refuse(t, line, "inline assembly: ", shown);
}

/* The length of a comment at `at`, or 0. */
static size_t comment(const char *at)
{
    return at[0] == '/' && at[1] == '/' ? strcspn(at, "\n") : 0;
}

struct packet {
    char text[HX_PACKET_BYTES];
    size_t bytes;
    unsigned line;
    int open; /* within braces, where instructions are parted by ; */
};

static void end_packet(struct translator *t, struct packet *p)
{
    while (p->bytes > 0 && p->text[p->bytes - 1] == ';')
        p->bytes--;
    p->text[p->bytes] = '\0';
    if (p->bytes > 0)
        print_packet(t, p->text, p->line);
    p->bytes = 0;
    p->open = 0;
}

static void add_to_packet(struct packet *p, char c, unsigned line)
{
    if (p->bytes == 0)
        p->line = line;
    if (p->bytes + 1 < sizeof(p->text))
        p->text[p->bytes++] = c;
}

/* Packets are { instructions }, or one instruction by itself; newlines and ; stand between instructions. */
static void print_packets(struct translator *t)
{
    const struct hx_asm_statement *s = &t->statement;
    struct packet p = {.line = s->line[0]};

    for (size_t i = 0; i < s->bytes; i++) {
        char c;

        i += comment(&s->text[i]);
        c = s->text[i];
        if (c == '{')
            p.open = 1;
        else if (c == '}' || (!p.open && (c == '\n' || c == ';' || c == '\0')))
            end_packet(t, &p);
        else if (c == '\n' || c == ';') {
            if (p.bytes > 0 && p.text[p.bytes - 1] != ';')
                add_to_packet(&p, ';', s->line[i]);
        } else if (c != ' ' && c != '\t')
            add_to_packet(&p, c, s->line[i]);
    }
    if (p.open)
        refuse(t, p.line, "inline assembly: a packet is not closed", "");
    end_packet(t, &p);
}

static void print_statement(struct translator *t)
{
    const struct hx_asm_statement *s = &t->statement;

    fputs("do { ", t->out);
    for (int i = s->outputs; i < s->count; i++) {
        fprintf(t->out, "hexrig_asm_word hexrig_asm_%d = (hexrig_asm_word)", i);
        hx_asm_print_operand(t->out, &s->operands[i]);
        fprintf(t->out, "; (void)hexrig_asm_%d; ", i);
    }
    print_packets(t);
    fputs("} while (0)", t->out);
}

/* What follows stands on the line, in the file, where it did. */
static void print_marker(struct translator *t)
{
    const struct hx_lexer *lexer = &t->lexer;

    fprintf(t->out, "\n# %u \"%.*s\"\n", lexer->line, (int)lexer->file_bytes, lexer->file ? lexer->file : "");
}

/* `token` is the word asm. */
static void take_asm(struct translator *t, const struct hx_token *token)
{
    struct hx_asm_statement *s = &t->statement;
    int rc = hx_asm_read(s, &t->lexer);

    if (rc == -E2BIG)
        refuse(t, token->line, "inline assembly: it has more than 30 operands or 16383 characters", "");
    if (rc == 0 && has_instruction(s) && s->is_goto)
        refuse(t, token->line, "inline assembly: asm goto is not translated", "");
    if (rc == 0 && has_instruction(s) && !s->is_goto) {
        print_statement(t);
        if (t->lexer.line != token->line)
            print_marker(t);
        return;
    }
    fwrite(token->text, 1, (size_t)(t->lexer.at - token->text), t->out);
}

/* --- the text ---------------------------------------------------------------------------------------------------------------------- */

static int is_asm(const struct hx_token *token)
{
    return token->kind == HX_TOKEN_NAME &&
           (hx_token_is(token, "asm") || hx_token_is(token, "__asm__") || hx_token_is(token, "__asm"));
}

static int is_condition(const struct hx_token *token)
{
    return hx_token_is(token, "if") || hx_token_is(token, "while") || hx_token_is(token, "for") || hx_token_is(token, "switch");
}

static void track_parentheses(struct translator *t, const struct hx_token *token)
{
    t->after_condition = 0;
    if (hx_token_is(token, "(")) {
        if (t->depth < PARENTHESES)
            t->is_condition[t->depth] = (unsigned char)is_condition(&t->last);
        t->depth++;
    } else if (hx_token_is(token, ")") && t->depth > 0) {
        t->depth--;
        t->after_condition = t->depth < PARENTHESES && t->is_condition[t->depth];
    }
}

static void take(struct translator *t, const struct hx_token *token)
{
    if (is_asm(token) && !t->lexer.in_system && begins_statement(t))
        take_asm(t, token);
    else
        fwrite(token->text, 1, token->bytes, t->out);
    if (token->kind == HX_TOKEN_SPACE || token->kind == HX_TOKEN_MARKER)
        return;
    track_parentheses(t, token);
    t->last = *token;
}

int hx_asm_translate(FILE *out, const char *text, size_t bytes)
{
    struct translator *t = calloc(1, sizeof(*t));
    struct hx_token token;
    int rc;

    if (!t)
        return -ENOMEM;
    t->out = out;
    hx_lex_begin(&t->lexer, text, bytes);
    while ((token = hx_lex_next(&t->lexer)).kind != HX_TOKEN_END)
        take(t, &token);
    rc = t->refused ? -EINVAL : 0;
    free(t);
    return rc;
}
