/* Rounds of the driver's loop in a fuzz target, and what happens between two of them: see fuzz_rounds.h. */
#include "fuzz_rounds.h"

#include <errno.h>

enum { TURNS_MAX = 600, PIECES_MAX = 10000 };

/* --- rounds and invariants -------------------------------------------------------------------------------------- */

unsigned fuzz_restarts;

void fuzz_restart(void)
{
    fuzz_restarts++;
    fuzz_dsp_forget(&fuzz_dsp);
    /* after so many the driver rests: its next start must not be due in here, however slowly a busy machine runs this */
    fuzz_driver.dsp.started_ms = hx_now_ms();
    fuzz_driver.dsp.quick_deaths = UINT16_MAX;
    hx_dsp_revive(&fuzz_driver);
    fuzz_must(fuzz_driver.dsp.pid == 0, "a DSP that failed goes down");
    fuzz_driver.dsp.restart_ms = 0;
    fuzz_driver.dsp.quick_deaths = 0;
    fuzz_dsp_up(&fuzz_dsp, &fuzz_driver);
}

void fuzz_round(void)
{
    fuzz_driver.loop.stop = 0;
    fuzz_driver.round++;
    fuzz_must(hx_loop_run(&fuzz_driver.loop) == 0, "the loop runs");
    hx_session_release_due(&fuzz_driver);
    hx_copy_round(&fuzz_driver);
    if (fuzz_driver.dsp.charged) /* a client crashed in the root PD: that is dead now, too */
        fuzz_driver.dsp.failed = true;
    if (fuzz_driver.dsp.failed)
        fuzz_restart();
    fuzz_dsp_control(&fuzz_dsp);
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (fuzz_driver.session[i])
            fuzz_session_check(fuzz_driver.session[i]);
}

static bool replies_wait(void)
{
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++) {
        const struct hx_session *s = fuzz_driver.session[i];

        if (s && s->channel.rings && s->channel.in_flight && !fuzz_dsp.pd[i].broken && !hx_ring_is_empty(&s->channel.rings->reply))
            return true;
    }
    return false;
}

void fuzz_rounds(void)
{
    unsigned n = 0;

    do {
        fuzz_must(n++ < TURNS_MAX, "a reply's turn comes");
        fuzz_round();
    } while (replies_wait());
}

/* --- copies in pieces ------------------------------------------------------------------------------------------- */

static bool is_copied(const struct fuzz_call *fc)
{
    return !fc->answers && fc->call.ctx && fc->call.ctx->copy.is_waiting;
}

bool fuzz_is_copied_in(const struct fuzz_call *fc)
{
    return is_copied(fc) && !fc->call.ctx->copy.out;
}

void fuzz_memory_changes(const struct fuzz_client *c)
{
    for (int i = 0; i < FUZZ_CALLS; i++)
        if (fuzz_calls[i].client == c && fuzz_is_copied_in(&fuzz_calls[i]))
            fuzz_calls[i].changed = true;
}

void fuzz_inputs_arrived(struct fuzz_call *fc, const struct fuzz_pd *pd)
{
    const struct hx_context *ctx = fc->call.ctx;

    fuzz_must(!fc->faulty, "a call whose input is not there does not reach the DSP");
    for (unsigned i = 0; fc->changed && i < fc->n_in; i++)
        if (!fc->buf[i].file)
            fc->buf[i].sum = fuzz_sum(pd->arena + ctx->offset + ctx->args[i].arena, fc->buf[i].len);
}

static int interrupt(struct fuzz_pd *pd, struct fuzz_call *fc, int want)
{
    (void)pd;
    (void)want;
    fuzz_forgive(fc);
    hx_call_interrupt(&fc->call);
    fuzz_strand(fc->client);
    return -HX_ERESTARTSYS;
}

static int close_client(struct fuzz_pd *pd, struct fuzz_call *fc, int want)
{
    (void)pd;
    (void)want;
    fuzz_forgive(fc);
    fuzz_close(fc->client);
    return -EPIPE;
}

/* What it has answered counts; of a PD that is part of the root PD nothing does. */
static int die(struct fuzz_pd *pd, struct fuzz_call *fc, int want)
{
    if (fc->call.session->pd == HX_PD_USER)
        fuzz_pd_die(pd);
    return want;
}

static int answer_again(struct fuzz_pd *pd, struct fuzz_call *fc, int want)
{
    fuzz_pd_reply(pd, (uint64_t)fc->call.ctx->id << HX_CTX_ID_SHIFT, want + 1);
    return want;
}

static int end_dsp(struct fuzz_pd *pd, struct fuzz_call *fc, int want)
{
    (void)pd;
    (void)want;
    fuzz_forgive(fc);
    fuzz_driver.dsp.failed = true;
    fuzz_restart();
    return -EPIPE;
}

int fuzz_copied_out(struct fuzz_pd *pd, struct fuzz_call *fc, int want, unsigned how)
{
    static int (*const disturb[])(struct fuzz_pd *, struct fuzz_call *, int) = {NULL, interrupt, close_client, die, answer_again, end_dsp};
    const unsigned which = how >> 2, at = how & 3;

    for (unsigned i = 0; is_copied(fc); i++) {
        fuzz_must(i < PIECES_MAX, "a copy ends");
        if (i == at && which && which < sizeof(disturb) / sizeof(disturb[0]))
            want = disturb[which](pd, fc, want);
        fuzz_round();
    }
    return want;
}
