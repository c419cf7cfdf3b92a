/* Keeps the DSP's memory on one NUMA node, through libnuma. */
#include "placement.h"

#include <errno.h>
#include <numa.h>
#include <sched.h>
#include <string.h>

#include "HAP_farf.h"

static int node = -1; /* -1: the machine has one node, or its kernel no NUMA */

void hx_placement_start(void)
{
    if (numa_available() < 0 || numa_num_configured_nodes() < 2)
        return;
    node = numa_node_of_cpu(sched_getcpu());
    if (node < 0)
        return;
    numa_set_bind_policy(0); /* a full node shall not end a PD */
    numa_set_preferred(node);
    FARF(HIGH, "memory on NUMA node %d of %d", node, numa_num_configured_nodes());
}

void hx_placement_shared(void *p, size_t bytes)
{
    if (node >= 0)
        numa_tonode_memory(p, bytes, node);
}
