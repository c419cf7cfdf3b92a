/* Preloaded into a rig's programs: makes the n-th call of a function fail, as the kernel or libc might.  Everything is found and
 * mapped at the start, because the DSP's sandbox allows little later. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fail.h"

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);

static struct hxt_fail *state; /* NULL: not for this program */
static pid_t (*real_fork)(void);
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(HXT_FAIL_STATE), *program = getenv(HXT_FAIL_PROGRAM);
    void *p;
    int fd;

    real_fork = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    real_pthread_create = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    if (!path || !program || strcmp(program, program_invocation_short_name) != 0)
        return;
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    p = (void *)syscall(SYS_mmap, NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        state = p;
}

static int fails(enum hxt_fail_function f)
{
    uint32_t n;

    if (!state || !state->armed || state->function != (uint32_t)f)
        return 0;
    n = ++state->calls;
    if (n != state->nth && !(state->all && n > state->nth))
        return 0;
    state->failed++;
    return 1;
}

EXPORT void *malloc(size_t bytes)
{
    if (!fails(HXT_FAIL_malloc))
        return __libc_malloc(bytes);
    errno = ENOMEM;
    return NULL;
}

EXPORT void *calloc(size_t n, size_t bytes)
{
    if (!fails(HXT_FAIL_calloc))
        return __libc_calloc(n, bytes);
    errno = ENOMEM;
    return NULL;
}

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    if (!fails(HXT_FAIL_mmap))
        return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* The others say -1. */
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

EXPORT pid_t fork(void)
{
    return fails(HXT_FAIL_fork) ? refused(EAGAIN) : real_fork();
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

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return fails(HXT_FAIL_pthread_create) ? EAGAIN : real_pthread_create(t, attr, run, arg);
}
