/* The oracle's side: bare Hexagon Linux user code, run by qemu-hexagon.
 * Usage: side_qemu FIRST LAST      numbers of all batches of cases FIRST..LAST-1 to stdout
 *        side_qemu -d CASE BATCH   every result of one batch */
#include "oracle.c"

#include "../../dsp/include/hexrig_hvx_count.h" /* the slot classes that the cases name */

#include "cases.inc"

static unsigned char memory[ORACLE_REGION + 256] __attribute__((aligned(128)));
unsigned char *oracle_memory = memory;
static uint64_t numbers[ORACLE_BATCHES];
static uint64_t dump[ORACLE_BATCH * ORACLE_DUMP];

static long syscall3(long number, long a, long b, long c)
{
    register long r6 __asm__("r6") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;

    __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
    return r0;
}

void *memset(void *d, int c, unsigned long n)
{
    unsigned char *p = d;

    while (n--)
        *p++ = (unsigned char)c;
    return d;
}

void *memcpy(void *d, const void *s, unsigned long n)
{
    unsigned char *p = d;
    const unsigned char *q = s;

    while (n--)
        *p++ = *q++;
    return d;
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

static unsigned int number(const char *s)
{
    unsigned int n = 0;

    while (*s)
        n = n * 10 + (unsigned int)(*s++ - '0');
    return n;
}

__attribute__((used)) void c_start(long *stack)
{
    char **argv = (char **)(stack + 1);

    if (argv[1][0] == '-') {
        const unsigned int c = number(argv[2]);

        oracle_batch(&oracle_cases[c], c, number(argv[3]), dump);
        put(dump, sizeof(dump));
    } else {
        for (unsigned int c = number(argv[1]); c < number(argv[2]); c++) {
            for (unsigned int b = 0; b < ORACLE_BATCHES; b++)
                numbers[b] = oracle_batch(&oracle_cases[c], c, b, 0);
            put(numbers, sizeof(numbers));
        }
    }
    syscall3(94, 0, 0, 0);
}

__attribute__((naked, used)) void _start(void)
{
    __asm__ volatile("{ r0 = r29 }\n{ r29 = and(r29, #-256) }\n{ call c_start }\n");
}
