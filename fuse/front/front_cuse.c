/* Front end `cuse`: the nodes are character devices in /dev, as on a phone.
 *
 * Each node is a CUSE session of its own in the driver's loop.  Ioctls come unrestricted: the first request has no data,
 * and the answer to it says which memory the kernel is to copy (RETRY).  That is used for the ioctl's own struct
 * alone; what it points to is read from the caller's memory, because RETRY stops at 256 pieces and INVOKE has up to 540.
 *
 * The kernel makes and removes /dev/NAME with the session (devtmpfs).  While the DSP is down the session lives on for
 * the files that are open, but no new ones may be opened: the node is unlinked and made again afterwards.
 *
 * A device has no room for text, so the mount folder holds the socket front end's nodes as well. */
#define FUSE_USE_VERSION 35
#include <cuse_lowlevel.h>
#include <fuse_lowlevel.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client_memory.h"
#include "front.h"
#include "fuse_open.h"
#include "fuse_request.h"

enum { INIT_MS = 5000 };

struct node {
    const char *name;
    bool secure;
    struct hx_driver *driver;
    struct fuse_session *se; /* NULL = not served */
    struct fuse_buf buf;
    struct hx_watch watch;
    dev_t number; /* 0 = not known yet */
};

static struct node nodes[] = {{.name = "fastrpc-cdsp"},
                              {.name = "fastrpc-cdsp-secure", .secure = true}};
#define N_NODES (sizeof(nodes) / sizeof(nodes[0]))
static bool shown, sockets;
static unsigned restarts_seen;

/* --- requests -------------------------------------------------------------------------------------------------- */

static void op_open(fuse_req_t req, struct fuse_file_info *fi)
{
    struct node *n = fuse_req_userdata(req);
    pid_t tid = fuse_req_ctx(req)->pid, pid = tid ? hx_client_process(tid) : 0;

    if (!hx_dsp_is_up(&n->driver->dsp)) {
        fuse_reply_err(req, ENOENT); /* the node was unlinked while this was on its way */
    } else if (pid) {
        hx_fuse_open(req, fi, n->driver, pid, n->secure);
    } else {
        hx_log_client("a client in another PID namespace cannot use the CUSE front end; it can use the "
               "sockets in %s", n->driver->mount);
        fuse_reply_err(req, EPERM);
    }
}

static void op_release(fuse_req_t req, struct fuse_file_info *fi)
{
    fuse_reply_err(req, 0);
    hx_session_close((struct hx_session *)(uintptr_t)fi->fh);
}

static void op_read(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi)
{
    (void)size;
    (void)off;
    (void)fi;
    fuse_reply_err(req, EINVAL);
}

static void op_write(fuse_req_t req, const char *bytes, size_t size, off_t off,
                     struct fuse_file_info *fi)
{
    (void)bytes;
    (void)size;
    (void)off;
    (void)fi;
    fuse_reply_err(req, EINVAL);
}

static void op_ioctl(fuse_req_t req, int signed_cmd, void *arg, struct fuse_file_info *fi,
                     unsigned flags, const void *in, size_t in_bytes, size_t out_bytes)
{
    unsigned cmd = (unsigned)signed_cmd, dir = _IOC_DIR(cmd);
    size_t bytes = _IOC_SIZE(cmd);
    struct iovec memory = {arg, bytes};
    unsigned reads = bytes && (dir & _IOC_WRITE) ? 1 : 0;
    unsigned writes = bytes && (dir & _IOC_READ) ? 1 : 0;

    if ((flags & FUSE_IOCTL_UNRESTRICTED) && hx_call_is_known(cmd) && ((reads && !in_bytes) || (writes && !out_bytes)))
        fuse_reply_ioctl_retry(req, &memory, reads, &memory, writes);
    else
        hx_fuse_request_begin(req, "cuse", (struct hx_session *)(uintptr_t)fi->fh, cmd, in,
                              in_bytes, bytes);
}

static const struct cuse_lowlevel_ops cuse_ops = {
    .open = op_open,
    .read = op_read,
    .write = op_write,
    .release = op_release,
    .ioctl = op_ioctl,
};

/* --- nodes in /dev --------------------------------------------------------------------------------------------- */

static void node_path(const struct node *n, char *path, size_t bytes)
{
    snprintf(path, bytes, "/dev/%s", n->name);
}

/* What the kernel calls the device, by sysfs or, where that is not mounted, by the node. */
static int find_number(struct node *n)
{
    char path[128], text[32] = "";
    unsigned major_nr, minor_nr;
    struct stat st;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/class/cuse/%s/dev", n->name);
    f = fopen(path, "re");
    if (f) {
        if (fgets(text, sizeof(text), f) && sscanf(text, "%u:%u", &major_nr, &minor_nr) == 2)
            n->number = makedev(major_nr, minor_nr);
        fclose(f);
    }
    node_path(n, path, sizeof(path));
    if (!n->number && stat(path, &st) == 0 && S_ISCHR(st.st_mode))
        n->number = st.st_rdev;
    return n->number ? 0 : -ENODEV;
}

static int show(const struct node *n)
{
    const struct hx_access *a = &n->driver->access;
    char path[64];

    node_path(n, path, sizeof(path));
    if (mknod(path, S_IFCHR | 0600, n->number) && errno != EEXIST)
        return -errno;
    if (a->set && lchown(path, a->uid, a->gid))
        return -errno;
    return chmod(path, a->set ? a->mode : 0666) ? -errno : 0;
}

static void hide(const struct node *n)
{
    char path[64];

    node_path(n, path, sizeof(path));
    unlink(path);
}

