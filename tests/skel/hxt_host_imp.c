/* A skel that uses its host, as code for a phone would: fopen() and the rest of libc, apps_std, apps_mem, adspmsgd_apps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_mmap.h"
#include "adspmsgd_apps.h"
#include "apps_mem.h"
#include "apps_std.h"
#include "hxt_host.h"

static char of_open[64];

int hxt_host_open(const char *uri, remote_handle64 *h)
{
    FILE *f = fopen("hxt_host.txt", "r");

    (void)uri;
    if (f) {
        of_open[fread(of_open, 1, sizeof(of_open) - 1, f)] = '\0';
        fclose(f);
    }
    *h = 1;
    return AEE_SUCCESS;
}

int hxt_host_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

int hxt_host_read(remote_handle64 h, const char *name, int offset, bool end, unsigned char *bytes, int bytesLen, int *n,
                  int *error)
{
    FILE *f;

    (void)h;
    *n = 0;
    if (strcmp(name, "open") == 0) {
        *n = (int)strlen(of_open);
        memcpy(bytes, of_open, *n < bytesLen ? (size_t)*n : (size_t)bytesLen);
        return AEE_SUCCESS;
    }
    errno = 0;
    f = fopen(name, "r");
    if (f && fseek(f, offset, end ? SEEK_END : SEEK_SET) == 0)
        *n = (int)fread(bytes, 1, (size_t)bytesLen, f);
    *error = f ? 0 : errno;
    if (f)
        fclose(f);
    return AEE_SUCCESS;
}

int hxt_host_write(remote_handle64 h, const char *name, const char *mode, const unsigned char *bytes, int bytesLen, int *error)
{
    FILE *f;

    (void)h;
    errno = 0;
    f = fopen(name, mode);
    *error = f ? 0 : errno;
    if (f && fwrite(bytes, 1, (size_t)bytesLen, f) != (size_t)bytesLen)
        *error = errno;
    if (f && fclose(f))
        *error = errno;
    return AEE_SUCCESS;
}

int hxt_host_mix(remote_handle64 h, const char *name, char *line, int lineLen, int *at, bool *at_end)
{
    FILE *f = fopen(name, "r+");
    int c;

    (void)h;
    if (!f)
        return AEE_EFILE;
    if (!fgets(line, lineLen, f))
        return AEE_EFILE;
    c = fgetc(f);
    ungetc(c, f);
    *at = (int)ftell(f);
    fseek(f, 0, SEEK_END);
    fprintf(f, "%d and %s", 42, "more");
    rewind(f);
    while (fgetc(f) != EOF)
        continue;
    *at_end = feof(f) != 0;
    return fclose(f) ? AEE_EFILE : AEE_SUCCESS;
}

static int size_by_stat(const char *name, int64_t *value)
{
    apps_std_STAT st;
    int rc = apps_std_stat(name, &st);

    *value = rc ? -1 : (int64_t)st.size;
    return rc;
}

static int size_by_fread(const char *name, int64_t *value)
{
    unsigned char piece[1000];
    apps_std_FILE f;
    int n = 0, eof = 0, rc = apps_std_fopen(name, "r", &f);

    *value = 0;
    if (rc)
        return rc;
    while (!rc && !eof) {
        rc = apps_std_fread(f, piece, sizeof(piece), &n, &eof);
        *value += n;
    }
    apps_std_fclose(f);
    return rc ? rc : apps_std_fclose(f) == EBADF ? 0 : -1;
}

static int length(const char *name, int64_t *value)
{
    uint64_t bytes = 0;
    apps_std_FILE f;
    int rc = apps_std_fopen_with_env("DSP_LIBRARY_PATH", ";", name, "r", &f);

    if (rc)
        return rc;
    rc = apps_std_flen(f, &bytes);
    *value = (int64_t)bytes;
    apps_std_fclose(f);
    return rc;
}

static int open_many(const char *name, int64_t *value)
{
    apps_std_FILE f[1000];
    int rc = 0, n = 0;

    while (n < 1000 && !(rc = apps_std_fopen(name, "r", &f[n])))
        n++;
    *value = n;
    while (n)
        apps_std_fclose(f[--n]);
    return rc;
}

int hxt_host_ask(remote_handle64 h, int what, const char *name, int64_t *value, int *result)
{
    bool exists = false;

    (void)h;
    switch (what) {
    case 1: *result = size_by_fread(name, value); break;
    case 2: *result = size_by_stat(name, value); break;
    case 3:
        *result = apps_std_fileExists(name, &exists);
        *value = exists;
        break;
    case 4: *result = apps_std_mkdir(name, 0700); break;
    case 5: *result = apps_std_rmdir(name); break;
    case 6: *result = apps_std_fremove(name); break;
    case 7: *result = apps_std_setenv(name, "x", 1); break;
    case 8: *result = length(name, value); break;
    case 9: *result = open_many(name, value); break;
    case 10: *result = apps_std_print_string(name); break;
    default: return AEE_EBADPARM;
    }
    return AEE_SUCCESS;
}

int hxt_host_rename(remote_handle64 h, const char *from, const char *to, int *result)
{
    (void)h;
    *result = apps_std_frename(from, to);
    return AEE_SUCCESS;
}

int hxt_host_list(remote_handle64 h, const char *name, char *names, int namesLen, int *result)
{
    apps_std_DIRENT e;
    apps_std_DIR d;
    int end = 0;
    size_t n = 0;

    (void)h;
    *result = apps_std_opendir(name, &d);
    if (*result)
        return AEE_SUCCESS;
    while (!*result && !end && n < (size_t)namesLen) {
        *result = apps_std_readdir(&d, &e, &end);
        if (!*result && !end)
            n += (size_t)snprintf(names + n, (size_t)namesLen - n, "%s ", e.name);
    }
    if (apps_std_closedir(&d) || apps_std_closedir(&d) != ESTALE)
        *result = -1;
    return AEE_SUCCESS;
}

int hxt_host_env(remote_handle64 h, const char *name, char *value, int valueLen, int *result)
{
    int need = 0;

    (void)h;
    *result = apps_std_getenv(name, value, valueLen, &need);
    return AEE_SUCCESS;
}

int hxt_host_file_memory(remote_handle64 h, const char *name, unsigned char *bytes, int bytesLen, int *n, int *result)
{
    int fd = -1;
    void *va = NULL;

    (void)h;
    *result = apps_std_fopen_with_env_fd("ADSP_LIBRARY_PATH", ";", name, "r", &fd, n);
    if (*result)
        return AEE_SUCCESS;
    *result = HAP_mmap_get(fd, &va, NULL);
    if (!*result) {
        memcpy(bytes, va, *n < bytesLen ? (size_t)*n : (size_t)bytesLen);
        HAP_mmap_put(fd);
    }
    if (apps_std_fclose_fd(fd))
        *result = -1;
    return AEE_SUCCESS;
}

int hxt_host_memory(remote_handle64 h, int bytes, uint64_t *address, int *result)
{
    uint64_t host = 0;
    volatile unsigned char *p;

    (void)h;
    *result = apps_mem_request_map64(25, 0, 0x1000, 0, bytes, &host, address);
    if (*result)
        return AEE_SUCCESS;
    p = (void *)(uintptr_t)*address;
    for (int i = 0; i < bytes; i += 4096)
        p[i] = (unsigned char)(i >> 12);
    for (int i = 0; i < bytes; i += 4096)
        if (p[i] != (unsigned char)(i >> 12))
            *result = -1;
    if (apps_mem_request_unmap64(*address, bytes) || apps_mem_request_unmap64(*address, bytes) != AEE_ENOSUCHMAP)
        *result = -2;
    return AEE_SUCCESS;
}

int hxt_host_memory_when(remote_handle64 h, const char *name, int bytes, uint64_t *address, int *result)
{
    bool exists = false;

    if (apps_std_mkdir("waits", 0700))
        return AEE_EFILE;
    while (!exists)
        if (apps_std_fileExists(name, &exists))
            return AEE_EFILE;
    return hxt_host_memory(h, bytes, address, result);
}

int hxt_host_take_memory(remote_handle64 h, int64_t bytes, uint64_t *address, int *result)
{
    uint64_t host = 0;

    (void)h;
    *result = apps_mem_request_map64(25, 0, 0x1000, 0, bytes, &host, address);
    return AEE_SUCCESS;
}

int hxt_host_give_memory(remote_handle64 h, uint64_t address, int *result)
{
    (void)h;
    *result = apps_mem_request_unmap64(address, 0);
    return AEE_SUCCESS;
}

int hxt_host_say(remote_handle64 h, const char *text)
{
    struct {
        uint32_t level;
        uint16_t line, thread;
        char text[218], file[30];
    } message = {.level = 2, .line = 77, .file = "skel.c"};

    (void)h;
    snprintf(message.text, sizeof(message.text), "%s", text);
    return adspmsgd_apps_log((const unsigned char *)&message, sizeof(message));
}

int hxt_host_open_name(remote_handle64 h, const char *name, int *result)
{
    remote_handle handle;

    (void)h;
    *result = remote_handle_open(name, &handle);
    return AEE_SUCCESS;
}

int hxt_host_call(remote_handle64 h, unsigned int handle, int in_bytes, int out_bytes, unsigned int *sum, int *result)
{
    unsigned char *in = malloc((size_t)in_bytes + 1), *out = calloc(1, (size_t)out_bytes + 1);
    remote_arg pra[2] = {{.buf = {in, (size_t)in_bytes}}, {.buf = {out, (size_t)out_bytes}}};

    (void)h;
    for (int i = 0; i < in_bytes; i++)
        in[i] = (unsigned char)i;
    *result = remote_handle_invoke(handle, REMOTE_SCALARS_MAKE(0, 1, 1), pra);
    *sum = 0;
    for (int i = 0; i < out_bytes; i++)
        *sum += out[i];
    free(in);
    free(out);
    return AEE_SUCCESS;
}

int hxt_host_farf(remote_handle64 h, const char *text)
{
    (void)h;
    FARF(ALWAYS, "always %s", text);
    FARF(RUNTIME_LOW, "run-time %s", text);
    return AEE_SUCCESS;
}
