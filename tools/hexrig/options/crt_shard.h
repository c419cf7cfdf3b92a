/* --crt-shard: a command's work in two processes, each with one of the two primes (host/methods/ntt/shard/shard.h). */
#ifndef HX_CRT_SHARD_H
#define HX_CRT_SHARD_H

#include "engine_opts.h"

/* Where it was asked for: makes or joins the other process and puts it into o and its plan.  After hx_engine_opts_done(), before threads
 * and rigs.  From here on two processes run.  Returns an enum hx_exit. */
int hx_crt_shard_open(struct hx_engine_opts *o);

/* With --kv ntt --offload kv the DSP of a process has its prime, too.  *own: this process wants a private rig; 0: that is
 * not so, or each process's HEXRIG_DEVICE names another one, as ranks on two machines may have it.  Both processes call this at the
 * same place.  Returns an enum hx_exit. */
int hx_crt_shard_rig(const struct hx_engine_opts *o, int *own);

/* At the end of both; rc: what the command returns.  Returns it, or that of a failure when only the other process failed. */
int hx_crt_shard_close(struct hx_engine_opts *o, int rc);

/* {"transport", "prime", "words"} of the other process; o->shard is not NULL.  NULL: out of memory. */
json_t *hx_crt_shard_report(const struct hx_engine_opts *o);

#endif
