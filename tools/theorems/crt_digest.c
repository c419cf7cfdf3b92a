/* A digest of 100,489 inner products by two primes, the same from every compiler. */
#include "crt_digest.h"

#include <stdlib.h>

#include "methods/ntt/ring/ntt.h"

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void hx_digest_vector(int32_t *out, size_t i)
{
    uint64_t state = 6 * (uint64_t)i + 1;

    for (size_t j = 0; j < HX_DIGEST_N; j++)
        out[j] = (int32_t)(next(&state) >> 43) - (1 << 20); /* +-16 in units of 2^-16 */
}

static uint64_t fold(uint64_t h, int64_t c)
{
    for (int byte = 0; byte < 8; byte++)
        h = (h ^ (uint8_t)((uint64_t)c >> 8 * byte)) * 0x100000001b3u;
    return h;
}

uint64_t hx_crt_digest(void (*product)(void *arg, size_t i, size_t j, int64_t c), void *arg)
{
    const struct hx_crt *t = hx_crt_get(HX_DIGEST_N);
    const size_t words = hx_crt_bytes(HX_DIGEST_N) / sizeof(uint32_t);
    uint32_t *keys = aligned_alloc(64, HX_DIGEST_VECTORS * words * sizeof(*keys));
    uint32_t *query = aligned_alloc(64, words * sizeof(*query));
    uint64_t h = 0xcbf29ce484222325u;
    int64_t c[HX_DIGEST_VECTORS];
    int32_t a[HX_DIGEST_N];

    for (size_t i = 0; keys && query && i < HX_DIGEST_VECTORS; i++) {
        hx_digest_vector(a, i);
        hx_poly_involute(a, HX_DIGEST_N);
        hx_crt_transform(t, keys + i * words, a);
    }
    for (size_t i = 0; keys && query && i < HX_DIGEST_VECTORS; i++) {
        hx_digest_vector(a, i);
        hx_crt_query(t, query, a);
        hx_crt_scores(t, c, query, keys, words, HX_DIGEST_VECTORS);
        for (size_t j = 0; j < HX_DIGEST_VECTORS; j++) {
            h = fold(h, c[j]);
            if (product)
                product(arg, i, j, c[j]);
        }
    }
    if (!keys || !query)
        h = 0;
    free(keys);
    free(query);
    return h;
}
