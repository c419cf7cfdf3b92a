/* Notes and progress, see watch.h. */
#include "watch.h"

#include <stdarg.h>
#include <stdio.h>

void hx_watch_note(const struct hx_watch *w, const char *fmt, ...)
{
    char line[512];
    va_list args;

    if (!w || !w->note)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    w->note(w->arg, line);
}

void hx_watch_step(const struct hx_watch *w, const char *what, size_t done, size_t of)
{
    if (w && w->step)
        w->step(w->arg, what, done, of);
}
