/* The driver's event loop, see loop.h. */
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

enum { BATCH = 16 };

/* Events of the round that is being served; hx_loop_del() strikes out what must not be called any more. */
static struct epoll_event batch[BATCH];
static int batch_n;

uint64_t hx_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int hx_loop_init(struct hx_loop *l)
{
    memset(l, 0, sizeof(*l));
    l->tick_ms = -1;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    return l->epoll < 0 ? -errno : 0;
}

int hx_loop_add(struct hx_loop *l, struct hx_watch *w)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = w};

    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, w->fd, &e) ? -errno : 0;
}

int hx_loop_want_write(struct hx_loop *l, struct hx_watch *w, int on)
{
    struct epoll_event e = {.events = EPOLLIN | (on ? EPOLLOUT : 0), .data.ptr = w};

    return epoll_ctl(l->epoll, EPOLL_CTL_MOD, w->fd, &e) ? -errno : 0;
}

void hx_loop_del(struct hx_loop *l, struct hx_watch *w)
{
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
    for (int i = 0; i < batch_n; i++)
        if (batch[i].data.ptr == w)
            batch[i].data.ptr = NULL;
}

int hx_loop_run(struct hx_loop *l)
{
    while (!l->stop) {
        batch_n = epoll_wait(l->epoll, batch, BATCH, l->tick_ms);
        if (batch_n < 0) {
            batch_n = 0;
            if (errno != EINTR)
                return -errno;
        }
        for (int i = 0; i < batch_n; i++) {
            struct hx_watch *w = batch[i].data.ptr;
            if (w)
                w->ready(w->arg);
        }
        batch_n = 0;
        if (l->tick)
            l->tick(l->tick_arg);
    }
    return 0;
}
