/* Attention method `flash`: online softmax over blocks of positions, heads and tokens spread over the pool's threads.
 *
 * Tolerance: within 1e-5 of the reference, relative to the largest |V| that a token sees.  A token's result depends neither on
 * the batch nor on the number of threads.  Soft-caps and windows are included; no memory is allocated after open.
 * Sources: Milakov & Gimelshein 2018; Dao et al. 2022. */
#ifndef HX_ATTN_FLASH_H
#define HX_ATTN_FLASH_H

#include "engine/attn.h"
#include "methods/cpu/isa/isa.h"
#include "base/pool.h"

/* pool is borrowed until close.  isa: NULL for the best of this machine.  0 or -ENOMEM. */
int hx_attn_flash_open(struct hx_attn **out, const struct hx_cpu_kernels *isa, struct hx_pool *pool,
                       struct hx_error *err);

#endif
