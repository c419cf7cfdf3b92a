/* A ring's modulus, for ring_ntt_hvx.c and ring_memory_hvx.c. */
#ifndef RING_MODULUS_H
#define RING_MODULUS_H

#include "ring_ntt.h"
#include "skel/mod30.h"

HX_INLINE struct hx_mod30 hx_ring_modulus(const struct hx_ring *r)
{
    return hx_mod30_splat(r->q, r->mu);
}

#endif
