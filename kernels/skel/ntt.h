/* Negacyclic number-theoretic transform modulo q1 = 1073738753 or q2 = 1073732609, n = 64, 128, 256 or 512:
 *     forward: V[k] = sum over j of v[j] * psi^((2k+1) j) mod q, k in natural order,
 * psi = the power of the smallest base that is a 2n-th root of -1; inverse: back again.  In place, values 0..q-1.
 * Products of transforms, element by element, are transforms of products modulo x^n + 1. */
#ifndef NTT_H
#define NTT_H

#include <stddef.h>
#include <stdint.h>

enum { HX_NTT_MIN = 64, HX_NTT_MAX = 512 };

/* Tables of one (q, n), in one block: psi[n], ipsi[n] (times 1/n), w[n/2], winv[n/2], and w and winv again stage
 * after stage, n-1 words each (that of the stage of distance `half` begins at word half-1, so it is 4-byte aligned
 * only). */
struct hx_ntt {
    int n;
    uint32_t q;
    uint32_t *psi, *ipsi, *w, *winv, *stage, *istage;
};

/* Which tables to make. */
enum {
    HX_NTT_FORWARD = 1, /* psi, w */
    HX_NTT_INVERSE = 2, /* ipsi, winv, and psi */
    HX_NTT_STAGES = 4   /* what the HVX stages of these directions need, too */
};

/* The block's bytes; 8 of them are not used. */
static inline size_t hx_ntt_bytes(int n)
{
    return 20 * (size_t)n;
}

/* Searches the root and fills `block` (hx_ntt_bytes(n), 4-byte aligned, borrowed as long as *t is used); scalar code.
 * AEE_EBADPARM: unknown n or q. */
int hx_ntt_make(struct hx_ntt *t, uint32_t *block, int n, uint32_t q, unsigned what);

/* One direction; the tables have been made for it. */
struct hx_ntt_direction {
    int n;
    uint32_t q;
    const uint32_t *before; /* multiplied in first, or NULL */
    const uint32_t *after;  /* multiplied in last, or NULL */
    const uint32_t *w, *stage;
};
struct hx_ntt_direction hx_ntt_forward(const struct hx_ntt *t);
struct hx_ntt_direction hx_ntt_inverse(const struct hx_ntt *t);

/* The reference evaluates the sum above; it needs psi, not the tables. */
int hx_ntt_forward_ref(uint32_t *v, int n, uint32_t q, uint32_t psi);

/* All stages on the scalar unit, or those of distance 32 and more on HVX (v 128-byte aligned, else AEE_EBADPARM). */
int hx_ntt_scalar(const struct hx_ntt_direction *d, uint32_t *v);
int hx_ntt_hvx(const struct hx_ntt_direction *d, uint32_t *v);

/* --- between ntt_scalar.c and silicon/ntt_hvx.c */

/* What precedes the stage of distance `half`: weights, bit reversal, the stages before it. */
void hx_ntt_begin(const struct hx_ntt_direction *d, uint32_t *v, int half);
/* The weights that follow the last stage. */
void hx_ntt_end(const struct hx_ntt_direction *d, uint32_t *v);

#endif
