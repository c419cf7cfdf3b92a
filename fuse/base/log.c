/* The rig's log, and its limit for lines that clients can cause. */
#include "log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hx_log_tag.h"
#include "loop.h"

enum { LINES_MAX = 10, WINDOW_MS = 10000, KINDS = 32 };

struct kind {
    const char *fmt; /* NULL = free */
    uint64_t since_ms;
    unsigned lines; /* in the window, written or not */
};

static struct kind kinds[KINDS];
static unsigned n_held; /* kinds with lines that were not written */

static void put(const char *fmt, va_list ap)
{
    const char *tag = getenv(HX_LOG_TAG);
    char line[1024];

    vsnprintf(line, sizeof(line), fmt, ap);
    fprintf(stderr, "hexrig-fuse%s: %s\n", tag ? tag : "", line);
}

void hx_log(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put(fmt, ap);
    va_end(ap);
}

static void end_window(struct kind *k)
{
    if (k->lines > LINES_MAX) {
        hx_log("... and %u more like this in %d s: \"%.60s\"", k->lines - LINES_MAX,
               WINDOW_MS / 1000, k->fmt);
        n_held--;
    }
    *k = (struct kind){0};
}

/* The kind's entry, or a free one, or that of the oldest kind. */
static struct kind *find(const char *fmt)
{
    struct kind *best = &kinds[0];

    for (struct kind *k = kinds; k < kinds + KINDS; k++) {
        if (k->fmt == fmt)
            return k;
        if (k->since_ms < best->since_ms)
            best = k;
    }
    end_window(best);
    return best;
}

void hx_log_client(const char *fmt, ...)
{
    uint64_t now = hx_now_ms();
    struct kind *k = find(fmt);
    va_list ap;

    if (k->fmt && now - k->since_ms >= WINDOW_MS)
        end_window(k);
    if (!k->fmt)
        *k = (struct kind){.fmt = fmt, .since_ms = now};
    if (++k->lines > LINES_MAX) {
        n_held += k->lines == LINES_MAX + 1;
        return;
    }
    va_start(ap, fmt);
    put(fmt, ap);
    va_end(ap);
}

void hx_log_tick(void)
{
    if (!n_held)
        return;
    for (struct kind *k = kinds; k < kinds + KINDS; k++)
        if (k->lines > LINES_MAX && hx_now_ms() - k->since_ms >= WINDOW_MS)
            end_window(k);
}
