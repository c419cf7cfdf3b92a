/* Connections to the socket front end, and reading its text nodes. */
#include "hx_frame_io.h"
#include "hx_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_path(int sock, const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};

    if ((size_t)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path) >= sizeof(sa.sun_path))
        return -ENAMETOOLONG;
    return connect(sock, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
}

/* A socket address holds 107 characters: a longer path goes through its directory's descriptor. */
static int connect_long(int sock, const char *path)
{
    char *dir = strdup(path), *base = strdup(path), near[108];
    int fd = dir ? open(dirname(dir), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int rc = fd < 0 || !base ? -errno : 0;

    if (rc == 0) {
        snprintf(near, sizeof(near), "/proc/self/fd/%d/%.64s", fd, basename(base));
        rc = connect_path(sock, near);
    }
    if (fd >= 0)
        close(fd);
    free(dir);
    free(base);
    return rc;
}

static int read_greeting(int sock)
{
    struct hx_frame_reply r;
    size_t got = 0;
    int rc;

    do
        rc = hx_frame_recv_head(sock, &r, &got);
    while (rc == -EINTR);
    if (rc)
        return rc;
    return r.id || r.body_bytes ? -EPROTO : r.result;
}

static void set_limit(int sock, int seconds)
{
    struct timeval t = {.tv_sec = seconds};

    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

static int late(int rc)
{
    return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

/* A socket with the limits of text nodes, or negative errno. */
static int connect_node(const char *node)
{
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc;

    if (sock < 0)
        return -errno;
    set_limit(sock, HX_NODE_LIMIT_S);
    rc = connect_path(sock, node);
    if (rc == -ENAMETOOLONG)
        rc = connect_long(sock, node);
    if (rc == 0)
        return sock;
    close(sock);
    return late(rc);
}

int hx_frame_connect(const char *node, int *fd)
{
    int sock = connect_node(node), rc;

    if (sock < 0)
        return sock;
    rc = late(read_greeting(sock));
    if (rc) {
        close(sock);
        return rc;
    }
    set_limit(sock, 0);
    *fd = sock;
    return 0;
}

int hx_transport_socket_peer(const char *node, uid_t *uid)
{
    int sock = connect_node(node), rc = 0;
    struct ucred peer;
    socklen_t n = sizeof(peer);

    if (sock < 0)
        return sock;
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &n))
        rc = -errno;
    else
        *uid = peer.uid;
    close(sock);
    return rc;
}

/* The reply to the only request of this connection: its result, or why there is none.  *text: what came with it. */
static int recv_text(int sock, char **text)
{
    struct hx_frame_reply r;
    size_t got = 0;
    char *t;
    int rc;

    do
        rc = hx_frame_recv_head(sock, &r, &got);
    while (rc == -EINTR);
    if (rc)
        return rc;
    if (r.id != 1 || r.n_segs || r.body_bytes != r.arg_bytes || r.result > 0)
        return -EPROTO;
    t = malloc(r.arg_bytes + 1);
    if (!t)
        return -ENOMEM;
    rc = hx_frame_recv(sock, t, r.arg_bytes, NULL);
    if (rc) {
        free(t);
        return rc;
    }
    t[r.arg_bytes] = '\0';
    *text = t;
    return r.result;
}

/* Sends one frame about text nodes and waits for its reply. */
static int exchange(const char *node, uint32_t op, const char *arg, size_t n, char **text)
{
    struct hx_frame head = {.magic = HX_FRAME_MAGIC,
                            .op = op,
                            .id = 1,
                            .arg_bytes = (uint32_t)n,
                            .body_bytes = n};
    struct iovec iov[] = {{&head, sizeof(head)}, {(void *)arg, n}};
    int sock, greeting, rc;

    *text = NULL;
    if (n > HX_FRAME_MAX_ARG)
        return -ENAMETOOLONG;
    sock = connect_node(node);
    if (sock < 0)
        return sock;
    /* works even while no session is free or the DSP restarts; sent first, because the greeting of a client that wants a
     * session waits for one that is being closed */
    rc = late(hx_frame_send(sock, iov, 2, NULL, 0));
    greeting = rc ? 0 : late(read_greeting(sock));
    if (greeting == -ETIMEDOUT)
        rc = greeting;
    if (rc == 0)
        rc = late(recv_text(sock, text));
    close(sock);
    return rc && !*text && greeting ? greeting : rc;
}

int hx_transport_socket_read(const char *node, const char *name, char **text)
{
    int rc = exchange(node, HX_FRAME_READ, name, strlen(name), text);

    if (rc) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

int hx_transport_socket_write(const char *node, const char *name, const char *text, char **reply)
{
    const size_t n = strlen(name) + 1, all = n + strlen(text);
    char *arg = malloc(all + 1);
    int rc;

    *reply = NULL;
    if (!arg)
        return -ENOMEM;
    memcpy(arg, name, n);
    memcpy(arg + n, text, all - n);
    rc = exchange(node, HX_FRAME_WRITE, arg, all, reply);
    free(arg);
    return rc;
}
