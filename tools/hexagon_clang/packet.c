#include "packet.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In a pattern: > an output, @ an address, ! a number in a register, $ a number.  In a call {N} is the Nth of them, but outputs, which
 * are assigned to, are not counted. */
static const struct form {
    const char *packet, *call;
} forms[] = {
    {">=c15:14", "hexrig_asm_upcycle()"},
    {">=c19:18", "hexrig_asm_pktcount()"},
    {">=c31:30", "hexrig_asm_utimer()"},
    {">=upcycle", "hexrig_asm_upcycle()"},
    {">=pktcount", "hexrig_asm_pktcount()"},
    {">=utimer", "hexrig_asm_utimer()"},
    {"pause(#$)", "hexrig_asm_pause({0})"},
    {"nop", "(void)0"},
    {"syncht", "hexrig_asm_syncht()"},
    {"barrier", "hexrig_asm_syncht()"},
    {"release(@):at", "hexrig_asm_release({0})"},
    {"release(@):st", "hexrig_asm_release({0})"},
    {"dmstart(@)", "hexrig_asm_dmstart({0})"},
    {"dmlink(@,@)", "hexrig_asm_dmlink({0}, {1})"},
    {">=dmpoll", "hexrig_asm_dmpoll()"},
    {">=dmwait", "hexrig_asm_dmwait()"},
    {"mxclracc.hf", "hexrig_asm_hmx_clear()"},
    {"bias=mxmem2(@)", "hexrig_asm_hmx_bias({0})"},
    {"activation.hf=mxmem(@,!);weight.hf=mxmem(@,!)", "hexrig_asm_hmx_multiply({0}, {1}, 0, {2}, {3})"},
    {"activation.hf=mxmem(@,!):deep;weight.hf=mxmem(@,!)", "hexrig_asm_hmx_multiply({0}, {1}, 1, {2}, {3})"},
    {"mxmem(@,!):after.hf=acc", "hexrig_asm_hmx_store({0}, {1})"},
};

enum { ARGS_MAX = 4 };

struct match {
    int output;              /* number of an operand, -1 = none */
    char kind[ARGS_MAX];     /* of the pattern */
    int operand[ARGS_MAX];   /* number, -1: `value` */
    unsigned long value[ARGS_MAX];
    int count;
};

/* Number of the operand that %N or %[name] at `*at` is, or -1; `*at` moves behind it. */
static int operand_at(const char **at, const struct hx_asm_statement *s)
{
    const char *p = *at + 1, *close;
    char *end;

    if (**at != '%')
        return -1;
    if (isdigit((unsigned char)*p)) {
        unsigned long number = strtoul(p, &end, 10);

        *at = end;
        return number < (unsigned)s->count ? (int)number : -1;
    }
    close = *p == '[' ? strchr(p, ']') : NULL;
    for (int i = 0; close && i < s->count; i++)
        if (s->operands[i].name_bytes == (size_t)(close - p - 1) && memcmp(s->operands[i].name, p + 1, s->operands[i].name_bytes) == 0) {
            *at = close + 1;
            return i;
        }
    return -1;
}

static int take_argument(struct match *m, char kind, const char **at, const struct hx_asm_statement *s)
{
    char *end;

    m->kind[m->count] = kind;
    m->operand[m->count] = operand_at(at, s);
    if (m->operand[m->count] < 0) {
        if (kind != '$' || !isdigit((unsigned char)**at))
            return 0;
        m->value[m->count] = strtoul(*at, &end, 0);
        *at = end;
    }
    m->count++;
    return 1;
}

static int matches(const char *pattern, const char *packet, const struct hx_asm_statement *s, struct match *m)
{
    *m = (struct match){.output = -1};
    for (; *pattern; pattern++)
        if (*pattern == '>') {
            m->output = operand_at(&packet, s);
            if (m->output < 0 || m->output >= s->outputs)
                return 0;
        } else if (strchr("@!$", *pattern)) {
            if (!take_argument(m, *pattern, &packet, s))
                return 0;
        } else if (*packet++ != *pattern)
            return 0;
    return *packet == '\0';
}

/* Inputs lie in variables of translate.c's, as an expression must be evaluated once. */
static void print_argument(FILE *out, const struct hx_asm_statement *s, const struct match *m, int i)
{
    if (m->operand[i] < 0) {
        fprintf(out, "%luu", m->value[i]);
        return;
    }
    fputs(m->kind[i] == '@' ? "(void *)" : "(unsigned)", out);
    if (m->operand[i] >= s->outputs) {
        fprintf(out, "hexrig_asm_%d", m->operand[i]);
        return;
    }
    fputs("(hexrig_asm_word)", out);
    hx_asm_print_operand(out, &s->operands[m->operand[i]]);
}

static void print_call(FILE *out, const char *call, const struct hx_asm_statement *s, const struct match *m)
{
    if (m->output >= 0) {
        hx_asm_print_operand(out, &s->operands[m->output]);
        fputs(" = ", out);
    }
    for (; *call; call++)
        if (*call == '{') {
            print_argument(out, s, m, call[1] - '0');
            call += 2;
        } else
            putc(*call, out);
    fputs("; ", out);
}

/* The two instructions of a packet the other way round, which means the same; "" when there are not two. */
static void swap(char *swapped, const char *packet)
{
    const char *middle = strchr(packet, ';');

    *swapped = '\0';
    if (middle)
        snprintf(swapped, HX_PACKET_BYTES, "%s;%.*s", middle + 1, (int)(middle - packet), packet);
}

int hx_packet_print(FILE *out, const char *packet, const struct hx_asm_statement *s)
{
    char swapped[HX_PACKET_BYTES];
    struct match m;

    swap(swapped, packet);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (matches(forms[i].packet, packet, s, &m) || (*swapped && matches(forms[i].packet, swapped, s, &m))) {
            print_call(out, forms[i].call, s, &m);
            return 0;
        }
    return -ENOMSG;
}
