/* Every intrinsic that works on registers only, in cycles, beside what a hand-written version of the same width takes.
 * Usage: bench_vectors [all]
 *
 * A loop runs one intrinsic over sixteen operands each, all in the first cache; a cycle is an addition that waits for the one before.
 * By hand: the instructions of by_hand.h, two a cycle with registers of 64 bytes and three with those of 32, but not less than a loop
 * over registers that only loads and stores what the intrinsic does.  Prints those that take more than three times as long (`all`: all),
 * and how many take more than four times as long. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

#include "by_hand.h"

enum { N = 16, ROUNDS = 40, RUNS = 30, MOST_READS = 6 };

static struct {
    HVX_Vector v[3][N], q[2][N], carry[N];
    HVX_VectorPair w[3][N];
    int64_t rr[N];
    int32_t r[N];
} in;
static struct {
    HVX_Vector v[N], q[N];
    HVX_VectorPair w[N];
    int32_t r[N];
} out;

struct loop {
    const char *name;
    void (*run)(void);
    int reads, writes; /* vectors of an operation */
};

#define HIDE() __asm__ volatile("" : : "r"(&in), "r"(&out) : "memory")
#define LOOP(number, statement) \
    static __attribute__((noinline)) void loop_##number(void) \
    { \
        for (int i = 0; i < N; i++) { \
            statement; \
        } \
        HIDE(); \
    }
#include "vectors.inc"

/* --- loads and stores alone */
#define MOVES(reads, writes) \
    static __attribute__((noinline)) void moves_##reads##_##writes(void) \
    { \
        const hx_nw *from = (const hx_nw *)&in; \
        hx_nw *to = (hx_nw *)&out; \
        for (int i = 0; i < N * HX_NATIVES; i++) { \
            hx_nw x = from[i]; \
            for (int k = 1; k < reads; k++) \
                x ^= from[k * N * HX_NATIVES + i]; \
            for (int k = 0; k < writes; k++) \
                to[k * N * HX_NATIVES + i] = x; \
        } \
        HIDE(); \
    }
MOVES(1, 1)
MOVES(2, 1)
MOVES(3, 1)
MOVES(4, 1)
MOVES(5, 1)
MOVES(6, 1)
MOVES(1, 2)
MOVES(2, 2)
MOVES(3, 2)
MOVES(4, 2)
MOVES(5, 2)
MOVES(6, 2)
static void (*const moves[MOST_READS][2])(void) = {
    {moves_1_1, moves_1_2}, {moves_2_1, moves_2_2}, {moves_3_1, moves_3_2},
    {moves_4_1, moves_4_2}, {moves_5_1, moves_5_2}, {moves_6_1, moves_6_2},
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double cycle_ns(void)
{
    double best = 1e9;

    for (int round = 0; round < 400; round++) {
        unsigned long x = 0;
        double t = now_ns();

        for (int i = 0; i < 4000; i++)
            __asm__ volatile("add $1, %0" : "+r"(x));
        t = (now_ns() - t) / 4000;
        best = t < best ? t : best;
    }
    return best;
}

/* Per operation; the shortest of many short rounds, because others use the machine, too. */
static double best_ns(void (*run)(void))
{
    double best = 1e9;

    for (int round = 0; round < ROUNDS; round++) {
        double t = now_ns();

        for (int i = 0; i < RUNS; i++)
            run();
        t = (now_ns() - t) / (RUNS * N);
        best = t < best ? t : best;
    }
    return best;
}

/* Random words; where an intrinsic takes floats, with exponents in the middle of their range: the ends are rare, and take longer. */
static void fill(const char *name)
{
    const int halves = !strstr(name, "equals_W") && (strstr(name, "qf16") || strstr(name, "hf"));
    const int words = !halves && (strstr(name, "qf32") || strstr(name, "sf"));
    uint32_t *w = (uint32_t *)(void *)&in;

    srand(1);
    for (size_t i = 0; i < sizeof(in) / 4; i++) {
        const uint32_t x = (uint32_t)rand() << 16 ^ (uint32_t)rand(), e = 104 + x / 512 % 32, h = 12 + x / 512 % 7;

        w[i] = halves ? (x & ~0x7c1f7c1fu) | h << 26 | h << 16 | h << 10 | h : words ? (x & ~0x7f8000ffu) | e << 23 | e : x;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            in.carry[i] = in.q[k][i] = Q6_V_vand_QR(Q6_Q_vand_VR(in.q[k][i], 0x01010101), -1);
}

static double by_hand_cycles(const struct loop *l, double cycle)
{
    const struct by_hand *h = by_hand;
    const int wide = HX_NATIVE_BYTES == 64;
    const double least = best_ns(moves[(l->reads < 1 ? 1 : l->reads) - 1][l->writes - 1]) / cycle;
    double counted;

    while (fnmatch(h->pattern, l->name + 3, 0))
        h++;
    counted = (wide ? h->wide / 2 : h->narrow / 3) * HX_NATIVES * l->writes;
    return counted > least ? counted : least;
}

int main(int argc, char **argv)
{
    const int all = argc > 1 && strcmp(argv[1], "all") == 0;
    const size_t n = sizeof(loops) / sizeof(*loops);
    const double cycle = cycle_ns();
    unsigned int over[5] = {0};

    if (HX_NATIVE_BYTES == 16) {
        printf("bench_vectors: skip: counts by hand are of registers of 32 and 64 bytes\n");
        return 77;
    }
    for (const struct loop *l = loops; l < loops + n; l++) {
        double cycles, hand;

        fill(l->name);
        cycles = best_ns(l->run) / cycle;
        hand = by_hand_cycles(l, cycle);
        for (int k = 1; k < 5; k++)
            over[k] += cycles > k * hand;
        if (all || cycles > 3 * hand)
            printf("cycles=%5.1f by_hand=%5.1f times=%4.1f name=%s\n", cycles, hand, cycles / hand, l->name);
    }
    printf("registers of %d bytes, %zu intrinsics; slower than by hand: 2 times %u, 3 times %u, 4 times %u\n", HX_NATIVE_BYTES, n, over[2],
           over[3], over[4]);
    return 0;
}
