/* What one Hexagon instruction reads, what it defines and which unit makes the result, from its assembly text. */
#include <ctype.h>
#include <string.h>

#include "listing.h"

/* --- registers in a piece of text */

typedef void visit_fn(struct hx_lpacket *p, int reg, const char *suffix, int def);

static bool word_char(int c)
{
    return isalnum(c) || c == '_' || c == '.' || c == '$';
}

/* The number in front of *s, which moves behind it; -1: none. */
static int number(const char **s, const char *end)
{
    int n = -1;

    for (; *s < end && isdigit((unsigned char)**s) && n < 1000; (*s)++)
        n = (n < 0 ? 0 : 10 * n) + **s - '0';
    return n;
}

static int register_base(char c, int n)
{
    static const struct {
        char name;
        int base, count;
    } files[] = {
        {'r', HX_REG_R, 32},
        {'v', HX_REG_V, 32},
        {'p', HX_REG_P, 4},
        {'q', HX_REG_Q, 4},
    };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (files[i].name == c && n >= 0 && n < files[i].count)
            return files[i].base;
    return -1;
}

/* Visits r3, v5:4 (both halves), p0.new, ... of text[0..n): immediates (#sym) and words like vadd are none. */
static void each_register(struct hx_lpacket *p, const char *text, size_t n, visit_fn *visit,
                          int def)
{
    const char *s = text, *end = text + n;

    while (s < end) {
        const char *word = s;

        if (*s == '#' || word_char((unsigned char)*s)) {
            bool immediate = *s == '#';
            while (s < end && (*s == '#' || (immediate && *s == '-')))
                s++;
            const char *digits = s + 1;
            int high = immediate ? -1 : number(&digits, end);
            int base = register_base(*word, high), low = high;
            if (base >= 0 && digits < end && *digits == ':' && isdigit((unsigned char)digits[1])) {
                digits++;
                low = number(&digits, end);
            }
            if (base >= 0 &&
                (digits == end || !word_char((unsigned char)*digits) || *digits == '.')) {
                if (low > high) {
                    int t = low;
                    low = high;
                    high = t;
                }
                for (int r = low; r <= high && register_base(*word, r) == base; r++)
                    visit(p, base + r, digits, def);
                s = digits;
            }
            while (s < end && word_char((unsigned char)*s))
                s++;
        } else {
            s++;
        }
    }
}

static bool has_suffix(const char *suffix, const char *want)
{
    size_t n = strlen(want);

    return strncmp(suffix, want, n) == 0 && !word_char((unsigned char)suffix[n]);
}

static void visit_use(struct hx_lpacket *p, int reg, const char *suffix, int def)
{
    (void)def;
    if (!has_suffix(suffix, ".new"))
        p->use[reg] = true;
}

static void visit_def(struct hx_lpacket *p, int reg, const char *suffix, int def)
{
    if (has_suffix(suffix, ".cur") || has_suffix(suffix, ".tmp"))
        p->forward[reg] = true;
    /* two definitions under opposite predicates: the slower one counts */
    if (!has_suffix(suffix, ".tmp") && p->def[reg] < def)
        p->def[reg] = (uint8_t)def;
}

static void visit_find_vector(struct hx_lpacket *p, int reg, const char *suffix, int def)
{
    (void)suffix;
    (void)def;
    if ((reg >= HX_REG_V && reg < HX_REG_P) || reg >= HX_REG_Q)
        p->use[reg] = true;
}

static bool names_vector(const char *text)
{
    struct hx_lpacket found = {0};

    each_register(&found, text, strlen(text), visit_find_vector, 0);
    for (int i = 0; i < HX_REGS; i++)
        if (found.use[i])
            return true;
    return false;
}

static void uses(struct hx_lpacket *p, const char *text, size_t n)
{
    each_register(p, text, n, visit_use, 0);
}

static void defines(struct hx_lpacket *p, const char *text, size_t n, int def)
{
    each_register(p, text, n, visit_def, def);
}

/* --- the parts of an instruction */

