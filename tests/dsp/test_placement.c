/* Protects: memory of the DSP lies on the DSP's NUMA node, also when somebody on another node touches it first.  Needs a machine
 * with two nodes: tests/vm makes one. */
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hxt.h"
#include "base/placement.h"

enum { BYTES = 1 << 20 };

static int start_node; /* of the CPU on which the placement was chosen */

static int node_of(void *p)
{
    int node = -1;

    assert_int_equal(get_mempolicy(&node, NULL, 0, p, MPOL_F_NODE | MPOL_F_ADDR), 0);
    return node;
}

/* From now on this thread runs on another node. */
static void move_away(void)
{
    for (int node = 0; node <= numa_max_node(); node++)
        if (node != start_node && numa_run_on_node(node) == 0) {
            assert_int_equal(numa_node_of_cpu(sched_getcpu()), node);
            return;
        }
    fail_msg("there is no other node with a CPU");
}

static void *map_shared(void)
{
    int fd = memfd_create("placement", MFD_CLOEXEC);
    void *p;

    assert_int_equal(ftruncate(fd, BYTES), 0);
    p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    close(fd);
    return p;
}

static int start(void **state)
{
    (void)state;
    if (numa_available() < 0 || numa_num_configured_nodes() < 2)
        hxt_skip_all("this machine has one NUMA node");
    start_node = numa_node_of_cpu(sched_getcpu());
    hx_placement_start();
    move_away();
    return 0;
}

static void test_private_memory_lies_on_the_node_of_the_start(void **state)
{
    char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    p[0] = 1;
    assert_int_equal(node_of(p), start_node);
    munmap(p, BYTES);
}

/* The driver has no such policy, so the toucher gives up this one's. */
static void test_shared_memory_lies_there_whoever_touches_it_first(void **state)
{
    char *placed = map_shared(), *plain = map_shared();

    (void)state;
    hx_placement_shared(placed, BYTES);
    numa_set_localalloc();
    for (size_t i = 0; i < BYTES; i += 4096)
        placed[i] = plain[i] = 1;
    for (size_t i = 0; i < BYTES; i += 4096) {
        assert_int_equal(node_of(placed + i), start_node);
        assert_int_not_equal(node_of(plain + i), start_node); /* or the test shows nothing */
    }
    munmap(placed, BYTES);
    munmap(plain, BYTES);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_private_memory_lies_on_the_node_of_the_start),
    cmocka_unit_test(test_shared_memory_lies_there_whoever_touches_it_first),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, start, NULL);
}
