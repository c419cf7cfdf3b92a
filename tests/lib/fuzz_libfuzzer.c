/* libFuzzer's way into a fuzz target, which `make fuzz` links in place of fuzz_main.c where a clang has libFuzzer. */
#include <stdint.h>
#include <stdlib.h>

int hxt_fuzz_one(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Whatever a target calls a finding is a crash to libFuzzer, which keeps the input of those. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (hxt_fuzz_one(data, n))
        abort();
    return 0;
}
