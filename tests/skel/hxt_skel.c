/* A skel for tests of the driver and the DSP: each method provokes one thing.  Built as libhxt_skel.so into
 * build/tests and found by DSP_LIBRARY_PATH. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "HAP_compute_res.h"
#include "HAP_farf.h"
#include "HAP_mmap.h"
#include "HAP_vtcm_mgr.h"
#include "hexagon_protos.h"
#include "hexrig_uncosted.h"
#include "hvx_hexagon_protos.h"
#include "hxt_skel.h"
#include "qurt.h"
#include "worker_pool.h"

HX_UNCOSTED("what a test calls, not a kernel");

static int opened; /* handles given out */

static int echo(const struct hxt_in *in, remote_arg *pra)
{
    size_t n = pra[1].buf.nLen < pra[2].buf.nLen ? pra[1].buf.nLen : pra[2].buf.nLen;

    if (n) /* both may be NULL then */
        memmove(pra[2].buf.pv, pra[1].buf.pv, n);
    return in->code;
}

/* out[i] = in[i] + 1, byte by byte upwards: what comes out shows whether in and out are the same memory. */
static int ripple(const struct hxt_in *in, remote_arg *pra)
{
    const uint8_t *from = pra[1].buf.pv;
    uint8_t *to = pra[2].buf.pv;

    for (size_t i = 0; i < pra[1].buf.nLen && i < pra[2].buf.nLen; i++)
        to[i] = (uint8_t)(from[i] + 1);
    return in->code;
}

static int block(const struct hxt_in *in, remote_arg *pra)
{
    struct timespec t = {in->value / 1000, (long)(in->value % 1000) * 1000000L};

    (void)pra;
    nanosleep(&t, NULL);
    return in->code;
}

static int crash(const struct hxt_in *in, remote_arg *pra)
{
    (void)in;
    (void)pra;
    __builtin_trap();
}

/* Returns when `value` callers are inside: calls of one client run in parallel. */
static int meet(const struct hxt_in *in, remote_arg *pra)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
    static uint32_t inside;

    (void)pra;
    pthread_mutex_lock(&lock);
    inside++;
    pthread_cond_broadcast(&more);
    while (inside < in->value)
        pthread_cond_wait(&more, &lock);
    pthread_mutex_unlock(&lock);
    return in->code;
}

static int vtcm(const struct hxt_in *in, remote_arg *pra)
{
    struct hxt_vtcm out;
    void *p = HAP_request_VTCM(in->value, 1);

    out.address = (uintptr_t)p;
    HAP_query_avail_VTCM(&out.avail, &out.page, &out.pages);
    if (p)
        memset(p, 0x5a, in->value);
    if (p && !in->code)
        HAP_release_VTCM(p);
    memcpy(pra[1].buf.pv, &out, sizeof(out));
    return 0;
}

static int vtcm_look(const struct hxt_in *in, remote_arg *pra)
{
    enum { BYTES = 8 << 20 };
    uint8_t *const at = (uint8_t *)0xff000000ul;
    uint8_t *grant = in->value == HXT_BY_GRANT ? HAP_request_VTCM(BYTES, 1) : NULL;
    uint32_t n = 0;

    if (in->value == HXT_BY_GRANT && grant != at)
        return AEE_DSP(AEE_ENOMEMORY);
    if (in->value == HXT_BY_FORCE && mprotect(at, BYTES, PROT_READ | PROT_WRITE))
        return AEE_DSP(AEE_EFAILED);
    for (size_t i = 0; i < BYTES; i++)
        n += *(volatile uint8_t *)(at + i) != 0;
    if (grant)
        HAP_release_VTCM(grant);
    memcpy(pra[1].buf.pv, &n, sizeof(n));
    return 0;
}

static int hvx_twice(const struct hxt_in *in, remote_arg *pra)
{
    int32_t out[4] = {qurt_hvx_lock(QURT_HVX_MODE_128B), qurt_hvx_lock(QURT_HVX_MODE_128B),
                      qurt_hvx_unlock(), qurt_hvx_unlock()};

    (void)in;
    memcpy(pra[1].buf.pv, out, sizeof(out));
    return 0;
}

static void vector_work(int n)
{
    static HVX_Vector sum;

    for (int i = 0; i < n; i++)
        sum = Q6_Vw_vadd_VwVw(sum, Q6_V_vsplat_R(i));
}

