/* Asking the root PD whether it is there, and giving it up when it does not say so. */
#include "dsp_alive.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/proc_stat.h"
#include "driver.h"

enum { CHECK_MS = 250, CHECKS_STILL = 4, CHECKS_OVERDUE = 20, CHECKS_STARVED = 240 };
enum { TICKS_FAIR = 2 }; /* of processor time from one check to the next, 25 at most: who wants more and gets less starves */

/* What the kernel says about a process. */
struct process {
    char state;     /* of its only thread, as in /proc/PID/stat; '?': unknown */
    uint64_t ticks; /* processor time */
};

static struct process look_at(pid_t pid)
{
    struct process p = {.state = '?'};
    uint64_t user = 0, system = 0;
    char path[64], text[512];
    const char *stat;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    stat = hx_proc_stat(path, text, sizeof(text));
    if (stat && sscanf(stat, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &p.state, &user, &system) == 3)
        p.ticks = user + system;
    return p;
}

void hx_dsp_alive_begin(struct hx_dsp_alive *a)
{
    *a = (struct hx_dsp_alive){.checked_ms = hx_now_ms()};
}

static void ask(struct hx_driver *d)
{
    struct hx_dsp_alive *a = &d->dsp.alive;

    if (hx_channel_control(&d->dsp.channel, HX_CTL_PING, -1, a->asked + 1, NULL, 0) == 0)
        a->asked++;
    else
        a->overdue++; /* its socket is full, or there is no memory: it is asked again */
}

/* It has not answered for another CHECK_MS. */
static void wait_on(struct hx_driver *d)
{
    struct hx_dsp_alive *a = &d->dsp.alive;
    const struct process p = look_at(d->dsp.pid);
    const bool runs = p.state == 'R' || p.state == 'D' || p.state == '?' || p.ticks != a->ticks;
    const bool starves = p.state == 'R' && p.ticks - a->ticks < TICKS_FAIR;

    a->ticks = p.ticks;
    if (p.state == 't') { /* a debugger holds it */
        a->overdue = a->still = a->starved = 0;
        return;
    }
    if (starves)
        a->starved++;
    else
        a->overdue++;
    a->still = runs ? 0 : a->still + 1;
    if (a->still >= CHECKS_STILL || a->overdue >= CHECKS_OVERDUE || a->starved >= CHECKS_STARVED)
        hx_dsp_fail(d, p.state == 'T' ? "it was stopped" : "it does not answer");
}

void hx_dsp_alive_check(struct hx_driver *d)
{
    struct hx_dsp_alive *a = &d->dsp.alive;
    uint64_t now;

    if (!hx_dsp_is_up(&d->dsp))
        return;
    now = hx_now_ms();
    if (now - a->checked_ms < CHECK_MS)
        return;
    a->checked_ms = now;
    if (a->answered != a->asked || a->overdue)
        wait_on(d);
    if (a->answered == a->asked)
        ask(d);
}

void hx_dsp_alive_pong(struct hx_driver *d, uint64_t number)
{
    struct hx_dsp_alive *a = &d->dsp.alive;

    if (number != a->asked)
        return;
    a->answered = number;
    a->overdue = a->still = a->starved = 0;
    hx_context_replies(d, &d->dsp.channel, HX_RING_SLOTS);
    for (unsigned id = 1; id < FASTRPC_CTX_MAX; id++) {
        const struct hx_context *ctx = d->context[id];

        if (ctx && ctx->channel == &d->dsp.channel && ctx->sent && ctx->pings < number) {
            hx_dsp_fail(d, "a request or its reply got lost in the ring");
            return;
        }
    }
}
