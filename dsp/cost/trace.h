/* Tells the driver what the threads of a call did (rpc/wire/hx_trace.h), when it asks.
 *
 * A call that is traced has a key, which travels with struct hx_vt_origin to the threads that work for it.  Writing under a key
 * whose call is over does nothing, so a thread may outlive its call.  Times are pcycles of the calling thread (hx_vt_now());
 * within one thread they never go back.  Functions may be called by any thread, traced or not. */
#ifndef HX_DSP_TRACE_H
#define HX_DSP_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "vtime.h"

/* A call is traced into block[bytes], a struct hx_trace with its capacity set, until hx_trace_close(); ctx_id (1..255) is no other
 * open call's.  Returns the key, or 0 when the block is not what it says. */
uint64_t hx_trace_open(unsigned ctx_id, void *block, size_t bytes);
void hx_trace_close(uint64_t key);

/* The calling thread was created by a skel; no other that lives has this `lane`, 1..1023.  Threads that nobody names serve
 * calls: lane 0. */
void hx_trace_name_thread(unsigned lane, const char *name);

/* The calling thread works for the call `key` (0: one that is not traced) from pcycle `start` on. */
void hx_trace_begin(uint64_t key, uint64_t call_pcycles, uint64_t start);

/* Its clock went from `from` to `to`; `pcycles` is the same unrounded. */
void hx_trace_spend(enum hx_vt_kind kind, uint64_t from, uint64_t to, double pcycles);

/* It enters a function with a listing; NULL: it leaves the last one.  The name is copied. */
void hx_trace_scope(const char *function, uint64_t at);

/* Its DMA engine has done a transfer. */
void hx_trace_dma(uint64_t start, uint64_t end, uint32_t bytes);

/* It holds HVX context `context` from now on; -1: it has given it back. */
void hx_trace_hvx(int context, uint64_t at);

#endif
