/* Calls that came in frames: how they reach their client's memory and descriptors, and their replies. */
#include "socket_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_memory.h"
#include "core/driver.h"

struct socket_call {
    struct hx_call call;
    struct hx_socket_client *client;
    struct hx_socket_frame *frame;
    struct hx_frame_seg *segs; /* written so far, [n_segs] */
    uint32_t n_segs;
    struct hx_conn_blocks out; /* their bytes, in order */
    struct socket_call *next, **prev;
};

/* --- reaching the caller --------------------------------------------------------------------------------------- */

static bool holds(const struct hx_frame_seg *s, uint32_t flag, uint64_t addr, uint64_t len)
{
    return (s->flags & flag) && addr >= s->addr && addr - s->addr <= s->len &&
           len <= s->len - (addr - s->addr);
}

static int read_client(struct hx_call *call, void *dst, uint64_t addr, uint64_t len)
{
    const struct hx_socket_frame *f = ((struct socket_call *)call->request)->frame;
    const uint8_t *data = f->data;

    for (unsigned i = 0; i < f->head.n_segs; i++) {
        if (holds(&f->segs[i], HX_SEG_IN, addr, len)) {
            memcpy(dst, data + (addr - f->segs[i].addr), len);
            return 0;
        }
        data += f->segs[i].flags & HX_SEG_IN ? f->segs[i].len : 0;
    }
    return -EFAULT;
}

static bool takes_back(const struct hx_socket_frame *f, uint64_t addr, uint64_t len)
{
    unsigned i = 0;

    while (i < f->head.n_segs && !holds(&f->segs[i], HX_SEG_OUT, addr, len))
        i++;
    return i < f->head.n_segs;
}

/* The segment for what is written next: the last one, if that goes on with the same buffer, or a new one; NULL: there are too many. */
static struct hx_frame_seg *out_seg(struct socket_call *sc, uint64_t addr, uint64_t len)
{
    struct hx_frame_seg *last = sc->n_segs ? &sc->segs[sc->n_segs - 1] : NULL;

    if (last && addr - last->addr == last->len && takes_back(sc->frame, last->addr, last->len + len))
        return last;
    if (sc->n_segs == HX_FRAME_MAX_SEGS)
        return NULL;
    sc->segs[sc->n_segs] = (struct hx_frame_seg){.addr = addr, .flags = HX_SEG_OUT};
    return &sc->segs[sc->n_segs++];
}

static int write_client(struct hx_call *call, uint64_t addr, const void *src, uint64_t len)
{
    struct socket_call *sc = call->request;
    struct hx_frame_seg *seg;
    uint8_t *out;

    if (!sc->segs)
        sc->segs = calloc(HX_FRAME_MAX_SEGS, sizeof(*sc->segs));
    if (!sc->segs)
        return -ENOMEM;
    seg = takes_back(sc->frame, addr, len) ? out_seg(sc, addr, len) : NULL;
    if (!seg)
        return -EFAULT;
    out = hx_conn_blocks_add(&sc->out, len);
    if (!out)
        return -ENOMEM;
    memcpy(out, src, len);
    seg->len += len;
    return 0;
}

static int find_fd(const struct hx_socket_frame *f, int fd)
{
    for (unsigned i = 0; i < f->head.n_fds; i++)
        if (f->fds[i].fd == fd)
            return (int)i;
    return -1;
}

/* The descriptor that came for the client's `fd`, valid while the call begins; -EBADF: none did; -EINVAL: it is no memory. */
static int came_as(struct hx_call *call, int fd)
{
    const struct socket_call *sc = call->request;
    const struct hx_conn *c = &sc->client->conn;
    int i = find_fd(sc->frame, fd);

    if (i < 0 || (unsigned)i >= c->n_fds)
        return -EBADF;
    return c->fd[i] >= 0 ? c->fd[i] : -EINVAL;
}

static int fd_of_client(struct hx_call *call, int fd)
{
    int came = came_as(call, fd), own;

    if (came < 0)
        return came;
    own = fcntl(came, F_DUPFD_CLOEXEC, 3);
    return own < 0 ? -errno : own;
}

static bool same_file(struct hx_call *call, int fd, int own)
{
    int came = came_as(call, fd);

    return came >= 0 && hx_client_same_file(getpid(), came, own);
}

