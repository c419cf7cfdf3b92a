/* What one Hexagon instruction reads, what it defines and which unit makes the result, from its assembly text. */
#include <ctype.h>
#include <string.h>

#include "listing.h"

/* --- registers in a piece of text */

typedef void visit_fn(struct hx_lpacket *p, int reg, const char *suffix, int how);

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
                          int how)
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
                    visit(p, base + r, digits, how);
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

static void visit_use(struct hx_lpacket *p, int reg, const char *suffix, int how)
{
    if (!has_suffix(suffix, ".new") && p->use[reg] < how)
        p->use[reg] = (uint8_t)how;
}

static void visit_def(struct hx_lpacket *p, int reg, const char *suffix, int def)
{
    if (has_suffix(suffix, ".cur") || has_suffix(suffix, ".tmp"))
        p->forward[reg] = true;
    /* two definitions under opposite predicates: the slower one counts */
    if (!has_suffix(suffix, ".tmp") && p->def[reg] < def)
        p->def[reg] = (uint8_t)def;
}

static bool is_vector(int reg)
{
    return (reg >= HX_REG_V && reg < HX_REG_P) || reg >= HX_REG_Q;
}

/* Early sources are vectors; a scalar or predicate beside them joins late. */
static void visit_vector_use(struct hx_lpacket *p, int reg, const char *suffix, int how)
{
    visit_use(p, reg, suffix, is_vector(reg) && reg < HX_REG_Q ? how : HX_USE_LATE);
}

static bool names_vector(const char *text)
{
    struct hx_lpacket found = {0};

    each_register(&found, text, strlen(text), visit_use, HX_USE_LATE);
    for (int i = 0; i < HX_REGS; i++)
        if (found.use[i] && is_vector(i))
            return true;
    return false;
}

static void uses(struct hx_lpacket *p, const char *text, size_t n, int how)
{
    each_register(p, text, n, visit_use, how);
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

/* Any word of the text that begins with one of `begins` (ended by NULL), also the inner one of add(r1,mpyi(r2,#4)). */
static bool has_word(const char *text, const char *const *begins)
{
    const char *word = text;

    for (const char *s = text; *s; s++) {
        if (!word_char((unsigned char)*s)) {
            word = s + 1;
            continue;
        }
        for (size_t i = 0; s == word && begins[i]; i++)
            if (starts(s, begins[i]))
                return true;
    }
    return false;
}

/* --- units and early sources.  The classes are those of the tables from which LLVM schedules for V60 to V73
 * (HexagonDepIICScalar.td and HexagonDepIICHVX.td: cycles in which operands are read and results written). */

static bool is_float_alu(const char *op) /* compare and select do not take the float pipeline */
{
    return starts(op, "sfcmp") || starts(op, "dfcmp") || starts(op, "sfclass") ||
           starts(op, "dfclass") || starts(op, "sfmax") || starts(op, "sfmin");
}

static enum hx_code_unit scalar_unit(const struct parts *s)
{
    static const char *const floats[] = {"sf", "df", "convert_", NULL};
    static const char *const later[] = {"min",  "max",     "extract", "insert", "tableidx", "addasl", "cl0", "cl1",
                                        "clb",  "ct0",     "ct1",     "norm",   "popcount", "round",  "cround",
                                        "abs",  "sfmax",   "sfmin",   "brev",   "parity",   "vabs",   "vmin",
                                        "vmax", "vnavg",   "vavg",    NULL};
    const bool nested = s->op[0] && strchr(strchr(s->right, '(') + 1, '('); /* add(r1,sub(r2,r3)) */

    if (strstr(s->right, "mpy"))
        return has_word(s->right, floats) ? HX_UNIT_FLOAT : HX_UNIT_MPY;
    if (!is_float_alu(s->op) && has_word(s->right, floats))
        return HX_UNIT_FLOAT;
    if (s->accumulates || nested || has_word(s->right, later) || strstr(s->right, ":sat"))
        return HX_UNIT_MPY;
    return HX_UNIT_ALU;
}

/* Scalar multipliers and the float pipeline take their factors early. */
static int scalar_use(const struct parts *s)
{
    static const char *const early[] = {"sf", "df", "convert_", "mpy", "vmpy", "vrmpy", "vdmpy", "cmpy", "vcmpy", "pmpy", NULL};

    return !is_float_alu(s->op) && has_word(s->right, early) ? HX_USE_EARLY : HX_USE_LATE;
}

/* "vmpyo", "vasl", "vror": multiplied, shifted or permuted.  ALU operations whose names begin alike are taken out. */
static bool is_early_operation(const char *op)
{
    static const char *const early[] = {"vmpy",  "v6mpy", "vdmpy", "vrmpy",  "vtmpy",    "vmpa",     "vmps",  "vrsad",
                                        "vdsad", "vlut",  "vasl",  "vasr",   "vlsr",     "vround",   "vrotr", "vcl0",
                                        "vnorm", "vpop",  "vror",  "valign", "vlalign",  "vdeal",    "vdelta", "vrdelta",
                                        "vpack", "vunpack", "vabsdiff", "vcvt", "prefixsum", "vshuff"};

    if (starts(op, "vshuffe") || starts(op, "vshuffo"))
        return false;
    for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++)
        if (starts(op, early[i]))
            return true;
    return false;
}

