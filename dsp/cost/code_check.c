/* Tells of kernels whose HX_TRIPS() do not fit their table. */
#include "code_check.h"

#include <stdatomic.h>
#include <stdio.h>

#include "uncosted.h"

enum { KERNELS = 256 }; /* what is more is not told of */

static _Atomic(const struct hx_code *) known[KERNELS];
static atomic_uint kernels;

/* 1 the first time. */
static int is_news(const struct hx_code *code)
{
    for (int i = 0; i < KERNELS; i++) {
        const struct hx_code *none = NULL;

        if (atomic_compare_exchange_strong(&known[i], &none, code))
            return 1;
        if (none == code)
            return 0;
    }
    return 0;
}

static void tell(const struct hx_code *code, const char *reason)
{
    if (!is_news(code))
        return;
    atomic_fetch_add(&kernels, 1);
    hx_uncosted_name(code->name, reason);
}

unsigned hx_code_check_kernels(void)
{
    return atomic_load(&kernels);
}

int hx_code_check_trips(struct hx_code_told *t, const struct hx_code *code, unsigned level, uint64_t trips)
{
    char reason[96];

    if (level && level < code->levels) {
        t->told |= 1ull << (level & 63);
        t->ran |= (uint64_t)(trips > 0) << (level & 63);
        return 1;
    }
    snprintf(reason, sizeof(reason), "HX_TRIPS(%u, ...), but its table has %u loops: those trips cost nothing", level,
             code->levels - 1);
    tell(code, reason);
    return 0;
}

void hx_code_check_call(const struct hx_code_told *t, const struct hx_code *code)
{
    const struct hx_code_level *levels = code->build[HX_BUILD_RELEASE];
    char reason[96];

    if (!t->told)
        return;
    for (unsigned level = 1; level < code->levels && level < 64; level++) {
        const unsigned around = levels[level].around;

        if (t->told >> level & 1 || (around && !(t->ran >> around & 1)))
            continue;
        snprintf(reason, sizeof(reason), "loop %u of %u was not told, so it costs nothing (HX_TRIPS(%u, 0): it makes no trips)",
                 level, code->levels - 1, level);
        tell(code, reason);
    }
}
