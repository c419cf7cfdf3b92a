/* Notes and progress on stderr, see terminal_watch.h. */
#include "terminal_watch.h"

#include <stdio.h>
#include <unistd.h>

static void note(void *cmd, const char *line)
{
    fprintf(stderr, "hexrig %s: %s\n", (const char *)cmd, line);
}

static void step(void *cmd, const char *what, size_t done, size_t of)
{
    static const char marks[] = "##############################";
    const int width = sizeof(marks) - 1, full = (int)((size_t)width * done / of);

    (void)cmd;
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r[%.*s%*s] %s %zu/%zu\033[K", full, marks, width - full, "", what, done, of);
    if (done == of)
        fputs("\r\033[K", stderr); /* the line was for waiting */
}

struct hx_watch hx_terminal_watch(const char *cmd)
{
    return (struct hx_watch){note, step, (void *)cmd};
}
