/* The NTT of interface silicon: tables made in every call, or once in VTCM. */
#include <pthread.h>
#include <stdbool.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "HAP_vtcm_mgr.h"
#include "elementwise.h"
#include "skel/kernel.h"
#include "skel/mod30.h"
#include "skel/ntt.h"
#include "silicon_job.h"
#include "silicon_state.h"

enum { ALL = HX_NTT_FORWARD | HX_NTT_INVERSE | HX_NTT_STAGES, PERSISTENT = 6 };

/* The persistent tables, each in a grant of its own, as published. */
static struct {
    pthread_rwlock_t lock; /* read: they are in use */
    bool ready;
    void *grant[PERSISTENT];
    struct hx_ntt of[PERSISTENT];
} tables = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static void release_grants(void)
{
    for (int i = 0; i < PERSISTENT; i++) {
        if (tables.grant[i])
            HAP_release_VTCM(tables.grant[i]);
        tables.grant[i] = NULL;
    }
    tables.ready = false;
}

void hx_ntt_drop_tables(void)
{
    pthread_rwlock_wrlock(&tables.lock);
    release_grants();
    pthread_rwlock_unlock(&tables.lock);
}

static int make_table(int i, int n, uint32_t q)
{
    tables.grant[i] = HAP_request_VTCM((unsigned)hx_ntt_bytes(n), 1);
    if (!tables.grant[i]) {
        FARF(ERROR, "silicon: no VTCM for NTT table %d of %d", i + 1, PERSISTENT);
        return AEE_ENOMEMORY;
    }
    return hx_ntt_make(&tables.of[i], tables.grant[i], n, q, ALL);
}

static int make_tables(void)
{
    /* each in one cache line, wherever the linker puts it: reading them is charged */
    static const uint32_t moduli[] __attribute__((aligned(128))) = {HX_NTT_Q1, HX_NTT_Q2};
    static const int lengths[] __attribute__((aligned(128))) = {128, 256, 512};
    enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };
    int rc = AEE_SUCCESS;

    for (int i = 0; i < PERSISTENT && rc == AEE_SUCCESS; i++)
        rc = make_table(i, lengths[i % LENGTHS], moduli[i / LENGTHS]);
    if (rc)
        release_grants();
    tables.ready = rc == AEE_SUCCESS;
    return rc;
}

int silicon_ntt_init(remote_handle64 h, const silicon_how *run, silicon_cycles *pcycles)
{
    int rc = AEE_SUCCESS;

    (void)h;
    if (run->build != SILICON_RELEASE)
        return AEE_EUNSUPPORTED;
    pthread_rwlock_wrlock(&tables.lock);
    const uint64_t started = HAP_perf_get_pcycles();
    if (!tables.ready)
        rc = make_tables();
    const uint64_t taken = HAP_perf_get_pcycles() - started;
    *pcycles = (silicon_cycles){.handler = taken, .total = taken};
    pthread_rwlock_unlock(&tables.lock);
    return rc;
}

/* --- a call */

struct ntt {
    int variant, inverse, n, vectors;
    uint32_t q;
};

/* Tables for a call: the persistent ones, or fresh ones in `block`. */
static int find_tables(const struct ntt *c, uint32_t *block, struct hx_ntt *t)
{
    const unsigned direction = c->inverse ? HX_NTT_INVERSE : HX_NTT_FORWARD;
    const unsigned stages = c->variant == SILICON_NTT_HVX ? HX_NTT_STAGES : 0;

    if (c->variant != SILICON_NTT_PERSISTENT)
        return hx_ntt_make(t, block, c->n, c->q, direction | stages);
    for (int i = 0; i < PERSISTENT && tables.ready; i++) {
        if (tables.of[i].n == c->n && tables.of[i].q == c->q) {
            *t = tables.of[i];
            return AEE_SUCCESS;
        }
    }
    FARF(ERROR, "silicon: no persistent tables of n %d, q %u; ntt_init makes 128, 256, 512", c->n,
         c->q);
    return AEE_EBADSTATE;
}

static int ntt_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    uint32_t block[5 * HX_NTT_MAX], v[HX_NTT_MAX] __attribute__((aligned(HX_VECTOR_BYTES)));
    const struct ntt *c = args;
    const struct hx_share s = hx_share_of(c->vectors, part);
    const uint32_t *from = (const uint32_t *)job->buffer[0].at + s.first * c->n;
    uint32_t *to = (uint32_t *)job->buffer[1].at + s.first * c->n;
    struct hx_ntt t;

    int rc = s.n > 0 ? find_tables(c, block, &t) : AEE_SUCCESS;
    for (size_t i = 0; i < s.n && rc == AEE_SUCCESS; i++, from += c->n, to += c->n) {
        const struct hx_ntt_direction d = c->inverse ? hx_ntt_inverse(&t) : hx_ntt_forward(&t);

        hx_copy_hvx(v, from, c->n * (int)sizeof(*v));
        rc = c->variant == SILICON_NTT_SCALAR ? hx_ntt_scalar(&d, v) : hx_ntt_hvx(&d, v);
        hx_copy_hvx(to, v, c->n * (int)sizeof(*v));
    }
    return rc;
}

/* A debug build divides by a library function, of which there is no listing. */
static int check_call(const silicon_how *run, int variant, int n, int in, int out)
{
    if (run->build != SILICON_RELEASE)
        return AEE_EUNSUPPORTED;
    if (variant < SILICON_NTT_SCALAR || variant > SILICON_NTT_PERSISTENT || n < HX_NTT_MIN ||
        n > HX_NTT_MAX || (n & (n - 1)) || in % n || in != out)
        return AEE_EBADPARM;
    return AEE_SUCCESS;
}

int silicon_ntt(remote_handle64 h, const silicon_how *run, int variant, int inverse,
                unsigned int q, int n, const unsigned int *v, int vLen, unsigned int *result,
                int resultLen, silicon_cycles *pcycles)
{
    struct hx_silicon_job job = {.run = run};
    int rc = check_call(run, variant, n, vLen, resultLen);

    (void)h;
    if (rc)
        return rc;
    const struct ntt c = {variant, inverse, n, vLen / n, q};
    job.buffer[0] = (struct hx_job_buffer){.in = v, .bytes = (size_t)vLen * sizeof(*v)};
    job.buffer[1] = (struct hx_job_buffer){.out = result, .bytes = (size_t)vLen * sizeof(*v)};
    pthread_rwlock_rdlock(&tables.lock);
    rc = hx_job_run(&job, ntt_share, &c, pcycles);
    pthread_rwlock_unlock(&tables.lock);
    return rc;
}
