/* The subspace that a planted model's stream lives in: an orthonormal basis, cut into zones, and directions within a zone. */
#ifndef HX_PLANTED_DIRECTIONS_H
#define HX_PLANTED_DIRECTIONS_H

#include <stddef.h>
#include <stdint.h>

struct hx_directions {
    size_t width;    /* of the stream */
    size_t rank;     /* vectors of the basis */
    size_t reserved; /* the first of them that no zone has */
    size_t zones;    /* the others are cut into */
    float *basis;    /* [rank + 1][width]; the last is orthogonal to the subspace */
};

/* rank < width, or equal to it: then there is no vector behind the basis.  0 or -ENOMEM; in any case to be freed. */
int hx_directions_open(struct hx_directions *d, uint64_t key);
void hx_directions_free(struct hx_directions *d);

/* Orthonormal rows out of random ones, n <= cols.  rows: [n][cols]. */
void hx_directions_orthonormal(float *rows, size_t n, size_t cols, uint64_t key);

/* Vectors `from`..`to`-1 of the basis are those of a zone. */
struct hx_zone {
    size_t from, to;
};
struct hx_zone hx_directions_zone(const struct hx_directions *d, size_t zone);

/* Direction n of a family of them: a unit vector in zone n % zones, out of some vectors of the basis, with signs by key.  to: [width]. */
void hx_directions_make(const struct hx_directions *d, size_t n, uint64_t key, float *to);

#endif
