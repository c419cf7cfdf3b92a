/* Opening and closing sessions, and what happens to them when their PD or the DSP ends. */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "driver.h"
#include "hx_stage.h"

const char *hx_session_state_name(enum hx_session_state state)
{
    static const char *const names[] = {"new", "creating", "up", "exited", "dead", "closing"};

    return names[state];
}

int hx_session_error(const struct hx_session *s)
{
    static const int error[] = {
        [HX_SESSION_NEW] = AEE_DSP(AEE_EBADSTATE), [HX_SESSION_CREATING] = AEE_DSP(AEE_EBADSTATE),
        [HX_SESSION_UP] = 0,                       [HX_SESSION_EXITED] = AEE_DSP(AEE_ECPUEXCEPTION),
        [HX_SESSION_DEAD] = -EPIPE,                [HX_SESSION_CLOSING] = -EPIPE,
    };

    return error[s->state];
}

/* A slot will be free without anybody's doing. */
static bool has_leavers(const struct hx_driver *d)
{
    for (unsigned i = 0; i < d->profile.sessions; i++)
        if (d->session[i]->state == HX_SESSION_CLOSING)
            return true;
    return d->has_leavers && d->has_leavers();
}

int hx_session_open(struct hx_session **out, struct hx_driver *d, pid_t pid, uid_t uid,
                    bool secure_node)
{
    unsigned slot = 0;
    struct hx_session *s;

    *out = NULL;
    if (!hx_dsp_is_up(&d->dsp))
        return -ENOENT; /* its nodes are away until it is back */
    while (slot < d->profile.sessions && d->session[slot])
        slot++;
    if (slot == d->profile.sessions && has_leavers(d))
        return -EAGAIN;
    if (slot == d->profile.sessions) {
        hx_log_client("No session available: all %u are open", d->profile.sessions);
        return -EBUSY;
    }
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->driver = d;
    s->client_id = (int32_t)slot + 1;
    s->number = ++d->sessions_opened;
    s->pid = pid;
    s->uid = uid;
    s->secure_node = secure_node;
    s->epoch_ns = d->thermal.now_ns;
    d->session[slot] = s;
    *out = s;
    hx_stage_at("driver.open.session");
    return 0;
}

/* What is left for another round keeps the loop awake, see hx_loop_add_ring(). */
static void replies_ready(void *arg)
{
    struct hx_session *s = arg;

    if (!hx_turns_are_taken(s->driver)) {
        hx_context_replies(s->driver, &s->channel, HX_RING_SLOTS);
    } else if (hx_turns_is_next(s)) {
        s->reply_round = s->driver->round;
        hx_context_replies(s->driver, &s->channel, 1);
    }
}

void hx_session_drop_channel(struct hx_session *s)
{
    if (!s->channel.rings)
        return;
    hx_queue_stats_collect(s);
    hx_crash_forget(s);
    s->crash_pd = 0;
    hx_loop_del(&s->driver->loop, &s->replies.bell);
    hx_loop_del(&s->driver->loop, &s->control);
    hx_copy_end_all(s->driver, &s->channel);
    hx_watchdog_keep_arena(s);
    hx_channel_close(&s->channel);
}

/* A PD that is attached to the root PD stands for a part of it. */
static void crash_dsp(struct hx_session *s)
{
    unsigned crashes = hx_blame_add(&s->driver->blame, HX_BLAME_CRASH, s->uid);

    hx_log_client("client %d (pid %d, user %u) crashed in the root PD, %u times in the last minute%s", s->client_id, s->pid,
                  (unsigned)s->uid, crashes, crashes >= HX_BLAME_TIMES ? "; this user attaches no more for a minute" : "");
    hx_dsp_crash(&s->driver->dsp, true);
}

/* A PD sends nothing on its control socket but that it crashes: readable means else that the PD is gone. */
static void control_ready(void *arg)
{
    struct hx_session *s = arg;

    if (hx_crash_taken(s))
        return;
    hx_context_replies(s->driver, &s->channel, HX_RING_SLOTS); /* what it finished before it died counts */
    hx_loop_del(&s->driver->loop, &s->control);
    s->pd_died = true;
    if (s->state == HX_SESSION_UP && s->pd == HX_PD_ROOT) {
        crash_dsp(s);
        return;
    }
    if (s->state == HX_SESSION_UP)
        s->state = HX_SESSION_EXITED;
    hx_context_abort(s->driver, &s->channel, AEE_DSP(AEE_ECPUEXCEPTION));
}

