/* Front end `fuse`: the nodes are files of a FUSE mount.
 *
 * The low-level libfuse interface, because only it lets a DSP result below -4095 through as the ioctl's return value.
 * Ioctls on a FUSE file come in restricted mode: the kernel copies the ioctl's own struct, what it points to is read from
 * the caller's memory.  Requests are answered when the DSP answers, so any number can be under way, and FUSE_INTERRUPT
 * is served in between. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_memory.h"
#include "front.h"
#include "fuse_attribute.h"
#include "fuse_mount.h"
#include "fuse_open.h"
#include "fuse_request.h"
#include "fuse_turns.h"
#include "hx_reach.h"

static struct fuse_session *se;
static struct hx_fuse_mount mount_point;
static struct fuse_buf buf;
static struct hx_watch watch;
static struct hx_timer check; /* armed while it is mounted */

/* What somebody reads of a text node: its text as it was at open().  Listed, since an unmount leaves files open whose
 * RELEASE never comes. */
struct open_text {
    struct open_text *next;
    char *text;
};
static struct open_text *open_texts;

/* Nodes; the inode number is the index + 2.  Text nodes follow the devices. */
static const struct {
    const char *name;
    bool device, secure;
} nodes[] = {
    {"fastrpc-cdsp", true, false}, {"fastrpc-cdsp-secure", true, true}, {"status", false, false},
    {"stats", false, false},       {"sessions", false, false},          {"clock", false, false},
    {"thermal", false, false},     {"vtcm", false, false},             {"uncosted", false, false},
    {"methods", false, false},     {"crashes", false, false},          {"control", false, false},
};
#define CONTROL (N_NODES - 1)
#define MOUNT_OPTIONS "rw,nosuid,nodev,fsname=hexrig,subtype=hexrig,auto_unmount"
#define N_NODES (sizeof(nodes) / sizeof(nodes[0]))
#define FIRST_INO 2
enum { INIT_MS = 2000, CHECK_US = 250000, TAKEN_MAX = 64 }; /* TAKEN_MAX: requests that are read in a round */
/* Behind so many the kernel keeps further ones to itself, and an open that came later would overtake them.  Its default is 12. */
enum { RELEASES_MAX = 65535 };

/* --- requests -------------------------------------------------------------------------------------------------- */

static struct hx_driver *driver_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

/* Device nodes vanish while the DSP is down. */
static bool node_exists(struct hx_driver *d, fuse_ino_t ino)
{
    return ino >= FIRST_INO && ino < FIRST_INO + N_NODES &&
           (!nodes[ino - FIRST_INO].device || hx_dsp_is_up(&d->dsp));
}

static void device_attributes(const struct hx_access *a, struct stat *st)
{
    st->st_mode = S_IFREG | (a->set ? a->mode : 0666);
    if (a->set) {
        st->st_uid = a->uid;
        st->st_gid = a->gid;
    }
}

static int attributes(struct hx_driver *d, fuse_ino_t ino, struct stat *st)
{
    memset(st, 0, sizeof(*st));
    st->st_ino = ino;
    st->st_uid = getuid();
    st->st_gid = getgid();
    st->st_nlink = 1;
    if (ino == FUSE_ROOT_ID) {
        st->st_mode = S_IFDIR | 0755;
        st->st_nlink = 2;
        return 0;
    }
    if (!node_exists(d, ino))
        return -ENOENT;
    st->st_mode = S_IFREG | (ino - FIRST_INO == CONTROL ? 0200 : 0444);
    if (nodes[ino - FIRST_INO].device)
        device_attributes(&d->access, st);
    return 0;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param e = {0};
    int rc = -ENOENT;

    for (unsigned i = 0; i < N_NODES && parent == FUSE_ROOT_ID; i++)
        if (strcmp(nodes[i].name, name) == 0) {
            e.ino = i + FIRST_INO;
            rc = attributes(driver_of(req), e.ino, &e.attr);
        }
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct stat st;
    int rc = attributes(driver_of(req), ino, &st);

    (void)fi;
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_attr(req, &st, 0);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
    if (ino < FIRST_INO || !nodes[ino - FIRST_INO].device)
        fuse_reply_err(req, ENODATA);
    else
        hx_fuse_attribute(req, driver_of(req), name, size);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                       struct fuse_file_info *fi)
{
    char out[1024];
    size_t used = 0;

    (void)fi;
    if (ino != FUSE_ROOT_ID) {
        fuse_reply_err(req, ENOTDIR);
        return;
    }
    if (size > sizeof(out))
        size = sizeof(out);
    for (size_t i = (size_t)off; i < N_NODES; i++) {
        struct stat st;
        if (attributes(driver_of(req), i + FIRST_INO, &st))
            continue;
        size_t n = fuse_add_direntry(req, out + used, size - used, nodes[i].name, &st,
                                     (off_t)i + 1);
        if (n > size - used)
            break;
        used += n;
    }
    fuse_reply_buf(req, out, used);
}

