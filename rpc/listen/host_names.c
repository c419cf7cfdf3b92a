/* apps_std: what is called by its name, without being opened as a file; and the environment. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "apps_std.h"
#include "host.h"

/* 0 or errno. */
static int look_at(const char *name, struct stat *st)
{
    int fd = hx_host_folders_open(hx_host_of_thread()->folders, name, O_PATH), rc;

    if (fd < 0)
        return -fd;
    rc = fstat(fd, st) ? errno : 0;
    close(fd);
    return rc;
}

int apps_std_stat(const char *name, apps_std_STAT *stat)
{
    struct stat st;
    int rc = look_at(name, &st);

    if (rc)
        return rc;
    *stat = (apps_std_STAT){
        .tsz = sizeof(*stat), .dev = st.st_dev, .ino = st.st_ino, .mode = st.st_mode, .nlink = (uint32_t)st.st_nlink,
        .rdev = st.st_rdev, .size = (uint64_t)st.st_size, .atime = st.st_atim.tv_sec, .atimensec = st.st_atim.tv_nsec,
        .mtime = st.st_mtim.tv_sec, .mtimensec = st.st_mtim.tv_nsec, .ctime = st.st_ctim.tv_sec,
        .ctimensec = st.st_ctim.tv_nsec,
    };
    return 0;
}

int apps_std_fileExists(const char *path, bool *exists)
{
    struct stat st;

    *exists = look_at(path, &st) == 0;
    return 0;
}

/* --- folders -------------------------------------------------------------------------------------------------------- */

/* The number that the DSP has of it counts from 1. */
static DIR **entry(const apps_std_DIR *dir)
{
    struct hx_host *h = hx_host_of_thread();
    const uint64_t i = dir->handle - 1;

    return i < HX_HOST_DIRS && h->dir[i] ? &h->dir[i] : NULL;
}

static int keep(DIR *d, apps_std_DIR *dir)
{
    struct hx_host *h = hx_host_of_thread();

    for (unsigned i = 0; i < HX_HOST_DIRS; i++)
        if (!h->dir[i]) {
            h->dir[i] = d;
            dir->handle = i + 1;
            return 0;
        }
    return EMFILE;
}

int apps_std_opendir(const char *name, apps_std_DIR *dir)
{
    int fd = hx_host_folders_open(hx_host_of_thread()->folders, name, O_RDONLY | O_DIRECTORY), rc;
    DIR *d;

    if (fd < 0)
        return -fd;
    d = fdopendir(fd);
    if (!d) {
        close(fd);
        return ENOMEM;
    }
    rc = keep(d, dir);
    if (rc)
        closedir(d);
    return rc;
}

int apps_std_closedir(const apps_std_DIR *dir)
{
    DIR **p = entry(dir), *d;

    if (!p)
        return ESTALE;
    d = *p;
    *p = NULL;
    return closedir(d) ? errno : 0;
}

int apps_std_readdir(const apps_std_DIR *dir, apps_std_DIRENT *dirent, int *bEOF)
{
    DIR **p = entry(dir);
    const struct dirent *e;

    if (!p)
        return ESTALE;
    errno = 0;
    e = readdir(*p);
    if (!e && errno)
        return errno;
    *bEOF = !e;
    if (e) {
        dirent->ino = (int)e->d_ino;
        snprintf(dirent->name, sizeof(dirent->name), "%.254s", e->d_name);
    }
    return 0;
}

/* --- changes -------------------------------------------------------------------------------------------------------- */

/* Calls `change` with the folder that holds `name`, and its name there. */
static int change_in_parent(const char *name, int (*change)(int folder, const char *leaf, int arg), int arg)
{
    const char *leaf;
    int folder = hx_host_folders_parent(hx_host_of_thread()->folders, name, &leaf), rc;

    if (folder < 0)
        return -folder;
    rc = change(folder, leaf, arg) ? errno : 0;
    close(folder);
    return rc;
}

static int make_folder(int folder, const char *leaf, int mode)
{
    return mkdirat(folder, leaf, (mode_t)mode & 0777);
}

static int rename_from(int folder, const char *leaf, int to);

int apps_std_mkdir(const char *name, int mode)
{
    return change_in_parent(name, make_folder, mode);
}

int apps_std_rmdir(const char *name)
{
    return change_in_parent(name, unlinkat, AT_REMOVEDIR);
}

/* remove(): a file, or an empty folder. */
int apps_std_fremove(const char *name)
{
    int rc = change_in_parent(name, unlinkat, 0);

    return rc == EISDIR ? apps_std_rmdir(name) : rc;
}

static __thread const char *new_leaf;

static int rename_from(int folder, const char *leaf, int to)
{
    return renameat(folder, leaf, to, new_leaf);
}

int apps_std_frename(const char *oldname, const char *newname)
{
    int to = hx_host_folders_parent(hx_host_of_thread()->folders, newname, &new_leaf), rc;

    if (to < 0)
        return -to;
    rc = change_in_parent(oldname, rename_from, to);
    close(to);
    return rc;
}

/* --- the environment ------------------------------------------------------------------------------------------------ */

/* Only variables that declare folders: the others are none of the DSP's business. */
int apps_std_getenv(const char *name, char *val, int valLen, int *valLenReq)
{
    const char *value = hx_host_folders_variable(hx_host_of_thread()->folders, name);

    if (!value)
        return ENOENT;
    *valLenReq = (int)strlen(value) + 1;
    if (valLen > 0)
        snprintf(val, (size_t)valLen, "%s", value);
    return 0;
}

int apps_std_setenv(const char *name, const char *val, int override)
{
    (void)name;
    (void)val;
    (void)override;
    return AEE_EUNSUPPORTED;
}

int apps_std_unsetenv(const char *name)
{
    (void)name;
    return AEE_EUNSUPPORTED;
}

int apps_std_get_search_paths_with_env(const char *envvarname, const char *delim, _cstring1_t *paths, int pathsLen,
                                       uint32_t *numPaths, uint16_t *maxPathLen)
{
    const struct hx_host_folders *f = hx_host_of_thread()->folders;
    char path[PATH_MAX];
    struct stat st;

    (void)delim;
    *numPaths = 0;
    *maxPathLen = 0;
    if (!hx_host_folders_variable(f, envvarname))
        return ENOENT;
    for (size_t i = 0; !hx_host_folders_path(f, i, path, sizeof(path)); i++) {
        const size_t bytes = strlen(path) + 1;

        if (stat(path, &st) || !S_ISDIR(st.st_mode))
            continue;
        if (bytes > *maxPathLen)
            *maxPathLen = (uint16_t)bytes;
        if ((int)*numPaths < pathsLen && paths[*numPaths].dataLen > 0)
            snprintf(paths[*numPaths].data, (size_t)paths[*numPaths].dataLen, "%s", path);
        ++*numPaths;
    }
    return 0;
}
