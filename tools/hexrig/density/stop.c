/* Remembers a signal and passes it on. */
#include "stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t signalled, worker;

static void on_signal(int sig)
{
    signalled = sig;
    if (worker > 0)
        kill(worker, SIGTERM);
}

static void handle(void (*handler)(int sig))
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction a = {.sa_handler = handler};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &a, NULL);
}

void hx_stop_catch(void)
{
    handle(on_signal);
}

void hx_stop_release(void)
{
    handle(SIG_DFL);
}

void hx_stop_with(pid_t child)
{
    worker = child;
    if (signalled && child > 0) /* it came before the child was known */
        kill(child, SIGTERM);
}

int hx_stop_signal(void)
{
    return signalled;
}