static int locate_in_client(struct hx_call *call, int fd, uint64_t inode, uint64_t addr, uint64_t *offset)
{
    const struct hx_socket_frame *f = ((struct socket_call *)call->request)->frame;

    (void)inode;
    for (const struct hx_frame_seg *s = f->segs; s < f->segs + f->head.n_segs; s++)
        if (s->flags == HX_SEG_FILE && s->fd == fd && s->addr == addr) {
            *offset = s->offset;
            return 0;
        }
    return -ENOENT;
}

/* --- replies --------------------------------------------------------------------------------------------------- */

int hx_socket_reply(struct hx_socket_client *cl, uint64_t id, int result, const void *arg, size_t arg_bytes,
                    const struct hx_frame_seg *segs, uint32_t n_segs, struct hx_conn_blocks *data)
{
    size_t seg_bytes = n_segs * sizeof(*segs);
    struct hx_frame_reply head = {.magic = HX_FRAME_MAGIC, .id = id, .result = result,
                                  .arg_bytes = (uint32_t)arg_bytes, .n_segs = n_segs,
                                  .body_bytes = arg_bytes + seg_bytes + (data ? data->bytes : 0)};
    struct hx_conn_blocks first = {0};
    uint8_t *at = hx_conn_blocks_add(&first, sizeof(head) + arg_bytes + seg_bytes);
    int rc;

    if (!at)
        return -ENOMEM;
    memcpy(at, &head, sizeof(head));
    if (arg_bytes)
        memcpy(at + sizeof(head), arg, arg_bytes);
    if (seg_bytes)
        memcpy(at + sizeof(head) + arg_bytes, segs, seg_bytes);
    rc = hx_conn_write(&cl->conn, &first);
    if (!rc && data)
        rc = hx_conn_write(&cl->conn, data);
    hx_conn_blocks_free(&first);
    return rc ? rc : hx_conn_flush(&cl->conn);
}

static void finish(struct hx_call *call, int result)
{
    struct socket_call *sc = call->request;
    struct hx_socket_client *cl = sc->client;

    /* A client that has gone away is noticed when its socket is read. */
    if (!cl->closing && hx_socket_reply(cl, sc->frame->head.id, result, call->arg.bytes, call->arg_bytes,
                                        sc->segs, sc->n_segs, &sc->out))
        shutdown(cl->conn.watch.fd, SHUT_RDWR);
    *sc->prev = sc->next;
    if (sc->next)
        sc->next->prev = sc->prev;
    hx_frame_free(sc->frame);
    free(sc->segs);
    hx_conn_blocks_free(&sc->out);
    free(sc);
}

static const struct hx_front_ops ops = {
    .name = "socket",
    .read = read_client,
    .write = write_client,
    .fd = fd_of_client,
    .locate = locate_in_client,
    .same_file = same_file,
    .finish = finish,
};

/* --- life ------------------------------------------------------------------------------------------------------ */

int hx_socket_call_begin(struct hx_socket_client *cl, struct hx_socket_frame *f)
{
    struct socket_call *sc;

    if (!cl->session || f->head.arg_bytes > sizeof(sc->call.arg)) {
        int rc = hx_socket_reply(cl, f->head.id, cl->session ? -ENOTTY : -EBADF, NULL, 0, NULL, 0, NULL);
        hx_frame_free(f);
        return rc;
    }
    sc = calloc(1, sizeof(*sc));
    if (!sc) {
        hx_frame_free(f);
        return -ENOMEM;
    }
    sc->client = cl;
    sc->frame = f;
    sc->call = (struct hx_call){.driver = cl->driver, .session = cl->session, .front = &ops,
                                .request = sc, .tid = cl->pid, .thread = (uint32_t)(f->head.id >> 32), .cmd = f->head.cmd,
                                .arg_bytes = f->head.arg_bytes};
    if (f->head.arg_bytes)
        memcpy(sc->call.arg.bytes, f->arg, f->head.arg_bytes);
    sc->next = cl->calls;
    sc->prev = &cl->calls;
    if (cl->calls)
        cl->calls->prev = &sc->next;
    cl->calls = sc;
    hx_call_begin(&sc->call);
    return 0;
}

int hx_socket_call_interrupt(struct hx_socket_client *cl, struct hx_socket_frame *f)
{
    struct socket_call *sc = cl->calls;

    while (sc && sc->frame->head.id != f->head.id)
        sc = sc->next;
    if (sc)
        hx_call_interrupt(&sc->call);
    hx_frame_free(f);
    return 0;
}

void hx_socket_calls_drop(struct hx_socket_client *cl)
{
    cl->closing = true;
    while (cl->calls)
        hx_call_finish(&cl->calls->call, -EPIPE);
}
