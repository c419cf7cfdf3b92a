/* A driver behind a socket: its threads, and the protocol's second reading. */
#include "fake_driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void fake_write(int sock, const void *p, size_t n)
{
    const char *c = p;

    while (n) {
        ssize_t k = send(sock, c, n, MSG_NOSIGNAL);

        if (k <= 0)
            return;
        c += k;
        n -= (size_t)k;
    }
}

static int fake_read(int sock, void *p, size_t n)
{
    char *c = p;

    while (n) {
        ssize_t k = recv(sock, c, n, 0);

        if (k <= 0)
            return -1;
        c += k;
        n -= (size_t)k;
    }
    return 0;
}

void fake_free(struct fake_request *r)
{
    for (size_t i = 0; i < r->n_rx; i++)
        close(r->rx[i]);
    free(r->body);
    free(r);
}

/* The first byte carries the descriptors, so the header is read with recvmsg(). */
static int fake_read_head(int sock, struct fake_request *r)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(r->rx))];
    struct iovec iov = {&r->head, sizeof(r->head)};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c;

    if (n <= 0)
        return -1;
    for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        r->n_rx = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(r->rx, CMSG_DATA(c), r->n_rx * sizeof(int));
    }
    return fake_read(sock, (char *)&r->head + n, sizeof(r->head) - (size_t)n);
}

static struct fake_request *fake_read_request(int sock)
{
    struct fake_request *r = calloc(1, sizeof(*r));

    r->sock = sock;
    if (fake_read_head(sock, r) || r->head.magic != HX_FRAME_MAGIC) {
        fake_free(r);
        return NULL;
    }
    r->body = malloc(r->head.body_bytes + 1);
    if (fake_read(sock, r->body, r->head.body_bytes)) {
        fake_free(r);
        return NULL;
    }
    r->arg = r->body;
    r->segs = (void *)(r->arg + r->head.arg_bytes);
    r->fds = (void *)(r->segs + r->head.n_segs);
    r->bytes = (char *)(r->fds + r->head.n_fds);
    return r;
}

void *fake_in(struct fake_request *r, uint64_t addr)
{
    char *p = r->bytes;

    for (uint32_t i = 0; i < r->head.n_segs; i++) {
        if (!(r->segs[i].flags & HX_SEG_IN))
            continue;
        if (addr >= r->segs[i].addr && addr < r->segs[i].addr + r->segs[i].len)
            return p + (addr - r->segs[i].addr);
        p += r->segs[i].len;
    }
    return NULL;
}

void fake_reply(struct fake_request *r, int result, uint32_t n, const struct hx_frame_seg *segs,
                const void *const *bytes)
{
    struct hx_frame_reply h = {.magic = HX_FRAME_MAGIC,
                               .id = r->head.id,
                               .result = result,
                               .arg_bytes = r->head.arg_bytes,
                               .n_segs = n};

    h.body_bytes = h.arg_bytes + n * sizeof(*segs);
    for (uint32_t i = 0; i < n; i++)
        h.body_bytes += segs[i].len;
    fake_write(r->sock, &h, sizeof(h));
    fake_write(r->sock, r->arg, h.arg_bytes);
    fake_write(r->sock, segs, n * sizeof(*segs));
    for (uint32_t i = 0; i < n; i++)
        fake_write(r->sock, bytes[i], segs[i].len);
}

void fake_reply_text(struct fake_request *r, const char *text)
{
    struct hx_frame_reply h = {.magic = HX_FRAME_MAGIC,
                               .id = r->head.id,
                               .arg_bytes = (uint32_t)strlen(text),
                               .body_bytes = strlen(text)};

    fake_write(r->sock, &h, sizeof(h));
    fake_write(r->sock, text, h.arg_bytes);
}

struct fake_worker {
    struct fake_driver *f;
    int sock;
};

static void *fake_serve(void *arg)
{
    struct fake_worker w = *(struct fake_worker *)arg;
    struct hx_frame_reply hello = {.magic = HX_FRAME_MAGIC, .result = w.f->greeting};
    struct fake_request *r;

    free(arg);
    fake_write(w.sock, &hello, sizeof(hello));
    while (!hello.result && (r = fake_read_request(w.sock))) {
        if (r->head.op == HX_FRAME_INTERRUPT)
            w.f->interrupts++;
        else
            w.f->requests++;
        w.f->handle(w.f, r); /* owns r */
    }
    shutdown(w.sock, SHUT_RDWR);
    return NULL;
}

static void *fake_accept(void *arg)
{
    struct fake_driver *f = arg;
    int sock;

    while ((sock = accept(f->listener, NULL, NULL)) >= 0) {
        struct fake_worker *w = malloc(sizeof(*w));

        if (f->n_workers == FAKE_MAX_CONNECTIONS)
            abort();
        *w = (struct fake_worker){f, sock};
        f->sock[f->n_workers] = sock;
        pthread_create(&f->worker[f->n_workers++], NULL, fake_serve, w);
    }
    return NULL;
}

void fake_start(struct fake_driver *f, const char *name)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};

    memset(f, 0, sizeof(*f));
    pthread_mutex_init(&f->lock, NULL);
    snprintf(f->node, sizeof(f->node), "%s/%s", hxt_tmpdir(), name);
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", f->node);
    unlink(f->node);
    f->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(f->listener, 8), 0);
    pthread_create(&f->acceptor, NULL, fake_accept, f);
}

void fake_stop(struct fake_driver *f)
{
    shutdown(f->listener, SHUT_RDWR);
    pthread_join(f->acceptor, NULL);
    for (int i = 0; i < f->n_workers; i++) {
        shutdown(f->sock[i], SHUT_RDWR);
        pthread_join(f->worker[i], NULL);
        close(f->sock[i]);
    }
    for (int i = 0; i < f->n_held; i++)
        fake_free(f->held[i]);
    close(f->listener);
    unlink(f->node);
}
