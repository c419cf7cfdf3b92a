/* Fuzz target: the socket front end with the driver's core behind it, and several clients with descriptors of every kind.
 *
 * The input is a list of operations (see `operations`): clients connect, queue frames that are whole or damaged, send pieces of
 * them with descriptors on any byte, read or do not read, and go; the DSP behind the core (tests/lib/fake_dsp.h) answers, sleeps,
 * lies or dies.  Between two operations the driver's loop runs as often as the input says.
 *
 * Checked: every reply has the wire's form, belongs to a call that was made, and writes only where that allowed it; an INVOKE that
 * succeeds brings the right bytes; descriptors stay within the limits, and none is left, nor a session or a context. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_dsp.h"
#include "frame_client.h"
#include "front/front.h"

enum { CLIENTS = 96, FEW = 16 /* most operations are theirs */, BYSTANDERS = 64, TURNS_MAX = 4096,
       WATCHED = 2048 /* no descriptor is higher */, PATIENCE_S = 10, COPY_BYTES = 512 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

static struct hx_driver driver;
static struct frame_client clients[CLIENTS];
static char folder[] = "/tmp/hexrig-fuzz.XXXXXX";
static int baseline; /* descriptors that are open before an input */
static struct pollfd watched[WATCHED];
static struct hx_watch always;
static enum fake_dsp_mood mood;
static bool several; /* the clients pass for several processes, whose large buffers go in pieces */

/* --- the input */

static const uint8_t *input, *input_end;

static uint8_t byte(void)
{
    return input < input_end ? *input++ : 0;
}

static uint32_t word(void)
{
    uint32_t v = byte();

    v |= (uint32_t)byte() << 8;
    v |= (uint32_t)byte() << 16;
    return v | (uint32_t)byte() << 24;
}

/* --- the rig */

static int open_fds(void)
{
    int n = 0;

    poll(watched, WATCHED, 0);
    for (int i = 0; i < WATCHED; i++)
        n += !(watched[i].revents & POLLNVAL);
    return n;
}

static void stop_after_the_round(void *arg)
{
    driver.loop.stop = 1;
    hx_context_expire(arg);
    hx_session_release_due(arg);
    hx_open_round(arg);
    hx_copy_round(arg);
    driver.round++;
}

/* One round of the loop, which does not sleep because `always` is readable. */
static void turn_without_dsp(void)
{
    driver.loop.stop = 0;
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (driver.session[i])
            driver.session[i]->pid = several ? 1 + (pid_t)i / 2 : 1;
    if (hx_loop_run(&driver.loop))
        frame_finding("the loop ends");
}

static bool turn(void)
{
    turn_without_dsp();
    return fake_dsp_serve(&driver, mood) || driver.copying;
}

static void remove_folder(void)
{
    hx_sockets_stop(&driver);
    rmdir(folder);
}

static void set_up(void)
{
    struct rlimit r;
    char why[512];

    if (driver.mount)
        return;
    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = WATCHED;
    driver.profile = (struct hx_profile){.name = "fuzz", .dispatch_us = 1, .marshal_us_per_kib = 1, .clock_mhz = 1000,
                                         .poll_mode = 1, .sessions = FASTRPC_MAX_SESSIONS, .capabilities = 1};
    driver.maps_max = 64;
    driver.copy_bytes = COPY_BYTES;
    driver.mount = folder;
    if (setrlimit(RLIMIT_NOFILE, &r) || !mkdtemp(folder) || hx_loop_init(&driver.loop) ||
        hx_filter_push(&driver.filters, "count", &driver.profile, why, sizeof(why)) ||
        hx_filter_push(&driver.filters, "cost", &driver.profile, why, sizeof(why)) ||
        hx_sockets_start(&driver, folder, why, sizeof(why)))
        abort();
    atexit(remove_folder);
    always = (struct hx_watch){.fd = eventfd(1, EFD_CLOEXEC), .ready = stop_after_the_round, .arg = &driver};
    hx_loop_add(&driver.loop, &always);
    driver.loop.tick = stop_after_the_round;
    driver.loop.tick_arg = &driver;
    frame_make_kinds();
    for (int i = 0; i < WATCHED; i++)
        watched[i] = (struct pollfd){.fd = i};
}

/* How long a round has waited for other threads.  They do nothing while the process or the machine stands still: a step counts at
 * most STEP_MS, however long ago the last one was. */
struct patience {
    uint64_t seen_ms, waited_ms;
};

static struct patience patience_begin(void)
{
    return (struct patience){.seen_ms = hx_now_ms()};
}

