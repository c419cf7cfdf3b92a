/* The functions of struct hx_crt_ops over ntt_lanes.h, mul_barrett() and dot(). */

INLINE void both_forward(const struct hx_crt *t, uint32_t *block, const uint32_t *in, size_t step,
                         int lifting, size_t n)
{
    const struct hx_crt_prime *const p[] = {&t->p[0], &t->p[1]};
    uint32_t *const v[] = {block, block + n};
    const uint32_t *const from[] = {in, in + step};

    forward_primes(p, v, from, n, HX_CRT_PRIMES, lifting);
}

INLINE void one_forward(const struct hx_crt *t, int prime, uint32_t *half, const uint32_t *in,
                        size_t n)
{
    const struct hx_crt_prime *const p[] = {&t->p[prime]};

    forward_primes(p, &half, &in, n, 1, 1);
}

INLINE void both_inverse(const struct hx_crt *t, uint32_t *block, size_t n)
{
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        inverse_prime(&t->p[i], n, block + i * n);
}

/* Each N by itself, so that the compiler knows how long its loops are. */
#define OF_SIZE(N)                                                                                \
    static __attribute__((noinline)) void transform_##N(const struct hx_crt *t, uint32_t *block,  \
                                                        const int32_t *a)                         \
    {                                                                                             \
        both_forward(t, block, (const uint32_t *)a, 0, 1, N);                                     \
    }                                                                                             \
    static __attribute__((noinline)) void forward_##N(const struct hx_crt *t, uint32_t *block)    \
    {                                                                                             \
        both_forward(t, block, block, N, 0, N);                                                   \
    }                                                                                             \
    static __attribute__((noinline)) void inverse_##N(const struct hx_crt *t, uint32_t *block)    \
    {                                                                                             \
        both_inverse(t, block, N);                                                                \
    }                                                                                             \
    static __attribute__((noinline)) void transform_one_##N(const struct hx_crt *t, int prime,    \
                                                            uint32_t *half, const int32_t *a)     \
    {                                                                                             \
        one_forward(t, prime, half, (const uint32_t *)a, N);                                      \
    }
OF_SIZE(64)
OF_SIZE(128)
OF_SIZE(256)
OF_SIZE(512)
#undef OF_SIZE

/* N = 64 << index */
static size_t index_of(const struct hx_crt *t)
{
    return (size_t)__builtin_ctzl(t->n / HX_POLY_N_MIN);
}

static void transform(const struct hx_crt *t, uint32_t *block, const int32_t *a)
{
    static void (*const of_size[])(const struct hx_crt *, uint32_t *, const int32_t *) = {
        transform_64, transform_128, transform_256, transform_512};

    of_size[index_of(t)](t, block, a);
}

static void transform_one(const struct hx_crt *t, int prime, uint32_t *half, const int32_t *a)
{
    static void (*const of_size[])(const struct hx_crt *, int, uint32_t *, const int32_t *) = {
        transform_one_64, transform_one_128, transform_one_256, transform_one_512};

    of_size[index_of(t)](t, prime, half, a);
}

static void inverse_one(const struct hx_crt *t, int prime, uint32_t *half)
{
    inverse_prime(&t->p[prime], t->n, half);
}

static void forward(const struct hx_crt *t, uint32_t *block)
{
    static void (*const of_size[])(const struct hx_crt *, uint32_t *) = {forward_64, forward_128,
                                                                         forward_256, forward_512};

    of_size[index_of(t)](t, block);
}

static void inverse(const struct hx_crt *t, uint32_t *block)
{
    static void (*const of_size[])(const struct hx_crt *, uint32_t *) = {inverse_64, inverse_128,
                                                                         inverse_256, inverse_512};

    of_size[index_of(t)](t, block);
}

static void pointwise(const struct hx_crt *t, uint32_t *c, const uint32_t *a, const uint32_t *b)
{
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        for (size_t j = i * t->n; j < (i + 1) * t->n; j += LANES)
            store(c + j, mul_barrett(load(a + j), load(b + j), t->p[i].q));
}

static void dots(const struct hx_crt *t, uint32_t *sums, const uint32_t *a, const uint32_t *b,
                 size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < HX_CRT_PRIMES; i++)
            sums[k * HX_CRT_PRIMES + (size_t)i] = dot(a + (size_t)i * t->n, b + k * stride +
                                                      (size_t)i * t->n, t->n, i);
}

static void dots_one(const struct hx_crt *t, int prime, uint32_t *sums, const uint32_t *a,
                     const uint32_t *b, size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sums[k] = dot(a, b + k * stride, t->n, prime);
}
