/* One-line reasons, see error.h. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

int (hx_error_set)(struct hx_error *err, int rc, const char *fmt, ...)
{
    va_list args;

    if (!err)
        return rc;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    return rc;
}
