/* Telling memory from other files by what the kernel alone knows about a descriptor. */
#include "memory_fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the kernel calls it: a path, "/dmabuf:...", "socket:[1]", "anon_inode:..." */
static int name_of(int fd, char name[16])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, name, 15);
    name[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Only a dma-buf names an exporter.  Its name alone proves nothing: any file is called /dmabuf:x whose folder lies in a mount that was
 * detached, or in another mount namespace, and is the root of that mount. */
static bool names_exporter(int fd)
{
    char path[64], line[256];
    bool names = false;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    f = fopen(path, "re");
    while (f && !names && fgets(line, sizeof(line), f))
        names = strncmp(line, "exp_name:", 9) == 0;
    if (f)
        fclose(f);
    return names;
}

bool hx_fd_is_memory(int fd)
{
    char name[16];

    return fcntl(fd, F_GET_SEALS) >= 0 || (name_of(fd, name) && strncmp(name, "/dmabuf:", 8) == 0 && names_exporter(fd));
}
