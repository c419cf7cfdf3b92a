/* FARF() of host programs. */
#include "hx_farf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { RUNTIME = 1 << 5 }; /* HAP_LEVEL_RUNTIME */

static const char *const names[] = {"LOW", "MEDIUM", "HIGH", "ERROR", "FATAL", "CRITICAL", "ALWAYS"};
enum { LEVELS = sizeof(names) / sizeof(names[0]) };

/* Lowest level that is logged in any case. */
static int threshold(void)
{
    const char *want = getenv("HEXRIG_FARF");
    int level = 0;

    while (want && level < LEVELS && strcasecmp(want, names[level]) != 0)
        level++;
    return want ? level : LEVELS;
}

/* One write, so that lines of several threads stay whole. */
static void say(int compiled_in, int level, const char *file, int line, const char *fmt, va_list ap)
{
    const int plain = level & ~RUNTIME, saved = errno; /* the program may look at it after a message */
    const char *slash = strrchr(file, '/');
    char text[512];

    if (plain < 0 || plain >= LEVELS || (plain < threshold() && (!compiled_in || level & RUNTIME)))
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    fprintf(stderr, "libcdsprpc: %s: %.200s:%d: %s\n", names[plain], slash ? slash + 1 : file, line, text);
    errno = saved;
}

void HAP_debug_v2(int level, const char *file, int line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(1, level & ~RUNTIME, file, line, format, ap);
    va_end(ap);
}

void HAP_debug_runtime(int level, const char *file, int line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(0, level, file, line, format, ap);
    va_end(ap);
}

void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say(compiled_in, level, file, line, fmt, ap);
    va_end(ap);
}
