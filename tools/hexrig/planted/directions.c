/* Directions of a planted model, see directions.h. */
#include "directions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"

enum { LANES = 8, MIXED = 8 }; /* MIXED: vectors of the basis in a direction */

/* In lanes, so that the order of the sum is the source's and not a compiler's. */
static double dot(const float *a, const float *b, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lane[k] += (double)a[i + k] * b[i + k];
    for (; i < n; i++)
        lane[i % LANES] += (double)a[i] * b[i];
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static void add(float *to, float times, const float *what, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += times * what[i];
}

static void normalise(float *row, size_t n)
{
    const double norm = sqrt(dot(row, row, n));

    for (size_t i = 0; i < n; i++)
        row[i] = (float)(row[i] / norm);
}

/* Gram-Schmidt, twice: once leaves what rounding left. */
void hx_directions_orthonormal(float *rows, size_t n, size_t cols, uint64_t key)
{
    for (size_t r = 0; r < n; r++) {
        float *row = rows + r * cols;

        for (size_t i = 0; i < cols; i++)
            row[i] = hx_keyed_unit(hx_keyed(key, r), i);
        for (int pass = 0; pass < 2; pass++) {
            normalise(row, cols);
            for (size_t b = 0; b < r; b++)
                add(row, (float)-dot(row, rows + b * cols, cols), rows + b * cols, cols);
        }
        normalise(row, cols);
    }
}

int hx_directions_open(struct hx_directions *d, uint64_t key)
{
    const size_t n = d->rank + (d->rank < d->width);

    d->basis = malloc(n * d->width * sizeof(*d->basis));
    if (!d->basis)
        return -ENOMEM;
    hx_directions_orthonormal(d->basis, n, d->width, key);
    return 0;
}

void hx_directions_free(struct hx_directions *d)
{
    free(d->basis);
    d->basis = NULL;
}

struct hx_zone hx_directions_zone(const struct hx_directions *d, size_t zone)
{
    const size_t n = d->rank - d->reserved;

    return (struct hx_zone){d->reserved + zone * n / d->zones, d->reserved + (zone + 1) * n / d->zones};
}

void hx_directions_make(const struct hx_directions *d, size_t n, uint64_t key, float *to)
{
    const struct hx_zone zone = hx_directions_zone(d, n % d->zones);
    const size_t all = zone.to - zone.from, mixed = all < MIXED ? all : MIXED, first = n / d->zones;
    const float size = (float)(1 / sqrt((double)mixed));

    memset(to, 0, d->width * sizeof(*to));
    for (size_t i = 0; i < mixed; i++)
        add(to, hx_keyed(key, i) & 1 ? size : -size, d->basis + (zone.from + (first + i) % all) * d->width, d->width);
}
