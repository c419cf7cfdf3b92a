/* Signals that end the writing of a file, see interrupt.h. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped; /* written by the handler */

static void stop(int sig)
{
    stopped = sig;
}

void hx_interrupt_catch(void)
{
    const struct sigaction act = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
}

int hx_interrupted(void)
{
    return stopped != 0;
}
