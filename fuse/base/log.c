/* The rig's log, and its limit for lines that clients can cause. */
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

enum { LINES_MAX = 10, WINDOW_MS = 10000, KINDS = 32 };

struct kind {
    const char *fmt; /* NULL = free */
    uint64_t since_ms;
    unsigned lines; /* in the window, written or not */
};

static struct kind kinds[KINDS];
static unsigned n_held; /* kinds with lines that were not written */

static char tag[32];       /* behind the program's name */
static _Atomic unsigned lost; /* lines since the last one that was written */

void hx_log_set_tag(const char *text)
{
    snprintf(tag, sizeof(tag), "%s", text);
}

/* What makes a terminal show a line as another one: marks of writing direction (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069),
 * separators of lines and paragraphs (U+2028, U+2029). */
static bool misleads(const unsigned char *p)
{
    return p[0] == 0xe2 && ((p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
                            (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

/* Bytes of the well-formed UTF-8 sequence at p[0..n), 0: none, a control character of the second set, or one that misleads. */
static size_t utf8(const unsigned char *p, size_t n)
{
    const size_t len = p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;

    if (!len || p[0] >= 0xf5 || len > n || (p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0) ||
        (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len == 3 && misleads(p) ? 0 : len;
}

/* Bytes at p[0..n) that appear as they are, 0: the first one appears as \xNN. */
static size_t plain(const unsigned char *p, size_t n)
{
    return (p[0] >= ' ' && p[0] < 0x7f) || p[0] == '\t' ? 1 : p[0] < 0x80 ? 0 : utf8(p, n);
}

/* out: [4 * n + 1], or NULL.  Bytes that were written, or would be. */
static size_t escape(char *out, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t at = 0;

    for (size_t i = 0; i < n;) {
        const size_t len = plain(p + i, n - i);

        if (out && len)
            memcpy(out + at, p + i, len);
        else if (out)
            snprintf(out + at, 5, "\\x%02x", p[i]);
        at += len ? len : 4;
        i += len ? len : 1;
    }
    return at;
}

size_t hx_log_length(const char *text, size_t n)
{
    return escape(NULL, text, n);
}

/* In one piece.  Whoever reads the other end of a pipe or a terminal may have stopped, for which nobody here waits: a pipe that
 * takes something takes a page without waiting, and no line is longer. */
static int write_out(const char *line, size_t n)
{
    struct pollfd p = {.fd = 2, .events = POLLOUT};

    if (poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT))
        return -EAGAIN;
    return write(2, line, n) == (ssize_t)n ? 0 : -EIO;
}

int hx_log_bytes(const char *program, const char *text, size_t n)
{
    char line[4 * HX_LOG_LINE + 256];
    const unsigned before = atomic_exchange(&lost, 0);
    int at = 0, rc;

    if (before) /* in the same piece, or it might be lost as well */
        at = snprintf(line, sizeof(line), "%s%s: ... %u lines lost\n", program, tag, before);
    at += snprintf(line + at, sizeof(line) - (size_t)at, "%s%s: ", program, tag);
    at += (int)escape(line + at, text, n < HX_LOG_LINE ? n : HX_LOG_LINE);
    line[at++] = '\n';
    rc = write_out(line, (size_t)at);
    if (rc)
        atomic_fetch_add(&lost, before + 1);
    return rc;
}

static void put(const char *fmt, va_list ap)
{
    char text[HX_LOG_LINE + 1];
    int n = vsnprintf(text, sizeof(text), fmt, ap);

    hx_log_bytes("hexrig-fuse", text, n > 0 ? strlen(text) : 0);
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
