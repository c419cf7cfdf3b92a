/* Transforms on vectors, for a file that defines what a vector is:
 *     WORD, PRIME (struct with q, w, ws, iw, iws, n_inv, n_inv_s), LANES, STAGES = log2(LANES), vec, load, store, splat,
 *     vadd, vsub, vmin, mul_shoup(y, w, ws, ws_odd, q): w y mod q in 0..BOUND*q-1 for any y,
 *     odd_down(ws): what mul_shoup() wants as ws_odd, lift(x, POSITIVE * q),
 *     exchange_D(&a, &b) for D = LANES/2 .. 1: lane bit D of the pair changes places with the choice of vector,
 *     interleave(&a, &b), deinterleave, EACH_STAGE_DOWN(S), EACH_STAGE_UP(S): S(D, number) for these D,
 *     tables_of(p): struct with forward and inverse, the weights inside vectors.
 * Values stay in 0..2*BOUND*q-1 between forward stages and in 0..BOUND*q-1 between inverse ones (Harvey).
 *
 * Two vectors of 2 LANES neighbouring words make a pair.  For the stage of distance d < LANES their lanes are exchanged so
 * that lane i of one vector meets lane i of the other; it then wants weight N/(2d) + pair * LANES/d + i/d.  The tables:
 * [pair][stage][w, ws][LANES]. */

struct modulus {
    vec q, bound; /* of what mul_shoup() returns: 2q or 4q */
    vec positive; /* a multiple of q that makes negative integers residues */
};

INLINE struct modulus modulus(const PRIME *p)
{
    return (struct modulus){splat(p->q), splat(BOUND * p->q), splat(POSITIVE * p->q)};
}

/* 0..2*bound-1 -> 0..q-1 */
INLINE vec canonical(vec v, const struct modulus *m)
{
    v = vmin(v, vsub(v, m->bound));
    if (BOUND == 4) {
        const vec q2 = vadd(m->q, m->q);

        v = vmin(v, vsub(v, q2));
    }
    return vmin(v, vsub(v, m->q));
}

INLINE void butterfly(vec *x, vec *y, vec w, vec ws, vec ws_odd, const struct modulus *m)
{
    const vec low = vmin(*x, vsub(*x, m->bound)), t = mul_shoup(*y, w, ws, ws_odd, m->q);

    *x = vadd(low, t);
    *y = vsub(vadd(low, m->bound), t);
}

INLINE void butterfly_back(vec *x, vec *y, vec w, vec ws, vec ws_odd, const struct modulus *m)
{
    const vec sum = vadd(*x, *y), difference = vadd(vsub(*x, *y), m->bound);

    *x = vmin(sum, vsub(sum, m->bound));
    *y = mul_shoup(difference, w, ws, ws_odd, m->q);
}

/* The same with one weight for all lanes. */
INLINE void wide(vec *x, vec *y, const PRIME *p, size_t w, const struct modulus *m)
{
    const vec ws = splat(p->ws[w]);

    butterfly(x, y, splat(p->w[w]), ws, ws, m);
}

INLINE void wide_back(vec *x, vec *y, const PRIME *p, size_t w,
                      const struct modulus *m)
{
    const vec ws = splat(p->iws[w]);

    butterfly_back(x, y, splat(p->iw[w]), ws, ws, m);
}

INLINE vec take(const WORD *from, int lifting, const struct modulus *m)
{
    return lifting ? lift(load(from), m->positive) : load(from);
}

/* One stage of distance d. */
INLINE void pass2(WORD *v, const WORD *in, size_t n, size_t d, int lifting,
                  const PRIME *p, const struct modulus *m)
{
    for (size_t i = 0; i < n / (2 * d); i++)
        for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j += LANES) {
            vec x = take(in + j, lifting, m), y = take(in + j + d, lifting, m);

            wide(&x, &y, p, n / (2 * d) + i, m);
            store(v + j, x);
            store(v + j + d, y);
        }
}

/* Two stages, of distances 2d and d, d >= COLUMNS * LANES; on so many columns in step. */
enum { COLUMNS = 2 };
INLINE void pass4(WORD *v, const WORD *in, size_t n, size_t d, int lifting, const PRIME *p,
                  const struct modulus *m)
{
    const size_t blocks = n / (4 * d);

    for (size_t i = 0; i < blocks; i++)
        for (size_t j = 4 * i * d; j < (4 * i + 1) * d; j += COLUMNS * LANES) {
            vec x[COLUMNS][4];

            UNROLL for (size_t c = 0; c < COLUMNS; c++)
                UNROLL for (size_t k = 0; k < 4; k++)
                    x[c][k] = take(in + j + c * LANES + k * d, lifting, m);
            UNROLL for (size_t c = 0; c < COLUMNS; c++)
                UNROLL for (size_t k = 0; k < 2; k++)
                    wide(&x[c][k], &x[c][k + 2], p, blocks + i, m);
            UNROLL for (size_t c = 0; c < COLUMNS; c++)
                UNROLL for (size_t k = 0; k < 2; k++)
                    wide(&x[c][2 * k], &x[c][2 * k + 1], p, 2 * (blocks + i) + k, m);
            UNROLL for (size_t c = 0; c < COLUMNS; c++)
                UNROLL for (size_t k = 0; k < 4; k++)
                    store(v + j + c * LANES + k * d, x[c][k]);
        }
}

/* The last stages, on four vectors each of `blocks` neighbouring blocks of `primes` primes, all in step: one butterfly after
 * the other would wait for itself.  primes * blocks is MOST_TOGETHER or less. */
