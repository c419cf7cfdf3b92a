/* Front end `socket`: each device node is a Unix socket, an ioctl is a frame (rpc/wire/hx_frame.h).
 *
 * For machines without /dev/fuse, and for clients whose memory the rig may not read: everything an ioctl points to comes
 * in the frame, descriptors by SCM_RIGHTS. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "front.h"
#include "socket_conn.h"

struct client {
    struct hx_conn conn;
    struct hx_driver *driver;
    struct hx_session *session; /* NULL: open failed, or only text nodes are read */
    pid_t pid;
    bool closing;
    struct socket_call *calls; /* under way */
    struct client *next, **prev;
};

struct socket_call {
    struct hx_call call;
    struct client *client;
    struct hx_socket_frame *frame;
    struct hx_frame_seg *segs; /* written so far, [n_segs] */
    uint32_t n_segs;
    uint8_t *out; /* their bytes */
    uint64_t out_len;
    struct socket_call *next, **prev;
};

struct node {
    const char *name;
    bool secure;
    struct hx_watch watch;
    struct hx_driver *driver;
};

static struct node nodes[] = {{.name = "fastrpc-cdsp", .secure = false},
                              {.name = "fastrpc-cdsp-secure", .secure = true}};
#define N_NODES (sizeof(nodes) / sizeof(nodes[0]))
static struct client *clients;

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

static int write_client(struct hx_call *call, uint64_t addr, const void *src, uint64_t len)
{
    struct socket_call *sc = call->request;
    const struct hx_socket_frame *f = sc->frame;
    unsigned i = 0;
    uint8_t *out;

    while (i < f->head.n_segs && !holds(&f->segs[i], HX_SEG_OUT, addr, len))
        i++;
    if (i == f->head.n_segs || sc->n_segs == HX_FRAME_MAX_SEGS)
        return -EFAULT;
    if (!sc->segs)
        sc->segs = calloc(HX_FRAME_MAX_SEGS, sizeof(*sc->segs));
    out = realloc(sc->out, sc->out_len + len);
    if (out)
        sc->out = out;
    if (!sc->segs || !out)
        return -ENOMEM;
    memcpy(sc->out + sc->out_len, src, len);
    sc->out_len += len;
    sc->segs[sc->n_segs++] = (struct hx_frame_seg){.addr = addr, .len = len, .flags = HX_SEG_OUT};
    return 0;
}

static int find_fd(const struct hx_socket_frame *f, int fd)
{
    for (unsigned i = 0; i < f->head.n_fds; i++)
        if (f->fds[i].fd == fd)
            return (int)i;
    return -1;
}

static int fd_of_client(struct hx_call *call, int fd)
{
    const struct hx_socket_frame *f = ((struct socket_call *)call->request)->frame;
    int i = find_fd(f, fd), own;

    if (i < 0)
        return -EBADF;
    own = fcntl(f->fd[i], F_DUPFD_CLOEXEC, 3);
    return own < 0 ? -errno : own;
}

static int locate_in_client(struct hx_call *call, int fd, uint64_t inode, uint64_t addr,
                            uint64_t *va, uint64_t *len, uint64_t *offset)
{
    const struct hx_socket_frame *f = ((struct socket_call *)call->request)->frame;
    int i = find_fd(f, fd);

    (void)inode;
    if (i < 0 || addr < f->fds[i].va || addr - f->fds[i].va >= f->fds[i].len)
        return -ENOENT;
    *va = f->fds[i].va;
    *len = f->fds[i].len;
    *offset = 0;
    return 0;
}

/* --- replies --------------------------------------------------------------------------------------------------- */

static int reply(struct client *cl, uint64_t id, int result, const void *arg, size_t arg_bytes,
                 const struct hx_frame_seg *segs, uint32_t n_segs, const void *data, uint64_t len)
{
    size_t seg_bytes = n_segs * sizeof(*segs);
    struct hx_frame_reply head = {.magic = HX_FRAME_MAGIC, .id = id, .result = result,
                                  .arg_bytes = (uint32_t)arg_bytes, .n_segs = n_segs,
                                  .body_bytes = arg_bytes + seg_bytes + len};
    int rc = hx_conn_write(&cl->conn, &head, sizeof(head));

    if (!rc)
        rc = hx_conn_write(&cl->conn, arg, arg_bytes);
    if (!rc)
        rc = hx_conn_write(&cl->conn, segs, seg_bytes);
    if (!rc)
        rc = hx_conn_write(&cl->conn, data, len);
    return rc ? rc : hx_conn_flush(&cl->conn);
}

static void finish(struct hx_call *call, int result)
{
    struct socket_call *sc = call->request;
    struct client *cl = sc->client;

    /* A client that has gone away is noticed when its socket is read. */
    if (!cl->closing && reply(cl, sc->frame->head.id, result, call->arg.bytes, call->arg_bytes,
                              sc->segs, sc->n_segs, sc->out, sc->out_len))
        shutdown(cl->conn.watch.fd, SHUT_RDWR);
    *sc->prev = sc->next;
    if (sc->next)
        sc->next->prev = sc->prev;
    hx_frame_free(sc->frame);
    free(sc->segs);
    free(sc->out);
    free(sc);
}

static const struct hx_front_ops ops = {
    .name = "socket",
    .read = read_client,
    .write = write_client,
    .fd = fd_of_client,
    .locate = locate_in_client,
    .finish = finish,
};

/* --- frames ---------------------------------------------------------------------------------------------------- */

