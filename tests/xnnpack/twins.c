/* Runs every HVX function of the table against its twin: a line for each on stderr, NAME same, or NAME COUNT of RESULTS, and the worst
 * part.  (XNNPACK's functions print to stdout.)  Usage: run [WORD], only names that have it. */
#include "twins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "table.inc" /* made by table.awk */

enum { SEED = 0x2545f491, VECTOR = 128 };

#define BUFFER __attribute__((aligned(VECTOR)))
BUFFER float twins_got[TWINS_CELLS], twins_wanted[TWINS_CELLS], twins_scale[TWINS_CELLS];
BUFFER float twins_a[TWINS_CELLS], twins_b[TWINS_CELLS], twins_weights[TWINS_CELLS], twins_other[TWINS_CELLS], twins_zero[TWINS_CELLS];

static uint64_t state;
static size_t results, differ;
static float worst;

uint32_t twins_random(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * below >> 32);
}

size_t twins_size(size_t from, size_t to)
{
    return from + twins_random((uint32_t)(to - from + 1));
}

float twins_float(const struct twins *t)
{
    return t->low + (t->high - t->low) * (float)twins_random(1u << 24) / (float)(1u << 24);
}

void twins_begin(void)
{
    uint32_t garbage;

    for (size_t i = 0; i < TWINS_CELLS; i++) {
        /* not a number, as two halves neither: equal only where nobody writes */
        garbage = 0x7fc07e00u | twins_random(1u << 6) << 16 | twins_random(1u << 8);
        memcpy(&twins_got[i], &garbage, sizeof(garbage));
    }
    memcpy(twins_wanted, twins_got, sizeof(twins_got));
    memset(twins_scale, 0, sizeof(twins_scale));
}

static void one(const struct twins *t, float got, float wanted, float scale, int signs)
{
    float part = fabsf(got - wanted) / (fabsf(wanted) + scale);

    results++;
    if (got == wanted)
        return;
    if (!(part <= t->limit) || (signs && wanted != 0 && signbit(got) != signbit(wanted)))
        differ++;
    if (!(part <= worst))
        worst = part;
}

static void floats(const struct twins *t, int signs)
{
    for (size_t i = 0; i < TWINS_CELLS; i++)
        if (memcmp(&twins_got[i], &twins_wanted[i], sizeof(float)) != 0)
            one(t, twins_got[i], twins_wanted[i], twins_scale[i], signs);
        else if (!isnan(twins_got[i]))
            results++;
}

void twins_compare_floats(const struct twins *t)
{
    floats(t, 0);
}

void twins_compare_signs(const struct twins *t)
{
    floats(t, 1);
}

void twins_compare_bytes(const struct twins *t)
{
    const uint8_t *got = (const uint8_t *)twins_got, *wanted = (const uint8_t *)twins_wanted;

    (void)t;
    for (size_t i = 0; i < sizeof(twins_got); i++)
        differ += got[i] != wanted[i];
    results += sizeof(twins_got);
}

void twins_compare_halves(const struct twins *t)
{
    const _Float16 *got = (const _Float16 *)twins_got, *wanted = (const _Float16 *)twins_wanted;

    for (size_t i = 0; i < 2 * TWINS_CELLS; i++)
        if (memcmp(&got[i], &wanted[i], sizeof(*got)) != 0)
            one(t, (float)got[i], (float)wanted[i], i < TWINS_CELLS ? twins_scale[i] : 0, 0);
        else if (!isnan((float)got[i]))
            results++;
}

static int run(const struct twins *t)
{
    state = SEED;
    results = differ = 0;
    worst = 0;
    for (int i = 0; i < TWINS_ROUNDS; i++)
        t->run(t);
    if (results == 0) /* nothing was written */
        differ = 1;
    if (differ)
        fprintf(stderr, "%s %zu of %zu, worst %.2g\n", t->name, differ, results, (double)worst);
    else
        fprintf(stderr, "%s same, worst %.2g\n", t->name, (double)worst);
    return differ == 0;
}

int main(int argc, char **argv)
{
    size_t rows = sizeof(table) / sizeof(table[0]), same = 0, ran = 0;

    for (size_t i = 0; i < rows; i++) {
        if (argc > 1 && !strstr(table[i].name, argv[1]))
            continue;
        ran++;
        same += (size_t)run(&table[i]);
    }
    fprintf(stderr, "functions=%zu same=%zu differ=%zu\n", ran, same, ran - same);
    return 0;
}