int hx_session_make_channel(struct hx_session *s)
{
    int peer[HX_PD_FDS];
    int rc = hx_channel_create(&s->channel, &s->driver->loop, (unsigned)s->client_id, peer);

    s->pd_died = false;
    if (rc)
        return rc;
    s->replies = (struct hx_ring_watch){.bell = {s->channel.rep_bell, replies_ready, s},
                                        .ring = &s->channel.rings->reply,
                                        .expected = &s->channel.in_flight};
    s->control = (struct hx_watch){s->channel.ctl, control_ready, s};
    rc = hx_loop_add_ring(&s->driver->loop, &s->replies);
    if (!rc)
        rc = hx_loop_add(&s->driver->loop, &s->control);
    if (!rc) /* last, because the root PD keeps what it gets */
        rc = hx_channel_control(&s->driver->dsp.channel, HX_CTL_PD, s->client_id, s->number, peer, HX_PD_FDS);
    for (int i = 0; i < HX_PD_FDS; i++)
        close(peer[i]);
    if (rc)
        hx_session_drop_channel(s);
    return rc;
}

static void add_stats(struct hx_session_stats *sum, const struct hx_session_stats *s)
{
    const uint64_t *from = (const uint64_t *)s;
    uint64_t *to = (uint64_t *)sum, clock_ns = sum->clock_ns;

    for (size_t i = 0; i < sizeof(*s) / sizeof(uint64_t); i++)
        to[i] += from[i];
    sum->clock_ns = clock_ns > s->clock_ns ? clock_ns : s->clock_ns; /* a time, not an amount */
}

static void free_session(struct hx_session *s)
{
    hx_uncosted_add(&s->driver->closed_uncosted, s);
    hx_session_drop_channel(s);
    add_stats(&s->driver->closed, &s->stats);
    s->driver->sessions_closed += s->used;
    hx_buffer_forget_all(s);
    hx_watchdog_forget(s);
    hx_context_forget(s->driver, s);
    hx_methods_close(&s->driver->closed_methods, s);
    s->driver->session[s->client_id - 1] = NULL;
    free(s);
}

static void released(struct hx_context *ctx, const struct hx_reply *reply, int result)
{
    struct hx_session *s = ctx->session;

    hx_stage_at("driver.close.reply");
    if (!s) /* freed by another answer */
        return;
    s->pd_ends = reply && result == HX_RELEASE_ENDS;
    if (!s->pd_ends)
        free_session(s);
}

bool hx_session_pd_ended(struct hx_driver *d, int32_t id, uint32_t number)
{
    struct hx_session *s = id > 0 && id <= FASTRPC_MAX_SESSIONS ? d->session[id - 1] : NULL;

    if (!s || s->number != number || !s->pd_ends)
        return false;
    free_session(s);
    return true;
}

/* The root PD has to hear of it, or it would take the next session in this slot for the old one: so what prevents that now (no
 * memory, 255 calls of others) only delays it. */
static void release(struct hx_session *s)
{
    struct hx_kcreate in = {.client_id = s->client_id};

    hx_stage_at("driver.close.taken");
    s->release_due = hx_kernel_call(s->driver, &s->driver->dsp.channel, s, NULL, FASTRPC_HANDLE_KERNEL,
                                    FASTRPC_RMID_RELEASE, &in, sizeof(in), 0, released) != 0;
    hx_stage_at("driver.close.sent");
}

/* The end of the session, or of its DSP: no id stays taken. */
static void end_calls(struct hx_session *s)
{
    if (s->channel.rings)
        hx_context_abort(s->driver, &s->channel, -EPIPE);
    hx_context_drop_spent(s->driver, s);
}

void hx_session_close(struct hx_session *s)
{
    bool has_pd = s->channel.rings && hx_dsp_is_up(&s->driver->dsp) && s->state != HX_SESSION_DEAD;

    s->state = HX_SESSION_CLOSING;
    end_calls(s);
    if (has_pd)
        release(s);
    else
        free_session(s);
}

void hx_session_release_due(struct hx_driver *d)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i] && d->session[i]->release_due)
            release(d->session[i]);
}

static void lose_pd(struct hx_session *s)
{
    end_calls(s);
    hx_session_drop_channel(s);
    if (s->state != HX_SESSION_CLOSING)
        s->state = HX_SESSION_DEAD;
    else if (s->pd_ends || s->release_due)
        free_session(s);
}

void hx_session_ssr_all(struct hx_driver *d)
{
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i])
            lose_pd(d->session[i]);
}
