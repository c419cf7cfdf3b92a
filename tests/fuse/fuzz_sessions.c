/* Fuzz target: several clients, a DSP that may lie, and a driver between them.  An input is a sequence of operations: open, create,
 * invoke, map, unmap, interrupt, close; replies in any order, forged ones, PDs and DSPs that die.  After each, every byte of every
 * client has to be what a model says, an ioctl is answered once, and at the end nothing is left: no context, buffer, descriptor.
 *
 * Byte 0 is the front end, the first context id and whether the clients are of two processes, whose large buffers are then copied in
 * pieces; then each operation is a byte that names it, one that names a client or a PD, and its own.  Bytes that are
 * missing are 0, so that every input means something. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz_rounds.h"
#include "remote_scalars.h"

enum { OPS_MAX = 300, ROUNDS_MAX = 600, COPY_BYTES = 300 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

static struct hx_watch always; /* readable, so that a round of the loop never sleeps */

/* --- user PDs ------------------------------------------------------------------------------------------------------- */

static struct hx_context *context_of(uint64_t ctx)
{
    uint64_t id = ctx >> HX_CTX_ID_SHIFT;

    return id < FASTRPC_CTX_MAX ? fuzz_driver.context[id] : NULL;
}

/* The context that `pd` may answer by this number, or NULL: there is none, or it is somebody else's. */
static struct hx_context *own_context(const struct fuzz_pd *pd, uint64_t ctx)
{
    struct hx_context *c = context_of(ctx);
    const struct hx_session *s = pd == &fuzz_dsp.root ? NULL : fuzz_driver.session[pd - fuzz_dsp.pd];
    const struct hx_channel *channel = pd == &fuzz_dsp.root ? &fuzz_driver.dsp.channel : s ? &s->channel : NULL;

    return c && c->channel == channel && !c->is_spent ? c : NULL;
}

static struct fuzz_call *waiting(const struct hx_context *c)
{
    return c && c->call ? c->call->request : NULL;
}

static void keep_map(const struct fuzz_call *fc, uint64_t vaddr)
{
    struct fuzz_mapped *m = fuzz_mapped;
    bool made = fc->call.cmd == FASTRPC_IOCTL_MMAP;

    while (m < fuzz_mapped + FUZZ_MAPPED && m->client)
        m++;
    if (m < fuzz_mapped + FUZZ_MAPPED)
        *m = (struct fuzz_mapped){fc->client, fc->call.session->number, made ? -1 : fc->call.arg.map.fd, vaddr,
                                  made ? fc->call.arg.mmap.size : 4096, false};
    fuzz_must((made ? fc->call.arg.mmap.vaddrout : fc->call.arg.map.vaddrout) == vaddr, "a map's address is the DSP's");
}

/* MEM_MAP of the kernel: an address for each buffer. */
static void serve_map(struct fuzz_pd *pd, unsigned which)
{
    struct fuzz_call *fc = waiting(own_context(pd, pd->held[which].ctx));
    const struct hx_arg *arg = (const void *)(pd->arena + pd->held[which].addr + sizeof(struct hx_invoke));
    struct hx_kmem_map in;
    struct hx_kmem_mapped out;

    memcpy(&in, pd->arena + arg[0].addr, sizeof(in));
    out.vaddr = 0x30000000 + (uint64_t)in.map * 0x10000;
    memcpy(pd->arena + arg[1].addr, &out, sizeof(out));
    fuzz_pd_answer(pd, which, 0);
    fuzz_rounds();
    if (!fc)
        return;
    fuzz_must(fc->answers == 1 && fc->result == 0, "a map that the DSP made is there");
    keep_map(fc, out.vaddr);
}

static unsigned handles_of(const struct hx_session *s, unsigned i)
{
    unsigned n = 0;

    for (const struct hx_buffer *b = s->buffers; b; b = b->next)
        n += b->client_fd == (int)(FUZZ_FD + i) ? b->handles : 0;
    return n;
}

/* DMA handles of each file that the DSP has when this call is answered: those of the call, too, without those that it gives back,
 * which nobody reads of a call that was interrupted. */
