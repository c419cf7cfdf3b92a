/* The scalar oracle's side: bare Hexagon Linux user code, run by qemu-hexagon.
 * Usage: side_qemu          one number per intrinsic to stdout
 *        side_qemu CASE     every result of one case */
#include "../oracle/freestanding.h"
#include "scalar_oracle.h"

static uint64_t numbers[CASES];
static uint64_t results[1 << 18];

void c_start(long *stack)
{
    unsigned int c = 0;

    if (stack[0] > 1) {
        c = number((const char *)stack[2]);
        dump = results;
        dump_size = sizeof(results) / sizeof(results[0]);
        run_case(&cases[c], c);
        put(results, (long)(dumped * sizeof(results[0])));
    } else {
        for (; c < CASES; c++)
            numbers[c] = run_case(&cases[c], c);
        put(numbers, sizeof(numbers));
    }
    syscall3(HX_SYS_EXIT_GROUP, 0, 0, 0);
}