static int hvx_bare(const struct hxt_in *in, remote_arg *pra)
{
    (void)pra;
    vector_work((int)in->value);
    qurt_hvx_lock(QURT_HVX_MODE_128B);
    vector_work((int)in->code);
    qurt_hvx_unlock();
    return 0;
}

static int dma_wait(const struct hxt_in *in, remote_arg *pra)
{
    const int32_t status = Q6_R_dmwait();

    (void)in;
    memcpy(pra[1].buf.pv, &status, sizeof(status));
    return 0;
}

/* Where things are: all of it below 4 GiB on the device. */
static int addresses(const struct hxt_in *in, remote_arg *pra)
{
    int local;
    uint64_t out[4] = {(uintptr_t)&local, (uintptr_t)&opened, (uintptr_t)pra[0].buf.pv,
                       (uintptr_t)pra[1].buf.pv};

    (void)in;
    memcpy(pra[1].buf.pv, out, sizeof(out));
    return 0;
}

static void keep_writing(const struct hxt_damage *d, _Atomic uint32_t *word)
{
    struct timespec start, now;
    uint32_t n = 1;

    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 100000; i++, n += d->step)
            atomic_store_explicit(word, d->fill << 24 | (n & 0xffffff), memory_order_relaxed);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < (long)d->ms);
}

static int damage(const struct hxt_in *in, remote_arg *pra)
{
    const struct hxt_damage *d = pra[1].buf.pv;

    if (pra[1].buf.nLen < sizeof(*d))
        return AEE_DSP(AEE_EBADPARM);
    if (d->ms)
        keep_writing(d, *(_Atomic uint32_t **)(uintptr_t)d->variable + d->offset / sizeof(uint32_t));
    else
        memset(*(uint8_t **)(uintptr_t)d->variable + d->offset, (int)d->fill, d->bytes);
    return in->code;
}

static int use_up_the_heap(const struct hxt_in *in, remote_arg *pra)
{
    struct hxt_heap out = {0};
    struct block {
        struct block *before;
    } *last = NULL, *b;

    /* a heap that leaves the 4 GiB does not end: that is seen already */
    while (out.highest >> 32 == 0 && (b = malloc(in->value))) {
        b->before = last;
        last = b;
        out.blocks++;
        out.highest = (uintptr_t)b > out.highest ? (uintptr_t)b : out.highest;
    }
    while (last) {
        b = last->before;
        free(last);
        last = b;
    }
    memcpy(pra[1].buf.pv, &out, sizeof(out));
    return in->code;
}

/* Answers whatever the shape of the call is. */
static int any(uint32_t sc, remote_arg *pra)
{
    unsigned n_in = REMOTE_SCALARS_INBUFS(sc), n_out = REMOTE_SCALARS_OUTBUFS(sc);
    unsigned n_in_handles = REMOTE_SCALARS_INHANDLES(sc);
    struct hxt_any out = {.sum = 1, .handles = n_in_handles + REMOTE_SCALARS_OUTHANDLES(sc)};

    if (n_out == 0 || pra[n_in].buf.nLen != sizeof(out))
        return AEE_DSP(AEE_EBADPARM);
    for (unsigned i = 0; i < n_in; i++)
        out.sum = hxt_any_sum(out.sum, pra[i].buf.pv, pra[i].buf.nLen);
    for (unsigned i = 0; i < n_in + n_out; i++)
        out.misaligned += pra[i].buf.nLen && (uintptr_t)pra[i].buf.pv % 128;
    for (unsigned i = 1; i < n_out; i++)
        if (pra[n_in + i].buf.nLen)
            memset(pra[n_in + i].buf.pv, hxt_any_byte(i), pra[n_in + i].buf.nLen);
    for (unsigned i = 0; i < n_in_handles; i++)
        out.offsets += pra[n_in + n_out + i].dma.offset;
    memcpy(pra[n_in].buf.pv, &out, sizeof(out));
    return 0;
}

