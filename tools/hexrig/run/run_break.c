/* SIGINT as a wish to end a reply. */
#include "run_break.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wished, active; /* active: of the thread that makes replies */

static void on_interrupt(int sig)
{
    if (!atomic_exchange(&wished, 1))
        return;
    signal(sig, SIG_DFL);
    raise(sig);
}

static void mask(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(how, &set, NULL);
}

void hx_break_begin(void)
{
    const struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};

    atomic_store(&wished, 0);
    atomic_store(&active, 1);
    mask(SIG_BLOCK);
    sigaction(SIGINT, &act, NULL);
}

int hx_break_wished(void)
{
    if (!atomic_load(&active))
        return 0;
    mask(SIG_UNBLOCK); /* one that waits is taken here */
    mask(SIG_BLOCK);
    return atomic_load(&wished);
}

void hx_break_end(void)
{
    if (!atomic_load(&active))
        return;
    mask(SIG_UNBLOCK);
    signal(SIGINT, SIG_DFL);
    atomic_store(&active, 0);
}
