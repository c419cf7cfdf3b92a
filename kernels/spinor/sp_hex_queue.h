/* Queues that handles of sp_hex attached: rpc/block/hx_sp_packet.h says what goes through them.  Any thread. */
#ifndef SP_HEX_QUEUE_H
#define SP_HEX_QUEUE_H

#include "remote.h"

/* The handle is closing: waits for packets that are being served and gives its queues back. */
void hx_sp_queues_drop(remote_handle64 h);

#endif
