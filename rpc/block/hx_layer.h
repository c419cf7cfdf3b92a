/* How interface hex_layer keeps the K and V of past positions, in a buffer of the client's: f32, and for each layer and KV head K in
 * tiles of 32 positions, [tile][head_width][32], then V row by row, [position][head_width], with as many positions. */
#ifndef HX_LAYER_H
#define HX_LAYER_H

#include <stddef.h>
#include <stdint.h>

enum { HX_LAYER_TILE = 32 }; /* positions */

/* Tiles that hold n positions. */
static inline size_t hx_layer_tiles(size_t n)
{
    return (n + HX_LAYER_TILE - 1) / HX_LAYER_TILE;
}

/* Floats of the K, or of the V, of one KV head of a layer. */
static inline uint64_t hx_layer_head_floats(size_t positions, size_t head_width)
{
    return (uint64_t)hx_layer_tiles(positions) * HX_LAYER_TILE * head_width;
}

/* Bytes of the whole buffer. */
static inline uint64_t hx_layer_cache_bytes(size_t layers, size_t kv_heads, size_t positions, size_t head_width)
{
    return 2 * (uint64_t)layers * kv_heads * hx_layer_head_floats(positions, head_width) * sizeof(float);
}

#endif
