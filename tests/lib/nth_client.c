/* A client that takes every step of the library: open, shared memory, maps, calls, jobs, a queue, and all of it back. */
#include "nth_client.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dspqueue.h"
#include "nth_failure.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/calculator.h"
#include "skel/hxt_queue.h"

enum { BYTES = 8192, NUMBERS = 256, WRONG_BYTES = -99, WAIT_US = 5000000 };

/* What a round has, and gives back. */
struct round {
    remote_handle64 calculator, queue_skel;
    int32_t *shared;
    int is_mapped, is_started;
    dspqueue_t queue;
    uint64_t id;
};

static int open_skels(struct round *r)
{
    int rc = remote_handle64_open(calculator_URI CDSP_DOMAIN, &r->calculator);

    return rc ? rc : remote_handle64_open(HXT_QUEUE_URI CDSP_DOMAIN, &r->queue_skel);
}

static int alloc_shared(struct round *r)
{
    r->shared = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BYTES);
    return r->shared ? 0 : AEE_ENOMEMORY;
}

static int map_shared(struct round *r)
{
    int rc = fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(r->shared), r->shared, 0, BYTES, FASTRPC_MAP_FD);

    r->is_mapped = rc == 0;
    return rc;
}

static int64_t fill(int32_t *v, int32_t seed)
{
    int64_t sum = 0;

    for (int32_t i = 0; i < NUMBERS; i++) {
        v[i] = seed + i * 7919;
        sum += v[i];
    }
    return sum;
}

/* One call or job on v; its result is compared. */
static int sum_of(remote_handle64 h, int32_t *v, int32_t seed, int as_job)
{
    int64_t want = fill(v, seed), got = -1;
    uint32_t n = NUMBERS;
    remote_arg pra[3] = {{.buf = {&n, sizeof(n)}}, {.buf = {v, NUMBERS * sizeof(*v)}}, {.buf = {&got, sizeof(got)}}};
    fastrpc_async_descriptor_t job = {.type = FASTRPC_ASYNC_POLL};
    uint32_t sc = REMOTE_SCALARS_MAKE(CALC_SUM, 2, 1);
    int result = 0, rc = as_job ? remote_handle64_invoke_async(h, &job, sc, pra) : remote_handle64_invoke(h, sc, pra);

    if (!rc && as_job) {
        rc = fastrpc_async_get_status(job.jobid, WAIT_US, &result);
        if (rc || fastrpc_release_async_job(job.jobid))
            return WRONG_BYTES; /* pra is this function's: a job that does not end is as bad */
        rc = result;
    }
    return rc ? rc : got == want ? 0 : WRONG_BYTES;
}

static int call_copied(struct round *r)
{
    int32_t own[NUMBERS];

    return sum_of(r->calculator, own, 5, 0);
}

static int call_shared(struct round *r)
{
    return sum_of(r->calculator, r->shared, 11, 0);
}

static int call_jobs(struct round *r)
{
    int rc = sum_of(r->calculator, r->shared, 3, 1);

    return rc ? rc : sum_of(r->calculator, r->shared, 4, 1);
}

static int call_queue(struct round *r, uint32_t method)
{
    struct hxq_start in = {r->id, HXQ_ECHO, 0};
    remote_arg pra = {.buf = {&in, sizeof(in)}};

    return remote_handle64_invoke(r->queue_skel, REMOTE_SCALARS_MAKE(method, 1, 0), &pra);
}

static int start_queue(struct round *r)
{
    int rc = dspqueue_create(CDSP_DOMAIN_ID, 0, 4096, 4096, NULL, NULL, NULL, &r->queue);

    if (!rc)
        rc = dspqueue_export(r->queue, &r->id);
    if (!rc)
        rc = call_queue(r, HXQ_START);
    r->is_started = r->queue && !rc;
    return rc;
}

static int echo(struct round *r)
{
    static const uint8_t out[] = "neither shortened nor changed";
    uint8_t in[64] = {0};
    uint32_t len = 0;
    int rc = dspqueue_write(r->queue, 0, 0, NULL, sizeof(out), out, WAIT_US);

    if (!rc)
        rc = dspqueue_read(r->queue, NULL, 0, NULL, NULL, sizeof(in), &len, in, WAIT_US);
    return rc ? rc : len == sizeof(out) && memcmp(in, out, len) == 0 ? 0 : WRONG_BYTES;
}

static const struct {
    const char *name;
    int (*run)(struct round *);
} steps[] = {
    {"open", open_skels},        {"rpcmem_alloc", alloc_shared}, {"fastrpc_mmap", map_shared}, {"copied call", call_copied},
    {"shared call", call_shared}, {"jobs", call_jobs},            {"dspqueue", start_queue},    {"echo", echo},
};

/* Whether that is given back now, or was (`gone`) the last time, when an error was told, maybe with the whole session: a handle
 * is forgotten also when the DSP could not be told. */
static int is_back(const char *what, int error, int gone, int *first)
{
    if (!error || error == gone || error == AEE_ENOTINITIALIZED)
        return 1;
    fprintf(stderr, "%s: 0x%x\n", what, (unsigned)error);
    *first = *first ? *first : error;
    return 0;
}

/* Gives back what there is, a queue before its session; what is refused stays for the next time.  The first error. */
static int give_back(struct round *r)
{
    int rc = 0;

    if (r->is_started && is_back("stop", call_queue(r, HXQ_STOP), AEE_DSP(AEE_ENOSUCH), &rc))
        r->is_started = 0;
    if (r->queue && is_back("dspqueue_close", dspqueue_close(r->queue), 0, &rc))
        r->queue = NULL;
    if (r->is_mapped && is_back("fastrpc_munmap", fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(r->shared), r->shared, BYTES),
                                AEE_ENOSUCHMAP, &rc))
        r->is_mapped = 0;
    if (r->queue_skel && !r->queue && is_back("close", remote_handle64_close(r->queue_skel), AEE_EINVHANDLE, &rc))
        r->queue_skel = 0;
    if (r->calculator && !r->queue && is_back("close", remote_handle64_close(r->calculator), AEE_EINVHANDLE, &rc))
        r->calculator = 0;
    if (!r->is_mapped) {
        rpcmem_free(r->shared);
        r->shared = NULL;
    }
    return rc;
}

/* 0, or the error of the step that could not be done, which is told. */
static int go_through(struct round *r)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++) {
        rc = steps[i].run(r);
        if (rc == WRONG_BYTES)
            fprintf(stderr, "%s: wrong content\n", steps[i].name);
        else if (rc)
            fprintf(stderr, "%s: 0x%x\n", steps[i].name, (unsigned)rc);
    }
    return rc;
}

static int n_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static int is_wrong(const char *what, int error)
{
    fprintf(stderr, "%s: 0x%x\n", what, (unsigned)error);
    return 1;
}

int nth_client(int kept)
{
    struct round first = {0}, second = {0};
    int before, after, rc, error;

    nth_join();
    nth_disarm();
    before = n_descriptors();
    nth_rearm();
    rc = go_through(&first);
    error = give_back(&first);
    nth_disarm();
    if (rc == WRONG_BYTES)
        return 1;
    rc = rc ? rc : error;
    if ((error = give_back(&first)))
        return is_wrong("what was refused is not given back later either", error);
    if ((error = go_through(&second)) || (error = give_back(&second)))
        return is_wrong("the second round failed", error);
    after = n_descriptors();
    if (after != before + kept) {
        fprintf(stderr, "%d descriptors before, %d after, of which %d are kept\n", before, after, kept);
        return 1;
    }
    return rc ? NTH_TOLD : 0;
}
