/* Calls of this PD to its host.  The client lends a thread for them: its listener, which is in a call of its own (`next2`) all the time,
 * gets a request as that call's answer and brings the result with its next one (rpc/wire/hx_reverse.h).
 *
 * One listener serves one request at a time; the others wait in their order.  A newer next2 takes the place of an older one that still
 * waits: that one's caller was interrupted, its answer would reach nobody; so a request that it had taken is handed out again.
 *
 * A call that has no result hx_host_call_ms after it was made ends with AEE_EEXPIRED, whether nobody has taken it or its listener does
 * not come back; what comes later is dropped.  Codes that the framework makes have the DSP's offset, those of the host have none. */
#ifndef HX_HOST_CALLS_H
#define HX_HOST_CALLS_H

#include <stdbool.h>

#include "hx_reverse.h"

extern int hx_host_call_ms; /* 10000; tests have less */

/* Calls method sc of the host's `handle` and waits; pra as for remote_handle_invoke(), without handles.  The host's result, or
 * AEE_DSP(AEE_EBADSTATE): there is no listener, or it has ended; AEE_EEXPIRED; AEE_ENOMEMORY; AEE_EBADPARM: handles, or an answer of
 * another shape.  The time that it takes the caller is that of a call the other way, as the profile has it, and none when there is no
 * listener; what the host does takes none.  Any thread; holds no lock meanwhile. */
int hx_host_call(uint32_t handle, uint32_t sc, const remote_arg *pra);

/* The client has, or has not, a listener. */
bool hx_host_listens(void);

/* Waits for that, hx_host_call_ms at most. */
bool hx_host_await_listener(void);

/* The client starts one when it is told HX_LISTEN_FIRST: what it said when this PD was made; before the first thread. */
void hx_host_listens_when_asked(bool does);

/* Whether the client has no listener and would start one. */
bool hx_host_must_be_asked(void);

/* --- the listener's calls; each returns the result of the listener's call */

/* init2, or a daemon that registers as the listener. */
int hx_host_listen(void);

/* next2: ends a call, waits for the next one and copies its request.  answer and request of in->answer_bytes and in->room bytes. */
int hx_host_next(const struct hx_next_in *in, const uint8_t *answer, struct hx_next_out *out, uint8_t *request);

/* get_in_bufs2: the same request from an offset on; *bytes: of all of it. */
int hx_host_get_in_bufs(const struct hx_in_bufs_in *in, uint32_t *bytes, uint8_t *request);

/* For tests: next2s so far; calls that no next2 has taken. */
unsigned hx_host_polls(void);
unsigned hx_host_waiting(void);

/* The client has said goodbye: ends its next2, and every call to it, with AEE_DSP(AEE_EBADSTATE). */
void hx_host_end(void);

#endif
