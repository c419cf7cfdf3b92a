/* The scalar oracle's side: bare Hexagon Linux user code, run by qemu-hexagon.
 * Usage: side_qemu          one number per intrinsic to stdout
 *        side_qemu CASE     every result of one case */
#include "scalar_oracle.h"

static uint64_t numbers[CASES];
static uint64_t results[1 << 18];

static long syscall3(long number, long a, long b, long c)
{
    register long r6 __asm__("r6") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;

    __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
    return r0;
}

static void put(const void *p, long n)
{
    const char *c = p;

    while (n > 0) {
        const long done = syscall3(64, 1, (long)c, n);

        if (done <= 0)
            syscall3(94, 1, 0, 0);
        c += done;
        n -= done;
    }
}

__attribute__((used)) void c_start(long *stack)
{
    const char *arg = (const char *)stack[2];
    unsigned int c = 0;

    if (stack[0] > 1) {
        while (*arg)
            c = c * 10 + (unsigned int)(*arg++ - '0');
        dump = results;
        dump_size = sizeof(results) / sizeof(results[0]);
        run_case(&cases[c], c);
        put(results, (long)(dumped * sizeof(results[0])));
    } else {
        for (; c < CASES; c++)
            numbers[c] = run_case(&cases[c], c);
        put(numbers, sizeof(numbers));
    }
    syscall3(94, 0, 0, 0);
}

__attribute__((naked, used)) void _start(void)
{
    __asm__ volatile("{ r0 = r29 }\n{ r29 = and(r29, #-256) }\n{ call c_start }\n");
}
