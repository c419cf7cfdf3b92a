/* The transport by ioctl() on a file (FUSE, CUSE, a phone), and the choice between it and a socket. */
#include "hx_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hx_rig_internal.h"

struct file_transport {
    struct hx_transport base;
    int fd;
};

/* ECONNABORTED is FUSE's word for a server that ended with a call under way. */
static int last_error(void)
{
    return errno == ECONNABORTED ? -ECONNRESET : -errno;
}

static int file_ioctl(struct hx_transport *t, unsigned long cmd, void *arg)
{
    int rc = ioctl(((struct file_transport *)t)->fd, cmd, arg);

    /* libc turns -1..-4095 into -1 and errno and leaves everything below alone, so -1 always means errno */
    return rc == -1 ? last_error() : rc;
}

static void file_close(struct hx_transport *t)
{
    close(((struct file_transport *)t)->fd);
    free(t);
}

static const struct hx_transport_ops file_ops = {file_ioctl, file_close};

int hx_transport_file_open(const char *node, struct hx_transport **out)
{
    struct file_transport *t = calloc(1, sizeof(*t));
    int rc;

    if (!t)
        return -ENOMEM;
    t->base.ops = &file_ops;
    t->fd = open(node, O_RDWR | O_CLOEXEC);
    if (t->fd < 0) {
        rc = last_error();
        free(t);
        return rc;
    }
    *out = &t->base;
    return 0;
}

int hx_transport_open(const char *node, struct hx_transport **out)
{
    char instead[HX_PATH_BYTES];
    struct stat st;

    if (stat(node, &st))
        return -errno;
    if (S_ISSOCK(st.st_mode))
        return hx_transport_socket_open(node, out);
    if (S_ISREG(st.st_mode) && hx_transport_detour(node, instead, sizeof(instead)) == 0)
        return hx_transport_socket_open(instead, out);
    return hx_transport_file_open(node, out);
}
