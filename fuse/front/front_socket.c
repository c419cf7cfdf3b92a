/* Front end `socket`: each device node is a Unix socket, an ioctl is a frame (rpc/wire/hx_frame.h).
 *
 * For machines without /dev/fuse, and for clients whose memory the rig may not read: everything an ioctl points to comes
 * in the frame, descriptors by SCM_RIGHTS. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client_memory.h"
#include "front.h"
#include "socket_conn.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* glibc before 2.39 */
#endif

struct client {
    struct hx_conn conn;
    struct hx_driver *driver;
    struct hx_session *session; /* NULL: open failed, or only text nodes are used */
    pid_t pid;
    uid_t uid;
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

/* Connections that have no session: for text nodes, or refused because all are taken. */
enum { BYSTANDERS_MAX = 64 };
/* Descriptors of frames that are not whole, of all connections together; more than a frame may have. */
enum { WAITING_FDS_MAX = 256 };
enum { SMALL_BODY = 64 << 10, PAUSE_US = 200000, LOOK_US = 1000000 };

struct node {
    const char *name;
    bool secure;
    struct hx_watch watch;
    struct hx_timer pause; /* armed: out of descriptors, nobody is accepted */
    struct hx_driver *driver;
};

static struct node nodes[] = {{.name = "fastrpc-cdsp", .secure = false},
                              {.name = "fastrpc-cdsp-secure", .secure = true}};
#define N_NODES (sizeof(nodes) / sizeof(nodes[0]))
static struct client *clients;
static struct hx_timer look; /* armed while there are sockets */

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

/* The descriptor that came for the client's `fd`, valid while the call begins, or -EBADF. */
static int came_as(struct hx_call *call, int fd)
{
    const struct socket_call *sc = call->request;
    const struct hx_conn *c = &sc->client->conn;
    int i = find_fd(sc->frame, fd);

    return i >= 0 && (unsigned)i < c->n_fds && c->fd[i] >= 0 ? c->fd[i] : -EBADF;
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
    int i = find_fd(f, fd);

    (void)inode;
    if (i < 0 || addr < f->fds[i].va || addr - f->fds[i].va >= f->fds[i].len)
        return -ENOENT;
    *offset = addr - f->fds[i].va;
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
    .same_file = same_file,
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

/* A connection that only uses text nodes has no file open. */
static void give_up_session(struct client *cl)
{
    if (cl->session && !cl->session->used) {
        hx_session_close(cl->session);
        cl->session = NULL;
    }
}

/* The end of a frame that is answered at once with a text, which may be NULL. */
static int reply_text(struct client *cl, struct hx_socket_frame *f, int result, const char *text)
{
    int rc = reply(cl, f->head.id, result, text, text ? strlen(text) : 0, NULL, 0, NULL, 0);

    hx_frame_free(f);
    return rc;
}

static int serve_read(struct client *cl, struct hx_socket_frame *f)
{
    char name[64], *text;
    int rc;

    give_up_session(cl);
    snprintf(name, sizeof(name), "%.*s", (int)f->head.arg_bytes, (const char *)f->arg);
    text = hx_driver_node_text(cl->driver, name);
    rc = reply_text(cl, f, text ? 0 : -ENOENT, text);
    free(text);
    return rc;
}

/* As the file `control` with its mode 0200: for the rig's owner and for root. */
static int write_node(struct client *cl, const struct hx_socket_frame *f, char *why,
                      size_t why_bytes)
{
    const char *name = (const char *)f->arg;
    size_t n = strnlen(name, f->head.arg_bytes);

    if (n == f->head.arg_bytes || strcmp(name, "control") != 0)
        return -ENOENT;
    if (cl->uid != geteuid() && cl->uid != 0) {
        snprintf(why, why_bytes, "control: for user %u, who owns the rig, not for user %u",
                 (unsigned)geteuid(), (unsigned)cl->uid);
        return -EACCES;
    }
    return hx_control(cl->driver, name + n + 1, f->head.arg_bytes - n - 1, why, why_bytes);
}

static int serve_write(struct client *cl, struct hx_socket_frame *f)
{
    char why[512] = "";
    int rc;

    give_up_session(cl);
    rc = write_node(cl, f, why, sizeof(why));
    if (*why)
        hx_log_client("%s", why);
    return reply_text(cl, f, rc, why);
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

/* Limit of a frame: without a PD there is nothing large to send but the shell of INIT_CREATE. */
static uint64_t body_max(const struct client *cl)
{
    if (!cl->session)
        return SMALL_BODY;
    return cl->session->state == HX_SESSION_NEW || cl->session->state == HX_SESSION_CREATING
               ? FASTRPC_INIT_FILELEN_MAX + SMALL_BODY
               : HX_FRAME_MAX_BODY;
}

/* No more than could be imported; who has no session has nothing to import. */
static unsigned fds_max(const struct client *cl)
{
    unsigned n = cl->session ? cl->driver->maps_max : 0;

    return n < HX_FRAME_MAX_FDS ? n : HX_FRAME_MAX_FDS;
}

/* What comes with half a frame is held until the rest is there, which may be never: without a limit every session could hold as
 * many as a frame may have, beside the buffers that it has imported.  Who holds most has to go, of several the oldest. */
static void limit_waiting_fds(void)
{
    struct client *most = NULL;
    unsigned n = 0, top = 0;

    for (struct client *cl = clients; cl; cl = cl->next) {
        const unsigned held = hx_conn_fds(&cl->conn);

        n += held;
        if (held >= top) {
            top = held;
            most = cl;
        }
    }
    if (n <= WAITING_FDS_MAX)
        return;
    hx_log_client("client pid %d dropped: %u of %u descriptors that wait for the rest of their frames, at most %d for all clients",
                  most->pid, top, n, WAITING_FDS_MAX);
    drop_client(most);
}

static void client_ready(void *arg)
{
    static int (*const serve[])(struct client *, struct hx_socket_frame *) = {
        [HX_FRAME_IOCTL] = serve_ioctl,
        [HX_FRAME_READ] = serve_read,
        [HX_FRAME_INTERRUPT] = serve_interrupt,
        [HX_FRAME_WRITE] = serve_write,
    };
    struct client *cl = arg;
    struct hx_socket_frame *f;
    const char *why;
    int rc = hx_conn_flush(&cl->conn);

    cl->conn.body_max = body_max(cl);
    cl->conn.fds_max = fds_max(cl);
    if (!rc)
        rc = hx_conn_read(&cl->conn, &f, &why);
    if (rc == -EPROTO)
        hx_log_client("client pid %d dropped: %s", cl->pid, why);
    if (rc == 1) {
        rc = serve[f->head.op](cl, f);
        hx_conn_close_fds(&cl->conn);
    }
    if (rc < 0)
        drop_client(cl);
    else
        limit_waiting_fds(); /* may be cl's end, too */
}

static void listen_again(void *arg)
{
    struct node *n = arg;

    if (hx_loop_add(&n->driver->loop, &n->watch))
        hx_loop_after(&n->driver->loop, &n->pause, PAUSE_US, listen_again, n);
}

/* The connection stays in the queue and the listener readable, so we would spin. */
static void pause_listener(struct node *n, int error)
{
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM)
        return;
    hx_log_client("%s: nobody can connect for the moment: %s", n->name, strerror(error));
    hx_loop_del(&n->driver->loop, &n->watch);
    hx_loop_after(&n->driver->loop, &n->pause, PAUSE_US, listen_again, n);
}

/* Only a few connections without a session are kept: the oldest one is closed. */
static void limit_bystanders(void)
{
    struct client *oldest = NULL;
    unsigned n = 0;

    for (struct client *cl = clients; cl; cl = cl->next)
        if (!cl->session) {
            oldest = cl;
            n++;
        }
    if (n <= BYSTANDERS_MAX)
        return;
    hx_log_client("client pid %d dropped: more than %d connections have no session", oldest->pid,
                  BYSTANDERS_MAX);
    drop_client(oldest);
}

/* Whether the process that connected has ended; false: not known. */
static bool has_ended(const struct client *cl)
{
    int pidfd = -1;
    socklen_t len = sizeof(pidfd);
    bool ended;

    if (getsockopt(cl->conn.watch.fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len))
        return errno == ESRCH || (cl->pid > 0 && kill(cl->pid, 0) && errno == ESRCH); /* Linux has it from 6.5 on */
    ended = poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, 0) > 0;
    close(pidfd);
    return ended;
}

/* A connection that leaves its replies unread is not read, so a descriptor that waits in it, its own other end for one, would
 * hide that its client has ended. */
static void look_for_the_gone(void *arg)
{
    struct hx_driver *d = arg;
    struct client *next;

    for (struct client *cl = clients; cl; cl = next) {
        next = cl->next;
        if (cl->conn.full && has_ended(cl))
            drop_client(cl);
    }
    hx_loop_after(&d->loop, &look, LOOK_US, look_for_the_gone, d);
}

static void accept_ready(void *arg)
{
    struct node *n = arg;
    int fd = accept4(n->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), rc;
    struct ucred cred = {.uid = (uid_t)-1};
    socklen_t len = sizeof(cred);
    struct client *cl = fd < 0 ? NULL : calloc(1, sizeof(*cl));

    if (!cl) {
        pause_listener(n, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
    cl->driver = n->driver;
    cl->pid = cred.pid;
    cl->uid = cred.uid;
    cl->conn.loop = &n->driver->loop;
    cl->conn.watch = (struct hx_watch){.fd = fd, .ready = client_ready, .arg = cl};
    cl->next = clients;
    cl->prev = &clients;
    if (clients)
        clients->prev = &cl->next;
    clients = cl;
    rc = hx_loop_add(cl->conn.loop, &cl->conn.watch);
    if (!rc) {
        int opened = hx_session_open(&cl->session, n->driver, cred.pid, cred.uid, n->secure);
        limit_bystanders();
        rc = reply(cl, 0, opened, NULL, 0, NULL, 0, NULL, 0);
    }
    if (rc)
        drop_client(cl);
}

/* --- life ------------------------------------------------------------------------------------------------------ */

static void node_path(char *path, size_t bytes, const char *folder, const struct node *n)
{
    snprintf(path, bytes, "%s/%s", folder, n->name);
}

/* A socket that nobody listens to; a file would refuse connections, too. */
static bool is_dead(int fd, const struct sockaddr_un *sa)
{
    struct stat st;

    return lstat(sa->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) && errno == ECONNREFUSED;
}

/* A socket's address holds 107 characters: a longer path goes through its folder's descriptor, as the client's does. */
static int bind_at(int fd, const char *folder, const char *name)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int dir = -1, rc;

    if ((size_t)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", folder, name) >=
        sizeof(sa.sun_path)) {
        dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
            return -errno;
        snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir, name);
    }
    rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
    if (rc == -EADDRINUSE && is_dead(fd, &sa)) {
        unlink(sa.sun_path); /* a killed rig left it */
        rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
    }
    if (dir >= 0)
        close(dir);
    return rc;
}

/* Nobody can connect before listen(), so there is no moment with another mode. */
static int set_access(const struct hx_driver *d, const char *folder, const struct node *n)
{
    char path[4096];

    if (!d->access.set)
        return 0;
    node_path(path, sizeof(path), folder, n);
    if (lchown(path, d->access.uid, d->access.gid) || chmod(path, d->access.mode))
        return -errno;
    return 0;
}

static int listen_at(struct node *n, struct hx_driver *d, const char *folder)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

