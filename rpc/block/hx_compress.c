/* Compressed vectors in fp64, see hx_compress.h. */
#include "hx_compress.h"

#include <errno.h>
#include <math.h>

#include "hx_vht2.h"

enum { LEAST = 8, LONGEST_PADDED = 770 };

const char *const hx_mobius_names[] = {"ship", "block", NULL};

static int is_squarefree(int i, enum hx_mobius kind)
{
    if (kind == HX_MOBIUS_BLOCK)
        return hx_squarefree_index((size_t)i);
    return i > 0 && hx_squarefree_index((size_t)i - 1);
}

int hx_mobius_order(int n, enum hx_mobius kind, uint16_t *order)
{
    int squarefree = 0, at = 0;

    for (int i = 0; i < n; i++)
        if (is_squarefree(i, kind))
            order[at++] = (uint16_t)i;
    squarefree = at;
    for (int i = 0; i < n; i++)
        if (!is_squarefree(i, kind))
            order[at++] = (uint16_t)i;
    return squarefree;
}

static int is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* Coefficients of a vector, or 0. */
static int length_of(int dh)
{
    if (dh < LEAST || dh > HX_BAND_MAX_N)
        return 0;
    if (is_power_of_two(dh))
        return dh;
    return dh <= LONGEST_PADDED ? (int)hx_vht2_pad((size_t)dh) : 0;
}

int hx_compress_init(struct hx_compress *c, int dh, int is_v)
{
    const int n = length_of(dh);

    if (!n)
        return -EINVAL;
    c->dh = dh;
    c->n = n;
    c->kind = n == dh && is_power_of_two(n) ? HX_MOBIUS_SHIP : HX_MOBIUS_BLOCK;
    hx_mobius_order(n, c->kind, c->order);
    c->bands = is_v ? hx_bands_v(n) : hx_bands_k(n);
    c->bytes = hx_bands_bytes(&c->bands);
    return 0;
}

static void transform(double *x, int n)
{
    if (is_power_of_two(n))
        hx_wht_f64(x, (size_t)n);
    else
        hx_vht2_f64(x, (size_t)n);
}

int hx_compress_encode(const struct hx_compress *c, const float *x, uint8_t *codes)
{
    float ordered[HX_BAND_MAX_N];
    double v[HX_BAND_MAX_N], sum = 0;

    for (int i = 0; i < c->dh; i++)
        sum += v[i] = (double)x[i];
    for (int i = c->dh; i < c->n; i++)
        v[i] = sum / c->dh;
    transform(v, c->n);
    for (int i = 0; i < c->n; i++) {
        ordered[i] = (float)v[c->order[i]];
        if (!isfinite(ordered[i]))
            return -EDOM;
    }
    return hx_bands_encode(&c->bands, ordered, codes);
}

int hx_compress_decode(const struct hx_compress *c, int n_bands, const uint8_t *codes, float *x)
{
    float ordered[HX_BAND_MAX_N];
    double v[HX_BAND_MAX_N];
    int rc = hx_bands_decode(&c->bands, n_bands, codes, ordered);

    if (rc)
        return rc;
    for (int i = 0; i < c->n; i++)
        v[c->order[i]] = (double)ordered[i];
    transform(v, c->n);
    for (int i = 0; i < c->dh; i++)
        x[i] = (float)v[i];
    return 0;
}
