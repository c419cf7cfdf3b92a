/* The matrices of padded transforms: made once, then read by all. */
#include "vht2_pad_tables.h"

#include <math.h>
#include <pthread.h>

#include "AEEStdErr.h"
#include "hx_vht2.h"
#include "vht2_pad.h"

enum { LANES = 32, PRIMES = 5 };

static const int primes[PRIMES] = {2, 3, 5, 7, 11};

/* Products of first primes that are the `low` of some length, and where their columns begin. */
static struct {
    const int low;
    int at;
} lows[] = {{2, 0}, {3, 0}, {5, 0}, {6, 0}, {7, 0}, {10, 0}, {11, 0}, {14, 0}, {15, 0}, {21, 0}, {22, 0}, {30, 0}};
enum { LOWS = sizeof(lows) / sizeof(lows[0]), COLUMNS = 146 }; /* their sum */

static HVX_Vector columns[COLUMNS];
static HVX_Vector cas_of[PRIMES][HX_VHT2_PAD_PRIME];

static float *lane(HVX_Vector *v)
{
    return (float *)v;
}

static void make_cas(void)
{
    for (int i = 0; i < PRIMES; i++)
        for (int k = 0; k < primes[i]; k++) {
            const double angle = 2 * M_PI * k / primes[i];

            for (int l = 0; l < LANES; l++)
                lane(&cas_of[i][k])[l] = (float)((cos(angle) + sin(angle)) / sqrt(primes[i]));
        }
}

/* Element (k, j) of the matrix of `low`: the product over its primes of the elements that its digits name. */
static float element(int low, int k, int j)
{
    float product = 1;

    for (int i = 0; i < PRIMES; i++) {
        const int p = primes[i];

        if (low % p)
            continue;
        product *= lane(&cas_of[i][k % p * (j % p) % p])[0];
        k /= p;
        j /= p;
    }
    return product;
}

static void make_tables(void)
{
    int at = 0;

    make_cas();
    for (int i = 0; i < LOWS; i++) {
        lows[i].at = at;
        for (int j = 0; j < lows[i].low; j++, at++)
            for (int k = 0; k < lows[i].low; k++)
                lane(&columns[at])[k] = element(lows[i].low, k, j);
    }
}

static const HVX_Vector *columns_of(int low)
{
    for (int i = 0; i < LOWS; i++)
        if (lows[i].low == low)
            return &columns[lows[i].at];
    return NULL; /* not of a length that is_length() takes */
}

static int is_length(int n)
{
    return n >= 2 && n <= HX_VHT2_PAD_MAX && hx_vht2_pad((size_t)n) == (size_t)n;
}

int hx_vht2_padded(int dh)
{
    const size_t n = dh >= 2 ? hx_vht2_pad((size_t)dh) : 0;

    return n <= HX_VHT2_PAD_MAX ? (int)n : 0;
}

int hx_vht2_plan(struct hx_vht2_plan *plan, int n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int apart = 1, full = 0; /* full: a row takes no further prime */

    if (!is_length(n))
        return AEE_EBADPARM;
    pthread_once(&once, make_tables);
    *plan = (struct hx_vht2_plan){.low = 1};
    for (int i = 0; i < PRIMES; i++) {
        const int p = primes[i];

        if (n % p)
            continue;
        full |= plan->low * p > LANES;
        if (!full) {
            plan->low *= p;
            continue;
        }
        plan->stage[plan->stages].p = p;
        plan->stage[plan->stages].apart = apart;
        plan->stage[plan->stages++].cas = cas_of[i];
        apart *= p;
    }
    plan->rows = apart;
    plan->column = columns_of(plan->low);
    return AEE_SUCCESS;
}
