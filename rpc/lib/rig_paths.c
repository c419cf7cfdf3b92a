#include "hx_rig_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hx_transport.h"

int hx_rig_why(int rc, char *why, size_t why_bytes, const char *fmt, ...)
{
    va_list ap;

    if (why && why_bytes) {
        va_start(ap, fmt);
        vsnprintf(why, why_bytes, fmt, ap);
        va_end(ap);
    }
    return rc;
}

/* NULL unless it is set and this user can write there: `runuser` and `su` keep the variable of somebody else. */
static const char *xdg_dir(void)
{
    const char *x = getenv("XDG_RUNTIME_DIR");

    if (!x || *x != '/' || strlen(x) > HX_PATH_BYTES / 2 || access(x, W_OK | X_OK))
        return NULL;
    return x;
}

void hx_rig_runtime_dir(char *dir, size_t bytes)
{
    const char *x = xdg_dir();

    snprintf(dir, bytes, "%s", x ? x : "/tmp");
}

void hx_rig_default_mount(char *dir, size_t bytes)
{
    const char *x = xdg_dir();

    if (x)
        snprintf(dir, bytes, "%s/hexrig", x);
    else
        snprintf(dir, bytes, "/tmp/hexrig-%u", (unsigned)getuid());
}

void hx_rig_log_path(char *path, size_t bytes)
{
    const char *x = xdg_dir();

    if (x)
        snprintf(path, bytes, "%s/hexrig.log", x);
    else
        snprintf(path, bytes, "/tmp/hexrig-%u.log", (unsigned)getuid());
}

int hx_rig_make_dir(const char *dir, int *created)
{
    struct stat st;

    *created = mkdir(dir, 0700) == 0;
    if (*created)
        return 0;
    if (errno != EEXIST)
        return -errno;
    if (lstat(dir, &st))
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return st.st_uid == geteuid() ? 0 : -EPERM;
}

int hx_rig_join(char *path, size_t bytes, const char *dir, const char *name)
{
    return (size_t)snprintf(path, bytes, "%s/%s", dir, name) < bytes ? 0 : -ENAMETOOLONG;
}

const char *hx_rig_node_kind(const char *node)
{
    struct stat st;

    if (stat(node, &st))
        return NULL;
    if (S_ISSOCK(st.st_mode))
        return "socket";
    if (S_ISCHR(st.st_mode))
        return "cuse";
    errno = EINVAL;
    return S_ISREG(st.st_mode) ? "fuse" : NULL;
}

static int read_file(const char *path, char **text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0, room = 65536;
    char *t;
    ssize_t got = 1;

    if (fd < 0)
        return -errno;
    t = malloc(room + 1);
    while (t && got > 0 && n < HX_FRAME_MAX_TEXT) {
        if (n == room) {
            char *bigger = realloc(t, 2 * room + 1);

            if (!bigger) {
                free(t);
                t = NULL;
                break;
            }
            t = bigger;
            room *= 2;
        }
        got = read(fd, t + n, room - n);
        n += got > 0 ? (size_t)got : 0;
    }
    if (t && got < 0) {
        int rc = -errno;

        free(t);
        close(fd);
        return rc;
    }
    close(fd);
    if (!t)
        return -ENOMEM;
    t[n] = '\0';
    *text = t;
    return 0;
}

int hx_rig_read_node(const char *node, const char *name, char **text)
{
    const char *kind = hx_rig_node_kind(node);
    char path[HX_PATH_BYTES];
    const char *slash = strrchr(node, '/');

    if (!kind)
        return -errno;
    if (strcmp(kind, "socket") == 0)
        return hx_transport_socket_read(node, name, text);
    if ((size_t)snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - node + 1) : 0, node,
                         name) >= sizeof(path))
        return -ENAMETOOLONG;
    return read_file(path, text);
}

char *hx_rig_value(const char *text, const char *key, char *buf, size_t bytes)
{
    size_t n = strlen(key);

    buf[0] = '\0';
    while (text && *text) {
        size_t line = strcspn(text, "\n");

        if (line > n && strncmp(text, key, n) == 0 && text[n] == '=') {
            snprintf(buf, bytes, "%.*s", (int)(line - n - 1), text + n + 1);
            break;
        }
        text += line + (text[line] == '\n');
    }
    return buf;
}
