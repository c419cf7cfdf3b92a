/* apps_std: open files.  A result that is not 0 is an errno, as in the open library. */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "apps_std.h"

/* NULL: the DSP has no such file. */
static FILE **entry(apps_std_FILE file)
{
    struct hx_host *host = hx_host_of_thread();
    const unsigned i = (unsigned)file - HX_HOST_FIRST_FILE; /* the DSP says any number */

    return i < HX_HOST_FILES && host->file[i] ? &host->file[i] : NULL;
}

static FILE *stream(apps_std_FILE file)
{
    FILE **p = entry(file);

    return p ? *p : NULL;
}

static int keep(FILE *f, apps_std_FILE *file)
{
    struct hx_host *host = hx_host_of_thread();

    for (int i = 0; i < HX_HOST_FILES; i++)
        if (!host->file[i]) {
            host->file[i] = f;
            *file = HX_HOST_FIRST_FILE + i;
            return 0;
        }
    return EMFILE;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* fopen()'s modes as open()'s flags; -1: it is none. */
static int flags_of(const char *mode)
{
    static const struct {
        char letter;
        int flags;
    } first[] = {{'r', 0}, {'w', O_CREAT | O_TRUNC}, {'a', O_CREAT | O_APPEND}};
    int flags = -1;

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (*mode == first[i].letter)
            flags = first[i].flags;
    if (flags < 0)
        return -1;
    flags |= strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    return strchr(mode, 'x') ? flags | O_EXCL : flags;
}

/* Only files: what is behind anything else could keep the listener waiting. */
static int open_stream(const char *name, const char *mode, FILE **f)
{
    const int flags = flags_of(mode);
    const char plain[] = {*mode, strchr(mode, '+') ? '+' : '\0', '\0'};
    struct stat st;
    int fd;

    if (flags < 0)
        return EINVAL;
    fd = hx_host_folders_open(hx_host_of_thread()->folders, name, flags);
    if (fd < 0)
        return -fd;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return S_ISDIR(st.st_mode) ? EISDIR : EACCES;
    }
    *f = fdopen(fd, plain);
    if (*f) { /* the DSP's side has a buffer; here exit() of a forked child would write it, or move the file's position */
        setvbuf(*f, NULL, _IONBF, 0);
        return 0;
    }
    close(fd);
    return ENOMEM;
}

int apps_std_fopen(const char *name, const char *mode, apps_std_FILE *psout)
{
    FILE *f;
    int rc = open_stream(name, mode, &f);

    if (!rc) {
        rc = keep(f, psout);
        if (rc)
            fclose(f);
    }
    return rc;
}

/* Whichever variable is named, the folders are those that it declares; the search knows no other. */
int apps_std_fopen_with_env(const char *envvarname, const char *delim, const char *name, const char *mode, apps_std_FILE *psout)
{
    (void)delim;
    return hx_host_folders_variable(hx_host_of_thread()->folders, envvarname) ? apps_std_fopen(name, mode, psout) : ENOENT;
}

/* The old number goes on to mean the file, too. */
int apps_std_freopen(apps_std_FILE file, const char *name, const char *mode, apps_std_FILE *psout)
{
    FILE **p = entry(file), *f;
    int rc = p ? open_stream(name, mode, &f) : EBADF;

    if (rc)
        return rc;
    fclose(*p);
    *p = f;
    *psout = file;
    return 0;
}

int apps_std_fdopen_decrypt(apps_std_FILE file, apps_std_FILE *psout)
{
    (void)psout; /* the licence manager's key is a phone's */
    return stream(file) ? AEE_EUNSUPPORTED : EBADF;
}

