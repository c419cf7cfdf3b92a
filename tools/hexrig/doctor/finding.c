/* hexrig doctor: what a check leaves. */
#include <stdarg.h>
#include <stdio.h>

#include "checks.h"

void hx_found(struct hx_finding *f, enum hx_doctor_state state, const char *fmt, ...)
{
    va_list ap;

    f->state = state;
    va_start(ap, fmt);
    vsnprintf(f->found, sizeof(f->found), fmt, ap);
    va_end(ap);
}

void hx_to_do(struct hx_finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->to_do, sizeof(f->to_do), fmt, ap);
    va_end(ap);
}
