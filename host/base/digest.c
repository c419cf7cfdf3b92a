/* A digest of bytes, see digest.h: eight running values, each a multiplication and a rotation per word, so that the CPU has eight at a
 * time in flight; then the finish of MurmurHash3 (Appleby 2011, public domain) over them. */
#include "digest.h"

#include <string.h>

enum { LANES = 8 };

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static uint64_t step(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h << 29 | h >> 35;
}

uint64_t hx_digest(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t lane[LANES], word[LANES];
    size_t left = n;

    for (size_t i = 0; i < LANES; i++)
        lane[i] = mix(h + i + 1);
    for (; left >= sizeof(word); left -= sizeof(word), p += sizeof(word)) {
        memcpy(word, p, sizeof(word));
        for (size_t i = 0; i < LANES; i++)
            lane[i] = step(lane[i], word[i]);
    }
    memset(word, 0, sizeof(word));
    memcpy(word, p, left);
    for (size_t i = 0; i < LANES; i++)
        h = mix(h ^ step(lane[i], word[i]));
    return mix(h ^ n);
}
