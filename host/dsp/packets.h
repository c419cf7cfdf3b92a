/* An interface whose calls go as packets on a dspqueue (rpc/queue/hx_call_packet.h), for a method with the option `packets`: its
 * code calls the same stubs, and only where it opens the skel it says so.
 *
 * Arguments that lie in shared memory go as references to it; all others in the packet's message.  A call whose other arguments are more
 * than HX_CALL_MESSAGE bytes is made as a call, which the driver counts as one. */
#ifndef HX_HOST_PACKETS_H
#define HX_HOST_PACKETS_H

#include "skel.h"

/* Methods of the interface: packets_attach, packets_detach. */
typedef int hx_packets_method(remote_handle64 h, uint64_t id);

/* Calls of the skel's handle are packets from now on, until hx_skel_close().  `who` begins every reason.  0, -ENOMEM, -EIO. */
int hx_packets_open(struct hx_skel *s, const char *who, hx_packets_method *attach, hx_packets_method *detach, struct hx_error *err);

/* Of a skel that is closing; accepts NULL. */
void hx_packets_close(struct hx_packets *p);

/* References to these bytes of rpcmem_alloc() go in place of copies, until hx_packets_unshare(), or hx_skel_close(), which must come
 * before rpcmem_free().  Nothing happens where calls are no packets.  No call is under way.  0; -ENOMEM; -EIO: they cannot be mapped. */
int hx_packets_share(struct hx_skel *s, const char *who, void *memory, size_t bytes, struct hx_error *err);

/* Accepts NULL, and what was not shared. */
void hx_packets_unshare(struct hx_skel *s, void *memory);

#endif