static void open_device(fuse_req_t req, unsigned node, const struct fuse_file_info *fi)
{
    const pid_t tid = fuse_req_ctx(req)->pid;
    pid_t pid = tid ? hx_client_process(tid) : 0;

    if (tid && !pid)
        pid = tid; /* /proc may hide the processes of others */
    if (pid) {
        hx_fuse_open(req, fi, driver_of(req), pid, nodes[node].secure);
        return;
    }
    hx_log_client("a client in another PID namespace cannot use the FUSE front end; start the rig "
           "with --front-end socket");
    fuse_reply_err(req, EPERM);
}

static int open_text(struct hx_driver *d, unsigned node, struct fuse_file_info *fi)
{
    struct open_text *t;

    if (node == CONTROL)
        return (fi->flags & O_ACCMODE) == O_WRONLY ? 0 : -EACCES;
    if ((fi->flags & O_ACCMODE) != O_RDONLY)
        return -EACCES;
    t = malloc(sizeof(*t));
    if (!t)
        return -ENOMEM;
    *t = (struct open_text){.next = open_texts, .text = hx_driver_node_text(d, nodes[node].name)};
    if (!t->text) {
        free(t);
        return -ENOMEM;
    }
    open_texts = t;
    fi->fh = (uintptr_t)t;
    return 0;
}

/* Closes the text of file handle `fh`, or all for 0. */
static void close_texts(uint64_t fh)
{
    struct open_text **at = &open_texts, *t;

    while ((t = *at)) {
        if (fh && (uintptr_t)t != fh) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        free(t->text);
        free(t);
    }
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct hx_driver *d = driver_of(req);
    unsigned node = (unsigned)(ino - FIRST_INO);
    int rc = node_exists(d, ino) ? 0 : -ENOENT;

    fi->direct_io = 1;
    fi->noflush = 1; /* nothing to flush */
    if (!rc && nodes[node].device) {
        fi->nonseekable = 1; /* lseek() gives ESPIPE, as on the kernel's device */
        open_device(req, node, fi);
        return;
    }
    if (!rc)
        rc = open_text(d, node, fi);
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_open(req, fi);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                    struct fuse_file_info *fi)
{
    const char *text;
    size_t n;

    if (nodes[ino - FIRST_INO].device) {
        fuse_reply_err(req, EINVAL);
        return;
    }
    text = ((const struct open_text *)(uintptr_t)fi->fh)->text;
    n = strlen(text);
    if ((size_t)off >= n)
        size = 0;
    else if (size > n - (size_t)off)
        size = n - (size_t)off;
    fuse_reply_buf(req, size ? text + off : NULL, size);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *text, size_t size, off_t off,
                     struct fuse_file_info *fi)
{
    char why[512] = "";
    int rc = ino - FIRST_INO == CONTROL ? hx_control(driver_of(req), text, size, why, sizeof(why))
                                        : -EINVAL;

    (void)off;
    (void)fi;
    if (*why)
        hx_log_client("%s", why);
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_write(req, size);
}

/* `echo ... > control` truncates first; there is nothing else to set. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *to, int set,
                       struct fuse_file_info *fi)
{
    (void)to;
    if (ino - FIRST_INO == CONTROL &&
        !(set & ~(FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_CTIME)))
        op_getattr(req, ino, fi);
    else
        fuse_reply_err(req, EPERM);
}

static void release(fuse_ino_t ino, uint64_t fh)
{
    if (nodes[ino - FIRST_INO].device)
        hx_session_close((struct hx_session *)(uintptr_t)fh);
    else if (fh) /* a writer of `control` has none */
        close_texts(fh);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    fuse_reply_err(req, 0);
    release(ino, fi->fh);
}

static bool is_in_group(fuse_req_t req, gid_t group)
{
    gid_t list[1024];
    int n;

    if (fuse_req_ctx(req)->gid == group)
        return true;
    n = fuse_req_getgroups(req, sizeof(list) / sizeof(list[0]), list);
    while (n > 0 && list[n - 1] != group)
        n--;
    return n > 0;
}

/* Whether the caller may open the devices, as the kernel decides that.  `status` is for everybody. */
static bool may_open_devices(fuse_req_t req, const struct hx_access *a)
{
    const uid_t uid = fuse_req_ctx(req)->uid;

    if (!a->set || uid == 0)
        return true;
    if (uid == a->uid)
        return (a->mode & 0600) == 0600;
    return is_in_group(req, a->gid) ? (a->mode & 060) == 060 : (a->mode & 06) == 06;
}

