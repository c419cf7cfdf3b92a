/* Sends anything, believes nothing, see frame_client.h. */
#include "frame_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake_dsp.h"
#include "remote_scalars.h"

enum { ARGS_AT = 0x10000, IN_AT = 0x20000, OUT_AT = 0x40000, FIRST_FD = 5 };

void frame_finding(const char *what)
{
    fprintf(stderr, "socket front end: %s\n", what);
    abort();
}

/* --- what a client gets */

void frame_close(struct frame_client *c)
{
    if (c->fd)
        close(c->fd);
    c->fd = 0;
}

static struct frame_call *find_call(struct frame_client *c, uint64_t id)
{
    for (unsigned i = 0; i < FRAME_CALLS; i++)
        if (id && c->calls[i].id == id)
            return &c->calls[i];
    return NULL;
}

/* What an INVOKE wrote: into its one out buffer, all of it and right. */
static void check_bytes(const struct frame_call *call, const struct hx_frame_reply *r, const uint8_t *body)
{
    const struct hx_frame_seg *s = (const void *)(body + r->arg_bytes);
    const uint8_t *out = (const void *)(s + r->n_segs);
    uint8_t in[FRAME_BUFFER];

    if (r->n_segs != (call->out > 0))
        frame_finding("an INVOKE without its output");
    if (!r->n_segs)
        return;
    if (s->addr != OUT_AT || s->len != call->out || s->flags != HX_SEG_OUT)
        frame_finding("a segment elsewhere");
    for (size_t k = 0; k < call->in; k++)
        in[k] = (uint8_t)(call->seed + k * 7);
    for (size_t k = 0; k < call->out; k++)
        if (out[k] != fake_dsp_byte(in, call->in, 0, k))
            frame_finding("wrong bytes");
}

static void check_form(const struct hx_frame_reply *r, const uint8_t *body)
{
    uint64_t sum = r->arg_bytes + (uint64_t)r->n_segs * sizeof(struct hx_frame_seg);

    if (r->magic != HX_FRAME_MAGIC || r->n_segs > HX_FRAME_MAX_SEGS || r->arg_bytes > HX_FRAME_MAX_TEXT ||
        sum > r->body_bytes || (r->n_segs && r->arg_bytes % 8))
        frame_finding("a reply's head");
    for (unsigned i = 0; i < r->n_segs; i++) {
        struct hx_frame_seg s;

        memcpy(&s, body + r->arg_bytes + i * sizeof(s), sizeof(s));
        sum += s.len;
    }
    if (sum != r->body_bytes)
        frame_finding("a reply's body");
}

static void take_reply(struct frame_client *c, const struct hx_frame_reply *r, const uint8_t *body)
{
    struct frame_call *call = find_call(c, r->id);

    check_form(r, body);
    if (!c->greeted != (r->id == 0))
        frame_finding("a greeting out of place");
    c->greeted = true;
    if (!r->id)
        c->refused = r->result != 0;
    if (c->wild || !r->id)
        return;
    if (!call)
        frame_finding("a reply to nothing");
    if (call->echo && r->result == 0)
        check_bytes(call, r, body);
    call->id = 0;
}

void frame_receive(struct frame_client *c)
{
    _Alignas(8) static uint8_t body[FRAME_REPLY];
    struct hx_frame_reply r;
    ssize_t n;

    while (c->fd && (n = recv(c->fd, c->in + c->n_in, FRAME_REPLY - c->n_in, MSG_DONTWAIT)) != -1) {
        if (n == 0) {
            if (c->greeted && !c->wild && !c->had_fds && !c->refused && !c->text)
                frame_finding("the rig drops a client that has done nothing");
            frame_close(c);
            return;
        }
        c->n_in += (size_t)n;
        for (;;) {
            memcpy(&r, c->in, sizeof(r));
            if (c->n_in < sizeof(r) || c->n_in - sizeof(r) < r.body_bytes)
                break;
            memcpy(body, c->in + sizeof(r), r.body_bytes);
            take_reply(c, &r, body);
            c->n_in -= sizeof(r) + r.body_bytes;
            memmove(c->in, c->in + sizeof(r) + r.body_bytes, c->n_in);
        }
        if (c->n_in == FRAME_REPLY)
            frame_finding("a reply that is too long");
    }
    if (c->fd && errno != EAGAIN)
        frame_close(c);
}