struct parts {
    const char *text; /* without "if (...)" */
    const char *left; /* destination, length left_n; 0: no "=" */
    size_t left_n;
    bool accumulates; /* +=, |=, ...: reads its destination */
    const char *right;
    char op[HX_OP_CHARS]; /* the operation: first word of the right side, "" for a plain move */
};

/* "if (!p0.new) rest": the length of the condition, 0: none. */
static size_t condition(const char *text)
{
    int depth = 0;

    if (strncmp(text, "if (", 4) != 0)
        return 0;
    for (size_t i = 3; text[i]; i++) { /* also "if (cmp.gt(r0.new,r1)) jump:t .L" */
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return i + 1 + strspn(text + i + 1, " ");
    }
    return 0;
}

/* Finds " = ", " += ", " |= ", ... outside of parentheses (inside stand absolute-set addresses, r1=##x). */
static void split(struct parts *s, const char *text)
{
    int depth = 0;

    s->text = s->right = text;
    for (size_t i = 0; text[i]; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0 && i > 0 && text[i] == '=' && text[i + 1] == ' ') {
            s->accumulates = text[i - 1] != ' ';
            s->left = text;
            s->left_n = i - s->accumulates;
            s->right = text + i + 1 + strspn(text + i + 1, " ");
            break;
        }
    }
    size_t n = strcspn(s->right, "(,= ;:");
    if (s->right[n] == '(' && n < sizeof(s->op))
        memcpy(s->op, s->right, n);
}

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool is_memory(const char *s)
{
    return starts(s, "mem") || starts(s, "vmem");
}

/* Any operation of the text that the multipliers do: also as the inner one of add(r1,mpyi(r2,#4)). */
static bool multiplies(const char *text)
{
    static const char *const begins[] = {"sf", "df", "convert_"};
    const char *word = text;

    if (strstr(text, "mpy"))
        return true;
    for (const char *s = text; *s; s++) {
        if (!word_char((unsigned char)*s)) {
            word = s + 1;
            continue;
        }
        for (size_t i = 0; s == word && i < sizeof(begins) / sizeof(begins[0]); i++)
            if (starts(s, begins[i]))
                return true;
    }
    return false;
}

static int unit_of(const struct parts *s, const char *text)
{
    if (s->left && is_memory(s->left))
        return -1; /* a store */
    if (starts(s->op, "vmem"))
        return HX_UNIT_VLOAD;
    if (starts(s->op, "mem") || starts(s->op, "dealloc"))
        return HX_UNIT_LOAD;
    if (names_vector(text))
        return HX_UNIT_HVX;
    return multiplies(s->right) ? HX_UNIT_MPY : -1;
}

/* --- operands that the text does not show as such */

/* r2 of memw(r2++#4) and of memw(r2=##x): new addresses, ready at once. */
static void address_updates(struct hx_lpacket *p, const char *text)
{
    for (const char *s = strstr(text, "mem"); s; s = strstr(s + 1, "mem")) {
        const char *open = s + strcspn(s, "( ");
        if (*open != '(')
            continue;
        size_t n = strcspn(open, "+=)<");
        if (starts(open + n, "++") || open[n] == '=')
            defines(p, open, n, HX_DEF_READY);
    }
}

/* Operations that read and write in one operand although they are written like others. */
static void hidden_operands(struct hx_lpacket *p, const struct parts *s)
{
    static const char *const reads_destination[] = {"insert", "vinsert", "tableidx"};
    const char *carry = strstr(s->right, "):carry");

    for (size_t i = 0; s->left && i < sizeof(reads_destination) / sizeof(reads_destination[0]); i++)
        if (starts(s->op, reads_destination[i]))
            uses(p, s->left, s->left_n);
    /* v4.w = vadd(v2.w,v3.w,q0):carry leaves the new carry in q0; with :sat it does not */
    if (carry && !starts(carry, "):carry:sat"))
        defines(p, carry - 2, 2, HX_DEF_UNIT + HX_UNIT_HVX);
    /* vshuff(v1,v0,r2) and vdeal(v1,v0,r2) exchange lanes of both vectors */
    if (!s->left && (starts(s->op, "vshuff") || starts(s->op, "vdeal")))
        defines(p, s->text, strcspn(s->text, "r"), HX_DEF_UNIT + HX_UNIT_HVX);
    if (starts(s->op, "allocframe"))
        defines(p, "r30 r29", 7, HX_DEF_READY);
    if (starts(s->op, "dealloc"))
        defines(p, "r29", 3, HX_DEF_READY);
}

