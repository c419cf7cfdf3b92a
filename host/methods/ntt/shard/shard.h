/* Two processes that do the same work, each with the residues of one of the two primes (ntt/ntt.h): what a process lacks of
 * an inner product, the other one sends.  Both then have the same bits as one process with both primes.
 *
 * Under mpirun the processes are two MPI ranks, on one machine or two; without it the second is forked here. */
#ifndef HX_SHARD_H
#define HX_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_shard;

/* Joins the other process, or makes it; at most once in a process, before it has threads or a rig, and with nothing
 * unwritten in stdout's buffer.  From then on nobody sees what process 1 writes to stdout, and its stderr is held back: most of
 * what goes wrong there goes wrong in process 0 as well.  libexec: where hexrig-mpi.so is.
 * 0; -EINVAL: mpirun started other than two ranks; -ENOENT: under mpirun, and this hexrig was built without MPI; -ELIBACC: what
 * was built does not load; -ENOMEM; what fork() gives. */
int hx_shard_open(struct hx_shard **out, const char *libexec, struct hx_error *err);

/* Whose residues this process has: 0 (q1) or 1 (q2).  The process with 0 is the one that speaks to people. */
int hx_shard_prime(const struct hx_shard *s);

/* "mpi" or "fork" */
const char *hx_shard_transport(const struct hx_shard *s);

/* Sends mine [n] and receives theirs [n] of the same step; n may be 0.  `of`: a number of what they are residues of, the same
 * in both processes.  Waits for the other one as long as it lives.  One thread.
 * 0; -EPIPE: the other process has gone, or failed; -EPROTO: it is at another step, of other numbers; -EIO. */
int hx_shard_swap(struct hx_shard *s, uint64_t of, const uint32_t *mine, uint32_t *theirs, size_t n,
                  struct hx_error *err);

/* Words [n] of residues that swap() sent so far. */
uint64_t hx_shard_words(const struct hx_shard *s);

/* A number for hx_shard_swap(): of any bytes, going on from `start`. */
uint64_t hx_shard_digest(uint64_t start, const void *bytes, size_t n);

/* Tells the other process whether the work was done, and waits for the same.  What process 1 wrote to stderr is shown if only it
 * failed.  Of a forked pair, 0 waits for 1 to end.  Accepts NULL.  Returns whether the other one failed. */
int hx_shard_close(struct hx_shard *s, int failed);

#endif