    if (fd < 0)
        return -errno;
    rc = bind_at(fd, folder, n->name);
    if (rc) {
        close(fd);
        return rc;
    }
    n->driver = d; /* from here on hx_sockets_stop() ends it */
    n->watch = (struct hx_watch){.fd = fd, .ready = accept_ready, .arg = n};
    rc = set_access(d, folder, n);
    if (!rc && listen(fd, 64))
        rc = -errno;
    return rc ? rc : hx_loop_add(&d->loop, &n->watch);
}

void hx_sockets_stop(struct hx_driver *d)
{
    char path[4096];

    hx_loop_cancel(&d->loop, &look);
    while (clients)
        drop_client(clients);
    for (unsigned i = 0; i < N_NODES; i++) {
        if (!nodes[i].driver)
            continue;
        hx_loop_cancel(&d->loop, &nodes[i].pause);
        hx_loop_del(&d->loop, &nodes[i].watch);
        close(nodes[i].watch.fd);
        node_path(path, sizeof(path), d->sockets, &nodes[i]);
        unlink(path);
        nodes[i].driver = NULL;
    }
    d->sockets = NULL;
}

int hx_sockets_start(struct hx_driver *d, const char *folder, char *why, size_t why_bytes)
{
    d->sockets = folder;
    for (unsigned i = 0; i < N_NODES; i++) {
        int rc = listen_at(&nodes[i], d, folder);

        if (rc) {
            snprintf(why, why_bytes, "socket %s/%s: %s", folder, nodes[i].name, strerror(-rc));
            hx_sockets_stop(d);
            return rc;
        }
    }
    hx_loop_after(&d->loop, &look, LOOK_US, look_for_the_gone, d);
    return 0;
}

/* `up` makes the mount folder for its user alone (and sticky, see hx_rig_made_dir()).  One that was there is left as it is. */
static int open_folder(const struct hx_driver *d, char *why, size_t why_bytes)
{
    int rc = d->access.set && d->remove_dir && chmod(d->mount, S_ISVTX | 0755) ? -errno : 0;

    if (rc)
        snprintf(why, why_bytes, "folder %s: %s", d->mount, strerror(-rc));
    return rc;
}

static int start(struct hx_driver *d, char *why, size_t why_bytes)
{
    int rc = open_folder(d, why, why_bytes);

    return rc ? rc : hx_sockets_start(d, d->mount, why, why_bytes);
}

const struct hx_front hx_front_socket = {
    .name = "socket",
    .start = start,
    .stop = hx_sockets_stop,
};