static bool is_out_of(struct patience *p)
{
    enum { STEP_MS = 20 };
    const uint64_t now = hx_now_ms(), step = now - p->seen_ms;

    p->seen_ms = now;
    p->waited_ms += step < STEP_MS ? step : STEP_MS;
    return p->waited_ms > PATIENCE_S * 1000;
}

/* What is refused is closed by other threads (hx_close_later()), so that may take a moment. */
static void expect_fds(int most, const char *what)
{
    struct patience p = patience_begin();

    while (open_fds() > most) {
        if (is_out_of(&p))
            frame_finding(what);
        sched_yield();
    }
}

/* Descriptors: one per connection, per session a channel and what it has imported, and what waits. */
static void check_limits(void)
{
    enum { CHANNEL = 6 + HX_PD_FDS, WAITING = 256 };
    int most = baseline + HX_PD_FDS + 6, refused = 0;

    for (unsigned i = 0; i < CLIENTS; i++) {
        most += clients[i].fd ? 2 : 1;
        refused += clients[i].fd && clients[i].refused && !clients[i].deaf;
    }
    if (refused > BYSTANDERS)
        frame_finding("more connections without a session than the limit");
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (driver.session[i]) {
            if (driver.session[i]->n_buffers > driver.maps_max)
                frame_finding("more buffers than a session may have");
            most += CHANNEL + (int)driver.session[i]->n_buffers;
        }
    expect_fds(most + WAITING, "more descriptors than the limits allow");
}

/* --- operations: each takes what it needs from the input */

static void connect_to(struct frame_client *c, bool secure)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/fastrpc-cdsp%s", folder, secure ? "-secure" : "");
    if (!c->fd)
        frame_connect(c, path);
}

static void op_connect(struct frame_client *c)
{
    const uint8_t what = byte();

    connect_to(c, what & 1);
    for (unsigned i = 0; what >= 250 && i < CLIENTS; i++) /* a crowd */
        connect_to(&clients[i], what & 1);
}

static void op_create(struct frame_client *c)
{
    const struct fastrpc_init_create create = {.attrs = FASTRPC_MODE_UNSIGNED_MODULE};

    if (byte() & 1)
        frame_queue_ioctl(c, (uint32_t)FASTRPC_IOCTL_INIT_ATTACH, NULL, 0, 0);
    else
        frame_queue_ioctl(c, (uint32_t)FASTRPC_IOCTL_INIT_CREATE, &create, sizeof(create), 0);
}

static void op_invoke(struct frame_client *c)
{
    const uint8_t seed = byte(), shared = byte();
    const size_t in = word() % (FRAME_BUFFER / 2), out = word() % FRAME_BUFFER;

    frame_queue_invoke(c, seed, in, out, shared < FRAME_SHARED ? shared : 0);
}

static void op_map(struct frame_client *c)
{
    const unsigned n = byte();
    const struct fastrpc_mem_map map = {.fd = 5 + byte() % FRAME_KINDS, .length = word()};

    frame_queue_ioctl(c, (uint32_t)FASTRPC_IOCTL_MEM_MAP, &map, sizeof(map), n < HX_FRAME_MAX_FDS ? n : HX_FRAME_MAX_FDS);
}

/* Any other ioctl, with any struct, of its own size or not. */
static void op_ioctl(struct frame_client *c)
{
    static const uint32_t cmds[] = {FASTRPC_IOCTL_INVOKE, FASTRPC_IOCTL_ALLOC_DMA_BUFF, FASTRPC_IOCTL_INIT_ATTACH_SNS,
                                    FASTRPC_IOCTL_INIT_CREATE_STATIC, FASTRPC_IOCTL_MMAP, FASTRPC_IOCTL_MUNMAP, FASTRPC_IOCTL_MEM_MAP,
                                    FASTRPC_IOCTL_MEM_UNMAP, FASTRPC_IOCTL_GET_DSP_INFO, FASTRPC_IOCTL_SET_OPTION, HX_IOCTL_SESSION_STATS};
    const uint32_t cmd = cmds[byte() % (sizeof(cmds) / sizeof(cmds[0]))];
    const unsigned n_fds = byte();
    uint8_t arg[256] = "";
    size_t n = byte() & ~7u;

    n = n ? n : _IOC_SIZE(cmd) % sizeof(arg);
    for (size_t i = 0; i < n && i < 64; i++)
        arg[i] = byte();
    frame_queue_ioctl(c, cmd, arg, n, n_fds < 12 && n % 8 == 0 ? n_fds : 0);
}

