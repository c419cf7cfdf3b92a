/* Front ends whose nodes are files, see access.h. */
#include "access.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *access_path(const char *node)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", dev == &access_cuse ? "/dev" : mount_dir, node);
    return path;
}

static int open_file(const char *node)
{
    return open(access_path(node), O_RDWR | O_CLOEXEC);
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
const struct access access_fuse = {"fuse", true, open_file, file_ioctl, close, text_file};
const struct access access_cuse = {"cuse", true, open_file, file_ioctl, close, access_text_by_socket};