int apps_std_fclose(apps_std_FILE file)
{
    FILE **p = entry(file), *f;

    if (!p)
        return EBADF;
    f = *p;
    *p = NULL;
    return fclose(f) ? errno : 0;
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

/* Result of a transfer of n bytes; the end of the file is told, and then forgotten. */
static int transferred(FILE *f, size_t n, int *bytes, int *bEOF)
{
    if (!n && ferror(f)) {
        clearerr(f);
        return errno ? errno : EIO;
    }
    *bEOF = feof(f) != 0;
    *bytes = (int)n;
    clearerr(f);
    return 0;
}

int apps_std_fread(apps_std_FILE file, unsigned char *buf, int bufLen, int *bytesRead, int *bEOF)
{
    FILE *f = stream(file);

    errno = 0;
    return f ? transferred(f, fread(buf, 1, (size_t)bufLen, f), bytesRead, bEOF) : EBADF;
}

int apps_std_fwrite(apps_std_FILE file, const unsigned char *buf, int bufLen, int *bytesWritten, int *bEOF)
{
    FILE *f = stream(file);

    errno = 0;
    return f ? transferred(f, fwrite(buf, 1, (size_t)bufLen, f), bytesWritten, bEOF) : EBADF;
}

int apps_std_fgets(apps_std_FILE file, unsigned char *buf, int bufLen, int *bEOF)
{
    FILE *f = stream(file);

    if (!f)
        return EBADF;
    errno = 0;
    *bEOF = 0;
    if (bufLen <= 0 || fgets((char *)buf, bufLen, f))
        return 0;
    *bEOF = feof(f) != 0;
    return ferror(f) ? errno : 0;
}

int apps_std_fflush(apps_std_FILE file)
{
    FILE *f = stream(file);

    return !f ? EBADF : fflush(f) ? errno : 0;
}

int apps_std_fsync(apps_std_FILE file)
{
    return apps_std_fflush(file);
}

/* --- where, and what ------------------------------------------------------------------------------------------------ */

/* A position of ours: 8 bytes. */
int apps_std_fgetpos(apps_std_FILE file, unsigned char *pos, int posLen, int *posLenReq)
{
    FILE *f = stream(file);
    int64_t at = f ? ftello(f) : 0;

    if (!f || at < 0)
        return f ? errno : EBADF;
    *posLenReq = sizeof(at);
    memcpy(pos, &at, posLen < (int)sizeof(at) ? (size_t)posLen : sizeof(at));
    return 0;
}

int apps_std_fsetpos(apps_std_FILE file, const unsigned char *pos, int posLen)
{
    FILE *f = stream(file);
    int64_t at;

    if (!f || posLen != sizeof(at))
        return EBADF;
    memcpy(&at, pos, sizeof(at));
    return fseeko(f, at, SEEK_SET) ? errno : 0;
}

int apps_std_ftell(apps_std_FILE file, int *pos)
{
    FILE *f = stream(file);
    off_t at = f ? ftello(f) : 0;

    if (!f || at < 0)
        return f ? errno : EBADF;
    *pos = (int)at;
    return at > INT32_MAX ? EOVERFLOW : 0;
}

int apps_std_fseek(apps_std_FILE file, int offset, apps_std_SEEK whence)
{
    static const int of[] = {[APPS_STD_SEEK_SET] = SEEK_SET, [APPS_STD_SEEK_CUR] = SEEK_CUR, [APPS_STD_SEEK_END] = SEEK_END};
    FILE *f = stream(file);

    if (!f)
        return EBADF;
    if ((unsigned)whence >= sizeof(of) / sizeof(of[0]))
        return EINVAL;
    return fseek(f, offset, of[whence]) ? errno : 0;
}

int apps_std_rewind(apps_std_FILE file)
{
    return apps_std_fseek(file, 0, APPS_STD_SEEK_SET);
}

int apps_std_flen(apps_std_FILE file, uint64_t *len)
{
    FILE *f = stream(file);
    struct stat st;

    if (!f)
        return EBADF;
    fflush(f); /* what was written counts */
    if (fstat(fileno(f), &st))
        return errno;
    *len = (uint64_t)st.st_size;
    return 0;
}

int apps_std_ftrunc(apps_std_FILE file, int offset)
{
    FILE *f = stream(file);

    if (!f)
        return EBADF;
    return fflush(f) || ftruncate(fileno(f), offset) ? errno : 0;
}

int apps_std_feof(apps_std_FILE file, int *bEOF)
{
    FILE *f = stream(file);

    if (!f)
        return EBADF;
    *bEOF = feof(f) != 0;
    clearerr(f);
    return 0;
}

int apps_std_ferror(apps_std_FILE file, int *err)
{
    FILE *f = stream(file);

    if (!f)
        return EBADF;
    *err = ferror(f);
    return 0;
}

int apps_std_clearerr(apps_std_FILE file)
{
    FILE *f = stream(file);

    if (!f)
        return EBADF;
    clearerr(f);
    return 0;
}
