/* E9.1, E9.1b: how evenly the angles of position codes are spread over the circle.  A set has one angle for each position and
 * each of the 64 frequencies of a head of 128, in turns modulo 1:
 *   RoPE           10000^(-2i/128) / 2 pi per position
 *   Stern-Brocot   the fraction at the end of this path in the tree of fractions: from 1/1, i steps to the left, then right
 *                  and left by turns, until a denominator of a million.  Such fractions are the worst to approximate, so
 *                  multiples of them keep apart.
 * The figure is the star discrepancy of the whole set: the largest difference between the share of angles in [0, x) and x.
 * The paper names .00134 against .05576 and not its sets; what is asked for is the ratio. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"

enum { FREQUENCIES = 64, MANY = 4096, FEW = 512, RATIO = 10, DENOMINATOR = 1000000 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double discrepancy(double *points, size_t n)
{
    double worst = 0;

    qsort(points, n, sizeof(*points), by_value);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fmax((double)(i + 1) / (double)n - points[i],
                                 points[i] - (double)i / (double)n));
    return worst;
}

static double rope(int i)
{
    return pow(10000, -i / (double)FREQUENCIES) / (2 * M_PI);
}

static double stern_brocot(int i)
{
    double low[2] = {0, 1}, high[2] = {1, 0}; /* numerator, denominator */
    double at[2] = {1, 1};

    for (int step = 0; at[1] < DENOMINATOR; step++) {
        const int left = step < i || (step - i) % 2;
        double *end = left ? high : low;

        end[0] = at[0];
        end[1] = at[1];
        at[0] = low[0] + high[0];
        at[1] = low[1] + high[1];
    }
    return at[0] / at[1];
}

static double set_discrepancy(double (*turns)(int i), size_t positions, double *points)
{
    for (int i = 0; i < FREQUENCIES; i++) {
        const double t = turns(i);

        for (size_t p = 0; p < positions; p++) {
            const double angle = (double)p * t;

            points[(size_t)i * positions + p] = angle - floor(angle);
        }
    }
    return discrepancy(points, FREQUENCIES * positions);
}

static enum hx_verdict compare(struct hx_theorem_run *r, size_t positions)
{
    double *points = malloc(FREQUENCIES * positions * sizeof(*points));

    if (!points)
        return hx_theorem_stopped(r, "no memory");
    const double standard = set_discrepancy(rope, positions, points);
    const double tree = set_discrepancy(stern_brocot, positions, points);

    free(points);
    hx_witness(r, "%zu positions, %d frequencies: Stern-Brocot %.5f, RoPE %.5f, ratio %.1f", positions,
               FREQUENCIES, tree, standard, standard / tree);
    return standard >= RATIO * tree ? HX_VERIFIED : HX_FAILED;
}

enum hx_verdict hx_e91(struct hx_theorem_run *r)
{
    return compare(r, MANY);
}

enum hx_verdict hx_e91b(struct hx_theorem_run *r)
{
    return compare(r, FEW);
}
