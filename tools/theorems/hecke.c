/* E9.3, E9.3b: coefficients of the weight 2 form of the curve with complex multiplication by O_K, straight from their
 * definition: a_n = 1/2 of the sum of e(x) x over the x in O_K with norm n, e(x) the quadratic character modulo
 * sqrt(-163), where w is 1/2.  Nothing multiplicative goes in; x and its conjugate make the sum an integer. */
#include <stdlib.h>

#include "checks.h"
#include "modular.h"

enum { CM = 163, LIMIT = 1000, CASES = 20 };

/* Twice a + b w is (2a + b) + b sqrt(-163); conjugates add up to 2a + b. */
static void coefficients(int64_t a_n[LIMIT])
{
    for (int64_t b = -10; b <= 10; b++)
        for (int64_t a = -40; a <= 40; a++) {
            const int64_t norm = a * a + a * b + 41 * b * b, twice = 2 * a + b;

            if (norm > 0 && norm < LIMIT) /* e(2) = -1: 2 is no square modulo 163 */
                a_n[norm] -= hx_legendre(hx_mod_of(twice, CM), CM) * twice;
        }
    for (int n = 1; n < LIMIT; n++)
        a_n[n] /= 4; /* the half, and twice each x */
}

static int coprime(int64_t m, int64_t n)
{
    while (n) {
        const int64_t rest = m % n;

        m = n;
        n = rest;
    }
    return m == 1;
}

enum hx_verdict hx_e93(struct hx_theorem_run *r)
{
    int64_t a[LIMIT] = {0};
    int good = 0, n_cases = 0, not_zero = 0;

    coefficients(a);
    while (n_cases < CASES) {
        const int64_t m = 2 + (int64_t)(hx_theorem_random(r) % 100);
        const int64_t n = 2 + (int64_t)(hx_theorem_random(r) % 100);

        if (m * n >= LIMIT || !coprime(m, n) || (n_cases % 2 == 0 && a[m * n] == 0))
            continue; /* every other case with a coefficient that is not 0 */
        n_cases++;
        good += a[m * n] == a[m] * a[n];
        not_zero += a[m * n] != 0;
        hx_witness(r, "a_%lld = %lld, a_%lld a_%lld = %lld", (long long)(m * n), (long long)a[m * n],
                   (long long)m, (long long)n, (long long)(a[m] * a[n]));
    }
    hx_witness(r, "a_1 = %lld, %d of %d, %d of them not 0", (long long)a[1], good, CASES, not_zero);
    return a[1] == 1 && good == CASES && not_zero >= CASES / 2 ? HX_VERIFIED : HX_FAILED;
}

enum hx_verdict hx_e93b(struct hx_theorem_run *r)
{
    int64_t a[LIMIT] = {0};
    int n_cases = 0, good = 0;

    coefficients(a);
    for (int64_t p = 2; p * p < LIMIT; p++) {
        if (!hx_is_prime((uint64_t)p))
            continue;
        for (int64_t q = p; q * p < LIMIT; q *= p) { /* q = p^k, k >= 1 */
            n_cases++;
            good += a[q * p] == a[p] * a[q] - p * a[q / p];
        }
    }
    hx_witness(r, "%d of %d prime powers below %d, from a_2 = %lld, a_4 = %lld on", good, n_cases, LIMIT,
               (long long)a[2], (long long)a[4]);
    return n_cases > 0 && good == n_cases ? HX_VERIFIED : HX_FAILED;
}
