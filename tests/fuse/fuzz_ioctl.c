/* Fuzz target: an ioctl with a hostile payload, and a hostile DSP that answers it, in the driver's core.
 *
 * Input: u32 command selector, the ioctl's struct (64 bytes), a reply (48 bytes), then the client's memory, which client
 * addresses 0x10000.. stand for.  The front end is this file; the channel is real, its other end is held here. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/driver.h"

enum { MEMORY_AT = 0x10000, CLIENT_FD = 7 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

static struct hx_driver driver;
static struct hx_session session;
static int peer[HX_PD_FDS], client_memfd;
static const uint8_t *memory;
static size_t memory_bytes;
static int finished;

static int inside(uint64_t addr, uint64_t len)
{
    return addr >= MEMORY_AT && addr - MEMORY_AT <= memory_bytes &&
           len <= memory_bytes - (addr - MEMORY_AT);
}

static int read_memory(struct hx_call *call, void *dst, uint64_t addr, uint64_t len)
{
    (void)call;
    if (!inside(addr, len))
        return -14;
    memcpy(dst, memory + (addr - MEMORY_AT), len);
    return 0;
}

static int write_memory(struct hx_call *call, uint64_t addr, const void *src, uint64_t len)
{
    static uint8_t sink[1 << 16];

    (void)call;
    if (!inside(addr, len))
        return -14;
    memcpy(sink, src, len < sizeof(sink) ? len : sizeof(sink)); /* the source has to be readable */
    return 0;
}

static int fd_of_client(struct hx_call *call, int fd)
{
    (void)call;
    return fd == CLIENT_FD ? dup(client_memfd) : -9;
}

static int locate(struct hx_call *call, int fd, uint64_t inode, uint64_t addr, uint64_t *offset)
{
    (void)call, (void)fd, (void)inode;
    if (addr & 1)
        return -2;
    *offset = addr & 4095;
    return 0;
}

static void finish(struct hx_call *call, int result)
{
    (void)call, (void)result;
    finished++;
}

/* Memory comes in pages: what is behind the input on the last one reads as zeros. */
static int read_paged(struct hx_call *call, void *dst, uint64_t addr, uint64_t len)
{
    uint64_t pages = (memory_bytes + 4095) & ~UINT64_C(4095), at = addr - MEMORY_AT;

    (void)call;
    if (addr < MEMORY_AT || at > pages || len > pages - at)
        return -14;
    memset(dst, 0, len);
    if (at < memory_bytes)
        memcpy(dst, memory + at, len < memory_bytes - at ? len : memory_bytes - at);
    return 0;
}

static int read_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    int rc = 0;

    if (n < 1 || n > HX_PIECES_MAX)
        abort();
    for (unsigned i = 0; i < n && !rc; i++)
        rc = read_paged(call, p[i].here, p[i].there, p[i].len);
    return rc;
}

static int write_pieces(struct hx_call *call, const struct hx_piece *p, unsigned n)
{
    int rc = 0;

    if (n < 1 || n > HX_PIECES_MAX)
        abort();
    for (unsigned i = 0; i < n && !rc; i++)
        rc = write_memory(call, p[i].there, p[i].here, p[i].len);
    return rc;
}

static bool same_file(struct hx_call *call, int fd, int own)
{
    (void)own;
    return fd == CLIENT_FD && call->arg.invoke.sc & 1;
}

/* With and without what is there for speed. */
static const struct hx_front_ops slow_ops = {
    .name = "fuzz",
    .read = read_memory,
    .write = write_memory,
    .fd = fd_of_client,
    .locate = locate,
    .finish = finish,
};
static const struct hx_front_ops fast_ops = {
    .name = "fuzz",
    .read = read_paged,
    .write = write_memory,
    .fd = fd_of_client,
    .locate = locate,
    .finish = finish,
    .read_pieces = read_pieces,
    .write_pieces = write_pieces,
    .same_file = same_file,
    .reads_pages = true,
};

