/* Where the DSP's memory lies on a machine with several NUMA nodes: on the node of the CPU that the DSP process starts on.
 *
 * Private memory (heap, stacks) goes there because all PDs inherit the policy.  Shared memory (rings, arenas, VTCM) is bound
 * page by page, since the driver may be the first to touch it from another node.  Buffers of clients stay where the client put
 * them.  Threads are not tied to the node: start the rig with `numactl --cpunodebind=N` or `taskset` for that.
 * Nothing happens on a machine with one node. */
#ifndef HX_PLACEMENT_H
#define HX_PLACEMENT_H

#include <stddef.h>

/* Chooses the node, for this process and those that it forks.  Call before the first thread and before hx_sandbox(), which
 * hides /sys. */
void hx_placement_start(void);

/* Asks for the pages of p[bytes] (page-aligned, mapped) on that node, whoever touches them first.  Thread-safe.  No effect
 * before hx_placement_start(). */
void hx_placement_shared(void *p, size_t bytes);

#endif
