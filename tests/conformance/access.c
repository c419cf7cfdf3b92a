/* Front ends whose nodes are files, see access.h. */
#include "access.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int open_in(const char *folder, const char *node)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, node);
    return open(path, O_RDWR | O_CLOEXEC);
}

static int open_mounted(const char *node)
{
    return open_in(mount_dir, node);
}

static int open_device(const char *node)
{
    return open_in("/dev", node);
}

static int file_ioctl(int h, unsigned long cmd, void *arg)
{
    return ioctl(h, cmd, arg);
}

static char *text_file(const char *node)
{
    enum { ROOM = 1 << 16 };
    char path[128], *text = malloc(ROOM);
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", mount_dir, node);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && text)
        n = read(fd, text, ROOM - 1);
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

/* A character device has no text nodes beside it: the mount folder holds the socket front end's nodes. */
const struct access access_fuse = {"fuse", true, open_mounted, file_ioctl, close, text_file};
const struct access access_cuse = {"cuse", true, open_device, file_ioctl, close, access_text_by_socket};
