/* Preloaded into a program: makes the n-th call of a function fail, as the kernel or libc might.  Everything is found and
 * mapped at the start, because the DSP's sandbox allows little later. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fail.h"

#define EXPORT __attribute__((visibility("default")))
/* Libraries made for 64-bit offsets call some functions by other names. */
#define OTHER_NAME(name, f) EXPORT __typeof__(f) name __attribute__((alias(#f)));

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);
/* What <stdio.h> makes of getline(). */
extern ssize_t __getdelim(char **line, size_t *room, int end, FILE *f);

static struct hxt_fail *state; /* NULL: not for this program */
static int for_children;       /* and only for the processes that it forks */

/* libc's own.  Constructors of other libraries may call before ours has run. */
#define REALS(X) \
    X(fork) X(posix_spawn) X(pthread_create) X(fopen) X(opendir) X(fread) X(fgets) X(__getdelim) X(fwrite) X(fflush) X(fclose)
#define REAL_VARIABLE(f) static __typeof__(&f) real_##f;
REALS(REAL_VARIABLE)
#define FIND_IT(f) (__typeof__(&f))dlsym(RTLD_NEXT, #f)
#define FIND(f) real_##f = FIND_IT(f);
#define REAL(f) (real_##f ? real_##f : FIND_IT(f))

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(HXT_FAIL_STATE), *program = getenv(HXT_FAIL_PROGRAM);
    void *p;
    int fd;

    REALS(FIND)
    if (!path || !program)
        return;
    for_children = strcmp(program, HXT_FAIL_PD) == 0;
    if (strcmp(for_children ? "hexrig-dsp" : program, program_invocation_short_name) != 0)
        return;
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    p = (void *)syscall(SYS_mmap, NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        state = p;
}

EXPORT struct hxt_fail *hxt_fail_state(void)
{
    return state;
}

static int fails(enum hxt_fail_function f)
{
    uint32_t n;

    if (!state || for_children || !state->armed)
        return 0;
    n = ++state->calls[f];
    if (!state->nth || state->function != (uint32_t)f || (n != state->nth && !(state->all && n > state->nth)))
        return 0;
    state->failed++;
    return 1;
}

/* --- memory */
static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

EXPORT void *malloc(size_t bytes)
{
    return fails(HXT_FAIL_malloc) ? no_memory() : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t n, size_t bytes)
{
    return fails(HXT_FAIL_calloc) ? no_memory() : __libc_calloc(n, bytes);
}

EXPORT void *realloc(void *p, size_t bytes)
{
    return fails(HXT_FAIL_realloc) ? no_memory() : __libc_realloc(p, bytes);
}

EXPORT void *reallocarray(void *p, size_t n, size_t bytes)
{
    size_t all;

    return __builtin_mul_overflow(n, bytes, &all) ? no_memory() : realloc(p, all);
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    return fails(HXT_FAIL_aligned_alloc) ? no_memory() : __libc_memalign(align, bytes);
}

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    if (!fails(HXT_FAIL_mmap))
        return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}
OTHER_NAME(mmap64, mmap)

/* --- descriptors */
static int refused(int error)
{
    errno = error;
    return -1;
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
    return fails(HXT_FAIL_memfd_create) ? refused(EMFILE) : (int)syscall(SYS_memfd_create, name, flags);
}

EXPORT int eventfd(unsigned value, int flags)
{
    return fails(HXT_FAIL_eventfd) ? refused(EMFILE) : (int)syscall(SYS_eventfd2, value, flags);
}

EXPORT int socketpair(int domain, int type, int protocol, int fd[2])
{
    return fails(HXT_FAIL_socketpair) ? refused(EMFILE) : (int)syscall(SYS_socketpair, domain, type, protocol, fd);
}

EXPORT int pipe2(int fd[2], int flags)
{
    return fails(HXT_FAIL_pipe) ? refused(EMFILE) : (int)syscall(SYS_pipe2, fd, flags);
}

EXPORT int pipe(int fd[2])
{
    return pipe2(fd, 0);
}

EXPORT int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    return fails(HXT_FAIL_epoll_ctl) ? refused(ENOSPC) : (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    return fails(HXT_FAIL_sendmsg) ? refused(ENOBUFS) : syscall(SYS_sendmsg, fd, m, flags);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    return fails(HXT_FAIL_recvmsg) ? refused(ENOMEM) : syscall(SYS_recvmsg, fd, m, flags);
}

/* --- processes and threads */
EXPORT pid_t fork(void)
{
    pid_t pid = fails(HXT_FAIL_fork) ? refused(EAGAIN) : REAL(fork)();

    if (pid == 0)
        for_children = 0;
    return pid;
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
                       char *const argv[], char *const env[])
{
    return fails(HXT_FAIL_posix_spawn) ? EAGAIN : REAL(posix_spawn)(pid, path, actions, attr, argv, env);
}

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return fails(HXT_FAIL_pthread_create) ? EAGAIN : REAL(pthread_create)(t, attr, run, arg);
}