static void set_up(void)
{
    char err[256];

    if (session.driver)
        return;
    driver.profile = (struct hx_profile){.name = "fuzz", .dispatch_us = 1, .marshal_us_per_kib = 1,
                                         .clock_mhz = 1000, .poll_mode = 1};
    if (hx_loop_init(&driver.loop) || hx_channel_create(&session.channel, &driver.loop, 1, peer) ||
        hx_filter_push(&driver.filters, "count", &driver.profile, err, sizeof(err)) ||
        hx_filter_push(&driver.filters, "cost", &driver.profile, err, sizeof(err)) ||
        hx_filter_push(&driver.filters, "error:nth=3,corrupt=all", &driver.profile, err, sizeof(err)))
        abort();
    client_memfd = memfd_create("fuzz", MFD_CLOEXEC);
    if (ftruncate(client_memfd, 8192))
        abort();
    session.driver = &driver;
    session.client_id = 1;
    session.state = HX_SESSION_UP;
    driver.session[0] = &session;
}

/* What the other end received is thrown away, its descriptors too. */
static void drain(void)
{
    struct hx_msg msg;
    char cbuf[256], byte[64];
    struct iovec iov = {byte, sizeof(byte)};

    while (hx_ring_pop(&session.channel.rings->request, &msg) == 0)
        ;
    for (;;) {
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf,
                           .msg_controllen = sizeof(cbuf)};
        if (recvmsg(peer[HX_FD_CTL], &m, MSG_DONTWAIT) <= 0)
            return;
        for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
            for (size_t i = 0; i < (h->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(h) + i * sizeof(fd), sizeof(fd));
                close(fd);
            }
    }
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    static const uint32_t cmds[] = {FASTRPC_IOCTL_INVOKE, FASTRPC_IOCTL_INVOKE, FASTRPC_IOCTL_MEM_MAP,
                                    FASTRPC_IOCTL_MEM_UNMAP, FASTRPC_IOCTL_INIT_CREATE,
                                    FASTRPC_IOCTL_GET_DSP_INFO};
    enum { HEAD = 4 + 64 + 48 };
    struct hx_call call = {.driver = &driver, .session = &session, .front = &slow_ops};
    struct hx_reply reply;
    uint32_t which;

    set_up();
    if (n < HEAD)
        return 0;
    memcpy(&which, data, sizeof(which));
    if (which & 0x40000000u)
        call.front = &fast_ops;
    call.cmd = which % 17 < 12 ? cmds[which % 6] : which;
    call.arg_bytes = _IOC_SIZE(call.cmd) <= sizeof(call.arg) ? _IOC_SIZE(call.cmd) : 0;
    memcpy(&call.arg, data + 4, 64);
    memcpy(&reply, data + 68, sizeof(reply));
    memory = data + HEAD;
    memory_bytes = n - HEAD;
    finished = 0;
    if (call.cmd == FASTRPC_IOCTL_INIT_CREATE || call.cmd == FASTRPC_IOCTL_GET_DSP_INFO)
        driver.dsp.pid = 0; /* there is no root PD behind this session */
    hx_call_begin(&call);
    if (!finished && (which & 0x80000000u))
        hx_call_interrupt(&call);
    hx_ring_push(&session.channel.rings->reply, &reply); /* as the DSP says */
    hx_context_replies(&driver, &session.channel, HX_RING_SLOTS);
    reply.ctx = (uint64_t)driver.last_ctx_id << HX_CTX_ID_SHIFT; /* and one that fits */
    hx_ring_push(&session.channel.rings->reply, &reply);
    hx_context_replies(&driver, &session.channel, HX_RING_SLOTS);
    hx_context_abort(&driver, &session.channel, -32);
    hx_context_drop_spent(&driver, &session);
    if (finished != 1)
        abort(); /* every ioctl is answered exactly once */
    for (int i = 1; i < FASTRPC_CTX_MAX; i++)
        if (driver.context[i])
            abort(); /* nothing stays behind */
    session.state = HX_SESSION_UP;
    drain();
    return 0;
}