/* "call f", "if (p0) call f", "callr r1", "jump f" (a tail call); jumps to labels of the function are none. */
static void note_call(struct hx_lpacket *p, const struct parts *s)
{
    const char *to = NULL;

    if (starts(s->text, "callr"))
        to = "a function pointer";
    else if (starts(s->text, "call ") || starts(s->text, "jump ") || starts(s->text, "jump:"))
        to = s->text + strcspn(s->text, " ") + 1;
    while (to && *to == '#')
        to++;
    if (to && !starts(to, ".L"))
        snprintf(p->callee, sizeof(p->callee), "%s", to);
}

/* "loop0(.LBB0_3,r4)" and "r4 = add(r2,#-1)": how often a hardware loop runs, and what tells pipelined ones. */
static void note_loop_count(struct hx_lpacket *p, const char *text)
{
    unsigned to = 32, from, k;
    char label[sizeof(p->loop_label)];

    if (sscanf(text, "r%u = add(r%u,#-%u)", &to, &from, &k) == 3 && to < 32 && from < 32 &&
        k < 64) {
        p->minus[to] = (uint8_t)k;
        p->minus_of[to] = (uint8_t)from;
    }
    const char *s = strncmp(text, "loop", 4) ? NULL : strchr(text, '(');
    if (s && sscanf(s + 1 + strspn(s + 1, "#"), ".L%31[^,],r%u)", label, &to) >= 1) {
        p->loop_count = strchr(text, ',')[1] == 'r' && to < 32 ? (int)to : -1;
        memcpy(p->loop_label, label, sizeof(label));
    }
}

static int add_one(struct hx_lpacket *p, const char *text)
{
    size_t skip = condition(text);
    struct parts s = {0};

    uses(p, text, skip);
    split(&s, text + skip);
    if (!islower((unsigned char)s.text[0]))
        return -1;
    note_call(p, &s);
    if (starts(s.text, "call ") || starts(s.text, "jump ") || starts(s.text, "jump:"))
        return 0;

    int unit = unit_of(&s, s.text);
    int def = unit < 0 ? HX_DEF_READY : HX_DEF_UNIT + unit;
    bool store = s.left && is_memory(s.left);

    note_loop_count(p, s.text);
    uses(p, s.right, strlen(s.right));
    if (store || s.accumulates)
        uses(p, s.left, s.left_n);
    if (s.left && !store)
        defines(p, s.left, s.left_n, def);
    address_updates(p, s.text);
    hidden_operands(p, &s);
    if (unit == HX_UNIT_VLOAD)
        p->vector_loads++;
    if (unit >= 0 && p->ops < HX_PACKET_OPS) {
        struct hx_op *op = &p->op[p->ops++];
        op->unit = (enum hx_code_unit)unit;
        snprintf(op->name, sizeof(op->name), "%s", s.op);
    }
    return 0;
}

int hx_packet_add(struct hx_lpacket *p, const char *text)
{
    /* a compound, "p0 = cmp.gt(r2,#0); if (p0.new) jump:nt .L": one word */
    p->words++;
    if (strstr(text, "##"))
        p->words++;
    if (p->words > 2 * HX_PACKET_OPS)
        return -1;
    for (const char *s = text;;) {
        char one[160];
        size_t n = strcspn(s, ";");

        if (n >= sizeof(one))
            return -1;
        memcpy(one, s, n);
        one[n] = '\0';
        if (add_one(p, one))
            return -1;
        if (!s[n])
            return 0;
        s += n + 1;
        s += strspn(s, " ");
    }
}
