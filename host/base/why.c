/* One-line reasons, see why.h. */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>

int hx_why_set(struct hx_why *why, int rc, const char *fmt, ...)
{
    va_list args;

    if (!why)
        return rc;
    va_start(args, fmt);
    vsnprintf(why->text, sizeof(why->text), fmt, args);
    va_end(args);
    return rc;
}
