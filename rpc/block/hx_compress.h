/* A compressed K or V vector: VHT2, the coefficients in Moebius order, bands (hx_bands.h).  76 bytes for a K of 128 floats.
 *
 * A power of two from 8 to 1024 is transformed as it is, by the Walsh-Hadamard transform; any other length from 8 to 770 is padded
 * with its mean to the next squarefree product of 2, 3, 5, 7 and 11 (80 and 96 to 105).  The order puts coefficients with
 * mu != 0 first, ascending: `ship`, that of powers of two, numbers them from 0 and has mu(0) = 0; `block`, that of padded
 * vectors, numbers them from 1, as the spinor block does.
 *
 * The plain C of it in fp64.  Buffers are borrowed for the call; any thread. */
#ifndef HX_COMPRESS_H
#define HX_COMPRESS_H

#include <stddef.h>

#include "hx_bands.h"

enum hx_mobius { HX_MOBIUS_SHIP, HX_MOBIUS_BLOCK, HX_MOBIUS_ORDERS };

enum { HX_MOBIUS_MAX = HX_BAND_MAX_N };

extern const char *const hx_mobius_names[HX_MOBIUS_ORDERS + 1]; /* "ship", "block", NULL */

/* order[0..n-1], a permutation of 0..n-1; 1 <= n <= HX_MOBIUS_MAX.  Returns how many have mu != 0: 93 (ship) and 94 (block) of
 * 154. */
int hx_mobius_order(int n, enum hx_mobius kind, uint16_t *order);

struct hx_compress {
    int dh, n;                     /* floats, coefficients */
    enum hx_mobius kind;
    uint16_t order[HX_MOBIUS_MAX]; /* [n] */
    struct hx_bands bands;
    int bytes;                     /* of the codes */
};

/* "8 to 770, or 1024": the legal head dimensions in words. */
#define HX_COMPRESS_LEGAL "8 to 770, or 1024"

/* How vectors of dh floats become codes: K in bands of 5, 5, 4 and 3 bits, V in one of 3.  0, or -EINVAL: another dh. */
int hx_compress_init(struct hx_compress *c, int dh, int is_v);

/* x[dh] -> codes[bytes].  0, or -EDOM and nothing written: a value, or a coefficient, is not finite. */
int hx_compress_encode(const struct hx_compress *c, const float *x, uint8_t *codes);

/* And back, from the first n_bands bands.  0, or -EINVAL as of hx_bands_decode(). */
int hx_compress_decode(const struct hx_compress *c, int n_bands, const uint8_t *codes, float *x);

#endif