static void count_handles(const struct fuzz_pd *pd, const struct hx_msg *m, unsigned n[FUZZ_FDS])
{
    const struct hx_context *c = own_context(pd, m->ctx);
    const struct hx_invoke *head = (const void *)(pd->arena + m->addr);
    unsigned n_bufs = REMOTE_SCALARS_INBUFS(m->sc) + REMOTE_SCALARS_OUTBUFS(m->sc);

    for (unsigned i = 0; i < FUZZ_FDS; i++)
        n[i] = handles_of(c->session, i);
    for (unsigned i = n_bufs; i < c->n_args; i++)
        if (c->args[i].buffer)
            n[c->args[i].buffer->client_fd - FUZZ_FD]++;
    for (unsigned i = 0; waiting(c) && i < FASTRPC_MAX_FDLIST && head->fdlist[i]; i++) {
        uint64_t file = head->fdlist[i] - FUZZ_FD;
        if (file < FUZZ_FDS && n[file])
            n[file]--;
    }
}

/* Does what it was asked to, and the client gets what comes out. */
static void serve(struct fuzz_pd *pd)
{
    unsigned which = fuzz_byte(), code = fuzz_byte();
    const struct hx_session *s = fuzz_driver.session[pd - fuzz_dsp.pd];
    unsigned handles[FUZZ_FDS], restarts;
    struct fuzz_call *fc;
    int result, want = 0;

    fuzz_pd_take(pd);
    if (!pd->n_held || pd->broken)
        return;
    which %= pd->n_held;
    fc = waiting(own_context(pd, pd->held[which].ctx));
    if (pd->held[which].handle == FASTRPC_HANDLE_KERNEL) {
        serve_map(pd, which);
        return;
    }
    if (!own_context(pd, pd->held[which].ctx)) { /* its arguments are gone */
        fuzz_pd_answer(pd, which, 0);
        return;
    }
    if (fc)
        fuzz_inputs_arrived(fc, pd);
    result = fuzz_pd_execute(pd, which);
    if (!result && code & 1)
        result = (int)(0x80000400u + code);
    if (fc) {
        want = fuzz_expect(fc, result);
        fuzz_memory_changes(fc->client);
    } else {
        fuzz_forgive_files();
    }
    count_handles(pd, &pd->held[which], handles);
    restarts = fuzz_restarts;
    fuzz_pd_answer(pd, which, result);
    fuzz_rounds();
    for (unsigned i = 0; i < FUZZ_FDS; i++)
        fuzz_must(handles_of(s, i) == handles[i], "handles are kept until the DSP gives them back");
    if (!fc)
        return;
    want = fuzz_copied_out(pd, fc, want, code >> 1);
    if (want != -EPIPE && restarts != fuzz_restarts && fc->result == -EPIPE) { /* it was due, and came in the middle of a large copy */
        fuzz_forgive(fc);
        want = -EPIPE;
    }
    fuzz_must(fc->answers == 1 && (fc->result == want || (want == FUZZ_REFUSED && fc->result == FUZZ_FAULT)),
              "a call's result is the DSP's");
    if (want == FUZZ_REFUSED || want == FUZZ_FAULT)
        fuzz_forgive(fc);
}

/* Requests that were answered behind the back of serve(). */
static void forget_held(struct fuzz_pd *pd, uint64_t ctx)
{
    for (unsigned i = 0; i < pd->n_held; i++)
        if (pd->held[i].ctx >> HX_CTX_ID_SHIFT == ctx >> HX_CTX_ID_SHIFT)
            pd->held[i--] = pd->held[--pd->n_held];
}

/* Not by what the PD said: nobody has asked it.  That an input is not there may just have been found, on the call's way in. */
static bool is_left_alone(const struct fuzz_call *fc)
{
    return !fc || !fc->answers || (fc->faulty && fc->result == -EFAULT);
}

/* The PD that the context's request goes to. */
static const struct fuzz_pd *pd_of(const struct hx_context *c)
{
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (fuzz_driver.session[i] && c->channel == &fuzz_driver.session[i]->channel)
            return &fuzz_dsp.pd[i];
    return &fuzz_dsp.root;
}

