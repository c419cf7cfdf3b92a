/* Finds share/hexrig of this installation. */
#include "share.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *hx_share(const char *name)
{
    char exe[4096], *path;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    for (int up = 0; n > 0 && up < 2; up++) { /* drop the program's name, then bin */
        while (n > 0 && exe[n - 1] != '/')
            n--;
        n -= n > 1;
    }
    if (n <= 0 || asprintf(&path, "%.*s/share/hexrig%s%s", (int)n, exe, *name ? "/" : "", name) < 0)
        return NULL;
    return path;
}
