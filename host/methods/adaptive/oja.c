/* Oja's rule, see oja.h. */
#include "oja.h"

#include <math.h>

static const double nothing = 1e-12; /* published */

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* y += c x */
static void add(double *y, double c, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += c * x[i];
}

static void scale(double *x, double c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= c;
}

double hx_oja_eta(double eta0, enum hx_oja_decay decay, size_t t)
{
    return eta0 / (decay == HX_OJA_SQRT ? sqrt((double)t) : (double)t);
}

int hx_oja_step(double *w, size_t k, size_t d, double *x, double eta)
{
    const double norm2 = dot(x, x, d);

    if (!(norm2 >= nothing))
        return 0;
    scale(x, 1 / sqrt(norm2), d);
    for (size_t i = 0; i < k; i++, w += d) {
        add(w, eta * dot(w, x, d), x, d);
        scale(w, 1 / sqrt(dot(w, w, d)), d);
        add(x, -dot(x, w, d), w, d);
    }
    return 1;
}

void hx_oja_orthonormalise(double *w, size_t k, size_t d)
{
    for (size_t i = 0; i < k; i++) {
        for (int again = 0; again < 2; again++)
            for (size_t b = 0; b < i; b++)
                add(w + i * d, -dot(w + i * d, w + b * d, d), w + b * d, d);
        scale(w + i * d, 1 / sqrt(dot(w + i * d, w + i * d, d)), d);
    }
}

double hx_oja_error(const double *w, size_t k, size_t d)
{
    double most = 0;

    for (size_t i = 0; i < k; i++)
        for (size_t b = 0; b <= i; b++) {
            const double error = fabs(dot(w + i * d, w + b * d, d) - (b == i));

            most = error > most ? error : most;
        }
    return most;
}