/* A reply to whatever: only a call of its own client may end by that, and its outputs are then anything. */
static void forge(struct fuzz_pd *pd, uint64_t ctx, int32_t result)
{
    struct hx_context *c = own_context(pd, ctx);
    struct fuzz_call *fc = waiting(c), *stranger = c ? NULL : waiting(context_of(ctx)), *unasked = NULL;
    const struct fuzz_pd *theirs = stranger ? pd_of(context_of(ctx)) : NULL;

    if (fc && fuzz_is_copied_in(fc)) {
        unasked = fc;
        fc = NULL;
    }
    if (fc)
        fuzz_memory_changes(fc->client);
    fuzz_pd_take(pd);
    forget_held(pd, ctx);
    if (c && c->session && pd != &fuzz_dsp.root && c->checks_left)
        fuzz_forget_maps(c->session->number);
    fuzz_pd_reply(pd, ctx, result);
    fuzz_rounds();
    if (fc)
        fuzz_copied_out(pd, fc, 0, UINT8_MAX);
    /* a call that was still on its way may just have found the ring broken into which it had to go */
    fuzz_must((theirs && theirs->broken) || is_left_alone(stranger), "no PD answers for another");
    fuzz_must(pd->broken || is_left_alone(unasked), "no PD answers what it was not asked");
    fuzz_must(!fc || pd->broken || fc->answers == 1, "a PD answers for its own client");
    if (fc && fc->call.cmd == FASTRPC_IOCTL_INVOKE)
        fuzz_forgive(fc);
}

static void forge_any(struct fuzz_pd *pd)
{
    unsigned id = fuzz_byte();

    forge(pd, (uint64_t)id << HX_CTX_ID_SHIFT | 1, (int32_t)fuzz_word());
}

static void forge_last(struct fuzz_pd *pd)
{
    unsigned back = fuzz_byte() % 8, last = fuzz_driver.last_ctx_id;

    forge(pd, (uint64_t)((last + 255 - back) % 256) << HX_CTX_ID_SHIFT, (int32_t)fuzz_byte());
}

static fuzz_pd_op *const lies[] = {forge_any, forge_last, forge_last, fuzz_break_replies, fuzz_break_requests, fuzz_return_handles,
                                   fuzz_return_handles, fuzz_count_packets, fuzz_print, fuzz_speak, fuzz_pd_die};

static void lie(struct fuzz_pd *pd)
{
    unsigned which = fuzz_byte() % (sizeof(lies) / sizeof(lies[0]));

    if (pd->rings)
        lies[which](pd);
}

/* --- the root PD ------------------------------------------------------------------------------------------------ */

static void serve_root(struct fuzz_pd *pd)
{
    struct fuzz_pd *root = &fuzz_dsp.root;
    unsigned which = fuzz_byte(), how = fuzz_byte();
    struct fuzz_call *fc;

    (void)pd;
    fuzz_pd_take(root);
    if (!root->n_held || root->broken)
        return;
    which %= root->n_held;
    fc = waiting(own_context(root, root->held[which].ctx));
    fuzz_root_serve(&fuzz_dsp, which, how & 1 ? (int32_t)(0x80000400u + how) : 0, how & 2);
    fuzz_rounds();
    fuzz_must(!fc || fc->answers == 1, "what the root PD did is answered");
}

/* It says of PDs that they are gone. */
static void say_exits(struct fuzz_pd *pd)
{
    unsigned lie_by = fuzz_byte();

    (void)pd;
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (fuzz_driver.session[i] && (fuzz_driver.session[i]->pd_ends || lie_by))
            fuzz_root_exit(&fuzz_dsp, i + 1, fuzz_driver.session[i]->number + lie_by % 3);
}

