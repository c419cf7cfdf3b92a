/* Reads a basic block of x86-64 code: lengths of instructions, and of which kind they are. */
#include "host_code.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__

enum { INSTRUCTIONS_MAX = 1000, CALL_BYTES = 5, DOUBLE_MULTIPLY = 3 };

enum map { ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A };
enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 }; /* as VEX counts them */

struct instruction {
    const uint8_t *next; /* the one behind it */
    enum map map;
    uint8_t op, modrm;
    unsigned prefix;
    int is_vex, wide, thread_local, has_modrm;
    const uint8_t *tail; /* what follows opcode and operands: the immediate or the distance of a jump */
};

/* --- lengths -------------------------------------------------------------------------------------------------- */

/* Opcodes with a ModRM byte, a bit for each. */
static const uint16_t modrm_one_byte[16] = {0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0, 0x0a08, 0, 0xffff, 0, 0, 0, 0x00c3, 0xff0f, 0, 0xc0c0};

static int has_modrm(const struct instruction *in)
{
    if (in->map == ONE_BYTE)
        return modrm_one_byte[in->op >> 4] >> (in->op & 15) & 1;
    if (in->map != MAP_0F)
        return 1;
    if (in->op == 0x77 || (in->op >= 0x30 && in->op <= 0x37) || (in->op >= 0x05 && in->op <= 0x0b) || (in->op & 0xf8) == 0xc8 ||
        (in->op & 0xf0) == 0x80 || (in->op & 0xf6) == 0xa0)
        return 0;
    return in->op != 0xa2 && in->op != 0xaa;
}

/* Bytes of immediate. */
static unsigned immediate(const struct instruction *in, int operand_16)
{
    const uint8_t op = in->op;
    const unsigned z = operand_16 ? 2 : 4, reg = in->modrm >> 3 & 7;

    if (in->map == MAP_0F3A)
        return 1;
    if (in->map == MAP_0F38)
        return 0;
    if (in->map == MAP_0F) {
        if ((op & 0xf0) == 0x80 && !in->is_vex)
            return 4;
        return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 || (op >= 0xc4 && op <= 0xc6);
    }
    if (op < 0x40)
        return (op & 7) == 4 ? 1 : (op & 7) == 5 ? z : 0;
    switch (op) {
    case 0x6a: case 0x6b: case 0x80: case 0x83: case 0xa8: case 0xc0: case 0xc1: case 0xc6: case 0xcd: case 0xeb:
        return 1;
    case 0x68: case 0x69: case 0x81: case 0xa9: case 0xc7:
        return z;
    case 0xe8: case 0xe9:
        return 4;
    case 0xc2:
        return 2;
    case 0xf6:
        return reg < 2;
    case 0xf7:
        return reg < 2 ? z : 0;
    default:
        break;
    }
    if ((op & 0xf0) == 0x70 || (op & 0xf8) == 0xb0 || (op & 0xfc) == 0xe0)
        return 1;
    if ((op & 0xf8) == 0xb8)
        return in->wide ? 8 : z;
    return (op & 0xfc) == 0xa0 ? 8 : 0;
}

