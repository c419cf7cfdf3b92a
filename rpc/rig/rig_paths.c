/* Where things of a rig lie: run-time folder, default mount, log, and the making of such folders. */
#include "hx_rig_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The sticky bit has no effect in a folder of a single user, and survives when its rig is killed: it marks folders that we made. */
#define MADE_MODE (S_ISVTX | 0700)

int hx_rig_made_dir(const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX &&
           st.st_uid == geteuid();
}

int hx_rig_make_dir(const char *dir, int *created)
{
    struct stat st;

    *created = mkdir(dir, MADE_MODE) == 0;
    if (*created)
        return 0;
    if (errno != EEXIST)
        return -errno;
    if (lstat(dir, &st))
        return -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return st.st_uid == geteuid() ? 0 : -EPERM;
}

int hx_rig_join(char *path, size_t bytes, const char *dir, const char *name)
{
    return (size_t)snprintf(path, bytes, "%s/%s", dir, name) < bytes ? 0 : -ENAMETOOLONG;
}

/* Removes slashes at the end, so that a suffix names something beside the folder and not in it. */
static void trim(char *dir)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        dir[--n] = '\0';
}

int hx_rig_mount_dir(const char *mount, char *dir, size_t bytes, char *why, size_t why_bytes)
{
    char cwd[PATH_MAX];
    int n;

    if (!mount) {
        hx_rig_default_mount(dir, bytes);
        return 0;
    }
    if (!*mount || (*mount != '/' && !getcwd(cwd, sizeof(cwd))))
        return hx_rig_why(-ENOENT, why, why_bytes, "mount '%s': %s", mount, strerror(ENOENT));
    n = snprintf(dir, bytes, "%s%s%s", *mount == '/' ? "" : cwd, *mount == '/' ? "" : "/", mount);
    if (n < 0 || (size_t)n >= bytes)
        return hx_rig_why(-ENAMETOOLONG, why, why_bytes,
                          "mount: a path of %d bytes, at most %zu: %s", n, bytes - 1, mount);
    trim(dir);
    return 0;
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
