/* Declared folders, and names beneath them. */
#include "host_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FOLDERS_MAX = 64, TRIES = 32 };

struct folder {
    char *path;   /* as declared, without slashes at its end */
    char *real;   /* absolute and without links, or NULL */
    int fd;       /* the folder itself, whatever becomes of its name; -1: there was none */
    bool may_write;
};

struct hx_host_folders {
    struct folder at[FOLDERS_MAX];
    size_t n;
    char *libraries, *writable; /* values of the variables, or NULL */
    bool has_dsp_path;          /* libraries is DSP_LIBRARY_PATH */
};

/* --- the list ----------------------------------------------------------------------------------------------------- */

static void add(struct hx_host_folders *f, const char *path, size_t n, bool may_write)
{
    struct folder *to = &f->at[f->n];

    while (n > 1 && path[n - 1] == '/')
        n--;
    if (!n || f->n == FOLDERS_MAX)
        return;
    to->path = strndup(path, n);
    if (!to->path)
        return;
    to->real = realpath(to->path, NULL);
    to->fd = open(to->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    to->may_write = may_write;
    f->n++;
}

static void add_list(struct hx_host_folders *f, const char *list, bool may_write)
{
    while (list && *list) {
        const size_t n = strcspn(list, ":;");

        add(f, list, n, may_write);
        list += n + (list[n] != '\0');
    }
}

static char *copy_of(const char *variable)
{
    const char *value = getenv(variable);

    return value ? strdup(value) : NULL;
}

struct hx_host_folders *hx_host_folders_of_environment(void)
{
    struct hx_host_folders *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->libraries = copy_of("DSP_LIBRARY_PATH");
    f->has_dsp_path = f->libraries != NULL;
    if (!f->libraries)
        f->libraries = copy_of("ADSP_LIBRARY_PATH");
    f->writable = copy_of("HEXRIG_HOST_FILES");
    add_list(f, f->libraries, false);
    add_list(f, f->writable, true);
    return f;
}

void hx_host_folders_free(struct hx_host_folders *f)
{
    for (size_t i = 0; f && i < f->n; i++) {
        free(f->at[i].path);
        free(f->at[i].real);
        if (f->at[i].fd >= 0)
            close(f->at[i].fd);
    }
    if (f) {
        free(f->libraries);
        free(f->writable);
    }
    free(f);
}

const char *hx_host_folders_variable(const struct hx_host_folders *f, const char *name)
{
    if (strcmp(name, "HEXRIG_HOST_FILES") == 0)
        return f->writable;
    if (strcmp(name, "ADSP_LIBRARY_PATH") == 0) /* as in the open library, the newer variable goes before it */
        return f->libraries;
    return strcmp(name, "DSP_LIBRARY_PATH") == 0 && f->has_dsp_path ? f->libraries : NULL;
}

/* Of each folder two: those of this DSP lie in a folder of its name. */
int hx_host_folders_path(const struct hx_host_folders *f, size_t i, char *path, size_t bytes)
{
    if (i / 2 >= f->n)
        return -ENOENT;
    snprintf(path, bytes, i % 2 ? "%s" : "%s/cdsp", f->at[i / 2].path);
    return 0;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* What is left of an absolute name behind a folder's; NULL: it is not beneath it. */
static const char *behind(const char *name, const char *folder)
{
    const size_t n = folder ? strlen(folder) : 0;

    if (!n || strncmp(name, folder, n) != 0 || (name[n] != '/' && name[n]))
        return NULL;
    name += n;
    while (*name == '/')
        name++;
    return *name ? name : ".";
}

static int open_beneath(int folder, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                           .mode = flags & O_CREAT ? 0666 : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;

    if (!(flags & O_PATH))
        how.flags |= O_NONBLOCK | O_NOCTTY;
    errno = EAGAIN; /* something was renamed meanwhile; who renames without end does not hold us up */
    for (int i = 0; i < TRIES && fd < 0 && (errno == EINTR || errno == EAGAIN); i++)
        fd = syscall(SYS_openat2, folder, name, &how, sizeof(how));
    if (fd >= 0)
        return (int)fd;
    return errno == EXDEV || errno == ELOOP || errno == ENOSYS ? -EACCES : -errno;
}

static int open_in(const struct folder *f, const char *name, int flags)
{
    return f->fd < 0 ? -ENOENT : open_beneath(f->fd, name, flags);
}

/* In the folder's part for this DSP.  A `cdsp` that leads out of the folder is none. */
static int open_in_part(const struct folder *f, const char *name, int flags)
{
    int part = open_in(f, "cdsp", O_PATH | O_DIRECTORY), fd;

    if (part < 0)
        return -ENOENT;
    fd = open_beneath(part, name, flags);
    close(part);
    return fd;
}

static int open_relative(const struct folder *f, const char *name, int flags)
{
    int fd = f->may_write ? -ENOENT : open_in_part(f, name, flags);

    return fd == -ENOENT ? open_in(f, name, flags) : fd;
}

/* Opens `name` in the first folder that has it. */
static int search(const struct hx_host_folders *f, const char *name, int flags, bool writes)
{
    const bool is_absolute = *name == '/';
    int rc = is_absolute || writes ? -EACCES : -ENOENT; /* what it is when no folder is asked */

    for (size_t i = 0; i < f->n; i++) {
        const struct folder *at = &f->at[i];
        const char *rest = behind(name, at->path);
        int fd;

        if (!rest)
            rest = behind(name, at->real);
        if ((writes && !at->may_write) || (is_absolute && !rest))
            continue;
        fd = is_absolute ? open_in(at, rest, flags) : open_relative(at, name, flags);
        if (fd != -ENOENT)
            return fd;
        rc = -ENOENT;
    }
    return rc;
}

int hx_host_folders_open(const struct hx_host_folders *f, const char *name, int flags)
{
    const bool writes = !(flags & O_PATH) && (flags & (O_ACCMODE | O_CREAT | O_TRUNC));

    return *name ? search(f, name, flags, writes) : -ENOENT;
}

int hx_host_folders_parent(const struct hx_host_folders *f, const char *name, const char **leaf)
{
    const char *slash = strrchr(name, '/');
    char folder[PATH_MAX];

    *leaf = slash ? slash + 1 : name;
    if (!**leaf || strcmp(*leaf, ".") == 0 || strcmp(*leaf, "..") == 0)
        return -EINVAL;
    if (snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - name) : 1, slash ? name : ".") >= (int)sizeof(folder))
        return -ENAMETOOLONG;
    return *folder ? search(f, folder, O_PATH | O_DIRECTORY, true) : -EACCES;
}
