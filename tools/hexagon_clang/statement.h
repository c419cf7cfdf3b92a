/* One asm statement, taken apart. */
#ifndef HX_STATEMENT_H
#define HX_STATEMENT_H

#include <stddef.h>
#include <stdio.h>

#include "lex.h"

enum { HX_ASM_OPERANDS = 30, HX_ASM_TEMPLATE = 16384 };

struct hx_asm_operand {
    const char *name; /* of %[name], in the source; NULL: none */
    size_t name_bytes;
    const char *expr; /* with its parentheses, in the source */
    size_t expr_bytes;
};

struct hx_asm_statement {
    char text[HX_ASM_TEMPLATE];      /* its strings, joined, escapes replaced, NUL at the end */
    unsigned line[HX_ASM_TEMPLATE];  /* where each character of it stands */
    size_t bytes;
    struct hx_asm_operand operands[HX_ASM_OPERANDS]; /* outputs first */
    int outputs, count;
    int is_goto;
    int only_text; /* there is no colon: asm("text"), what a name in the assembler looks like, too */
};

/* Reads on behind the word `asm`, up to the closing parenthesis.  0; -ENOMSG: it is no statement of the usual form; -E2BIG: it has
 * more than the limits above. */
int hx_asm_read(struct hx_asm_statement *statement, struct hx_lexer *lexer);

/* An operand's expression on one line. */
void hx_asm_print_operand(FILE *out, const struct hx_asm_operand *operand);

#endif
