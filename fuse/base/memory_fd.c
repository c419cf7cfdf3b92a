/* Telling memory from other files by what the kernel alone knows about a descriptor, and letting go of those others. */
#include "memory_fd.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOSERS_MAX = 64 };

static _Atomic int closers; /* threads that close */

/* What the kernel calls it: a path, "/dmabuf:...", "socket:[1]", "anon_inode:..." */
static int name_of(int fd, char name[16])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, name, 15);
    name[n > 0 ? n : 0] = '\0';
    return n > 0;
}

bool hx_fd_is_memory(int fd)
{
    char name[16];

    return fcntl(fd, F_GET_SEALS) >= 0 || (name_of(fd, name) && strncmp(name, "/dmabuf:", 8) == 0);
}

struct files {
    unsigned n;
    int fd[]; /* [n] */
};

static void *close_alone(void *arg)
{
    struct files *f = arg;

    for (unsigned i = 0; i < f->n; i++)
        close(f->fd[i]);
    free(f);
    atomic_fetch_sub(&closers, 1);
    return NULL;
}

void hx_fd_drop(const int *fd, unsigned n)
{
    struct files *f = calloc(1, sizeof(*f) + n * sizeof(f->fd[0]));
    char name[16];
    pthread_t t;

    for (unsigned i = 0; i < n; i++)
        if (f && (!name_of(fd[i], name) || name[0] == '/'))
            f->fd[f->n++] = fd[i];
        else
            close(fd[i]);
    if (!f || !f->n) {
        free(f);
        return;
    }
    atomic_fetch_add(&closers, 1);
    if (pthread_create(&t, NULL, close_alone, f))
        close_alone(f);
    else
        pthread_detach(t);
}

bool hx_fd_may_take(void)
{
    return atomic_load(&closers) < CLOSERS_MAX;
}
