/* How interface kv_proj keeps projected K and V, and their bases, in two buffers of the client's.
 *
 * Past: for each layer and KV head K in tiles of as many positions as a vector of 128 bytes has coefficients (64 of f16, 32 of f32), a
 * vector for each direction, [tile][rank, made even][positions of a tile]; of f16 a vector has positions i and 32 + i beside each other.
 * Then V row by row, [position][rank], and 128 bytes behind the last row, for loads of whole vectors.
 *
 * Bases: for each layer and KV head, f32: K [dh][directions], V [dh][directions], V back [directions][dh]; directions are the rank, made a
 * multiple of 32 by zeros. */
#ifndef HX_KV_PROJ_LAYOUT_H
#define HX_KV_PROJ_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum { HX_KV_PROJ_VECTOR = 128, HX_KV_PROJ_WORDS = 32 };

static inline size_t hx_kv_proj_round(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Positions of a tile. */
static inline size_t hx_kv_proj_tile(size_t z_bytes)
{
    return HX_KV_PROJ_VECTOR / z_bytes;
}

/* Bytes of a tile. */
static inline size_t hx_kv_proj_tile_bytes(size_t rank)
{
    return hx_kv_proj_round(rank, 2) * HX_KV_PROJ_VECTOR;
}

/* Bytes of a KV head of a layer: of its K, and of both. */
static inline uint64_t hx_kv_proj_k_bytes(size_t positions, size_t rank, size_t z_bytes)
{
    const size_t tile = hx_kv_proj_tile(z_bytes);

    return (uint64_t)((positions + tile - 1) / tile) * hx_kv_proj_tile_bytes(rank);
}

static inline uint64_t hx_kv_proj_head_bytes(size_t positions, size_t rank, size_t z_bytes)
{
    const uint64_t v = (uint64_t)positions * rank * z_bytes + HX_KV_PROJ_VECTOR;

    return hx_kv_proj_k_bytes(positions, rank, z_bytes) + (v + HX_KV_PROJ_VECTOR - 1) / HX_KV_PROJ_VECTOR * HX_KV_PROJ_VECTOR;
}

/* Floats of a matrix of the bases, and of the three of a KV head of a layer. */
static inline size_t hx_kv_proj_matrix_floats(size_t dh, size_t rank)
{
    return dh * hx_kv_proj_round(rank, HX_KV_PROJ_WORDS);
}

static inline size_t hx_kv_proj_basis_floats(size_t dh, size_t rank)
{
    return 3 * hx_kv_proj_matrix_floats(dh, rank);
}

#endif