void frame_turn_deaf(struct frame_client *c)
{
    c->deaf = !c->deaf;
}

void frame_connect(struct frame_client *c, const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
        if (fd >= 0)
            close(fd);
        return;
    }
    c->fd = fd;
    c->greeted = c->wild = c->had_fds = c->refused = c->text = c->deaf = false;
    c->last_id = c->n_out = c->n_in = c->n_fds = 0;
    memset(c->calls, 0, sizeof(c->calls));
}

/* --- what a client sends */

enum { MEMORY = 2 /* of the kinds */ };
static int kinds[FRAME_KINDS];

void frame_make_kinds(void)
{
    int pipe_fds[2], big = memfd_create("big", MFD_CLOEXEC), sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (pipe(pipe_fds) || ftruncate(big, 1 << 20) || ftruncate(sealed, 4096) || fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE))
        abort();
    memcpy(kinds, (int[FRAME_KINDS]){big, sealed, memfd_create("empty", MFD_CLOEXEC), pipe_fds[0], socket(AF_UNIX, SOCK_STREAM, 0),
                                     open("/dev/null", O_RDWR), open("/proc/self/exe", O_RDONLY), eventfd(0, 0)}, sizeof(kinds));
}

void frame_send(struct frame_client *c, size_t n, bool memory_alone)
{
    const unsigned n_kinds = memory_alone ? MEMORY : FRAME_KINDS;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(HX_FRAME_MAX_FDS * sizeof(int))] = "";
    struct cmsghdr *h = (void *)control;
    struct iovec iov = {c->out, n < c->n_out ? n : c->n_out};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t sent;

    if (!c->fd || !iov.iov_len)
        return;
    if (c->n_fds) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(c->n_fds * sizeof(int));
        *h = (struct cmsghdr){CMSG_LEN(c->n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        for (unsigned i = 0; i < c->n_fds; i++) {
            const unsigned kind = i % (n_kinds + !memory_alone);
            const int fd = kind == n_kinds ? c->fd : kinds[kind];

            memcpy(CMSG_DATA(h) + i * sizeof(int), &fd, sizeof(fd));
        }
    }
    sent = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0)
        return;
    c->had_fds |= c->n_fds > 0;
    c->n_fds = 0;
    c->n_out -= (size_t)sent;
    memmove(c->out, c->out + sent, c->n_out);
}

void frame_queue(struct frame_client *c, const void *bytes, size_t n)
{
    if (n > FRAME_QUEUE - c->n_out) /* the rest of a frame is lost */
        c->wild = true;
    else if (n) {
        memcpy(c->out + c->n_out, bytes, n);
        c->n_out += n;
    }
}

/* A place for a call that is to be answered, with an id of its own; NULL: there are enough. */
static struct frame_call *new_call(struct frame_client *c)
{
    for (unsigned i = 0; i < FRAME_CALLS; i++)
        if (!c->calls[i].id) {
            c->calls[i] = (struct frame_call){.id = ++c->last_id};
            return &c->calls[i];
        }
    return NULL;
}

static struct hx_frame head_of(uint32_t op, const struct frame_call *call, size_t arg_bytes)
{
    return (struct hx_frame){.magic = HX_FRAME_MAGIC, .op = op, .id = call->id, .arg_bytes = (uint32_t)arg_bytes,
                             .body_bytes = arg_bytes};
}

/* n_fds descriptors go with the frame of h, which comes next. */
static void announce_fds(struct frame_client *c, struct hx_frame *h, unsigned n_fds)
{
    h->n_fds = n_fds;
    h->body_bytes += n_fds * sizeof(struct hx_frame_fd);
    c->wild |= n_fds && c->n_out; /* they would come with another frame */
    if (n_fds)
        c->n_fds = n_fds;
}

static uint64_t mapped_at(unsigned i)
{
    return 0x100000 * (i + UINT64_C(1));
}

