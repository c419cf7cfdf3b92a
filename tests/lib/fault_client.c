/* The clients of test_fault_matrix, see fault_client.h. */
#include "fault_client.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dspqueue.h"
#include "hxt.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_queue.h"
#include "skel/hxt_skel.h"

enum { BYTES = 64 << 10, VTCM_BYTES = 256 << 10, PACKETS = 3, PACKET_US = 30 * 1000000, POLITE_MS = 60000 };

const char *const client_step_names[] = {"open", "map", "invoke", "vtcm", "queue open", "packets", "queue close", "unmap", "close"};

static struct hxt_stage *state;

/* A step begins. */
static void begin(enum client_step step)
{
    if (!state->rc)
        state->step = step;
}

/* Notes a result.  1: go on. */
static int good(int rc)
{
    if (rc && !state->rc)
        state->rc = rc;
    return rc == 0;
}

static int is_all(const uint8_t *p, uint8_t value)
{
    for (size_t i = 0; i < BYTES; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

/* to[] = from[] + 1.  A result of 0 with other bytes is what must never be. */
static int ripple(remote_handle64 h, uint8_t *from, uint8_t *to, uint8_t value, int *wrong)
{
    struct hxt_in in = {0, 0};
    remote_arg pra[3] = {{.buf = {&in, sizeof(in)}}, {.buf = {from, BYTES}}, {.buf = {to, BYTES}}};
    int rc;

    memset(from, value, BYTES);
    memset(to, HXT_POISON, BYTES);
    rc = remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), pra);
    *wrong |= rc == 0 && !is_all(to, (uint8_t)(value + 1));
    return rc;
}

static int invoke(remote_handle64 h, uint8_t *shared)
{
    uint8_t *own = malloc(BYTES);
    int wrong = 0, rc = ripple(h, shared, own, 3, &wrong);

    if (!rc)
        rc = ripple(h, own, shared, 40, &wrong);
    state->wrong |= wrong;
    free(own);
    return rc;
}

static int take_vtcm(remote_handle64 h)
{
    struct hxt_in in = {1, VTCM_BYTES}; /* kept until the PD ends */
    struct hxt_vtcm v = {0};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {&v, sizeof(v)}}};
    int rc = remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXT_VTCM, 1, 1), pra);

    state->wrong |= rc == 0 && !v.address;
    return rc;
}

static int call_queue(remote_handle64 h, uint32_t method, uint64_t id)
{
    struct hxq_start in = {id, HXQ_ECHO, 0};
    remote_arg pra[1] = {{.buf = {&in, sizeof(in)}}};

    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(method, 1, 0), pra);
}

/* Every packet comes back with the bytes of its buffer raised by one. */
static int packet(dspqueue_t q, uint8_t *shared, uint8_t value)
{
    struct dspqueue_buffer b = {.fd = (uint32_t)rpcmem_to_fd(shared), .flags = DSPQUEUE_BUFFER_FLAG_REF}, back;
    uint8_t message[32], answer[64];
    uint32_t flags, n, len;
    int rc;

    memset(shared, value, BYTES);
    memset(message, value, sizeof(message));
    rc = dspqueue_write(q, 0, 1, &b, sizeof(message), message, PACKET_US);
    if (!rc)
        rc = dspqueue_read(q, &flags, 1, &n, &back, sizeof(answer), &len, answer, PACKET_US);
    if (!rc && len == 4) /* the skel says what failed at its end */
        memcpy(&rc, answer, sizeof(rc));
    state->wrong |= rc == 0 && (n != 1 || len != sizeof(message) || memcmp(message, answer, len) || !is_all(shared, (uint8_t)(value + 1)));
    return rc;
}

static void use_queue(uint8_t *shared)
{
    remote_handle64 h = 0;
    dspqueue_t q = NULL;
    uint64_t id = 0;

    begin(STEP_QUEUE_OPEN);
    if (!good(remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, &h)))
        return;
    if (good(dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q)) && good(dspqueue_export(q, &id)) &&
        good(call_queue(h, HXQ_START, id))) {
        begin(STEP_PACKETS);
        for (int i = 0; i < PACKETS && good(packet(q, shared, (uint8_t)(i * 50))); i++)
            ;
        begin(STEP_QUEUE_CLOSE);
        good(call_queue(h, HXQ_STOP, id));
    }
    begin(STEP_QUEUE_CLOSE);
    if (q)
        good(dspqueue_close(q));
    good(remote_handle64_close(h));
}

void fault_client_run(struct hxt_stage *s)
{
    uint8_t *shared = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BYTES);
    int fd = rpcmem_to_fd(shared);
    remote_handle64 h = 0;

    state = s;
    begin(STEP_OPEN);
    if (!good(remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &h)))
        return;
    begin(STEP_MAP);
    if (good(fastrpc_mmap(CDSP_DOMAIN_ID, fd, shared, 0, BYTES, FASTRPC_MAP_FD))) {
        begin(STEP_INVOKE);
        if (good(invoke(h, shared))) {
            begin(STEP_VTCM);
            good(take_vtcm(h));
        }
        if (!state->rc)
            use_queue(shared);
        begin(STEP_UNMAP);
        good(fastrpc_munmap(CDSP_DOMAIN_ID, fd, shared, BYTES));
    }
    begin(STEP_CLOSE);
    good(remote_handle64_close(h));
    rpcmem_free(shared);
}

/* --- the polite one */

static _Noreturn void be_polite(int fd)
{
    static uint8_t from[BYTES], to[BYTES];
    remote_handle64 h = 0;
    int32_t rc = remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &h);
    char go;

    while (write(fd, &rc, sizeof(rc)) == (ssize_t)sizeof(rc) && read(fd, &go, 1) == 1) {
        int wrong = 0;

        rc = ripple(h, from, to, 9, &wrong);
        rc = wrong ? -1 : rc;
    }
    _exit(0);
}

static int answer(struct polite_client *p)
{
    struct pollfd w = {.fd = p->fd, .events = POLLIN};
    int32_t rc;

    if (poll(&w, 1, POLITE_MS) != 1 || read(p->fd, &rc, sizeof(rc)) != (ssize_t)sizeof(rc))
        return -1;
    return rc;
}

int polite_start(struct polite_client *p)
{
    int pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return -1;
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0) {
        close(pair[0]);
        be_polite(pair[1]);
    }
    close(pair[1]);
    p->fd = pair[0];
    rc = answer(p);
    if (rc)
        polite_stop(p);
    return rc;
}

int polite_call(struct polite_client *p)
{
    return send(p->fd, "", 1, MSG_NOSIGNAL) == 1 ? answer(p) : -1;
}

void polite_stop(struct polite_client *p)
{
    if (!p->pid)
        return;
    close(p->fd);
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
    p->pid = 0;
}
