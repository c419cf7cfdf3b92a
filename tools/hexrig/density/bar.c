/* How far a sweep is. */
#include "bar.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/report.h"

enum { WIDEST = 30, NARROWEST = 5, DEFAULT_COLUMNS = 80 };

static int columns(void)
{
    struct winsize w;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : DEFAULT_COLUMNS;
}

void hx_bar_begin(struct hx_bar *b, double all)
{
    *b = (struct hx_bar){.on = isatty(STDERR_FILENO), .start = hx_report_clock(), .all = all};
}

void hx_bar_step(struct hx_bar *b, double work, size_t i, size_t n)
{
    static const char marks[] = "##############################";
    char tail[64];
    unsigned left;
    int width, full;

    b->done += work;
    if (!b->on)
        return;
    left = b->done > 0 ? (unsigned)((hx_report_clock() - b->start) / b->done * (b->all - b->done) + 0.5) : 0;
    if (b->done > 0)
        snprintf(tail, sizeof(tail), "%zu/%zu rows, %u:%02u:%02u left", i, n, left / 3600, left / 60 % 60, left % 60);
    else
        snprintf(tail, sizeof(tail), "%zu/%zu rows", i, n);
    width = columns() - (int)sizeof("[] ") - 32;
    width = width > WIDEST ? WIDEST : width;
    full = b->all > 0 ? (int)(width * b->done / b->all) : 0;
    if (width >= NARROWEST)
        fprintf(stderr, "\r[%.*s%*s] %s\033[K", full, marks, width - full, "", tail);
    else
        fprintf(stderr, "\r%.*s\033[K", columns() - 1, tail);
}

void hx_bar_clear(const struct hx_bar *b)
{
    if (b->on)
        fputs("\r\033[K", stderr);
}
