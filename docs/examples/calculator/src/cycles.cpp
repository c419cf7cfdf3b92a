#include "cycles.h"

uint64_t cycles_now(void)
{
    uint64_t cycles;

    asm volatile("%0 = c15:14" : "=r"(cycles));
    return cycles;
}