static int serve_ioctl(struct client *cl, struct hx_socket_frame *f)
{
    struct socket_call *sc;

    if (!cl->session || f->head.arg_bytes > sizeof(sc->call.arg)) {
        int rc = reply(cl, f->head.id, cl->session ? -ENOTTY : -EBADF, NULL, 0, NULL, 0, NULL, 0);
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
                                .request = sc, .tid = cl->pid, .cmd = f->head.cmd,
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

static int serve_read(struct client *cl, struct hx_socket_frame *f)
{
    char name[64], *text;
    int rc;

    /* Who only reads a text node has no file open. */
    if (cl->session && !cl->session->used) {
        hx_session_close(cl->session);
        cl->session = NULL;
    }
    snprintf(name, sizeof(name), "%.*s", (int)f->head.arg_bytes, (const char *)f->arg);
    text = hx_driver_node_text(cl->driver, name);
    rc = reply(cl, f->head.id, text ? 0 : -ENOENT, text, text ? strlen(text) : 0, NULL, 0, NULL, 0);
    free(text);
    hx_frame_free(f);
    return rc;
}

static int serve_interrupt(struct client *cl, struct hx_socket_frame *f)
{
    struct socket_call *sc = cl->calls;

    while (sc && sc->frame->head.id != f->head.id)
        sc = sc->next;
    if (sc)
        hx_call_interrupt(&sc->call);
    hx_frame_free(f);
    return 0;
}

static void drop_client(struct client *cl)
{
    cl->closing = true;
    while (cl->calls)
        hx_call_finish(&cl->calls->call, -EPIPE);
    if (cl->session)
        hx_session_close(cl->session);
    hx_conn_close(&cl->conn);
    *cl->prev = cl->next;
    if (cl->next)
        cl->next->prev = cl->prev;
    free(cl);
}

static void client_ready(void *arg)
{
    static int (*const serve[])(struct client *, struct hx_socket_frame *) = {
        [HX_FRAME_IOCTL] = serve_ioctl,
        [HX_FRAME_READ] = serve_read,
        [HX_FRAME_INTERRUPT] = serve_interrupt,
    };
    struct client *cl = arg;
    struct hx_socket_frame *f;
    const char *why;
    int rc = hx_conn_flush(&cl->conn);

    if (!rc)
        rc = hx_conn_read(&cl->conn, &f, &why);
    if (rc == -EPROTO)
        hx_log("client pid %d dropped: %s", cl->pid, why);
    if (rc == 1)
        rc = serve[f->head.op](cl, f);
    if (rc < 0)
        drop_client(cl);
}

static void accept_ready(void *arg)
{
    struct node *n = arg;
    int fd = accept4(n->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), rc;
    struct ucred cred = {0};
    socklen_t len = sizeof(cred);
    struct client *cl = fd < 0 ? NULL : calloc(1, sizeof(*cl));

    if (!cl) {
        if (fd >= 0)
            close(fd);
        return;
    }
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
    cl->driver = n->driver;
    cl->pid = cred.pid;
    cl->conn.loop = &n->driver->loop;
    cl->conn.watch = (struct hx_watch){fd, client_ready, cl};
    cl->next = clients;
    cl->prev = &clients;
    if (clients)
        clients->prev = &cl->next;
    clients = cl;
    rc = hx_loop_add(cl->conn.loop, &cl->conn.watch);
    if (!rc) {
        int opened = hx_session_open(&cl->session, n->driver, cred.pid, n->secure);
        rc = reply(cl, 0, opened, NULL, 0, NULL, 0, NULL, 0);
    }
    if (rc)
        drop_client(cl);
}

/* --- life ------------------------------------------------------------------------------------------------------ */

static int listen_at(struct node *n, const char *folder, char *why, size_t why_bytes)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int need = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", folder, n->name), rc;

    if (need >= (int)sizeof(sa.sun_path)) {
        snprintf(why, why_bytes, "socket path %s/%s is %d bytes, at most %zu", folder, n->name, need,
                 sizeof(sa.sun_path) - 1);
        return -ENAMETOOLONG;
    }
    n->watch.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (n->watch.fd >= 0 && bind(n->watch.fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
        listen(n->watch.fd, 64) == 0)
        return 0;
    rc = -errno;
    snprintf(why, why_bytes, "socket %s: %s", sa.sun_path, strerror(-rc));
    return rc;
}

static void remove_node(const char *folder, const char *name)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
}

static void stop(struct hx_driver *d)
{
    while (clients)
        drop_client(clients);
    for (unsigned i = 0; i < N_NODES; i++) {
        if (!nodes[i].driver)
            continue;
        hx_loop_del(&d->loop, &nodes[i].watch);
        close(nodes[i].watch.fd);
        remove_node(d->mount, nodes[i].name);
        nodes[i].driver = NULL;
    }
}

static int start(struct hx_driver *d, char *why, size_t why_bytes)
{
    for (unsigned i = 0; i < N_NODES; i++) {
        int rc = listen_at(&nodes[i], d->mount, why, why_bytes);

        if (!rc) {
            nodes[i].driver = d;
            nodes[i].watch = (struct hx_watch){nodes[i].watch.fd, accept_ready, &nodes[i]};
            rc = hx_loop_add(&d->loop, &nodes[i].watch);
        } else if (nodes[i].watch.fd >= 0) {
            close(nodes[i].watch.fd);
        }
        if (rc) {
            stop(d);
            return rc;
        }
    }
    return 0;
}

const struct hx_front hx_front_socket = {
    .name = "socket",
    .start = start,
    .stop = stop,
};
