/* A skel that crashes in one way or another, on lines that tests/fuse/test_crash.c looks for by their comments. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "AEEStdErr.h"
#include "hx_msg.h"
#include "hxt_boom.h"
#include "qurt_thread.h"

enum { STACK_BYTES = 64 << 10 };

int hxt_boom_open(const char *uri, remote_handle64 *h)
{
    (void)uri;
    *h = 1;
    return AEE_SUCCESS;
}

int hxt_boom_close(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}

static __attribute__((noinline)) void hxt_store(volatile int *p)
{
    *p = 7; /* line of write */
}

int hxt_boom_divide(remote_handle64 h, int by)
{
    const volatile int hundred = 100;

    (void)h;
    return hundred / by; /* line of divide */
}

int hxt_boom_write(remote_handle64 h, unsigned int address)
{
    (void)h;
    hxt_store((volatile int *)(uintptr_t)address);
    return AEE_SUCCESS;
}

int hxt_boom_give_up(remote_handle64 h)
{
    (void)h;
    abort(); /* line of give_up */
}

int hxt_boom_jump(remote_handle64 h, unsigned int address)
{
    void (*volatile f)(void) = (void (*)(void))(uintptr_t)address;

    (void)h;
    f(); /* line of jump */
    return AEE_SUCCESS;
}

static __attribute__((noinline)) int deeper(int depth)
{
    volatile char room[4096];

    room[0] = (char)depth;
    return depth ? deeper(depth - 1) + room[0] : 0;
}

int hxt_boom_recurse(remote_handle64 h, int depth)
{
    (void)h;
    return deeper(depth) == -1;
}

static void thread(void *unused)
{
    (void)unused;
    hxt_store((volatile int *)16);
}

int hxt_boom_in_a_thread(remote_handle64 h)
{
    static char stack[STACK_BYTES];
    qurt_thread_attr_t attr;
    qurt_thread_t t;
    int status;

    (void)h;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_stack_addr(&attr, stack);
    qurt_thread_attr_set_stack_size(&attr, sizeof(stack));
    qurt_thread_attr_set_priority(&attr, 100);
    if (qurt_thread_create(&t, &attr, thread, NULL))
        return AEE_EFAILED;
    return qurt_thread_join(t, &status);
}

/* Which descriptor is the control socket it does not know: all that are sockets get the message. */
int hxt_boom_pretend(remote_handle64 h)
{
    const struct hx_ctl ctl = {.op = HX_CTL_CRASH};

    (void)h;
    for (int fd = 0; fd < 64; fd++)
        send(fd, &ctl, sizeof(ctl), MSG_NOSIGNAL | MSG_DONTWAIT);
    return AEE_SUCCESS;
}

int hxt_boom_fine(remote_handle64 h)
{
    (void)h;
    return AEE_SUCCESS;
}