/* The bytes that ModRM at p and what it asks for take. */
static unsigned operand_bytes(const uint8_t *p)
{
    const unsigned mod = *p >> 6, rm = *p & 7;
    unsigned n = 1;

    if (mod == 3)
        return n;
    if (rm == 4) {
        n += 1;
        if (mod == 0 && (p[1] & 7) == 5)
            n += 4;
    } else if (mod == 0 && rm == 5) {
        n += 4;
    }
    return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* The opcode behind a VEX or EVEX prefix at p. */
static const uint8_t *read_vex(struct instruction *in, const uint8_t *p)
{
    in->is_vex = 1;
    if (*p == 0xc5) {
        in->map = MAP_0F;
        in->prefix = p[1] & 3;
        return p + 2;
    }
    in->map = (enum map)(p[1] & 3);
    in->prefix = p[2] & 3;
    in->wide = p[2] >> 7;
    return p + (*p == 0x62 ? 4 : 3);
}

static const uint8_t *read_escape(struct instruction *in, const uint8_t *p)
{
    if (*p != 0x0f)
        return p;
    in->map = p[1] == 0x38 ? MAP_0F38 : p[1] == 0x3a ? MAP_0F3A : MAP_0F;
    return p + (in->map == MAP_0F ? 1 : 2);
}

static void read_instruction(struct instruction *in, const uint8_t *p)
{
    int operand_16 = 0;

    memset(in, 0, sizeof(*in));
    for (;; p++) {
        if (*p == 0x66)
            operand_16 = 1, in->prefix = in->prefix ? in->prefix : PREFIX_66;
        else if (*p == 0xf3 || *p == 0xf2)
            in->prefix = *p == 0xf3 ? PREFIX_F3 : PREFIX_F2;
        else if (*p == 0x64)
            in->thread_local = 1;
        else if (*p != 0x2e && *p != 0x3e && *p != 0x36 && *p != 0x26 && *p != 0x65 && *p != 0x67 && *p != 0xf0)
            break;
    }
    if (*p == 0xc5 || *p == 0xc4 || *p == 0x62) {
        p = read_vex(in, p);
    } else {
        if ((*p & 0xf0) == 0x40)
            in->wide = *p++ >> 3 & 1;
        p = read_escape(in, p);
    }
    in->op = *p++;
    in->has_modrm = has_modrm(in);
    if (in->has_modrm) {
        in->modrm = *p;
        p += operand_bytes(p);
    }
    in->tail = p;
    in->next = p + immediate(in, operand_16);
}

/* --- kinds ---------------------------------------------------------------------------------------------------- */

static int32_t distance(const uint8_t *p)
{
    int32_t d;

    memcpy(&d, p, sizeof(d));
    return d;
}

static int ends_flow(const struct instruction *in)
{
    if (in->map == MAP_0F)
        return in->op == 0x0b; /* ud2 */
    if (in->map != ONE_BYTE)
        return 0;
    return in->op == 0xe9 || in->op == 0xeb || in->op == 0xc3 || in->op == 0xc2 || in->op == 0xcc || in->op == 0xf4 ||
           (in->op == 0xff && (in->modrm >> 3 & 7) == 4);
}

/* What a jump through the procedure linkage table at p leads to: jmp *slot, after endbr64 perhaps. */
static const void *behind_plt(const uint8_t *p)
{
    const uint8_t *at = p;
    const void *function;

    if (memcmp(at, "\xf3\x0f\x1e\xfa", 4) == 0)
        at += 4;
    if (*at == 0xf2)
        at++;
    if (at[0] != 0xff || at[1] != 0x25)
        return p;
    memcpy(&function, at + 6 + distance(at + 2), sizeof(function));
    return function;
}

/* The function that is called, NULL when a register names it. */
static const void *callee(const struct instruction *in)
{
    const void *function;

    if (in->op == 0xe8)
        return behind_plt(in->next + distance(in->tail));
    if (in->modrm != 0x15) /* *slot(%rip) */
        return NULL;
    memcpy(&function, in->next + distance(in->next - 4), sizeof(function));
    return function;
}

static int is_call(const struct instruction *in)
{
    return in->map == ONE_BYTE && (in->op == 0xe8 || (in->op == 0xff && (in->modrm >> 3 & 7) == 2));
}

/* A scalar multiply with an add. */
static int is_fused(const struct instruction *in)
{
    return in->op >= 0x99 && in->op <= 0xbf && (in->op & 1) && (in->op & 15) >= 9;
}

/* Scalar float arithmetic; of the rest the intrinsics know. */
static void count_float(const struct instruction *in, struct hx_host_block *b)
{
    const int scalar = in->prefix == PREFIX_F3 || in->prefix == PREFIX_F2;

    if (in->map == MAP_0F && scalar && (in->op == 0x51 || in->op == 0x5e))
        b->float_div++;
    else if (in->map == MAP_0F && scalar && in->op == 0x59)
        b->slow += in->prefix == PREFIX_F2 ? DOUBLE_MULTIPLY : 1;
    else if (in->map == MAP_0F && scalar)
        b->slow += (in->op >= 0x58 && in->op <= 0x5f && in->op != 0x5b) || in->op == 0x2a || in->op == 0x2c || in->op == 0x2d ||
                   in->op == 0xc2; /* compare */
    else if (in->map == MAP_0F)
        b->slow += in->op == 0x2e || in->op == 0x2f; /* compare */
    else if (in->map == MAP_0F38)
        b->slow += is_fused(in) ? (in->wide ? DOUBLE_MULTIPLY + 1 : 1) : in->op == 0xf6; /* mulx */
    else
        b->slow += in->op == 0x0a || in->op == 0x0b; /* round */
    b->plain += (in->map == MAP_0F38 && in->is_vex && in->op >= 0xf2 && in->op != 0xf6) || /* andn, shifts */
                (in->map == MAP_0F38 && !in->is_vex && (in->op & 0xfe) == 0xf0) ||         /* movbe */
                (in->map == MAP_0F38 && in->op >= 0x38 && in->op <= 0x3f) ||               /* minimum, maximum of integers */
                (in->map == MAP_0F3A && (in->op == 0xf0 || in->op == 0x4a || in->op == 0x4b)); /* rorx; selects of floats */
}

static void count_0f(const struct instruction *in, struct hx_host_block *b)
{
    if ((in->op & 0xf0) == 0x80)
        b->plain += distance(in->tail) > 0;
    else if ((in->op & 0xf0) == 0x90 || (in->op & 0xf0) == 0x40 || in->op == 0xa4 || in->op == 0xa5 || in->op == 0xac ||
             in->op == 0xad || in->op == 0xb8 || in->op == 0xbc || in->op == 0xbd || (in->op & 0xf8) == 0xc8)
        b->plain++;
    else if (in->op == 0xaf)
        b->slow++;
    else
        count_float(in, b);
}

static void count_one_byte(const struct instruction *in, struct hx_host_block *b)
{
    const unsigned op = in->op, reg = in->modrm >> 3 & 7;
    const int in_memory = in->has_modrm && in->modrm >> 6 != 3;

    if (op < 0x38)
        b->plain += !((op & 0xfe) == 0x30 && (in->modrm >> 6) == 3 && reg == (in->modrm & 7)); /* but for zeroing */
    else if ((op & 0xf0) == 0x70)
        b->plain += (int8_t)*in->tail > 0;
    else if (op == 0x80 || op == 0x81 || op == 0x83)
        b->plain += reg != 7 && ((reg != 0 && reg != 5) || in_memory); /* but for address increments and comparisons */
    else if (op == 0xc0 || op == 0xc1 || (op & 0xfc) == 0xd0)
        b->plain++;
    else if (op == 0xfe || op == 0xff)
        b->plain += reg < 2 && in_memory;
    else if (op == 0x69 || op == 0x6b)
        b->slow++;
    else if (op == 0xf6 || op == 0xf7) {
        b->plain += reg == 2 || reg == 3;
        b->slow += reg == 4 || reg == 5;
        b->int_div += reg >= 6;
    }
}

static void count(const struct instruction *in, struct hx_host_block *b)
{
    if (in->thread_local)
        b->hvx += in->has_modrm && in->map == ONE_BYTE && !in->is_vex &&
                  (in->op == 0xff || in->op == 0x83 || in->op == 0x81 || in->op == 0x01); /* how intrinsics count themselves */
    else if (in->map == ONE_BYTE)
        count_one_byte(in, b);
    else if (in->map == MAP_0F && !in->is_vex)
        count_0f(in, b);
    else
        count_float(in, b);
}

int hx_host_block_at(const void *pc, enum hx_host_call (*kind_of)(const void *function), struct hx_host_block *out)
{
    const uint8_t *p = (const uint8_t *)pc;
    struct instruction in;

    memset(out, 0, sizeof(*out));
    if (p[-CALL_BYTES] == 0xe8) {
        read_instruction(&in, p - CALL_BYTES);
    } else if (p[-6] == 0xff && p[-5] == 0x15) {
        read_instruction(&in, p - 6);
    } else {
        return -1;
    }
    if (kind_of(callee(&in)) != HX_HOST_CALL_BLOCK)
        return -1;
    for (unsigned n = 0; n < INSTRUCTIONS_MAX; n++, p = in.next) {
        read_instruction(&in, p);
        if (ends_flow(&in))
            break;
        if (!is_call(&in)) {
            count(&in, out);
            continue;
        }
        const void *function = callee(&in);
        enum hx_host_call kind = function ? kind_of(function) : HX_HOST_CALL;
        if (kind == HX_HOST_CALL_BLOCK)
            break;
        out->calls += kind == HX_HOST_CALL;
        out->accesses += kind == HX_HOST_CALL_ACCESS;
    }
    if (out->hvx)
        out->plain = out->slow = 0; /* scalar instructions beside vector ones share their packets */
    return 0;
}

#else

int hx_host_block_at(const void *pc, enum hx_host_call (*kind_of)(const void *function), struct hx_host_block *out)
{
    (void)pc;
    (void)kind_of;
    memset(out, 0, sizeof(*out));
    return -1;
}

#endif
