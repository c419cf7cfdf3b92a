/* Whether the DSP is up, and ending it from anywhere: it goes down at the end of the loop's round (dsp_process.c). */
#include <signal.h>

#include "driver.h"

bool hx_dsp_is_up(const struct hx_dsp_process *p)
{
    return p->pid != 0;
}

const char *hx_dsp_why_down(const struct hx_dsp_process *p)
{
    if (p->pid)
        return "";
    return p->why[0] ? p->why : "it is being restarted";
}

void hx_dsp_crash(struct hx_dsp_process *p, bool charged)
{
    if (p->pid <= 0)
        return;
    p->charged |= charged;
    kill(p->pid, SIGKILL);
}

void hx_dsp_fail(struct hx_driver *d, const char *why)
{
    struct hx_dsp_process *p = &d->dsp;

    if (!p->pid || p->failed)
        return;
    hx_log("the DSP (pid %d) is ended: %s", p->pid, why);
    p->failed = true;
    hx_dsp_crash(p, false);
}
