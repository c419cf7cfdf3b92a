/* Products of tiles, and their way to half floats. */
#include "hmx_tile.h"

#include <math.h>
#include <string.h>

enum { SIDE = HX_HMX_SIDE };

static unsigned at(unsigned row, unsigned column)
{
    return row / 2 * 64 + column * 2 + row % 2;
}

/* --- half floats ----------------------------------------------------------------------------------------------- */

/* A float's exponent has 112 more below it.  The largest exponent is one as any other: neither infinite nor no number. */
static double double_of(uint16_t half)
{
    const uint32_t scaled = (half & 0x7fffu) << 13;
    float f;

    memcpy(&f, &scaled, sizeof(f));
    f *= 0x1p112f;
    return half & 0x8000u ? -f : f;
}

/* The nearest, of two equally near ones the even; beyond the largest one, that. */
static uint16_t half_of(double value)
{
    const double magnitude = fabs(value);
    const unsigned sign = signbit(value) ? 0x8000 : 0;
    int exponent;

    if (magnitude >= 131008)
        return (uint16_t)(sign | 0x7fff);
    if (magnitude < 0x1p-14)
        return (uint16_t)(sign | (unsigned)rint(magnitude * 0x1p24));
    frexp(magnitude, &exponent); /* a carry out of the significand is one into the exponent */
    return (uint16_t)(sign + ((unsigned)(exponent + 13) << 10) + (unsigned)rint(ldexp(magnitude, 11 - exponent)));
}

/* --- tiles ----------------------------------------------------------------------------------------------------- */

static void unpack(hx_hmx_sums out, const uint16_t *tile)
{
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned c = 0; c < SIDE; c++)
            out[r][c] = double_of(tile[at(r, c)]);
}

void hx_hmx_multiply(hx_hmx_sums sums, const uint16_t *activation, const uint16_t *weight)
{
    hx_hmx_sums a, w;

    unpack(a, activation);
    unpack(w, weight);
    for (unsigned r = 0; r < SIDE; r++)
        for (unsigned k = 0; k < SIDE; k++)
            for (unsigned c = 0; c < SIDE; c++)
                sums[r][c] += a[r][k] * w[k][c];
}

void hx_hmx_convert(uint16_t *tile, const hx_hmx_sums sums, const uint32_t table[HX_HMX_TABLE_WORDS])
{
    for (unsigned c = 0; c < SIDE; c++) {
        const double scale = double_of((uint16_t)table[c]), bias = double_of((uint16_t)(table[c] >> 16));

        for (unsigned r = 0; r < SIDE; r++)
            tile[at(r, c)] = half_of(sums[r][c] * scale + bias);
    }
}
