/* fopen() of skels: the host's file, under the folders that its DSP_LIBRARY_PATH or ADSP_LIBRARY_PATH lists.  It takes the place of
 * libc's, which hexrig-dsp is in front of, and gives a stream of libc's whose bytes come and go through apps_std; so everything that
 * takes a FILE works with it.  What the host does not give to read, and everything where there is no listener, is libc's to open,
 * within the PD's sandbox. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps_std.h"
#include "base/export.h"
#include "host_calls.h"

HX_EXPORT FILE *fopen(const char *restrict name, const char *restrict mode);
/* What fopen() is called by in code with _FILE_OFFSET_BITS=64. */
HX_EXPORT FILE *fopen64(const char *restrict name, const char *restrict mode);

/* Bytes of one call: reading goes on where one ends. */
enum { CALL_BYTES = 1 << 20, ERRNO_MAX = 133 };

struct host_file {
    apps_std_FILE file;
    off64_t at;
};

/* A result of apps_std as errno: the host's own, or EIO. */
static int as_errno(int result)
{
    return result > 0 && result <= ERRNO_MAX ? result : EIO;
}

static int bounded(size_t n)
{
    return n < CALL_BYTES ? (int)n : CALL_BYTES;
}

static ssize_t read_host(void *cookie, char *to, size_t n)
{
    struct host_file *f = cookie;
    int got = 0, eof = 0, rc = apps_std_fread(f->file, (unsigned char *)to, bounded(n), &got, &eof);

    if (rc || got < 0 || (size_t)got > n) {
        errno = as_errno(rc);
        return -1;
    }
    f->at += got;
    return got;
}

/* All of it: libc takes less for an error, and so it does 0, but not -1. */
static ssize_t write_host(void *cookie, const char *from, size_t n)
{
    struct host_file *f = cookie;
    size_t done = 0;

    while (done < n) {
        int put = 0, eof = 0;
        int rc = apps_std_fwrite(f->file, (const unsigned char *)from + done, bounded(n - done), &put, &eof);

        if (rc || put <= 0 || (size_t)put > n - done) {
            errno = as_errno(rc);
            break;
        }
        done += (size_t)put;
        f->at += put;
    }
    return (ssize_t)done;
}

/* Only a seek from the end has to ask where that is: not every listener knows how to tell. */
static int seek_host(void *cookie, off64_t *offset, int whence)
{
    struct host_file *f = cookie;
    off64_t to = whence == SEEK_CUR ? f->at + *offset : *offset;
    int pos = 0, rc = 0;

    if (whence == SEEK_CUR && !*offset) {
        *offset = f->at;
        return 0;
    }
    if (to != (int)to || (whence != SEEK_END && to < 0)) {
        errno = to < 0 ? EINVAL : EOVERFLOW;
        return -1;
    }
    rc = apps_std_fseek(f->file, (int)to, whence == SEEK_END ? APPS_STD_SEEK_END : APPS_STD_SEEK_SET);
    if (!rc && whence == SEEK_END)
        rc = apps_std_ftell(f->file, &pos);
    if (rc) {
        errno = as_errno(rc);
        return -1;
    }
    f->at = *offset = whence == SEEK_END ? pos : to;
    return 0;
}

static int close_host(void *cookie)
{
    struct host_file *f = cookie;
    int rc = apps_std_fclose(f->file);

    free(f);
    if (rc)
        errno = as_errno(rc);
    return rc ? -1 : 0;
}

static FILE *open_host(const char *name, const char *mode)
{
    static const cookie_io_functions_t of_host = {read_host, write_host, seek_host, close_host};
    struct host_file *f = calloc(1, sizeof(*f));
    FILE *stream = NULL;
    int rc;

    if (!f)
        return NULL;
    rc = apps_std_fopen_with_env("ADSP_LIBRARY_PATH", ";", name, mode, &f->file);
    if (rc) {
        errno = as_errno(rc);
    } else {
        stream = fopencookie(f, mode, of_host);
        if (!stream) {
            apps_std_fclose(f->file);
            errno = EINVAL;
        }
    }
    if (!stream)
        free(f);
    return stream;
}

FILE *fopen(const char *restrict name, const char *restrict mode)
{
    static FILE *(*of_libc)(const char *, const char *);
    FILE *stream = NULL;
    int error = 0;

    if (!of_libc)
        *(void **)&of_libc = dlsym(RTLD_NEXT, "fopen");
    if (hx_host_listens()) {
        stream = open_host(name, mode);
        error = errno;
    }
    if (stream || (error && (*mode != 'r' || strchr(mode, '+'))))
        return stream; /* what the host does not let it write is not written here either */
    stream = of_libc(name, mode);
    if (!stream && error)
        errno = error;
    return stream;
}

FILE *fopen64(const char *restrict name, const char *restrict mode)
{
    return fopen(name, mode);
}
