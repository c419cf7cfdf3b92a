/* Clients of the socket front end: what their frames ask for, and the limits that say who has to go. */
#include "socket_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_memory.h"
#include "core/driver.h"
#include "socket_call.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* glibc before 2.39 */
#endif

/* Connections that have no session: for text nodes, refused because all are taken, or waiting for one. */
enum { BYSTANDERS_MAX = 64 };
/* Descriptors of frames that are not whole, of all connections together; more than a frame may have. */
enum { WAITING_FDS_MAX = 256 };
enum { SMALL_BODY = 64 << 10 };

static struct hx_socket_client *clients;

/* --- frames ---------------------------------------------------------------------------------------------------- */

/* A connection that only uses text nodes has no file open. */
static void give_up_session(struct hx_socket_client *cl)
{
    if (cl->session && !cl->session->used) {
        hx_session_close(cl->session);
        cl->session = NULL;
    }
}

/* The end of a frame that is answered at once with a text, which may be NULL. */
static int reply_text(struct hx_socket_client *cl, struct hx_socket_frame *f, int result, const char *text)
{
    int rc = hx_socket_reply(cl, f->head.id, result, text, text ? strlen(text) : 0, NULL, 0, NULL);

    hx_frame_free(f);
    return rc;
}

static int serve_read(struct hx_socket_client *cl, struct hx_socket_frame *f)
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
static int write_node(struct hx_socket_client *cl, const struct hx_socket_frame *f, char *why,
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

static int serve_write(struct hx_socket_client *cl, struct hx_socket_frame *f)
{
    char why[512] = "";
    int rc;

    give_up_session(cl);
    rc = write_node(cl, f, why, sizeof(why));
    if (*why)
        hx_log_client("%s", why);
    return reply_text(cl, f, rc, why);
}

static void drop_client(struct hx_socket_client *cl)
{
    hx_open_cancel(&cl->opener);
    hx_socket_calls_drop(cl);
    if (cl->session)
        hx_session_close(cl->session);
    hx_conn_close(&cl->conn);
    *cl->prev = cl->next;
    if (cl->next)
        cl->next->prev = cl->prev;
    free(cl);
}

/* Limit of a frame: without a PD there is nothing large to send but the shell of INIT_CREATE. */
static uint64_t body_max(const struct hx_socket_client *cl)
{
    if (!cl->session)
        return SMALL_BODY;
    return cl->session->state == HX_SESSION_NEW || cl->session->state == HX_SESSION_CREATING
               ? FASTRPC_INIT_FILELEN_MAX + SMALL_BODY
               : HX_FRAME_MAX_BODY;
}

/* No more than could be imported; who has no session has nothing to import. */
static unsigned fds_max(const struct hx_socket_client *cl)
{
    unsigned n = cl->session ? cl->driver->maps_max : 0;

    return n < HX_FRAME_MAX_FDS ? n : HX_FRAME_MAX_FDS;
}

/* What comes with half a frame is held until the rest is there, which may be never: without a limit every session could hold as
 * many as a frame may have, beside the buffers that it has imported.  Who holds most has to go, of several the oldest. */
static void limit_waiting_fds(void)
{
    struct hx_socket_client *most = NULL;
    unsigned n = 0, top = 0;

    for (struct hx_socket_client *cl = clients; cl; cl = cl->next) {
        const unsigned held = hx_conn_fds(&cl->conn);

        n += held;
        if (held >= top) {
            top = held;
            most = cl;
        }
    }
    if (!most || n <= WAITING_FDS_MAX)
        return;
    hx_log_client("client pid %d dropped: %u of %u descriptors that wait for the rest of their frames, at most %d for all clients",
                  most->pid, top, n, WAITING_FDS_MAX);
    drop_client(most);
}

static bool is_readable(const struct hx_socket_client *cl)
{
    return !cl->conn.full && !cl->conn.held && poll(&(struct pollfd){.fd = cl->conn.watch.fd, .events = POLLIN}, 1, 0) > 0;
}

/* Its client has closed it. */
static bool is_over(const struct hx_socket_client *cl)
{
    return poll(&(struct pollfd){.fd = cl->conn.watch.fd}, 1, 0) > 0;
}

/* While several processes have sessions, one connection of each is served in a round: the one that has waited longest. */
static bool is_its_turn(struct hx_socket_client *cl)
{
    const uint64_t round = cl->driver->round;

    for (struct hx_socket_client *o = hx_turns_are_taken(cl->driver) ? clients : NULL; o; o = o->next)
        if (o != cl && o->pid == cl->pid && (o->round == round || (o->round < cl->round && is_readable(o))))
            return false;
    cl->round = round;
    return true;
}

static void client_ready(void *arg)
{
    static int (*const serve[])(struct hx_socket_client *, struct hx_socket_frame *) = {
        [HX_FRAME_IOCTL] = hx_socket_call_begin,
        [HX_FRAME_READ] = serve_read,
        [HX_FRAME_INTERRUPT] = hx_socket_call_interrupt,
        [HX_FRAME_WRITE] = serve_write,
    };
    struct hx_socket_client *cl = arg;
    struct hx_socket_frame *f;
    const char *why;
    int rc;

    if (!is_its_turn(cl)) /* it stays readable */
        return;
    cl->conn.turn_bytes = hx_turns_are_taken(cl->driver) ? cl->driver->copy_bytes / 2 : 0;
    rc = hx_conn_flush(&cl->conn);
    cl->conn.body_max = body_max(cl);
    cl->conn.fds_max = fds_max(cl);
    if (!rc)
        rc = hx_conn_read(&cl->conn, &f, &why);
    if (!rc && cl->conn.held && is_over(cl)) /* nobody reads its end */
        rc = -ECONNRESET;
    if (rc == -EPROTO)
        hx_log_client("client pid %d dropped: %s", cl->pid, why);
    if (rc == 1) {
        hx_open_refuse(&cl->opener, -EBUSY); /* text nodes wait for nothing */
        rc = serve[f->head.op](cl, f);
        hx_conn_close_fds(&cl->conn);
    }
    if (rc < 0)
        drop_client(cl);
    else
        limit_waiting_fds(); /* may be cl's end, too */
}

/* Only a few connections without a session are kept: the oldest one is closed. */
static void limit_bystanders(void)
{
    struct hx_socket_client *oldest = NULL;
    unsigned n = 0;

    for (struct hx_socket_client *cl = clients; cl; cl = cl->next)
        if (!cl->session) {
            oldest = cl;
            n++;
        }
    if (n <= BYSTANDERS_MAX)
        return;
    hx_log_client("client pid %d dropped: more than %d connections have no session", oldest->pid,
                  BYSTANDERS_MAX);
    hx_open_refuse(&oldest->opener, -EBUSY);
    drop_client(oldest);
}

/* Whether the process that connected has ended; false: not known. */
static bool has_ended(const struct hx_socket_client *cl)
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

void hx_socket_client_look(void)
{
    struct hx_socket_client *next;

    for (struct hx_socket_client *cl = clients; cl; cl = next) {
        next = cl->next;
        if ((cl->conn.full && has_ended(cl)) || hx_conn_resume(&cl->conn))
            drop_client(cl);
    }
}

bool hx_socket_client_some_left(void)
{
    const struct hx_socket_client *cl = clients;

    while (cl && (!cl->session || !is_over(cl)))
        cl = cl->next;
    return cl != NULL;
}

/* Greets. */
static void opened(struct hx_opener *o, struct hx_session *s, int rc)
{
    struct hx_socket_client *cl = (struct hx_socket_client *)(void *)((char *)o - offsetof(struct hx_socket_client, opener));

    cl->session = s;
    if (hx_socket_reply(cl, 0, rc, NULL, 0, NULL, 0, NULL))
        shutdown(cl->conn.watch.fd, SHUT_RDWR); /* the loop sees its end */
}

int hx_socket_client_add(struct hx_driver *d, int fd, bool secure)
{
    struct ucred cred = {.uid = (uid_t)-1};
    socklen_t len = sizeof(cred);
    struct hx_socket_client *cl = calloc(1, sizeof(*cl));

    if (!cl) {
        close(fd);
        return -ENOMEM;
    }
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len);
    cl->driver = d;
    cl->pid = cred.pid;
    cl->uid = cred.uid;
    cl->conn.loop = &d->loop;
    cl->conn.uid = hx_client_user(cred.pid, cred.uid);
    cl->conn.watch = (struct hx_watch){.fd = fd, .ready = client_ready, .arg = cl};
    cl->next = clients;
    cl->prev = &clients;
    if (clients)
        clients->prev = &cl->next;
    clients = cl;
    if (hx_loop_add(cl->conn.loop, &cl->conn.watch)) {
        drop_client(cl);
        return 0;
    }
    cl->opener = (struct hx_opener){.driver = d, .pid = cred.pid, .uid = cl->conn.uid, .secure_node = secure, .opened = opened};
    hx_open(&cl->opener);
    limit_bystanders();
    return 0;
}

void hx_socket_client_drop_all(void)
{
    while (clients)
        drop_client(clients);
}
