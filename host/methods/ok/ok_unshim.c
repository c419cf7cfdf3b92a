/* Un-shimming several elements at once, see ok.h.
 *
 * An odd p has an inverse modulo 2^64.  t is divisible by p exactly when q = t * inverse, read as signed, is at most
 * (2^63 - 1) / p in magnitude: then q p is t without a carry.  So a checked division is a multiplication and two
 * comparisons.  2 is a shift. */
#include "ok.h"

#include <errno.h>
#include <string.h>

typedef int64_t v8i __attribute__((vector_size(8 * HX_OK_BATCH)));
typedef uint64_t v8u __attribute__((vector_size(8 * HX_OK_BATCH)));

#define INLINE static inline __attribute__((always_inline))

struct divisor {
    uint64_t inverse; /* of p modulo 2^64 */
    int64_t most;     /* of a quotient */
    int even;         /* p = 2 */
};

static struct divisor divisor_of(uint32_t p)
{
    uint64_t inverse = p; /* right in 3 bits, and in twice as many after each step */

    for (int i = 0; i < 5; i++)
        inverse *= 2 - p * inverse;
    return (struct divisor){inverse, INT64_MAX / p, p == 2};
}

/* Lanes that are no multiple of the divisor add to *bad. */
INLINE v8i divide(v8i t, const struct divisor *d, v8i *bad)
{
    if (d->even) {
        *bad |= t & 1;
        return t >> 1;
    }
    const v8i q = (v8i)((v8u)t * d->inverse);

    *bad |= (q > d->most) | (q < -d->most);
    return q;
}

/* y times conj(pi) = (pi.a + pi.b) - pi.b w. */
INLINE void times_conj(v8i *a, v8i *b, struct hx_ok pi)
{
    const v8u ya = (v8u)*a, yb = (v8u)*b;
    const uint64_t ca = (uint64_t)(pi.a + pi.b), cb = (uint64_t)-pi.b;

    *a = (v8i)(ya * ca - 41 * (yb * cb));
    *b = (v8i)(ya * cb + yb * ca + yb * cb);
}

/* With a and b within it no step leaves int64.  From coordinates up to 1 a step forms up to ca + 42 cb, and its quotients
 * are up to 1, but for p = 41: 42 / 41, which in HX_OK_MAX_K steps does not make 2. */
static int64_t bound(const struct hx_ok_shim *s)
{
    const int64_t a = s->prime.pi.a, b = s->prime.pi.b;
    const int64_t ca = a + b < 0 ? -(a + b) : a + b, cb = b < 0 ? -b : b;

    return s->prime.kind == HX_OK_INERT ? INT64_MAX : INT64_MAX / 2 / (ca + 42 * cb);
}

INLINE v8i outside(v8i v, int64_t most)
{
    return (v > most) | (v < -most);
}

static int any(v8i v)
{
    int64_t all = 0;

    for (int i = 0; i < HX_OK_BATCH; i++)
        all |= v[i];
    return all != 0;
}

/* Eight of them; the quotients, unless *bad has a lane. */
INLINE void unshim_batch(const struct hx_ok_shim *s, const struct divisor *d, int64_t most, v8i *a,
                         v8i *b, v8i *bad)
{
    *bad |= outside(*a, most) | outside(*b, most);
    for (unsigned i = 0; i < s->k; i++) {
        if (s->prime.kind != HX_OK_INERT)
            times_conj(a, b, s->prime.pi);
        *a = divide(*a, d, bad);
        *b = divide(*b, d, bad);
    }
    *bad |= *b;
}

/* One by one, with every number checked and counted. */
static int unshim_slowly(const struct hx_ok_shim *s, int64_t *a, const int64_t *b,
                         struct hx_ok_count *count)
{
    int rc = 0;

    for (size_t i = 0; i < HX_OK_BATCH; i++)
        if (hx_ok_unshim_real(s, (struct hx_ok){a[i], b[i]}, &a[i], count))
            rc = -EDOM;
    return rc;
}

int hx_ok_unshim_many(const struct hx_ok_shim *s, int64_t *a, int64_t *b, size_t n,
                      struct hx_ok_count *count)
{
    const struct divisor d = divisor_of(s->k ? s->prime.p : 1);
    const int64_t most = bound(s);
    int rc = 0;

    for (size_t i = 0; i < n; i += HX_OK_BATCH) {
        v8i va, vb, bad = {0};

        memcpy(&va, a + i, sizeof(va));
        memcpy(&vb, b + i, sizeof(vb));
        unshim_batch(s, &d, most, &va, &vb, &bad);
        if (any(bad)) {
            rc = unshim_slowly(s, a + i, b + i, count) ? -EDOM : rc;
            continue;
        }
        memcpy(a + i, &va, sizeof(va));
        memset(b + i, 0, sizeof(vb));
        count->divisions += s->k ? HX_OK_BATCH * (2 * s->k + 1) : 0;
    }
    return rc;
}
