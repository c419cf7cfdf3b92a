/* libFuzzer's way into a fuzz target, which `make fuzz` links in place of fuzz_main.c where a clang has libFuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "input_limit.h"

int hxt_fuzz_one(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void expired(void)
{
    static const char why[] = "fuzz: the input takes too long\n";

    (void)!write(2, why, sizeof(why) - 1);
    abort();
}

/* Whatever a target calls a finding is a crash to libFuzzer, which keeps the input of those. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    input_limit_begin(INPUT_LIMIT_S, expired);
    if (hxt_fuzz_one(data, n))
        abort();
    input_limit_end();
    return 0;
}
