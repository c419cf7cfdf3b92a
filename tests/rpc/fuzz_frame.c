/* Fuzzes the socket front end's client: the input is what a server sends after the greeting of a connection, while one
 * INVOKE (id 1) with two out buffers waits.  Nothing but those buffers and the ioctl's struct may be written. */
#include "frame_connect.c"
#include "frame_io.c"
#include "frame_pack.c"
#include "transport_socket.c"

#include <sys/mman.h>

int hxt_fuzz_one(const uint8_t *data, size_t n);

int hx_rpcmem_locate(int fd, const void *va, uint64_t *offset)
{
    (void)fd;
    (void)va;
    (void)offset;
    return -1;
}

/* Out buffers at addresses that are the same in every run, so that a corpus can name them. */
#define OUT_A ((char *)0x60000000)
#define OUT_B ((char *)0x60001000)
#define OUT_BYTES 256

static int map_outs(void)
{
    static int mapped;

    if (!mapped)
        mapped = mmap(OUT_A, 8192, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == OUT_A;
    return mapped;
}

static int all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return 0;
    return 1;
}

static struct socket_transport *connected(int *peer)
{
    struct socket_transport *s = calloc(1, sizeof(*s));
    int fds[2];

    if (!s || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
        free(s);
        return NULL;
    }
    s->base.ops = &socket_ops;
    s->pid = getpid();
    s->sock = fds[0];
    pthread_mutex_init(&s->send_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    *peer = fds[1];
    return s;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    char in[16] = "in";
    struct fastrpc_invoke_args a[3] = {{(uintptr_t)in, sizeof(in), -1, 0},
                                       {(uintptr_t)OUT_A, OUT_BYTES, -1, 0},
                                       {(uintptr_t)OUT_B, OUT_BYTES, -1, 0}};
    struct fastrpc_invoke inv = {64, REMOTE_SCALARS_MAKE(2, 1, 2), (uintptr_t)a};
    struct socket_transport *s;
    int peer, bad;

    if (!map_outs())
        return 1;
    s = connected(&peer);
    if (!s)
        return 0; /* out of descriptors or memory: nothing was tested */
    send(peer, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(peer, SHUT_WR);
    socket_ioctl(&s->base, FASTRPC_IOCTL_INVOKE, &inv);
    bad = !all_zero(OUT_A + OUT_BYTES, 4096 - OUT_BYTES) ||
          !all_zero(OUT_B + OUT_BYTES, 4096 - OUT_BYTES) || memcmp(in, "in", 3) != 0;
    socket_close(&s->base);
    close(peer);
    return bad;
}
