/* Front end `socket`: each device node is a Unix socket, an ioctl is a frame (rpc/wire/hx_frame.h).
 *
 * For machines without /dev/fuse, and for clients whose memory the rig may not read: everything an ioctl points to comes
 * in the frame, descriptors by SCM_RIGHTS.  This file has the sockets and accepts clients, socket_client.c serves them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "front.h"
#include "socket_client.h"
#include "socket_file.h"

enum { PAUSE_US = 200000, LOOK_US = 1000000, CHECK_US = 250000 };

struct node {
    const char *name;
    bool secure;
    struct hx_socket_file file;
    struct hx_watch watch;
    struct hx_timer pause; /* armed: out of descriptors, nobody is accepted */
    struct hx_driver *driver;
};

static struct node nodes[] = {{.name = "fastrpc-cdsp", .secure = false},
                              {.name = "fastrpc-cdsp-secure", .secure = true}};
#define N_NODES (sizeof(nodes) / sizeof(nodes[0]))
static struct hx_timer look; /* armed while there are sockets */
static struct hx_timer check; /* armed while they are all there is of this rig */

/* --- accepting ------------------------------------------------------------------------------------------------- */

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

static void look_for_the_gone(void *arg)
{
    struct hx_driver *d = arg;

    hx_socket_client_look();
    hx_loop_after(&d->loop, &look, LOOK_US, look_for_the_gone, d);
}

static void accept_ready(void *arg)
{
    struct node *n = arg;
    int fd = accept4(n->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int rc = fd < 0 ? -errno : hx_socket_client_add(n->driver, fd, n->secure);

    if (rc)
        pause_listener(n, -rc);
}

/* --- life ------------------------------------------------------------------------------------------------------ */

/* Nobody can connect before listen(), so there is no moment with another mode. */
static int set_access(const struct hx_driver *d, const char *folder, const struct node *n)
{
    char path[4096];

    if (!d->access.set)
        return 0;
    snprintf(path, sizeof(path), "%s/%s", folder, n->name);
    if (lchown(path, d->access.uid, d->access.gid) || chmod(path, d->access.mode))
        return -errno;
    return 0;
}

static int listen_at(struct node *n, struct hx_driver *d, const char *folder)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

    if (fd < 0)
        return -errno;
    rc = hx_socket_file_bind(&n->file, fd, folder, n->name);
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
    hx_loop_cancel(&d->loop, &look);
    hx_socket_client_drop_all();
    for (unsigned i = 0; i < N_NODES; i++) {
        if (!nodes[i].driver)
            continue;
        hx_loop_cancel(&d->loop, &nodes[i].pause);
        hx_loop_del(&d->loop, &nodes[i].watch);
        close(nodes[i].watch.fd);
        hx_socket_file_remove(&nodes[i].file, d->sockets, nodes[i].name);
        nodes[i].driver = NULL;
    }
    d->sockets = NULL;
    d->has_leavers = NULL;
}

int hx_sockets_start(struct hx_driver *d, const char *folder, char *why, size_t why_bytes)
{
    d->sockets = folder;
    d->has_leavers = hx_socket_client_some_left;
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

/* Without its nodes nobody finds the rig, not even `hexrig down`: as with a mount that is taken away, that is its end. */
static void check_nodes(void *arg)
{
    struct hx_driver *d = arg;

    for (unsigned i = 0; i < N_NODES; i++)
        if (!hx_socket_file_is_there(&nodes[i].file, d->sockets, nodes[i].name)) {
            hx_log("%s/%s has been removed: the rig ends", d->sockets, nodes[i].name);
            d->loop.stop = 1;
            return;
        }
    hx_loop_after(&d->loop, &check, CHECK_US, check_nodes, d);
}

static int start(struct hx_driver *d, char *why, size_t why_bytes)
{
    int rc = open_folder(d, why, why_bytes);

    if (!rc)
        rc = hx_sockets_start(d, d->mount, why, why_bytes);
    if (!rc)
        hx_loop_after(&d->loop, &check, CHECK_US, check_nodes, d);
    return rc;
}

static void stop(struct hx_driver *d)
{
    hx_loop_cancel(&d->loop, &check);
    hx_sockets_stop(d);
}

const struct hx_front hx_front_socket = {
    .name = "socket",
    .start = start,
    .stop = stop,
};