/* The gate is memory that the client writes while the call runs. */
static int wait_at_gate(const struct hxt_in *in, remote_arg *pra)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    struct hxt_gate *gate = pra[1].buf.pv;
    uint32_t open;

    if (pra[1].buf.nLen < sizeof(*gate))
        return AEE_DSP(AEE_EBADPARM);
    __atomic_add_fetch(&gate->inside, 1, __ATOMIC_SEQ_CST);
    for (uint32_t ms = 0; !(open = __atomic_load_n(&gate->open, __ATOMIC_SEQ_CST)) && ms < in->value; ms += 5)
        nanosleep(&pause, NULL);
    __atomic_add_fetch(&gate->done, 1, __ATOMIC_SEQ_CST);
    return open ? in->code : HXT_TIMED_OUT;
}

static int keep(uint32_t sc, remote_arg *pra)
{
    unsigned first = REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc);
    void *p = NULL;

    for (unsigned i = 0; i < REMOTE_SCALARS_INHANDLES(sc); i++)
        if (HAP_mmap_get(pra[first + i].dma.fd, &p, NULL))
            return AEE_DSP(AEE_ENOSUCHMAP);
    return p ? *(uint8_t *)p : AEE_DSP(AEE_EBADPARM);
}

static int give_back(const struct hxt_in *in, remote_arg *pra)
{
    int n = 0;

    (void)pra;
    for (uint32_t i = 0; i < in->value; i++)
        n += HAP_mmap_put(in->code + (int)i) == 0;
    return n;
}

/* --- threads and compute resources */

static _Atomic uint32_t asked;

static int count_request(unsigned context_id, void *client_context)
{
    (void)context_id;
    (void)client_context;
    asked++;
    return 0;
}

static int acquire(const struct hxt_in *in, remote_arg *pra)
{
    struct hxt_grant out = {0, 0, asked};
    compute_res_attr_t a;

    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_vtcm_param(&a, in->value, 1);
    HAP_compute_res_attr_set_release_callback(&a, count_request, NULL);
    out.context = HAP_compute_res_acquire(&a, (unsigned)in->code);
    out.address = (uintptr_t)HAP_compute_res_attr_get_vtcm_ptr(&a);
    if (out.context)
        memset((void *)(uintptr_t)out.address, 0x5a, in->value);
    memcpy(pra[1].buf.pv, &out, sizeof(out));
    return 0;
}

static int release(const struct hxt_in *in, remote_arg *pra)
{
    (void)pra;
    return HAP_compute_res_release(in->value);
}

static int never; /* futex that nobody wakes */

static void wait_for_ever(void *arg)
{
    (void)arg;
    qurt_futex_wait(&never, 0);
}

static void spin_for_ever(void *arg)
{
    (void)arg;
    qurt_hvx_lock(QURT_HVX_MODE_128B);
    for (;;)
        qurt_sleep(1000);
}

static int threads(const struct hxt_in *in, remote_arg *pra)
{
    static char stack[32 << 10] __attribute__((aligned(8)));
    qurt_thread_attr_t a;
    qurt_thread_t id;
    int rc = 0;

    (void)pra;
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_stack_addr(&a, stack); /* too small for the host: each gets one of its own */
    qurt_thread_attr_set_stack_size(&a, sizeof(stack));
    for (uint32_t i = 0; i < in->value && !rc; i++)
        rc = qurt_thread_create(&id, &a, i ? wait_for_ever : spin_for_ever, NULL);
    return rc ? AEE_DSP(AEE_EFAILED) : in->code;
}

struct summand {
    uint32_t value;
    _Atomic uint32_t *sum;
    worker_synctoken_t *done;
};

static void add_up(void *arg)
{
    struct summand *s = arg;

    *s->sum += s->value;
    worker_pool_synctoken_jobdone(s->done);
}

static int pool_sum(const struct hxt_in *in, remote_arg *pra)
{
    struct summand part[64];
    worker_pool_context_t pool;
    worker_synctoken_t done;
    _Atomic uint32_t sum = 0;

    (void)pra;
    if (in->value > 64 || worker_pool_init(&pool))
        return AEE_DSP(AEE_EFAILED);
    worker_pool_synctoken_init(&done, in->value);
    for (uint32_t i = 0; i < in->value; i++) {
        part[i] = (struct summand){i + 1, &sum, &done};
        worker_pool_submit(pool, (worker_pool_job_t){add_up, &part[i]});
    }
    worker_pool_synctoken_wait(&done);
    worker_pool_deinit(&pool);
    return (int)sum;
}

/* --- the log */