static void lie_root(struct fuzz_pd *pd)
{
    (void)pd;
    lie(&fuzz_dsp.root);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static fuzz_op *const client_ops[] = {fuzz_open, fuzz_create, fuzz_invoke, fuzz_invoke, fuzz_invoke, fuzz_map_memory,
                                      fuzz_unmap_memory, fuzz_other_ioctl, fuzz_interrupt, fuzz_write_memory, fuzz_close_file,
                                      fuzz_close};
static fuzz_pd_op *const pd_ops[] = {serve, serve, serve, serve_root, serve_root, lie, say_exits, lie_root};
enum { CLIENT_OPS = sizeof(client_ops) / sizeof(client_ops[0]), PD_OPS = sizeof(pd_ops) / sizeof(pd_ops[0]) };

static void operate(void)
{
    unsigned op = fuzz_byte() % (CLIENT_OPS + PD_OPS), who = fuzz_byte();

    if (op < CLIENT_OPS)
        client_ops[op](&fuzz_client[who % FUZZ_CLIENTS]);
    else if (fuzz_dsp.pd[who % FUZZ_SESSIONS].rings || pd_ops[op - CLIENT_OPS] != serve)
        pd_ops[op - CLIENT_OPS](&fuzz_dsp.pd[who % FUZZ_SESSIONS]);
    fuzz_rounds();
    fuzz_clients_check();
    fuzz_forget_answered();
}

static bool anything_left(void)
{
    for (int i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (fuzz_driver.session[i])
            return true;
    for (int i = 0; i < FASTRPC_CTX_MAX; i++)
        if (fuzz_driver.context[i])
            return true;
    return false;
}

/* Every client goes, and a root PD that does its work lets all of it end. */
static void end_all(void)
{
    static const uint8_t none[1];

    fuzz_input(none, 0); /* no lies any more */
    for (int i = 0; i < FUZZ_CLIENTS; i++)
        fuzz_close(&fuzz_client[i]);
    if (fuzz_dsp.root.broken)
        fuzz_driver.dsp.failed = true; /* the driver would find that out in time, by its pings */
    for (int i = 0; anything_left(); i++) {
        fuzz_must(i < ROUNDS_MAX, "sessions and contexts end");
        serve_root(NULL);
        say_exits(NULL);
        fuzz_rounds();
    }
    for (int i = 0; i < FUZZ_CALLS; i++)
        fuzz_must(!fuzz_calls[i].client, "every ioctl is answered");
    fuzz_clients_check();
    fuzz_dsp_forget(&fuzz_dsp);
    hx_dsp_stop(&fuzz_driver);
    fuzz_must(!fuzz_driver.n_expiring && !fuzz_driver.loop.rings && !fuzz_driver.loop.timers, "nothing waits");
}

static void nothing(void *arg)
{
    (void)arg;
}

static void stop(void *arg)
{
    fuzz_driver.loop.stop = 1;
    (void)arg;
}

static void set_up(void)
{
    char err[256];

    if (always.ready)
        return;
    if (hx_loop_init(&fuzz_driver.loop) || hx_filter_push(&fuzz_driver.filters, "count", &fuzz_driver.profile, err, sizeof(err)) ||
        hx_filter_push(&fuzz_driver.filters, "cost", &fuzz_driver.profile, err, sizeof(err)))
        abort();
    signal(SIGPIPE, SIG_IGN); /* as the rig does */
    always = (struct hx_watch){.fd = eventfd(1, EFD_CLOEXEC), .ready = nothing};
    fuzz_must(hx_loop_add(&fuzz_driver.loop, &always) == 0, "a round never sleeps");
    fuzz_driver.loop.tick = stop;
}

/* The driver as at its start. */
static void begin(unsigned first)
{
    fuzz_driver.profile = (struct hx_profile){.name = "fuzz", .dispatch_us = 1, .marshal_us_per_kib = 1, .clock_mhz = 1000,
                                              .poll_mode = 1, .sessions = FUZZ_SESSIONS};
    set_up();
    fuzz_front = first & 1 ? &fuzz_fast_front : &fuzz_slow_front;
    fuzz_driver.last_ctx_id = first & 2 ? 255 - first / 4 % 16 : 0;
    fuzz_driver.maps_max = 6;
    fuzz_driver.copy_bytes = first & 0x40 ? COPY_BYTES : 0;
    fuzz_driver.sessions_opened = 0;
    fuzz_driver.have_capabilities = false;
    memset(fuzz_mapped, 0, sizeof(fuzz_mapped));
    memset(&fuzz_driver.blame, 0, sizeof(fuzz_driver.blame));
    fuzz_clients_reset();
    fuzz_dsp_up(&fuzz_dsp, &fuzz_driver);
}

static unsigned open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    static unsigned before;

    fuzz_input(data, n);
    begin(fuzz_byte());
    for (int i = 0; i < OPS_MAX && !fuzz_input_ends(); i++)
        operate();
    end_all();
    fuzz_clients_reset();
    n = open_descriptors();
    fuzz_must(!before || n == before, "no descriptor is left open");
    before = (unsigned)n;
    return 0;
}
