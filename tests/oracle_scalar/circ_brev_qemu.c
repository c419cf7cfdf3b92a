/* The oracle's side of circ_brev_cases.h: bare Hexagon Linux user code with clang's own header.  Usage: circ_brev_qemu; a number of 32
 * bits per case to stdout. */
#include "../oracle/freestanding.h"

#include <hexagon_circ_brev_intrinsics.h>
#include <stdint.h>

static uint32_t mixed(uint32_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (uint8_t)(value >> 8 * i)) * 16777619u;
    return hash;
}

#include "circ_brev_cases.h"

static uint8_t base[1 << 16] __attribute__((aligned(1 << 16)));
static uint32_t numbers[CIRC_BREV_CASES];

void c_start(long *stack)
{
    (void)stack;
    for (int i = 0; i < CIRC_BREV_CASES; i++) {
        for (unsigned k = 0; k < sizeof(base); k++)
            base[k] = (uint8_t)(k * 37 + (k >> 8));
        numbers[i] = run_circ_brev(i, base);
    }
    put(numbers, sizeof(numbers));
    syscall3(HX_SYS_EXIT_GROUP, 0, 0, 0);
}
