/* Prices of libc's functions, and the functions that skels call in their place. */
#include "libc_cost.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/export.h"
#include "base/machine.h"
#include "hexrig_hvx_trace.h"
#include "machine/mem_stream.h"
#include "pending.h"
#include "vtime.h"

enum { LISTED_COPY = 256 };
#define WORD 8.0

struct price {
    unsigned packets;    /* of a call, with call and return */
    unsigned waits;      /* of these, how many wait for a float result that they multiply */
    double per_byte;     /* packets */
};

/* Packets of functions of one value, and how many of them wait: clang 19's listing (-O2, as in docs/timing.md) of the usual float
 * implementation: reduction of the range, a polynomial of degree 6 (exp), 9 (log), 7 (sin, cos), three steps of Newton for the square
 * root; tanh by exp and a division, pow by both.  A C library that computes in double takes longer.  Memory: LLVM's
 * memcpy for Hexagon (compiler-rt, memcpy_likely_aligned.S) moves 8 bytes with each packet; strlen by bytes is two packets each. */
static const struct price copy_price = {8, 0, 1.0 / WORD}, set_price = {6, 0, 1.0 / WORD}, compare_price = {6, 0, 2.0 / WORD},
                          length_price = {4, 0, 2}, exp_price = {27, 13, 0}, log_price = {27, 13, 0}, sin_price = {27, 8, 0},
                          tanh_price = {46, 22, 0}, pow_price = {49, 27, 0}, sqrt_price = {21, 12, 0}, mod_price = {40, 10, 0},
                          round_price = {8, 3, 0};

static void charge(const struct price *p, size_t bytes)
{
    static const struct hx_cost none = {.packet_pcycles = 1, .mpy_pcycles = 1};
    const struct hx_cost *c = hx_machine ? &hx_machine->cost : &none;

    hx_vt_spend(HX_VT_CODE, (p->packets + (double)bytes * p->per_byte) * c->packet_pcycles +
                                p->waits * (c->mpy_pcycles + c->packet_pcycles)); /* as in a listing: listing.c */
}

static int is_left_to_the_listing(size_t bytes)
{
    return bytes <= LISTED_COPY && hx_cost_listed();
}

/* --- memory --------------------------------------------------------------------------------------------------- */

void *__wrap_memcpy(void *to, const void *from, size_t n);
HX_EXPORT void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    if (!is_left_to_the_listing(n)) {
        charge(&copy_price, n);
        hx_mem_stream(from, n, 0);
        hx_mem_stream(to, n, 1);
    }
    return memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n);
HX_EXPORT void *__wrap_memmove(void *to, const void *from, size_t n)
{
    if (!is_left_to_the_listing(n)) {
        charge(&copy_price, n);
        hx_mem_stream(from, n, 0);
        hx_mem_stream(to, n, 1);
    }
    return memmove(to, from, n);
}

void *__wrap_memset(void *to, int byte, size_t n);
HX_EXPORT void *__wrap_memset(void *to, int byte, size_t n)
{
    if (!is_left_to_the_listing(n)) {
        charge(&set_price, n);
        hx_mem_stream(to, n, 1);
    }
    return memset(to, byte, n);
}

int __wrap_memcmp(const void *a, const void *b, size_t n);
HX_EXPORT int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    if (!is_left_to_the_listing(n)) {
        charge(&compare_price, n);
        hx_mem_stream(a, n, 0);
        hx_mem_stream(b, n, 0);
    }
    return memcmp(a, b, n);
}

size_t __wrap_strlen(const char *s);
HX_EXPORT size_t __wrap_strlen(const char *s)
{
    const size_t n = strlen(s);

    charge(&length_price, n);
    hx_mem_stream(s, n + 1, 0);
    return n;
}

/* --- arithmetic ----------------------------------------------------------------------------------------------- */

#define OF_ONE(name, price) \
    float __wrap_##name(float x); \
    HX_EXPORT float __wrap_##name(float x) \
    { \
        charge(&price, 0); \
        return name(x); \
    }
#define OF_TWO(name, price) \
    float __wrap_##name(float x, float y); \
    HX_EXPORT float __wrap_##name(float x, float y) \
    { \
        charge(&price, 0); \
        return name(x, y); \
    }
OF_ONE(expf, exp_price)
OF_ONE(exp2f, exp_price)
OF_ONE(logf, log_price)
OF_ONE(log2f, log_price)
OF_ONE(log10f, log_price)
OF_ONE(sinf, sin_price)
OF_ONE(cosf, sin_price)
OF_ONE(tanhf, tanh_price)
OF_ONE(sqrtf, sqrt_price)
OF_ONE(roundf, round_price)
OF_ONE(floorf, round_price)
OF_ONE(ceilf, round_price)
OF_ONE(rintf, round_price)
OF_TWO(powf, pow_price)
OF_TWO(fmodf, mod_price)

int hx_libc_has_price(const void *function)
{
    static void *const known[] = {
        (void *)__wrap_memcpy, (void *)__wrap_memmove, (void *)__wrap_memset, (void *)__wrap_memcmp, (void *)__wrap_strlen,
        (void *)__wrap_expf, (void *)__wrap_exp2f, (void *)__wrap_logf, (void *)__wrap_log2f, (void *)__wrap_log10f,
        (void *)__wrap_sinf, (void *)__wrap_cosf, (void *)__wrap_tanhf, (void *)__wrap_sqrtf, (void *)__wrap_roundf,
        (void *)__wrap_floorf, (void *)__wrap_ceilf, (void *)__wrap_rintf, (void *)__wrap_powf, (void *)__wrap_fmodf,
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (function == known[i])
            return 1;
    return 0;
}
