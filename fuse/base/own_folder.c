/* Asks the kernel for the path of this program. */
#include "own_folder.h"

#include <string.h>
#include <unistd.h>

void hx_own_folder(char *path, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", path, bytes - 1);
    char *slash;

    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}