static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
                     struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_bytes,
                     size_t out_bytes)
{
    (void)arg;
    (void)flags;
    (void)out_bytes;
    if (ino == FUSE_ROOT_ID) /* folders have ioctls, too */
        fuse_reply_err(req, ENOTTY);
    else if (nodes[ino - FIRST_INO].device)
        hx_fuse_request_begin(req, "fuse", (struct hx_session *)(uintptr_t)fi->fh, cmd, in,
                              in_bytes, _IOC_SIZE(cmd));
    else if (cmd != HX_IOCTL_REACH || in_bytes != sizeof(struct hx_reach))
        fuse_reply_err(req, ENOTTY);
    else if (!may_open_devices(req, &driver_of(req)->access))
        fuse_reply_err(req, EACCES);
    else
        hx_fuse_request_reach(req, in);
}

static bool is_initialized;

static void op_init(void *driver, struct fuse_conn_info *conn)
{
    (void)driver;
    conn->max_background = RELEASES_MAX;
    is_initialized = true;
}

static const struct fuse_lowlevel_ops fuse_ops = {
    .init = op_init,
    .lookup = op_lookup,
    .getattr = op_getattr,
    .getxattr = op_getxattr,
    .readdir = op_readdir,
    .open = op_open,
    .read = op_read,
    .write = op_write,
    .setattr = op_setattr,
    .release = op_release,
    .ioctl = op_ioctl,
};

/* --- life ------------------------------------------------------------------------------------------------------ */

/* libfuse drops a request when it has no memory for it, and nobody repeats a RELEASE: the session would never end.  So this one
 * does not go through it.  False: it is another request. */
static bool take_release(const void *request, size_t bytes)
{
    struct {
        struct fuse_in_header head;
        struct fuse_release_in in;
    } r;
    struct fuse_out_header out = {.len = sizeof(out)};

    if (bytes < sizeof(r))
        return false;
    memcpy(&r, request, sizeof(r));
    if (r.head.opcode != FUSE_RELEASE || r.head.nodeid < FIRST_INO || r.head.nodeid >= FIRST_INO + N_NODES)
        return false;
    out.unique = r.head.unique;
    if (write(mount_point.fd, &out, sizeof(out)) < 0 && errno == ENODEV)
        return true; /* unmounted: stop() ends the sessions */
    release(r.head.nodeid, r.in.fh);
    return true;
}

static void end(struct hx_driver *d)
{
    hx_log("%s is mounted no more: the rig ends", d->mount);
    d->loop.stop = 1;
}

/* The session of an ioctl on a device, or NULL: it is another request. */
static struct hx_session *session_of(const void *request, size_t bytes)
{
    struct {
        struct fuse_in_header head;
        struct fuse_ioctl_in in;
    } r;

    if (bytes < sizeof(r))
        return NULL;
    memcpy(&r, request, sizeof(r));
    if (r.head.opcode != FUSE_IOCTL || r.head.nodeid < FIRST_INO || r.head.nodeid >= FIRST_INO + N_NODES ||
        !nodes[r.head.nodeid - FIRST_INO].device)
        return NULL;
    return (struct hx_session *)(uintptr_t)r.in.fh;
}

static void process(void *request, size_t bytes)
{
    struct fuse_buf b = {.mem = request, .size = bytes};

    fuse_session_process_buf(se, &b);
}

/* Serves a request, or keeps it for its client's turn. */
static void take(const void *request, size_t bytes, bool in_turns)
{
    struct hx_session *s = in_turns ? session_of(request, bytes) : NULL;

    if ((s && hx_fuse_turns_wait(s, request, bytes)) || take_release(request, bytes))
        return;
    fuse_session_process_buf(se, &buf);
}

/* Reads one request.  What receiving it returned. */
static int receive(struct hx_driver *d, bool in_turns)
{
    int n = fuse_session_receive_buf(se, &buf);

    if (n > 0 && buf.flags & FUSE_BUF_IS_FD)
        fuse_session_process_buf(se, &buf);
    else if (n > 0)
        take(buf.mem, (size_t)n, in_turns);
    if (n == 0 || (n < 0 && n != -EINTR && n != -EAGAIN) || fuse_session_exited(se))
        end(d);
    return n;
}

/* Alone, a client is served without a look at what else may wait, which would cost a system call. */
static void ready(void *arg)
{
    struct hx_driver *d = arg;
    const bool in_turns = hx_turns_are_taken(d) || hx_fuse_turns_left();

    for (unsigned i = 0; i < TAKEN_MAX; i++)
        if (receive(d, in_turns) <= 0 || !in_turns || d->loop.stop)
            break;
}

/* The kernel's first request, which a mount sends at once; without a right answer nothing works.  libfuse allocates its buffer
 * for it, which serves all later ones. */
