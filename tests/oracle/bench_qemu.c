/* The benchmark's other side, run by qemu-hexagon.  Usage: bench_qemu N_GEMV N_WHT N_MODMUL
 * Prints per kernel: its number, nanoseconds for one run, digest of the results of one run. */
#include "bench_kernels.h"
#include "freestanding.h"

static uint64_t now_ns(void)
{
    struct {
        int64_t s, ns;
    } t;

    syscall3(HX_SYS_CLOCK_GETTIME64, 1, (long)&t, 0);
    return (uint64_t)(t.s * 1000000000 + t.ns);
}

static void put_number(uint64_t x, char end)
{
    char text[24];
    int n = sizeof(text);

    text[--n] = end;
    do {
        /* no 64-bit division here: numbers of these tests fit 32 bits */
        const uint32_t low = (uint32_t)x;

        text[--n] = (char)('0' + low % 10);
        x = low / 10;
    } while (x);
    put(text + n, (long)sizeof(text) - n);
}

__attribute__((used)) void c_start(long *stack)
{
    char **argv = (char **)(stack + 1);

    for (int k = 0; k < 3; k++) {
        const unsigned int n = number(argv[k + 1]);
        uint64_t start;
        uint32_t digest;

        bench_fill();
        bench_run(k, 1);
        digest = bench_digest(k);
        start = now_ns();
        bench_run(k, (int)n);
        put_number((uint64_t)k, ' ');
        put_number((now_ns() - start) >> 10, ' '); /* units of 1024 ns */
        put_number(n, ' ');
        put_number(digest, '\n');
    }
    syscall3(HX_SYS_EXIT_GROUP, 0, 0, 0);
}
