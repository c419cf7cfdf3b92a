/* Divisions by 0 as tools/llama/arm_division.c leaves them, for tests/cases/llama.sh: of 32 and 64 bits, by registers and by every form of
 * address.  Prints quotient and remainder of each, which x86 ends the program for; with an argument -2^31 / -1, which ends it with
 * arm_division, too. */
#include <stdint.h>
#include <stdio.h>

struct far {
    char before[300];
    volatile uint32_t zero;
};

static volatile uint32_t u32;
static volatile uint64_t u64, row[8];
static volatile int32_t i32, least = INT32_MIN, minus_one = -1;
static volatile int64_t i64;
static struct far far;

int main(int argc, char **argv)
{
    volatile uint32_t seven = 7;
    volatile uint64_t large = (uint64_t)7 << 40;
    struct far *pointer = &far;

    (void)argv;
    printf("%u %u\n", seven / u32, seven % u32);
    printf("%llu %llu\n", (unsigned long long)(large / u64), (unsigned long long)(large % u64));
    printf("%d %d\n", -5 * argc / i32, -5 * argc % i32);
    printf("%lld %lld\n", (long long)(-7 * (int64_t)argc / i64), (long long)(-7 * (int64_t)argc % i64));
    printf("%u %llu\n", seven / pointer->zero, (unsigned long long)(large / row[3 * argc]));
    if (argc > 1)
        printf("%d\n", least / minus_one);
    return 0;
}
