/* FARF messages, see dsp/include/HAP_farf.h. */
#include "HAP_farf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "machine.h"

static const char *const names[] = {"LOW", "MEDIUM", "HIGH", "ERROR", "FATAL", "ALWAYS"};

/* Lowest level that is printed.  The environment of a rig does not change while it runs. */
static int threshold(void)
{
    const char *want = getenv("HEXRIG_FARF");

    for (int i = 0; want && i < HX_FARF_ERROR; i++)
        if (strcasecmp(want, names[i]) == 0)
            return i;
    return HX_FARF_ERROR;
}

__attribute__((visibility("default"))) void hx_farf(enum hx_farf_level level, const char *file,
                                                    int line, const char *fmt, ...)
{
    char text[512];
    const char *base = strrchr(file, '/');
    va_list ap;

    if ((int)level < threshold())
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(stderr, "hexrig-dsp: pd %d: %s: %s:%d: %s\n", hx_pd_client, names[level],
            base ? base + 1 : file, line, text);
}
