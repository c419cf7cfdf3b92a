/* Sockets beside a FUSE mount, see front.h.  A process can forbid others of its user to look into it (PR_SET_DUMPABLE, Yama's
 * ptrace_scope), and then the rig can neither follow its pointers nor take its descriptors.  libcdsprpc.so notices that and
 * uses these nodes: pointers' bytes and descriptors come along with the call. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front.h"

static char folder[PATH_MAX];

/* The folder, made or found empty: what a killed rig left is used again. */
static int make_folder(const struct hx_driver *d, char *why, size_t why_bytes)
{
    mode_t mode = d->access.set ? 0755 : 0700;
    struct stat st;
    int rc = 0;

    if (mkdir(folder, mode) && errno != EEXIST)
        rc = -errno;
    else if (lstat(folder, &st))
        rc = -errno;
    else if (!S_ISDIR(st.st_mode))
        rc = -ENOTDIR;
    else if (st.st_uid != geteuid())
        rc = -EPERM; /* its owner could replace what lies in it */
    else if (chmod(folder, mode)) /* there is the umask */
        rc = -errno;
    if (rc)
        snprintf(why, why_bytes, "their folder: %s", strerror(-rc));
    return rc;
}

void hx_sockets_beside_start(struct hx_driver *d)
{
    char why[1024] = "";
    size_t n = strlen(d->mount);
    int rc;

    while (n > 1 && d->mount[n - 1] == '/')
        n--;
    if ((size_t)snprintf(folder, sizeof(folder), "%.*s.socket", (int)n, d->mount) >=
        sizeof(folder)) {
        snprintf(why, sizeof(why), "the path is too long");
        rc = -ENAMETOOLONG;
    } else {
        rc = make_folder(d, why, sizeof(why));
    }
    if (!rc) {
        rc = hx_sockets_start(d, folder, why, sizeof(why));
        if (rc)
            rmdir(folder); /* fails when there is something else in it */
    }
    if (rc) {
        folder[0] = '\0';
        hx_log("%s.socket: no clients that forbid to read their memory: %s", d->mount, why);
    }
}

void hx_sockets_beside_stop(struct hx_driver *d)
{
    if (!folder[0])
        return;
    hx_sockets_stop(d);
    rmdir(folder);
    folder[0] = '\0';
}
