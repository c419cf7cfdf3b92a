/* What every check uses: a place to print witnesses, and its random numbers. */
#include <stdarg.h>
#include <stdio.h>

#include "theorem.h"

void hx_witness(struct hx_theorem_run *r, const char *fmt, ...)
{
    char line[256];
    va_list args;

    if (!r->witness)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    r->witness(r->arg, line);
}

uint64_t hx_theorem_random(struct hx_theorem_run *r)
{
    uint64_t z = r->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

enum hx_verdict hx_theorem_stopped(struct hx_theorem_run *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(r->stopped, sizeof(r->stopped), fmt, args);
    va_end(args);
    hx_witness(r, "%s", r->stopped);
    return HX_FAILED;
}
