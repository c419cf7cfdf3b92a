/* Reading /proc/.../stat up to where it can be taken apart. */
#include "proc_stat.h"

#include <stdio.h>
#include <string.h>

const char *hx_proc_stat(const char *path, char *text, size_t n)
{
    FILE *f = fopen(path, "re");
    char *end;

    if (!f)
        return NULL;
    text[fread(text, 1, n - 1, f)] = '\0';
    fclose(f);
    end = strrchr(text, ')'); /* "pid (name) S ..." */
    return end && end[1] && end[2] ? end + 2 : NULL;
}
