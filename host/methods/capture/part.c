/* Files that replace others when they are complete, see part.h. */
#include "part.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(struct hx_error *err, const char *path, int rc)
{
    return hx_error_set(err, rc, "%s: cannot write the capture: %s", path,
                        rc == -EBUSY ? "another engine writes it" : strerror(-rc));
}

static const char *kind(mode_t mode)
{
    return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : S_ISBLK(mode) || S_ISCHR(mode) ? "a device" : "special";
}

static int refuse_kind(struct hx_error *err, const char *path, mode_t mode)
{
    return S_ISDIR(mode) ? cannot(err, path, -EISDIR)
                         : hx_error_set(err, -EEXIST, "%s: cannot write the capture: it is %s, no regular file", path,
                                        kind(mode));
}

/* The file's first bytes tell people what they nearly lost. */
static int refuse_content(struct hx_error *err, const char *path, const unsigned char *head, size_t n)
{
    size_t printable = 0;

    while (printable < n && isprint(head[printable]))
        printable++;
    if (!printable)
        return hx_error_set(err, -EEXIST, "%s: cannot write the capture: the file exists and is no capture: it begins with "
                            "byte 0x%02x", path, head[0]);
    return hx_error_set(err, -EEXIST, "%s: cannot write the capture: the file exists and is no capture: it begins with '%.*s'",
                        path, (int)printable, (const char *)head);
}

/* An open regular file that is empty, or begins as it should, may be written over. */
static int check_content(int fd, const char *path, const void *magic, size_t n, struct hx_error *err)
{
    unsigned char head[16];
    const ssize_t got = pread(fd, head, n, 0);

    if (got < 0)
        return cannot(err, path, -errno);
    if (got == 0 || ((size_t)got == n && memcmp(head, magic, n) == 0))
        return 0;
    return refuse_content(err, path, head, (size_t)got);
}

/* *mode: the target's permissions; 0: there is no file yet. */
static int check_target(const char *path, const void *magic, size_t n, mode_t *mode, struct hx_error *err)
{
    struct stat st;
    int fd, rc;

    *mode = 0;
    if (stat(path, &st))
        return errno == ENOENT ? 0 : cannot(err, path, -errno);
    if (!S_ISREG(st.st_mode))
        return refuse_kind(err, path, st.st_mode);
    fd = open(path, O_RDWR | O_CLOEXEC); /* a write-protected one stays, too */
    if (fd < 0)
        return cannot(err, path, -errno);
    rc = check_content(fd, path, magic, n, err);
    close(fd);
    *mode = st.st_mode & 0777;
    return rc;
}

/* The lock is that of the file whose name is still FILE.part: whoever had it before may just have renamed it. */
static int lock(int fd, const char *part)
{
    struct stat mine, named;

    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return -EBUSY;
    if (fstat(fd, &mine))
        return -errno;
    return stat(part, &named) || named.st_dev != mine.st_dev || named.st_ino != mine.st_ino ? -EBUSY : 0;
}

/* What a run that was killed has left there is written over. */
static int prepare_part(int fd, const char *path, const char *part, const void *magic, size_t n, mode_t mode,
                        struct hx_error *err)
{
    struct stat st;
    int rc;

    if (fstat(fd, &st))
        return cannot(err, path, -errno);
    if (!S_ISREG(st.st_mode))
        return refuse_kind(err, part, st.st_mode);
    rc = lock(fd, part);
    if (rc)
        return cannot(err, path, rc);
    rc = check_content(fd, part, magic, n, err);
    if (!rc && (ftruncate(fd, 0) || (mode && fchmod(fd, mode))))
        rc = cannot(err, path, -errno);
    return rc;
}

static int open_part(struct hx_capture_part *p, const char *path, const void *magic, size_t n, mode_t mode,
                     struct hx_error *err)
{
    const int fd = open(p->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    int rc;

    if (fd < 0)
        return cannot(err, path, -errno);
    rc = prepare_part(fd, path, p->part, magic, n, mode, err);
    if (!rc && !(p->file = fdopen(fd, "wb")))
        rc = cannot(err, path, -errno);
    if (rc)
        close(fd);
    return rc;
}

static void release(struct hx_capture_part *p)
{
    free(p->target);
    free(p->part);
    *p = (struct hx_capture_part){NULL, NULL, NULL};
}

int hx_capture_part_open(struct hx_capture_part *p, const char *path, const void *magic, size_t n,
                         struct hx_error *err)
{
    mode_t mode;
    int rc = check_target(path, magic, n, &mode, err);

    *p = (struct hx_capture_part){NULL, NULL, NULL};
    if (rc)
        return rc;
    p->target = realpath(path, NULL);
    if (!p->target)
        p->target = strdup(path); /* there is none yet */
    if (!p->target || asprintf(&p->part, "%s.part", p->target) < 0) {
        p->part = NULL;
        rc = cannot(err, path, -ENOMEM);
    }
    if (!rc)
        rc = open_part(p, path, magic, n, mode, err);
    if (rc)
        release(p);
    return rc;
}

int hx_capture_part_keep(struct hx_capture_part *p)
{
    int rc = fflush(p->file) || rename(p->part, p->target) ? -errno : 0;

    if (rc)
        unlink(p->part);
    if (fclose(p->file) && !rc) /* after the rename: it gives up the lock */
        rc = -errno;
    release(p);
    return rc;
}

void hx_capture_part_drop(struct hx_capture_part *p)
{
    unlink(p->part);
    fclose(p->file);
    release(p);
}