#define TEXT(s) s, sizeof(s) - 1
static void op_text(struct frame_client *c)
{
    static const struct {
        uint32_t op;
        const char *text;
        size_t n;
    } all[] = {{HX_FRAME_READ, TEXT("status")}, {HX_FRAME_READ, TEXT("stats")}, {HX_FRAME_READ, TEXT("sessions")},
               {HX_FRAME_READ, TEXT("clock")}, {HX_FRAME_READ, TEXT("")}, {HX_FRAME_READ, TEXT("../etc/passwd")},
               {HX_FRAME_WRITE, TEXT("control\0filter -trace\n")}, {HX_FRAME_WRITE, TEXT("control\0nonsense %s")},
               {HX_FRAME_WRITE, TEXT("status\0x")}};
    const unsigned i = byte() % (sizeof(all) / sizeof(all[0]));

    frame_queue_text(c, all[i].op, all[i].text, all[i].n);
}

static void op_interrupt(struct frame_client *c)
{
    const uint64_t back = byte() % 4;

    frame_queue_interrupt(c, c->last_id > back ? c->last_id - back : 1);
}

static void op_send(struct frame_client *c)
{
    const uint8_t n = byte(), memory = byte() & 1;

    frame_send(c, n < 250 ? n : FRAME_QUEUE, memory);
}

static void op_damage(struct frame_client *c)
{
    const uint32_t at = word(), v = word();

    if (c->n_out < sizeof(v))
        return;
    memcpy(c->out + at % (c->n_out - sizeof(v) + 1), &v, sizeof(v));
    c->wild = true;
}

static void op_raw(struct frame_client *c)
{
    for (size_t n = byte(); n; n--)
        frame_queue(c, &(uint8_t){byte()}, 1);
    c->wild = true;
}

/* Descriptors on whatever comes next. */
static void op_descriptors(struct frame_client *c)
{
    const unsigned n = byte();

    c->n_fds = n < HX_FRAME_MAX_FDS ? n : HX_FRAME_MAX_FDS;
    c->wild = true;
}

static void op_turns(struct frame_client *unused)
{
    const uint8_t n = byte();

    (void)unused;
    several = n & 0x10;
    for (unsigned i = 0; i <= n % 8; i++)
        turn();
    for (unsigned i = 0; i < CLIENTS; i++)
        if (!clients[i].deaf)
            frame_receive(&clients[i]);
    if (n & 8)
        check_limits();
}

static void op_dsp(struct frame_client *unused)
{
    const uint8_t what = byte() % (FAKE_DSP_MOODS + 2);

    (void)unused;
    mood = what < FAKE_DSP_MOODS ? what : mood;
    if (what == FAKE_DSP_MOODS)
        fake_dsp_end_pd(byte() % FASTRPC_MAX_SESSIONS);
    if (what > FAKE_DSP_MOODS)
        fake_dsp_restart(&driver);
}

static void (*const operations[])(struct frame_client *c) = {
    op_turns, op_connect, op_create, op_send, op_invoke, op_map, op_ioctl, op_text, op_interrupt, op_damage, op_raw, op_descriptors,
    frame_turn_deaf, frame_close, op_dsp,
};

/* --- the end of a run */

/* A new client is greeted behind all that have connected before, so none of those is still to be accepted. */
static void expect_greeting(bool secure)
{
    struct frame_client *c = &clients[0];

    frame_close(c);
    c->greeted = false;
    for (unsigned i = 0; !c->greeted; i++) {
        connect_to(c, secure); /* the queue may be full */
        turn();
        frame_receive(c);
        if (i == TURNS_MAX)
            frame_finding("nobody is accepted any more");
    }
    frame_close(c);
}

/* A client may have passed on its own end of a connection, and that connection ends when the thread that closes what was refused has
 * come to it: many rounds later, on a machine that has other things to do. */
static void expect_nothing_left(void)
{
    struct patience p = patience_begin();

    for (unsigned i = 0; i < CLIENTS; i++)
        frame_close(&clients[i]);
    expect_greeting(false);
    expect_greeting(true);
    for (unsigned i = 0; turn() || i < 4 || fake_dsp_is_busy(&driver); i++)
        if (is_out_of(&p) && i >= TURNS_MAX)
            frame_finding("a session or a context is left");
    fake_dsp_close(&driver);
    for (; open_fds() > baseline; turn_without_dsp())
        if (is_out_of(&p))
            frame_finding("a descriptor is left");
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    set_up();
    baseline = open_fds();
    input = data;
    input_end = data + n;
    mood = FAKE_DSP_ANSWERS;
    several = false;
    fake_dsp_open(&driver);
    for (unsigned ops = 0; input < input_end && ops < 400; ops++) {
        const uint8_t op = byte(), who = byte();

        operations[op % (sizeof(operations) / sizeof(operations[0]))](&clients[who % (who < 192 ? FEW : CLIENTS)]);
    }
    expect_nothing_left();
    return 0;
}
