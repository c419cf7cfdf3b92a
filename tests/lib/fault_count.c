/* The counts of both processes, in memory that they share. */
#include "fault_count.h"

#include <sys/mman.h>

#include "own_rig.h"

struct fault_count *fault_count;

int fault_count_run(int (*run)(const char *front_end))
{
    int rc;

#ifdef __SANITIZE_ADDRESS__
    hxt_skip_all("the library that is preloaded comes before the sanitizer's");
#endif
    fault_count = mmap(NULL, sizeof(*fault_count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fault_count == MAP_FAILED)
        return 1;
    rc = own_rig_run_both(run);
    printf("faults %u survived, %u lost\n", fault_count->survived, fault_count->lost);
    return rc;
}