static void queue_fds(struct frame_client *c, unsigned n_fds)
{
    for (unsigned i = 0; i < n_fds; i++)
        frame_queue(c, &(struct hx_frame_fd){.fd = (int)(FIRST_FD + i)}, sizeof(struct hx_frame_fd));
}

void frame_queue_invoke(struct frame_client *c, uint8_t seed, size_t in, size_t out, unsigned shared)
{
    const unsigned handles = shared / 4, n_in = 1 + shared - handles; /* of what is shared, the last are DMA handles */
    const struct fastrpc_invoke inv = {.handle = 40, .sc = REMOTE_SCALARS_MAKEX(0, 2, n_in, 1, handles, 0), .args = ARGS_AT};
    const size_t args_bytes = (2 + shared) * sizeof(struct fastrpc_invoke_args);
    struct fastrpc_invoke_args args[2 + FRAME_SHARED] = {{.ptr = IN_AT, .length = in}};
    struct hx_frame_seg segs[3 + FRAME_SHARED] = {{.addr = ARGS_AT, .len = args_bytes, .flags = HX_SEG_IN},
                                                  {.addr = IN_AT, .len = in, .flags = HX_SEG_IN},
                                                  {.addr = OUT_AT, .len = out, .flags = HX_SEG_OUT}};
    unsigned n_segs = 3;
    struct frame_call *call = new_call(c);
    struct hx_frame h;
    uint8_t bytes[FRAME_BUFFER];

    if (!call)
        return;
    call->echo = true;
    call->seed = seed;
    call->in = in;
    call->out = out;
    for (size_t k = 0; k < in; k++)
        bytes[k] = (uint8_t)(seed + k * 7);
    for (unsigned i = 0; i < shared; i++) {
        const struct fastrpc_invoke_args a = {.ptr = mapped_at(i) + i, .length = 64 * i, .fd = (int)(FIRST_FD + i)};

        args[i < n_in - 1 ? 1 + i : 2 + i] = a;
        if (i % 3 != 2) /* every third lies where its file is not mapped */
            segs[n_segs++] = (struct hx_frame_seg){.addr = a.ptr, .offset = i, .flags = HX_SEG_FILE, .fd = a.fd};
    }
    args[n_in] = (struct fastrpc_invoke_args){.ptr = OUT_AT, .length = out};
    h = head_of(HX_FRAME_IOCTL, call, sizeof(inv));
    h.cmd = (uint32_t)FASTRPC_IOCTL_INVOKE;
    h.n_segs = n_segs;
    h.body_bytes += n_segs * sizeof(segs[0]) + args_bytes + in;
    announce_fds(c, &h, shared);
    frame_queue(c, &h, sizeof(h));
    frame_queue(c, &inv, sizeof(inv));
    frame_queue(c, segs, n_segs * sizeof(segs[0]));
    queue_fds(c, shared);
    frame_queue(c, args, args_bytes);
    frame_queue(c, bytes, in);
}

void frame_queue_ioctl(struct frame_client *c, uint32_t cmd, const void *arg, size_t n, unsigned n_fds)
{
    struct frame_call *call = new_call(c);
    struct hx_frame h;

    if (!call)
        return;
    h = head_of(HX_FRAME_IOCTL, call, n);
    h.cmd = cmd;
    announce_fds(c, &h, n_fds);
    frame_queue(c, &h, sizeof(h));
    frame_queue(c, arg, n);
    queue_fds(c, n_fds);
}

void frame_queue_text(struct frame_client *c, uint32_t op, const char *text, size_t n)
{
    struct frame_call *call = new_call(c);
    struct hx_frame h;

    if (!call)
        return;
    c->text = true;
    h = head_of(op, call, n);
    frame_queue(c, &h, sizeof(h));
    frame_queue(c, text, n);
}

void frame_queue_interrupt(struct frame_client *c, uint64_t id)
{
    const struct frame_call call = {.id = id ? id : 1};
    struct hx_frame h = head_of(HX_FRAME_INTERRUPT, &call, 0);

    frame_queue(c, &h, sizeof(h));
}