/* A node may be there already: a real DSP, another rig, or what a killed rig left. */
static int check_free(const struct node *n, char *why, size_t why_bytes)
{
    char path[64];
    int fd;

    node_path(n, path, sizeof(path));
    fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && (errno == ENXIO || errno == ENODEV)) {
        unlink(path); /* no driver behind it */
        return 0;
    }
    if (fd >= 0)
        close(fd);
    snprintf(why, why_bytes, "%s exists already: another rig, or a real DSP", path);
    return -EEXIST;
}

/* --- life ------------------------------------------------------------------------------------------------------ */

static void ready(void *arg)
{
    struct node *n = arg;
    int got = fuse_session_receive_buf(n->se, &n->buf);

    if (got > 0)
        fuse_session_process_buf(n->se, &n->buf);
    if (got == 0 || (got < 0 && got != -EINTR && got != -EAGAIN) || fuse_session_exited(n->se))
        n->driver->loop.stop = 1; /* the device is gone */
}

static struct fuse_session *make_session(struct node *n)
{
    char *argv[] = {"hexrig-fuse", NULL}, info[64];
    const char *infos[] = {info};
    struct fuse_args args = FUSE_ARGS_INIT(1, argv);
    struct cuse_info ci = {.dev_info_argc = 1,
                           .dev_info_argv = infos,
                           .flags = CUSE_UNRESTRICTED_IOCTL};

    snprintf(info, sizeof(info), "DEVNAME=%s", n->name);
    return cuse_lowlevel_new(&args, &ci, &cuse_ops, n);
}

/* The kernel's first request is answered with the device's name; then there is a device, or the session has ended. */
static int register_device(struct node *n)
{
    struct pollfd p = {.fd = fuse_session_fd(n->se), .events = POLLIN};

    if (poll(&p, 1, INIT_MS) <= 0)
        return -ETIMEDOUT;
    if (fuse_session_receive_buf(n->se, &n->buf) <= 0)
        return -EIO;
    fuse_session_process_buf(n->se, &n->buf);
    p.revents = 0;
    if (poll(&p, 1, 0) < 0 || (p.revents & (POLLERR | POLLHUP)))
        return -EEXIST;
    return find_number(n);
}

static int start_node(struct node *n, struct hx_driver *d, char *why, size_t why_bytes)
{
    int rc = check_free(n, why, why_bytes), fd;
    char path[64];

    if (rc)
        return rc;
    fd = open("/dev/cuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        rc = -errno;
        snprintf(why, why_bytes, "/dev/cuse: %s (the module cuse gives it; only root may use it)",
                 strerror(-rc));
        return rc;
    }
    n->driver = d;
    n->se = make_session(n);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd); /* libfuse's way to hand a descriptor to a session */
    if (!n->se || fuse_session_mount(n->se, path)) {
        close(fd);
        snprintf(why, why_bytes, "libfuse cannot make a CUSE session");
        return -EINVAL;
    }
    rc = register_device(n);
    if (!rc)
        rc = show(n);
    if (rc) {
        snprintf(why, why_bytes, "/dev/%s cannot be made: %s", n->name, strerror(-rc));
        return rc;
    }
    n->watch = (struct hx_watch){.fd = fd, .ready = ready, .arg = n};
    return hx_loop_add(&d->loop, &n->watch);
}

static void stop_node(struct node *n)
{
    if (!n->se)
        return;
    if (n->number)
        hide(n);
    hx_loop_del(&n->driver->loop, &n->watch);
    fuse_session_destroy(n->se); /* closes the descriptor: the kernel takes the device away */
    free(n->buf.mem);
    *n = (struct node){.name = n->name, .secure = n->secure};
}

static void stop(struct hx_driver *d)
{
    hx_fuse_request_end_all();
    hx_fuse_open_end_all(d);
    for (unsigned i = 0; i < N_NODES; i++)
        stop_node(&nodes[i]);
    if (sockets)
        hx_front_socket.stop(d);
    sockets = shown = false;
}

static int start(struct hx_driver *d, char *why, size_t why_bytes)
{
    int rc = 0;

    for (unsigned i = 0; i < N_NODES && !rc; i++)
        rc = start_node(&nodes[i], d, why, why_bytes);
    if (!rc) {
        rc = hx_front_socket.start(d, why, why_bytes);
        sockets = !rc;
    }
    shown = !rc;
    restarts_seen = d->dsp.restarts;
    if (rc)
        stop(d);
    return rc;
}

/* The nodes are there exactly while the DSP is up; a restart, however quick, takes them away once. */
static void follow_dsp(const struct hx_driver *d)
{
    bool up = hx_dsp_is_up(&d->dsp);

    if (shown && (!up || restarts_seen != d->dsp.restarts)) {
        for (unsigned i = 0; i < N_NODES; i++)
            hide(&nodes[i]);
        shown = false;
    }
    restarts_seen = d->dsp.restarts;
    for (unsigned i = 0; i < N_NODES && up && !shown; i++) {
        int rc = show(&nodes[i]);
        if (rc)
            hx_log("/dev/%s cannot be made again: %s", nodes[i].name, strerror(-rc));
    }
    shown = up;
}

static void idle(struct hx_driver *d)
{
    hx_fuse_request_interrupts();
    hx_fuse_open_interrupts(d);
    follow_dsp(d);
    if (hx_front_socket.idle)
        hx_front_socket.idle(d);
}

const struct hx_front hx_front_cuse = {
    .name = "cuse",
    .start = start,
    .stop = stop,
    .idle = idle,
};