static int print(const struct hxt_in *in, remote_arg *pra)
{
    for (uint32_t i = 0; i < in->value || !i; i++)
        if (write(STDERR_FILENO, pra[1].buf.pv, pra[1].buf.nLen) < 0 && errno != EAGAIN)
            return errno;
    if (!in->value)
        abort();
    return 0;
}

static int say(const struct hxt_in *in, remote_arg *pra)
{
    const int n = (int)pra[1].buf.nLen;
    const char *text = pra[1].buf.pv;

    if (in->code == 3)
        FARF(ALWAYS, "%.*s", n, text);
    else
        fprintf(in->code == 1 ? stdout : stderr, "%.*s\n", n, text);
    return 0;
}

static int spoil_log(const struct hxt_in *in, remote_arg *pra)
{
    int files = 0;

    (void)in;
    (void)pra;
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        struct stat st;
        char path[64];

        files += fstat(fd, &st) || S_ISREG(st.st_mode);
        (void)!ftruncate(fd, 0);
        fcntl(fd, F_SETFL, 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        close(open(path, O_WRONLY | O_TRUNC)); /* refused, or a pipe's */
    }
    return files;
}

/* Method -> what it does, and the argument shape it insists on. */
static const struct {
    int (*run)(const struct hxt_in *in, remote_arg *pra);
    unsigned n_in, n_out;
    size_t least_out;
} methods[] = {
    [HXT_ECHO] = {echo, 2, 1, 0},
    [HXT_RIPPLE] = {ripple, 2, 1, 0},
    [HXT_BLOCK] = {block, 1, 0, 0},
    [HXT_CRASH] = {crash, 1, 0, 0},
    [HXT_MEET] = {meet, 1, 0, 0},
    [HXT_VTCM] = {vtcm, 1, 1, sizeof(struct hxt_vtcm)},
    [HXT_HVX_TWICE] = {hvx_twice, 1, 1, 4 * sizeof(int32_t)},
    [HXT_ADDRESSES] = {addresses, 1, 1, 4 * sizeof(uint64_t)},
    [HXT_WAIT] = {wait_at_gate, 2, 0, 0},
    [HXT_GIVE_BACK] = {give_back, 1, 0, 0},
    [HXT_ACQUIRE] = {acquire, 1, 1, sizeof(struct hxt_grant)},
    [HXT_RELEASE] = {release, 1, 0, 0},
    [HXT_THREADS] = {threads, 1, 0, 0},
    [HXT_POOL] = {pool_sum, 1, 0, 0},
    [HXT_HVX_BARE] = {hvx_bare, 1, 0, 0},
    [HXT_DMA_WAIT] = {dma_wait, 1, 1, sizeof(int32_t)},
    [HXT_VTCM_LOOK] = {vtcm_look, 1, 1, sizeof(uint32_t)},
    [HXT_DAMAGE] = {damage, 2, 0, 0},
    [HXT_PRINT] = {print, 2, 0, 0},
    [HXT_SAY] = {say, 2, 0, 0},
    [HXT_SPOIL_LOG] = {spoil_log, 1, 0, 0},
    [HXT_HEAP] = {use_up_the_heap, 1, 1, sizeof(struct hxt_heap)},
};
#define N_METHODS (sizeof(methods) / sizeof(methods[0]))

__attribute__((visibility("default"))) int hxt_skel_handle_invoke(remote_handle64 h, uint32_t sc,
                                                                  remote_arg *pra)
{
    unsigned m = REMOTE_SCALARS_METHOD(sc);
    struct hxt_in in;

    (void)h;
    if (m == 0) { /* open: uri in, handle out */
        pra[2].h64 = (remote_handle64)++opened;
        return 0;
    }
    if (m == 1)
        return 0;
    if (m == HXT_ANY)
        return any(sc, pra);
    if (m == HXT_KEEP)
        return keep(sc, pra);
    if (m >= N_METHODS || !methods[m].run)
        return AEE_DSP(AEE_EUNSUPPORTED);
    if (REMOTE_SCALARS_INBUFS(sc) != methods[m].n_in || REMOTE_SCALARS_OUTBUFS(sc) != methods[m].n_out ||
        pra[0].buf.nLen != sizeof(in) ||
        (methods[m].n_out && pra[methods[m].n_in].buf.nLen < methods[m].least_out))
        return AEE_DSP(AEE_EBADPARM);
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    return methods[m].run(&in, pra);
}