/* v1:0.h = vadd(v2.ub,v3.ub): sums of a wider type are made by the multipliers. */
static bool widens(const struct parts *s)
{
    const char *in = strchr(s->right, '('), *colon = memchr(s->left, ':', s->left_n);
    const size_t one = in ? strcspn(in, ",") : 0;

    return colon && in && (starts(s->op, "vadd") || starts(s->op, "vsub")) && !memchr(in, ':', one);
}

/* Operands with a float type go through the shifters (.qf32, .sf: adds, converts) or the multipliers; sign changes,
 * minimum and compare do not. */
static bool has_float_operand(const struct parts *s)
{
    return (strstr(s->right, ".qf") || strstr(s->right, ".sf") || strstr(s->right, ".hf") ||
            (s->left && (memmem(s->left, s->left_n, ".sf", 3) || memmem(s->left, s->left_n, ".hf", 3)))) &&
           (!s->op[0] || starts(s->op, "vadd") || starts(s->op, "vsub"));
}

static int vector_use(const struct parts *s)
{
    const bool early = is_early_operation(s->op) || has_float_operand(s) || (s->left && widens(s)) ||
                       strstr(s->right, "vclb("); /* vadd(vclb(v1.h),v2.h) counts bits, which shifters do */

    return early ? HX_USE_EARLY : HX_USE_LATE;
}

enum { NO_UNIT = -1 };

static int unit_of(const struct parts *s, const char *text, bool of_stack)
{
    if (s->left && is_memory(s->left))
        return NO_UNIT; /* a store */
    if (starts(s->op, "vextract"))
        return HX_UNIT_SPILL;
    if (starts(s->op, "vmem"))
        return of_stack ? HX_UNIT_SPILL : HX_UNIT_VLOAD;
    if (starts(s->op, "mem") || starts(s->op, "dealloc"))
        return HX_UNIT_LOAD;
    if (names_vector(text))
        return HX_UNIT_HVX;
    return scalar_unit(s);
}

/* --- the stack */

void hx_frame_begin(struct hx_frame *frame)
{
    *frame = (struct hx_frame){.known = 1u << 29 | 1u << 30};
    frame->at[29] = HX_FRAME_SP;
    frame->at[30] = HX_FRAME_FP;
}

/* The place that memw(r29+#8) names; 0: not known to be in the frame. */
static int32_t frame_place(const struct hx_frame *frame, const char *memory)
{
    const int scale = starts(memory, "vmem") ? 128 : 1;
    const char *open = strchr(memory, '(');
    unsigned reg = 32;
    int offset = 0;

    if (!open || sscanf(open, "(r%u+#%d)", &reg, &offset) < 1 || reg > 31 || !(frame->known >> reg & 1))
        return 0;
    return frame->at[reg] + scale * offset;
}

/* r0 = add(r29,#256) points into the frame, r0 = anything else nowhere that is known. */
static void note_frame(struct hx_frame *frame, const struct hx_lpacket *p, const struct parts *s)
{
    unsigned to = 32, from = 32;
    int offset = 0;

    for (unsigned r = 0; r < 29; r++)
        if (p->def[HX_REG_R + r] != HX_DEF_NONE)
            frame->known &= ~(1u << r);
    if (s->left && sscanf(s->left, "r%u = add(r%u,#%d)", &to, &from, &offset) == 3 && to < 29 && from < 32 &&
        frame->known >> from & 1) {
        frame->known |= 1u << to;
        frame->at[to] = frame->at[from] + offset;
    }
}

static void note_stack(struct hx_lpacket *p, const struct hx_frame *frame, const struct parts *s, bool store)
{
    const char *memory = store ? s->left : s->right;
    const int32_t place = is_memory(memory) ? frame_place(frame, memory) : 0;

    if (!place)
        return;
    if (store && starts(memory, "vmem"))
        p->stack_store = place;
    else if (!store && starts(memory, "mem"))
        p->stack_load[p->stack_load[0] != 0] = place;
}

/* --- operands that the text does not show as such */

