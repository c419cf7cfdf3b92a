#include <AEEStdErr.h>
#include <remote.h>
#include <rpcmem.h>
#include <stdio.h>

#include "calculator.h"

enum { HALVES = 4096 };

static int use(remote_handle64 handle, short *a, short *b, short *sums)
{
    int vec[3] = {1, 2, 3}, rc;
    int64 total = 0;
    uint64 cycles = 0;

    for (int i = 0; i < HALVES; i++)
        a[i] = (short)(i * 8), b[i] = 100;
    rc = calculator_sum(handle, vec, 3, &total);
    if (rc == AEE_SUCCESS)
        rc = calculator_add(handle, a, HALVES, b, HALVES, sums, HALVES, &cycles);
    printf("rc=%#x sum=%lld sums[3]=%d sums[4095]=%d counted=%s\n", rc, (long long)total, sums[3], sums[4095], cycles ? "yes" : "no");
    return rc;
}

int main(void)
{
    remote_handle64 handle;
    short *a = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 3 * HALVES * sizeof(short));
    int rc = a ? calculator_open(calculator_URI "&_dom=cdsp", &handle) : AEE_ENOMEMORY;

    if (rc == AEE_SUCCESS) {
        rc = use(handle, a, a + HALVES, a + 2 * HALVES);
        calculator_close(handle);
    }
    rpcmem_free(a);
    return rc != AEE_SUCCESS;
}
