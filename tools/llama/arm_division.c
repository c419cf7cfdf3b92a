/* An integer division by 0 as on Arm: the quotient is 0 and nothing traps.  llama.cpp's Hexagon backend runs on phones, and in two places
 * its host part divides by 0 and drops the result (docs/ggml-hexagon.md); x86 raises SIGFPE there.  Preloaded into what `hexrig llama` runs
 * on a rig; on other processors it is empty.
 *
 * A handler of SIGFPE that stays: it knows DIV and IDIV of 32 and 64 bits (opcode F7 /6 and /7), sets quotient 0 and the dividend as rest,
 * which is what Arm's UDIV and MSUB leave, and goes on behind the instruction.  Everything else ends the program as without it: another
 * opcode, 16 bits, and a quotient that has no room (INT_MIN / -1), told by its dividend. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__)

enum { REX = 0x40, REX_MASK = 0xf0, REX_W = 8, DIVIDE = 0xf7, DIV = 6, IDIV = 7, HAS_SIB = 4, NO_BASE = 5 };

/* Bytes of a ModRM byte at `code` with what belongs to it: SIB and displacement. */
static size_t operand_bytes(const uint8_t *code)
{
    unsigned int mode = code[0] >> 6;
    unsigned int low = code[0] & 7;
    size_t sib = mode != 3 && low == HAS_SIB;
    unsigned int base = sib ? code[1] & 7 : low;
    static const size_t displacement[] = { 0, 1, 4, 0 };

    return 1 + sib + (mode == 0 && base == NO_BASE ? 4 : displacement[mode]);
}

/* Bytes of the division at `code`, 0 when it is none; what it is, too. */
static size_t division(const uint8_t *code, int *is_64, int *is_signed)
{
    size_t at = 0;
    int kind;

    *is_64 = 0;
    if ((code[at] & REX_MASK) == REX)
        *is_64 = (code[at++] & REX_W) != 0;
    if (code[at++] != DIVIDE)
        return 0;
    kind = code[at] >> 3 & 7;
    *is_signed = kind == IDIV;
    return kind == DIV || kind == IDIV ? at + operand_bytes(code + at) : 0;
}

/* Could the quotient be too large, so that the divisor need not be 0?  The upper half of the dividend tells: a compiler makes it from the
 * lower one. */
static int may_overflow(uint64_t low, uint64_t high, int is_64, int is_signed)
{
    if (!is_signed)
        return (is_64 ? high : (uint32_t)high) != 0;
    return low == (is_64 ? (uint64_t)1 << 63 : (uint64_t)1 << 31);
}

static void divided(int number, siginfo_t *info, void *at)
{
    greg_t *r = ((ucontext_t *)at)->uc_mcontext.gregs;
    uint64_t dividend = (uint64_t)r[REG_RAX];
    int is_64, is_signed;
    size_t bytes = info->si_code == FPE_INTDIV ? division((const uint8_t *)r[REG_RIP], &is_64, &is_signed) : 0;

    if (bytes && !is_64)
        dividend = (uint32_t)dividend;
    if (!bytes || may_overflow(dividend, (uint64_t)r[REG_RDX], is_64, is_signed)) {
        signal(number, SIG_DFL); /* the instruction runs again, and ends the program */
        return;
    }
    r[REG_RAX] = 0;
    r[REG_RDX] = (greg_t)dividend;
    r[REG_RIP] += (greg_t)bytes;
}

__attribute__((constructor)) static void divide_as_arm(void)
{
    struct sigaction action = { .sa_sigaction = divided, .sa_flags = SA_SIGINFO | SA_NODEFER };

    sigaction(SIGFPE, &action, NULL);
}

#endif
