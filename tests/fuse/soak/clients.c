/* Clients that come, call and go in every way, see clients.h. */
#include "clients.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_skel.h"

enum { VTCM_BYTES = 8 << 20, LARGE = 256 << 10, THREADS = 4, SMALL_CALLS = 25 };

struct soak_counts *soak_counts;
int soak_report = 2;

/* What a call may return besides 0: the PD has ended, or the DSP has. */
static void expect(int rc, const char *what)
{
    if (rc == 0)
        return;
    if (rc == AEE_DSP(AEE_ECPUEXCEPTION) || rc == AEE_ECONNRESET)
        _exit(SOAK_LOST);
    dprintf(soak_report, "pid %d: %s: 0x%x\n", getpid(), what, (unsigned)rc);
    _exit(SOAK_WRONG);
}

static _Noreturn void wrong_bytes(const char *what)
{
    dprintf(soak_report, "pid %d: %s: other bytes came back\n", getpid(), what);
    _exit(SOAK_WRONG);
}

/* The rig has fewer sessions than there are clients: who gets none waits a little, as a client would. */
static remote_handle64 open_skel(void)
{
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    remote_handle64 h = 0;
    int rc;

    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    while ((rc = remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &h)) == AEE_ERPC) {
        atomic_fetch_add(&soak_counts->refused, 1);
        poll(NULL, 0, 1 + getpid() % 7);
    }
    expect(rc, "open");
    return h;
}

static int call(remote_handle64 h, enum hxt_method m, int code, uint32_t value, void *out, size_t n)
{
    struct hxt_in in = {code, value};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {out, n}}};

    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(m, 1, out != NULL), pra);
}

/* Bytes that no other call of any client sends. */
static void fill(uint8_t *p, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i += sizeof(*state)) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        memcpy(p + i, state, n - i < sizeof(*state) ? n - i : sizeof(*state));
    }
}

/* in[i] + 1 comes back for every i. */
static void ripple(remote_handle64 h, uint8_t *from, uint8_t *to, size_t n, uint64_t *seed)
{
    struct hxt_in in = {0, 0};
    remote_arg pra[3] = {{.buf = {&in, sizeof(in)}}, {.buf = {from, n}}, {.buf = {to, n}}};

    fill(from, n, seed);
    memset(to, 0xA5, n);
    expect(remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), pra), "HXT_RIPPLE");
    for (size_t i = 0; i < n; i++)
        if (to[i] != (uint8_t)(from[i] + 1))
            wrong_bytes("HXT_RIPPLE");
    atomic_fetch_add(&soak_counts->calls, 1);
}

/* A shared buffer goes in, a copied one comes out. */
static void large_calls(remote_handle64 h, uint64_t seed)
{
    uint8_t *from = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, LARGE), *to = malloc(LARGE);

    if (!from || !to)
        _exit(SOAK_WRONG);
    for (int i = 0; i < 5; i++)
        ripple(h, from, to, LARGE - (size_t)i * 1000, &seed);
    rpcmem_free(from);
    free(to);
}

struct caller {
    pthread_t thread;
    remote_handle64 h;
    uint64_t seed;
};

static void *small_calls(void *caller)
{
    struct caller *c = caller;
    uint8_t from[200], to[200];

    for (int i = 0; i < SMALL_CALLS; i++)
        ripple(c->h, from, to, 1 + (size_t)i * 8, &c->seed);
    return NULL;
}

/* --- kinds -------------------------------------------------------------------------------------------------------------- */

static void tidy(uint64_t seed)
{
    remote_handle64 h = open_skel();

    large_calls(h, seed);
    remote_handle64_close(h);
}

static void many_threads(uint64_t seed)
{
    remote_handle64 h = open_skel();
    struct caller c[THREADS];

    for (int i = 0; i < THREADS; i++) {
        c[i] = (struct caller){.h = h, .seed = seed * THREADS + (uint64_t)i};
        if (pthread_create(&c[i].thread, NULL, small_calls, &c[i]))
            _exit(SOAK_WRONG);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(c[i].thread, NULL);
    remote_handle64_close(h);
}

static void leaves_everything(uint64_t seed)
{
    struct hxt_vtcm v;
    void *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 1 << 20);
    remote_handle64 h = open_skel();

    large_calls(h, seed);
    fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(p), p, 0, 1 << 20, FASTRPC_MAP_FD);
    call(h, HXT_VTCM, 1, 256 << 10, &v, sizeof(v));
}

static void crashes(uint64_t seed)
{
    remote_handle64 h = open_skel();
    int rc = call(h, HXT_CRASH, 0, 0, NULL, 0);

    (void)seed;
    if (rc == 0)
        wrong_bytes("HXT_CRASH");
    if (rc != AEE_DSP(AEE_ECPUEXCEPTION))
        expect(rc, "HXT_CRASH");
}

static void is_killed_inside(uint64_t seed)
{
    remote_handle64 h = open_skel();

    large_calls(h, seed);
    call(h, HXT_BLOCK, 0, 20000, NULL, 0);
}

static void is_killed_anywhere(uint64_t seed)
{
    for (;; seed++)
        tidy(seed);
}

const struct soak_kind soak_kinds[] = {{tidy, 0},    {many_threads, 0},     {leaves_everything, 0},
                                       {crashes, 0}, {is_killed_inside, 1}, {is_killed_anywhere, 1}};
const size_t soak_n_kinds = sizeof(soak_kinds) / sizeof(soak_kinds[0]);

int soak_vtcm_is_free(void)
{
    struct hxt_vtcm v = {0};
    remote_handle64 h;

    if (remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &h))
        return 0;
    call(h, HXT_VTCM, 0, VTCM_BYTES, &v, sizeof(v));
    remote_handle64_close(h);
    return v.address != 0;
}