/* r2 of memw(r2++#4) and of memw(r2=##x): new addresses. */
static void address_updates(struct hx_lpacket *p, const char *text)
{
    for (const char *s = strstr(text, "mem"); s; s = strstr(s + 1, "mem")) {
        const char *open = s + strcspn(s, "( ");
        if (*open != '(')
            continue;
        size_t n = strcspn(open, "+=)<");
        if (starts(open + n, "++") || open[n] == '=')
            defines(p, open, n, HX_DEF_UNIT + HX_UNIT_ALU);
    }
}

/* Operations that read and write in one operand although they are written like others. */
static void hidden_operands(struct hx_lpacket *p, const struct parts *s)
{
    static const char *const reads_destination[] = {"insert", "vinsert", "tableidx"};
    const char *carry = strstr(s->right, "):carry");

    for (size_t i = 0; s->left && i < sizeof(reads_destination) / sizeof(reads_destination[0]); i++)
        if (starts(s->op, reads_destination[i]))
            uses(p, s->left, s->left_n, HX_USE_LATE);
    /* v4.w = vadd(v2.w,v3.w,q0):carry leaves the new carry in q0; with :sat it does not */
    if (carry && !starts(carry, "):carry:sat"))
        defines(p, carry - 2, 2, HX_DEF_UNIT + HX_UNIT_HVX);
    /* vshuff(v1,v0,r2) and vdeal(v1,v0,r2) exchange lanes of both vectors */
    if (!s->left && (starts(s->op, "vshuff") || starts(s->op, "vdeal")))
        defines(p, s->text, strcspn(s->text, "r"), HX_DEF_UNIT + HX_UNIT_HVX);
    if (starts(s->op, "allocframe"))
        defines(p, "r30 r29", 7, HX_DEF_UNIT + HX_UNIT_ALU);
    if (starts(s->op, "dealloc"))
        defines(p, "r29", 3, HX_DEF_UNIT + HX_UNIT_ALU);
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

/* What the instruction reads, and how early. */
static void operands(struct hx_lpacket *p, const struct parts *s, bool store)
{
    const bool vector = names_vector(s->text);
    const int how = vector ? vector_use(s) : scalar_use(s);

    if (store) { /* its address early, what it stores late but for a vector that has to be rotated */
        uses(p, s->left, s->left_n, HX_USE_EARLY);
        each_register(p, s->right, strlen(s->right), visit_vector_use,
                      starts(s->left, "vmemu") ? HX_USE_EARLY : HX_USE_LATE);
        return;
    }
    if (is_memory(s->right))
        uses(p, s->right, strlen(s->right), HX_USE_EARLY);
    else
        each_register(p, s->right, strlen(s->right), vector ? visit_vector_use : visit_use, how);
    if (s->accumulates)
        uses(p, s->left, s->left_n, HX_USE_LATE);
}

/* Context cycles: two for a vector access that may lie across two vectors. */
static void note_hvx(struct hx_lpacket *p, const char *text)
{
    const uint8_t cycles = strstr(text, "vmemu(") ? 2 : names_vector(text) ? 1 : 0;

    if (p->hvx < cycles)
        p->hvx = cycles;
}

static int add_one(struct hx_lpacket *p, struct hx_frame *frame, const char *text)
{
    size_t skip = condition(text);
    struct parts s = {0};

    uses(p, text, skip, HX_USE_LATE);
    split(&s, text + skip);
    if (!islower((unsigned char)s.text[0]))
        return -1;
    note_call(p, &s);
    if (starts(s.text, "call ") || starts(s.text, "jump ") || starts(s.text, "jump:"))
        return 0;

    const bool store = s.left && is_memory(s.left);
    const int unit = unit_of(&s, s.text, is_memory(s.right) && frame_place(frame, s.right));

    note_loop_count(p, s.text);
    note_hvx(p, text);
    note_stack(p, frame, &s, store);
    operands(p, &s, store);
    if (s.left && !store)
        defines(p, s.left, s.left_n, HX_DEF_UNIT + unit);
    address_updates(p, s.text);
    hidden_operands(p, &s);
    note_frame(frame, p, &s);
    if (unit == HX_UNIT_VLOAD)
        p->vector_loads++;
    if ((unit > HX_UNIT_MPY || strstr(s.right, "mpy")) && p->ops < HX_PACKET_OPS) {
        struct hx_op *op = &p->op[p->ops++];
        op->unit = (enum hx_code_unit)unit;
        snprintf(op->name, sizeof(op->name), "%s", s.op);
    }
    return 0;
}

int hx_packet_add(struct hx_lpacket *p, struct hx_frame *frame, const char *text)
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
        if (add_one(p, frame, one))
            return -1;
        if (!s[n])
            return 0;
        s += n + 1;
        s += strspn(s, " ");
    }
}
