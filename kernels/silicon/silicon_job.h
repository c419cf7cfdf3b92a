/* What every method of interface silicon does around its kernel: HVX contexts, the table of packets that charges it,
 * buffers in VTCM, and the time that it took. */
#ifndef SILICON_JOB_H
#define SILICON_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "skel/parallel.h"
#include "silicon.h"

enum { HX_JOB_BUFFERS = 4 };

/* One argument: set `in` or `out` and `bytes`; hx_job_run() sets `at`, where the kernel finds it. */
struct hx_job_buffer {
    const void *in;
    void *out;
    size_t bytes;
    void *at;
};

struct hx_silicon_job {
    const silicon_how *run;
    struct hx_job_buffer buffer[HX_JOB_BUFFERS];
    void *vtcm;
    uint64_t copies; /* pcycles of copies into and out of VTCM so far */
};

/* One context's share of a kernel.  Returns an AEE code. */
typedef int hx_job_body(const struct hx_silicon_job *job, const void *args, struct hx_part part);

/* Places the buffers, runs the body on the contexts that job->run asks for, brings results home unless a body failed.
 * Sets *cycles, `once` to 0.  Returns an AEE code, also AEE_EBADPARM: an unknown way to run or a
 * misaligned buffer; AEE_ENOMEMORY: no room in VTCM; AEE_EFAILED: no context. */
int hx_job_run(struct hx_silicon_job *job, hx_job_body *body, const void *args, silicon_cycles *cycles);

/* Its steps, for a kernel that runs in several rounds.  begin: an error leaves nothing to end.
 * share: one round; adds to *time.  end: sets *cycles from time, total and the copies; returns rc, or what copying the
 * results failed with. */
int hx_job_begin(struct hx_silicon_job *job);
int hx_job_share(const struct hx_silicon_job *job, hx_job_body *body, const void *args,
                 struct hx_parallel_time *time);
int hx_job_end(struct hx_silicon_job *job, int rc, const struct hx_parallel_time *time, uint64_t total,
               silicon_cycles *cycles);

/* Copies into or out of VTCM, by DMA where job->run says so; adds to job->copies.  Returns an AEE code. */
int hx_job_move(struct hx_silicon_job *job, void *to, const void *from, size_t bytes);

/* What a body's code from here on is charged as: the job's build, or release, as functions of a library always are. */
void hx_job_as_built(const struct hx_silicon_job *job);
void hx_job_as_library(void);

#endif
