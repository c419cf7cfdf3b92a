/* The file of a listening socket. */
#include "socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket that nobody listens to; a file would refuse connections, too. */
static bool is_dead(int fd, const struct sockaddr_un *sa)
{
    struct stat st;

    return lstat(sa->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) && errno == ECONNREFUSED;
}

/* A socket's address holds 107 characters: a longer path goes through its folder's descriptor, as the client's does. */
int hx_socket_file_bind(struct hx_socket_file *f, int fd, const char *folder, const char *name)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct stat st;
    int dir = -1, rc;

    if ((size_t)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", folder, name) >=
        sizeof(sa.sun_path)) {
        dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
            return -errno;
        snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir, name);
    }
    rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
    if (rc == -EADDRINUSE && is_dead(fd, &sa)) {
        unlink(sa.sun_path); /* a killed rig left it */
        rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
    }
    if (!rc && lstat(sa.sun_path, &st))
        rc = -errno;
    if (!rc)
        *f = (struct hx_socket_file){st.st_dev, st.st_ino};
    if (dir >= 0)
        close(dir);
    return rc;
}

bool hx_socket_file_is_there(const struct hx_socket_file *f, const char *folder, const char *name)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return lstat(path, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

void hx_socket_file_remove(const struct hx_socket_file *f, const char *folder, const char *name)
{
    char path[4096];

    if (!hx_socket_file_is_there(f, folder, name))
        return;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
}
