/* Telling memory from other files by what the kernel alone knows about a descriptor. */
#include "memory_fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool hx_fd_is_memory(int fd)
{
    char link[64], name[16] = "";

    if (fcntl(fd, F_GET_SEALS) >= 0)
        return true;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return readlink(link, name, sizeof(name) - 1) > 0 && strncmp(name, "/dmabuf:", 8) == 0;
}
