/* crt-digest: prints one number for products by two primes (tools/theorems/crt_digest.h).  `make` compiles it, with all that it
 * calls, by clang where there is one; `hexrig theorems` compares the number with its own. */
#include <inttypes.h>
#include <stdio.h>

#include "crt_digest.h"

int main(void)
{
    const uint64_t digest = hx_crt_digest(NULL, NULL);

    printf("%016" PRIx64 " %s\n", digest, __VERSION__);
    return digest ? 0 : 1;
}