/* --- files */
EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t); /* garbage, and not looked at, where there is none */
    va_end(args);
    return fails(HXT_FAIL_open) ? refused(EMFILE) : (int)syscall(SYS_openat, folder, path, flags, mode);
}
OTHER_NAME(openat64, openat)

EXPORT int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    return openat(AT_FDCWD, path, flags, mode);
}
OTHER_NAME(open64, open)

EXPORT FILE *fopen(const char *path, const char *mode)
{
    return fails(HXT_FAIL_open) ? (refused(EMFILE), NULL) : REAL(fopen)(path, mode);
}
OTHER_NAME(fopen64, fopen)

EXPORT DIR *opendir(const char *path)
{
    return fails(HXT_FAIL_open) ? (refused(EMFILE), NULL) : REAL(opendir)(path);
}

EXPORT int ftruncate(int fd, off_t bytes)
{
    return fails(HXT_FAIL_ftruncate) ? refused(ENOSPC) : (int)syscall(SYS_ftruncate, fd, bytes);
}
OTHER_NAME(ftruncate64, ftruncate)

/* --- reading and writing */

/* An eventfd and its like have no kind of file.  They may be busy, but do not fail; nor does /dev/fuse, as long as it is mounted. */
static int io_fails(enum hxt_fail_function f, int fd)
{
    int error = errno, fallible;
    struct stat st;

    if (!state || for_children || !state->armed)
        return 0;
    fallible = fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) != 0 && !S_ISCHR(st.st_mode);
    errno = error;
    return fallible && fails(f);
}

EXPORT ssize_t read(int fd, void *p, size_t bytes)
{
    return io_fails(HXT_FAIL_read, fd) ? refused(EIO) : syscall(SYS_read, fd, p, bytes);
}

EXPORT ssize_t pread(int fd, void *p, size_t bytes, off_t at)
{
    return io_fails(HXT_FAIL_read, fd) ? refused(EIO) : syscall(SYS_pread64, fd, p, bytes, at);
}
OTHER_NAME(pread64, pread)

EXPORT ssize_t write(int fd, const void *p, size_t bytes)
{
    return io_fails(HXT_FAIL_write, fd) ? refused(ENOSPC) : syscall(SYS_write, fd, p, bytes);
}

EXPORT ssize_t pwrite(int fd, const void *p, size_t bytes, off_t at)
{
    return io_fails(HXT_FAIL_write, fd) ? refused(ENOSPC) : syscall(SYS_pwrite64, fd, p, bytes, at);
}
OTHER_NAME(pwrite64, pwrite)

/* glibc's <bits/types/struct_FILE.h> has the member, its libio.h the flags. */
enum { STDIO_ERROR = 0x20, STDIO_WRITES = 0x800 };

static int stream_fails(enum hxt_fail_function f, FILE *stream, int error)
{
    if (!fails(f))
        return 0;
    stream->_flags |= STDIO_ERROR;
    errno = error;
    return 1;
}

EXPORT size_t fread(void *p, size_t bytes, size_t n, FILE *f)
{
    return stream_fails(HXT_FAIL_read, f, EIO) ? 0 : REAL(fread)(p, bytes, n, f);
}

EXPORT char *fgets(char *line, int bytes, FILE *f)
{
    return stream_fails(HXT_FAIL_read, f, EIO) ? NULL : REAL(fgets)(line, bytes, f);
}

EXPORT ssize_t __getdelim(char **line, size_t *room, int end, FILE *f)
{
    return stream_fails(HXT_FAIL_read, f, EIO) ? -1 : REAL(__getdelim)(line, room, end, f);
}

EXPORT size_t fwrite(const void *p, size_t bytes, size_t n, FILE *f)
{
    return stream_fails(HXT_FAIL_write, f, ENOSPC) ? 0 : REAL(fwrite)(p, bytes, n, f);
}

EXPORT int fflush(FILE *f)
{
    return f && f->_flags & STDIO_WRITES && stream_fails(HXT_FAIL_write, f, ENOSPC) ? EOF : REAL(fflush)(f);
}

/* The stream is closed even so.  One that was flushed, or given up by __fpurge(), has nothing to lose. */
EXPORT int fclose(FILE *f)
{
    int failed = f->_flags & STDIO_WRITES && __fpending(f) && stream_fails(HXT_FAIL_write, f, ENOSPC), rc = REAL(fclose)(f);

    return failed ? refused(ENOSPC) : rc;
}
