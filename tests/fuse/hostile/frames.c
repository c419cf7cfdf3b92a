/* Hostile frames, on the sockets of either front end: heads that contradict themselves, nodes that are none, and what would be the
 * target's. */
#include "hostile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "hx_frame.h"
#include "hxt.h"

static void receive(int fd, void *to, size_t n)
{
    need(recv(fd, to, n, MSG_WAITALL) == (ssize_t)n, "no answer");
}

static int connect_to(const struct target *t, const char *node)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct timeval patience = {60, 0};
    struct hx_frame_reply r;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/%.20s", t->sockets, node);
    need(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0, "connect %s: %s", sa.sun_path, strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    receive(fd, &r, sizeof(r));
    need_is(r.result, 0, "greeting");
    return fd;
}

/* The reply's result, or ECONNRESET when the rig ends the connection. */
static int answer(int fd)
{
    struct hx_frame_reply r;
    ssize_t n = recv(fd, &r, sizeof(r), MSG_WAITALL);

    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return ECONNRESET;
    if (n != (ssize_t)sizeof(r))
        return ETIMEDOUT;
    return r.result < 0 && r.result >= -4095 ? -r.result : r.result;
}

/* What a frame says about itself; what it does not say is right. */
static const struct {
    const char *name;
    struct hx_frame head;
    int expected;
} heads[] = {
#define HEAD(...) {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 1, __VA_ARGS__}
    {"no magic", {.op = HX_FRAME_IOCTL, .id = 1}, ECONNRESET},
    {"op 0", {.magic = HX_FRAME_MAGIC, .op = 0, .id = 1}, ECONNRESET},
    {"op 5", {.magic = HX_FRAME_MAGIC, .op = 5, .id = 1}, ECONNRESET},
    {"op UINT32_MAX", {.magic = HX_FRAME_MAGIC, .op = UINT32_MAX, .id = 1}, ECONNRESET},
    {"id 0, a reply's", {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 0}, ECONNRESET},
    {"a large arg", HEAD(.arg_bytes = HX_FRAME_MAX_ARG + 1, .body_bytes = HX_FRAME_MAX_ARG + 1), ECONNRESET},
    {"601 segments", HEAD(.n_segs = HX_FRAME_MAX_SEGS + 1, .body_bytes = 601 * 24), ECONNRESET},
    {"UINT32_MAX segments", HEAD(.n_segs = UINT32_MAX), ECONNRESET},
    {"descriptors that do not come", HEAD(.n_fds = 1, .body_bytes = sizeof(struct hx_frame_fd)), ECONNRESET},
    {"254 descriptors", HEAD(.n_fds = HX_FRAME_MAX_FDS + 1), ECONNRESET},
    {"a body of 257 MiB", HEAD(.body_bytes = 257u << 20), ECONNRESET},
    {"a body of 2^63 bytes", HEAD(.body_bytes = 1ULL << 63), ECONNRESET},
    {"a body of UINT64_MAX bytes", HEAD(.body_bytes = UINT64_MAX), ECONNRESET},
    {"a large body without a PD", HEAD(.body_bytes = 16 << 20), ECONNRESET},
    {"less body than arg", HEAD(.arg_bytes = 16), ECONNRESET},
    {"less body than segments", HEAD(.n_segs = 2), ECONNRESET},
    {"an unknown ioctl", HEAD(.cmd = 0xdeadbeef), ENOTTY},
    {"INVOKE without its struct", HEAD(.cmd = (uint32_t)FASTRPC_IOCTL_INVOKE), ENOTTY},
    {"INIT_CREATE without its struct", HEAD(.cmd = (uint32_t)FASTRPC_IOCTL_INIT_CREATE), ENOTTY},
#undef HEAD
};

static int send_head(const struct target *t, const struct hx_frame *head)
{
    int fd = connect_to(t, "fastrpc-cdsp"), rc;

    send(fd, head, sizeof(*head), MSG_NOSIGNAL);
    rc = answer(fd);
    close(fd);
    return rc;
}

/* Text nodes by name; control is not in this list, since the rig's own user may write there. */
static const struct {
    enum hx_frame_op op;
    const char *name;
    size_t bytes;
    int expected;
} texts[] = {
    {HX_FRAME_READ, "", 0, ENOENT},
    {HX_FRAME_READ, "/etc/passwd", 11, ENOENT},
    {HX_FRAME_READ, "../../etc/passwd", 16, ENOENT},
    {HX_FRAME_READ, "status/../control", 17, ENOENT},
    {HX_FRAME_READ, "control", 7, ENOENT},
    {HX_FRAME_READ, "fastrpc-cdsp", 12, ENOENT},
    {HX_FRAME_READ, "status", 6, 0},
    {HX_FRAME_WRITE, "status\0x", 8, ENOENT},
    {HX_FRAME_WRITE, "../control\0filter +delay:us=1", 28, ENOENT},
    {HX_FRAME_WRITE, "control", 7, ENOENT}, /* no end of the name */
};

static int send_text(const struct target *t, enum hx_frame_op op, const char *name, size_t n)
{
    struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = op, .id = 1, .arg_bytes = (uint32_t)n, .body_bytes = n};
    int fd = connect_to(t, "fastrpc-cdsp-secure"), rc;

    send(fd, &f, sizeof(f), MSG_NOSIGNAL);
    send(fd, name, n, MSG_NOSIGNAL);
    rc = answer(fd);
    close(fd);
    return rc;
}

/* Interrupts every call that the target could have under way: ids belong to a connection.  Nothing answers that; the next frame is
 * answered, and the target says whether its call went on. */
static int interrupt_its_calls(const struct target *t)
{
    int fd = connect_to(t, "fastrpc-cdsp"), rc;
    struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_INTERRUPT};

    for (uint64_t id = 1; id < 100; id++) {
        f.id = id | (uint64_t)t->pid[CLIENT] << 32;
        send(fd, &f, sizeof(f), MSG_NOSIGNAL);
        f.id = id;
        send(fd, &f, sizeof(f), MSG_NOSIGNAL);
    }
    f.op = HX_FRAME_IOCTL;
    send(fd, &f, sizeof(f), MSG_NOSIGNAL);
    rc = answer(fd);
    close(fd);
    return rc;
}

/* A reply, as the rig would send it to the target. */
static int forge_a_reply(const struct target *t)
{
    struct hx_frame_reply r = {.magic = HX_FRAME_MAGIC, .id = (uint64_t)t->pid[CLIENT] << 32 | 1};
    int fd = connect_to(t, "fastrpc-cdsp"), rc;

    send(fd, &r, sizeof(r), MSG_NOSIGNAL);
    rc = answer(fd);
    close(fd);
    return rc;
}

void hostile_frames(const struct target *t)
{
    for (size_t i = 0; i < HXT_LEN(heads); i++)
        hostile_tell("frame", heads[i].name, heads[i].expected, send_head(t, &heads[i].head));
    for (size_t i = 0; i < HXT_LEN(texts); i++)
        hostile_tell(texts[i].op == HX_FRAME_READ ? "read" : "write", texts[i].name, texts[i].expected,
                     send_text(t, texts[i].op, texts[i].name, texts[i].bytes));
    hostile_tell("interrupt the target's calls", "", ENOTTY, interrupt_its_calls(t));
    hostile_tell("forge a reply", "", ECONNRESET, forge_a_reply(t));
}
