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

bool hx_fd_is_memory(int fd)
{
    char name[16];

    return fcntl(fd, F_GET_SEALS) >= 0 || (name_of(fd, name) && strncmp(name, "/dmabuf:", 8) == 0);
}
