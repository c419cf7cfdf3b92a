/* Bare Hexagon Linux user code for qemu-hexagon: entry, system calls, and what compilers call
 * behind one's back. */
#ifndef ORACLE_FREESTANDING_H
#define ORACLE_FREESTANDING_H

#define HX_SYS_WRITE 64
#define HX_SYS_EXIT_GROUP 94
#define HX_SYS_CLOCK_GETTIME64 403

static long syscall3(long number, long a, long b, long c)
{
    register long r6 __asm__("r6") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;

    __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
    return r0;
}

void *memset(void *d, int c, __SIZE_TYPE__ n)
{
    unsigned char *p = d;

    while (n--)
        *p++ = (unsigned char)c;
    return d;
}

void *memcpy(void *d, const void *s, __SIZE_TYPE__ n)
{
    unsigned char *p = d;
    const unsigned char *q = s;

    while (n--)
        *p++ = *q++;
    return d;
}

/* All n bytes to stdout, or exit 1. */
static void put(const void *p, long n)
{
    const char *c = p;

    while (n > 0) {
        const long done = syscall3(HX_SYS_WRITE, 1, (long)c, n);

        if (done <= 0)
            syscall3(HX_SYS_EXIT_GROUP, 1, 0, 0);
        c += done;
        n -= done;
    }
}

__attribute__((unused)) static unsigned int number(const char *s)
{
    unsigned int n = 0;

    while (*s)
        n = n * 10 + (unsigned int)(*s++ - '0');
    return n;
}

/* stack: argc, then argv.  HVX spills need an aligned stack, so the entry aligns it. */
void c_start(long *stack);

__attribute__((naked, used)) void _start(void)
{
    __asm__ volatile("{ r0 = r29 }\n{ r29 = and(r29, #-256) }\n{ call c_start }\n");
}

#endif