enum { MOST_TOGETHER = 4 };
INLINE void last_of(const PRIME *const *p, WORD *const *v, const WORD *const *in, size_t n,
                    size_t first, size_t blocks, size_t primes, int lifting)
{
    const size_t all = n / (4 * LANES), table = 2 * LANES * STAGES, units = blocks * primes;
    vec x[MOST_TOGETHER][4];
    struct modulus m[2];

    UNROLL for (size_t i = 0; i < primes; i++)
        m[i] = modulus(p[i]);
    UNROLL for (size_t u = 0; u < units; u++)
        UNROLL for (size_t k = 0; k < 4; k++)
            x[u][k] = take(in[u / blocks] + (4 * (first + u % blocks) + k) * LANES, lifting,
                           &m[u / blocks]);
    UNROLL for (size_t u = 0; u < units; u++)
        UNROLL for (size_t k = 0; k < 2; k++)
            wide(&x[u][k], &x[u][k + 2], p[u / blocks], all + first + u % blocks, &m[u / blocks]);
    UNROLL for (size_t u = 0; u < units; u++)
        UNROLL for (size_t k = 0; k < 2; k++)
            wide(&x[u][2 * k], &x[u][2 * k + 1], p[u / blocks], 2 * (all + first + u % blocks) + k,
                 &m[u / blocks]);
#define STAGE(D, NUMBER)                                                                          \
    UNROLL for (size_t u = 0; u < units; u++)                                                     \
        UNROLL for (size_t k = 0; k < 2; k++) {                                                   \
            const WORD *weights = tables_of(p[u / blocks])->forward + 2 * LANES * (NUMBER) +      \
                                  (2 * (first + u % blocks) + k) * table;                         \
            const vec w = load(weights), ws = load(weights + LANES);                              \
                                                                                                  \
            exchange_##D(&x[u][2 * k], &x[u][2 * k + 1]);                                         \
            butterfly(&x[u][2 * k], &x[u][2 * k + 1], w, ws, (D) > 1 ? ws : odd_down(ws),         \
                      &m[u / blocks]);                                                            \
        }
    EACH_STAGE_DOWN(STAGE)
#undef STAGE
    UNROLL for (size_t u = 0; u < units; u++)
        UNROLL for (size_t k = 0; k < 4; k += 2) {
            WORD *to = v[u / blocks] + (4 * (first + u % blocks) + k) * LANES;
            vec a = canonical(x[u][k], &m[u / blocks]), b = canonical(x[u][k + 1], &m[u / blocks]);

            interleave(&a, &b);
            store(to, a);
            store(to + LANES, b);
        }
}

/* in: residues below BOUND*q in the blocks themselves, or the integers to lift; for one prime or two. */
INLINE void forward_primes(const PRIME *const *p, WORD *const *v, const WORD *const *in, size_t n,
                           size_t primes, int lifting)
{
    const size_t all = n / (4 * LANES);
    const size_t blocks = all * primes <= MOST_TOGETHER ? all : MOST_TOGETHER / primes;

    for (size_t i = 0; i < primes; i++) {
        const struct modulus m = modulus(p[i]);
        size_t d = n / 2;

        if (d == 2 * LANES)
            break;
        if ((d / (2 * LANES)) & 0xaaaa) { /* an odd number of stages before the last ones */
            pass2(v[i], in[i], n, d, lifting, p[i], &m);
            d /= 2;
        } else {
            pass4(v[i], in[i], n, d / 2, lifting, p[i], &m);
            d /= 4;
        }
        for (; d > 2 * LANES; d /= 4)
            pass4(v[i], v[i], n, d / 2, 0, p[i], &m);
    }
    if (n == 4 * LANES)
        last_of(p, v, in, n, 0, blocks, primes, lifting);
    for (size_t first = 0; n > 4 * LANES && first < all; first += blocks)
        last_of(p, v, (const WORD *const *)v, n, first, blocks, primes, 0);
}

/* --- inverse */

INLINE void begin_pair(WORD *v, const WORD *table, const PRIME *p, size_t w,
                       const struct modulus *m)
{
    vec a = load(v), b = load(v + LANES);

    deinterleave(&a, &b);
#define STAGE(D, NUMBER)                                                                          \
    {                                                                                             \
        const vec w_d = load(table + 2 * LANES * (NUMBER));                                       \
        const vec ws = load(table + 2 * LANES * (NUMBER) + LANES);                                \
                                                                                                  \
        butterfly_back(&a, &b, w_d, ws, (D) > 1 ? ws : odd_down(ws), m);                          \
        exchange_##D(&a, &b);                                                                     \
    }
    EACH_STAGE_UP(STAGE)
#undef STAGE
    wide_back(&a, &b, p, w, m);
    store(v, a);
    store(v + LANES, b);
}

INLINE void inverse_prime(const PRIME *p, size_t n, WORD *v)
{
    const struct modulus m = modulus(p);
    const size_t pairs = n / (2 * LANES);
    const vec n_inv = splat(p->n_inv), n_inv_s = splat(p->n_inv_s);

    for (size_t i = 0; i < pairs; i++)
        begin_pair(v + 2 * LANES * i, tables_of(p)->inverse + 2 * LANES * STAGES * i, p, pairs + i,
                   &m);
    for (size_t d = 2 * LANES; d < n; d *= 2)
        for (size_t i = 0; i < n / (2 * d); i++)
            for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j += LANES) {
                vec x = load(v + j), y = load(v + j + d);

                wide_back(&x, &y, p, n / (2 * d) + i, &m);
                store(v + j, x);
                store(v + j + d, y);
            }
    for (size_t j = 0; j < n; j += LANES) {
        const vec r = mul_shoup(load(v + j), n_inv, n_inv_s, n_inv_s, m.q);

        store(v + j, canonical(r, &m));
    }
}