static int take_init(struct hx_driver *d)
{
    struct pollfd p = {.fd = mount_point.fd, .events = POLLIN};

    is_initialized = false;
    if (poll(&p, 1, INIT_MS) <= 0)
        return -ETIMEDOUT;
    return receive(d, false) < 0 || !is_initialized ? -ENOMEM : 0;
}

/* Detached (umount -l), with files of it open, it would serve those for as long as they stay, and nobody else: `hexrig down` does not
 * find such a rig, and the next one meets its sockets. */
static void check_mount(void *arg)
{
    struct hx_driver *d = arg;

    if (hx_fuse_was_detached(&mount_point))
        end(d);
    else
        hx_loop_after(&d->loop, &check, CHECK_US, check_mount, d);
}

static void idle(struct hx_driver *d)
{
    d->loop.has_work = hx_fuse_turns_left(); /* serving may not come back (client_watchdog.h) */
    if (se && !d->loop.stop)
        hx_fuse_turns_round(process);
    d->loop.has_work = hx_fuse_turns_left();
    hx_fuse_request_interrupts();
    hx_fuse_open_interrupts(d);
}

static int check_permission(char *why, size_t why_bytes)
{
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    int rc = fd < 0 ? -errno : 0;

    if (rc)
        snprintf(why, why_bytes, "/dev/fuse: %s", strerror(-rc));
    else
        close(fd);
    return rc;
}

/* Serves the mount's descriptor. */
static struct fuse_session *make_session(struct hx_driver *d)
{
    char *argv[] = {"hexrig-fuse", NULL}, path[32];
    struct fuse_args args = FUSE_ARGS_INIT(1, argv);
    struct fuse_session *s = fuse_session_new(&args, &fuse_ops, sizeof(fuse_ops), d);

    fuse_opt_free_args(&args);
    snprintf(path, sizeof(path), "/dev/fd/%d", mount_point.fd); /* libfuse's way to hand a descriptor to a session */
    if (s && fuse_session_mount(s, path)) {
        fuse_session_destroy(s);
        s = NULL;
    }
    return s;
}

static void stop(struct hx_driver *d)
{
    int is_mounted;

    if (!se)
        return;
    hx_loop_del(&d->loop, &watch);
    hx_loop_cancel(&d->loop, &check);
    hx_fuse_turns_clear();
    hx_fuse_request_end_all();
    hx_fuse_open_end_all(d);
    close_texts(0);
    hx_sockets_beside_stop(d);
    is_mounted = hx_fuse_is_mounted(&mount_point);
    fuse_session_destroy(se); /* closes the descriptor */
    hx_fuse_unmount(&mount_point, d->mount, is_mounted);
    free(buf.mem);
    buf.mem = NULL;
    se = NULL;
}

static int start(struct hx_driver *d, char *why, size_t why_bytes)
{
    /* auto_unmount: fusermount3 takes the mount away when this process is killed, unless it looks too early; the
     * next `up` or `down` clears what it left.  Without allow_other only the user who mounts comes in; with it the kernel
     * has to look at mode, owner and groups. */
    const char *options = d->access.set ? MOUNT_OPTIONS ",allow_other,default_permissions" : MOUNT_OPTIONS;
    int rc = check_permission(why, why_bytes);

    if (rc)
        return rc;
    rc = hx_fuse_mount(&mount_point, d->mount, options);
    if (rc) {
        snprintf(why, why_bytes, "cannot mount on %s: %s (%s)", d->mount, strerror(-rc),
                 d->access.set && geteuid()
                     ? "--mode and --owner need user_allow_other in /etc/fuse.conf"
                     : "is fusermount3 installed?");
        return rc;
    }
    se = make_session(d);
    if (!se) {
        snprintf(why, why_bytes, "libfuse cannot make a session");
        close(mount_point.fd);
        hx_fuse_unmount(&mount_point, d->mount, 1);
        return -ENOMEM;
    }
    /* a request can vanish (its caller was killed) between the event and the read */
    fcntl(fuse_session_fd(se), F_SETFL, O_RDWR | O_NONBLOCK);
    watch = (struct hx_watch){.fd = fuse_session_fd(se), .ready = ready, .arg = d};
    rc = take_init(d);
    if (!rc)
        rc = hx_loop_add(&d->loop, &watch);
    if (!rc) {
        hx_sockets_beside_start(d);
        hx_loop_after(&d->loop, &check, CHECK_US, check_mount, d);
    } else {
        snprintf(why, why_bytes, "%s: %s", d->mount, strerror(-rc));
        stop(d);
    }
    return rc;
}

const struct hx_front hx_front_fuse = {
    .name = "fuse",
    .start = start,
    .stop = stop,
    .idle = idle,
};
