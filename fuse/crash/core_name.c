/* Expands core patterns. */
#include "core_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a % means; "" for what the kernel leaves out. */
static void value_of(char letter, const struct hx_crash_brief *b, char *text, size_t bytes)
{
    char host[128] = "";

    *text = '\0';
    switch (letter) {
    case '%': snprintf(text, bytes, "%%"); break;
    case 'p': case 'P': snprintf(text, bytes, "%d", (int)b->pid); break;
    case 'i': case 'I': snprintf(text, bytes, "%d", (int)b->crash.tid); break;
    case 'u': snprintf(text, bytes, "%u", (unsigned)getuid()); break;
    case 'g': snprintf(text, bytes, "%u", (unsigned)getgid()); break;
    case 's': snprintf(text, bytes, "%d", (int)b->crash.signal); break;
    case 't': snprintf(text, bytes, "%lld", (long long)time(NULL)); break;
    case 'e': case 'f': case 'E': snprintf(text, bytes, "hexrig-pd"); break;
    case 'h':
        gethostname(host, sizeof(host) - 1);
        snprintf(text, bytes, "%s", host);
        break;
    default: break;
    }
}

int hx_core_name(const char *pattern, int uses_pid, const struct hx_crash_brief *b, char *name, size_t bytes)
{
    size_t n = 0;
    int has_pid = 0;

    if (!*pattern || *pattern == '|' || *pattern == '@')
        return -ENOENT;
    for (const char *p = pattern; *p && *p != '\n'; p++) {
        char text[160] = {*p, '\0'};

        if (*p == '%' && p[1] && p[1] != '\n') {
            has_pid |= p[1] == 'p';
            value_of(*++p, b, text, sizeof(text));
        }
        if (n + strlen(text) >= bytes)
            return -ENAMETOOLONG;
        n += (size_t)snprintf(name + n, bytes - n, "%s", text);
    }
    if (uses_pid && !has_pid && (size_t)snprintf(name + n, bytes - n, ".%d", (int)b->pid) >= bytes - n)
        return -ENAMETOOLONG;
    return n ? 0 : -ENOENT;
}
