/* FARF: log messages of skels and of the DSP itself, filtered by level, by the PD's mask and by source file. */
#pragma GCC visibility push(default)
#include "HAP_farf.h"
#pragma GCC visibility pop

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "farf.h"
#include "machine.h"

enum { FILES_MAX = 16, NAME_BYTES = 64, TEXT_BYTES = 512 };

static const char *const names[] = {"LOW", "MEDIUM", "HIGH", "ERROR", "FATAL", "CRITICAL",
                                    "ALWAYS"};
enum { LEVELS = sizeof(names) / sizeof(names[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects runtime */
static struct {
    unsigned mask; /* bit 1 << level */
    unsigned n_files;
    char file[FILES_MAX][NAME_BYTES];
} runtime;

static hx_farf_taker *_Atomic also_to;

/* --- what is logged ---------------------------------------------------------------------------------------------------- */

/* Lowest level that is logged in any case.  The environment of a rig does not change while it runs. */
static int threshold(void)
{
    const char *want = getenv("HEXRIG_FARF");

    for (int i = 0; want && i < LEVELS; i++)
        if (strcasecmp(want, names[i]) == 0)
            return i;
    return LEVELS;
}

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static int mask_lets_pass(int level, const char *file)
{
    int pass;

    pthread_mutex_lock(&lock);
    pass = (runtime.mask >> level & 1) != 0;
    if (pass && runtime.n_files) {
        pass = 0;
        for (unsigned i = 0; i < runtime.n_files; i++)
            pass |= strcmp(runtime.file[i], base_of(file)) == 0;
    }
    pthread_mutex_unlock(&lock);
    return pass;
}

/* On a device. */
static int is_said(int compiled_in, int level, const char *file)
{
    return level & HAP_LEVEL_RUNTIME ? mask_lets_pass(level & ~HAP_LEVEL_RUNTIME, file) : compiled_in;
}

static int is_a_level(int level)
{
    return (level & ~HAP_LEVEL_RUNTIME) >= 0 && (level & ~HAP_LEVEL_RUNTIME) < LEVELS;
}

/* One write to the pipe behind stderr, which the driver reads: it says whose line it is.  What does not fit is lost, because
 * nobody waits for a log, and counted. */
static void write_line(int level, const char *file, int line, const char *text)
{
    static _Atomic unsigned lost; /* lines since the last that was written */
    char out[TEXT_BYTES + NAME_BYTES + 256];
    const unsigned before = atomic_exchange(&lost, 0);
    int n = 0;

    if (before)
        n = snprintf(out, sizeof(out), "... %u lines lost\n", before);
    n += snprintf(out + n, sizeof(out) - (size_t)n, "%s: %.200s:%d: %s\n", names[level], base_of(file), line, text);
    if (write(STDERR_FILENO, out, (size_t)n) < 0 && errno == EAGAIN)
        atomic_fetch_add(&lost, before + 1);
}

static void log_message(int compiled_in, int level, const char *file, int line, const char *fmt, va_list ap)
{
    const int saved = errno, plain = level & ~HAP_LEVEL_RUNTIME; /* a skel may look at errno after a message */
    hx_farf_taker *taker = atomic_load(&also_to);
    char text[TEXT_BYTES];
    int said;

    if (!is_a_level(level))
        return;
    said = is_said(compiled_in, level, file);
    if (!said && plain < threshold())
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    write_line(plain, file, line, text);
    if (said && taker)
        taker(plain == HX_FARF_ALWAYS ? HAP_LEVEL_HIGH : (unsigned)plain, base_of(file), line, text);
    errno = saved;
}

void hx_farf_also_to(hx_farf_taker *taker)
{
    atomic_store(&also_to, taker);
}

void hx_farf(int compiled_in, int level, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_message(compiled_in, level, file, line, fmt, ap);
    va_end(ap);
}

void HAP_debug_v2(int level, const char *file, int line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    log_message(1, level & ~HAP_LEVEL_RUNTIME, file, line, format, ap);
    va_end(ap);
}

void HAP_debug_runtime(int level, const char *file, int line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    log_message(0, level | HAP_LEVEL_RUNTIME, file, line, format, ap);
    va_end(ap);
}

void HAP_debug(const char *msg, int level, const char *filename, int line)
{
    HAP_debug_v2(level, filename, line, "%s", msg);
}

/* --- the mask ---------------------------------------------------------------------------------------------------------- */

int HAP_setFARFRuntimeLoggingParams(unsigned int mask, const char *files[],
                                    unsigned short numberOfFiles)
{
    if (numberOfFiles > FILES_MAX)
        return AEE_EBADPARM;
    for (unsigned i = 0; i < numberOfFiles; i++)
        if (!files[i] || strlen(files[i]) >= NAME_BYTES)
            return AEE_EBADPARM;
    pthread_mutex_lock(&lock);
    runtime.mask = mask;
    runtime.n_files = numberOfFiles;
    for (unsigned i = 0; i < numberOfFiles; i++)
        snprintf(runtime.file[i], NAME_BYTES, "%s", files[i]); /* memory of a client's may have changed since */
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

/* `0xMASK [file,file...]`; bits 32 and up are for the client's side.  0 or -EINVAL. */
static int take_line(char *line)
{
    const char *files[FILES_MAX + 1];
    unsigned short n = 0;
    char *end, *save, *word;
    unsigned long long mask = strtoull(line, &end, 16);

    if (strncmp(line, "0x", 2) != 0 || end == line + 2 || !strchr(" \t\n", *end))
        return -EINVAL;
    word = strtok_r(end, ", \t\n", &save);
    while (word && n <= FILES_MAX) {
        files[n++] = word;
        word = strtok_r(NULL, ", \t\n", &save);
    }
    return HAP_setFARFRuntimeLoggingParams((unsigned)mask, files, n) ? -EINVAL : 0;
}

static int load(const char *path)
{
    char line[TEXT_BYTES] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r"); /* fopen() is the skels': reverse/host_file.c */
    int rc;

    if (!f && fd >= 0)
        close(fd);
    if (!f)
        return -ENOENT;
    rc = fgets(line, sizeof(line), f) ? take_line(line) : -EINVAL;
    fclose(f);
    if (rc)
        FARF(ERROR, "%s: not of the form `0xMASK [file,file...]`", path);
    return rc;
}

int hx_farf_load(const char *path, const char *program)
{
    char file[4096];
    int rc = -ENOENT;

    while (*path && rc == -ENOENT) {
        size_t n = strcspn(path, ":;");

        snprintf(file, sizeof(file), "%.*s/%s.farf", (int)n, path, program);
        if (n)
            rc = load(file);
        path += n + (path[n] != '\0');
    }
    return rc;
}
