/* Linear layers on the DSP, through interface hex_linear: int8 weights, activations quantised to int8 there.
 *
 * At open the matrices are packed into one buffer of shared memory (linear_pack.h), which is handed over once by its
 * descriptor; a call then names matrices.  q, k and v of a layer are one call, gate and up another, whatever the number of
 * vectors up to what a buffer of 16 MiB takes.  Results do not depend on placement, calls or batches. */
#ifndef HX_LINEAR_DSP_H
#define HX_LINEAR_DSP_H

#include "engine/linear.h"
#include "engine/method.h"

/* Where weights lie while the DSP works, by the DSP's numbers: read from memory, fetched per call, streamed; what fits stays in VTCM
 * from call to call and the rest streams, or, with `auto`, is read from memory where VTCM has no room at all. */
extern const char *const hx_placements[]; /* "ddr", "vtcm", "dma", "resident", "auto", NULL */

/* Option `placement`, for methods with weights on the DSP; ends with a NULL name. */
extern const struct hx_option hx_placement_option[];

extern const struct hx_method hx_method_linear_dsp;

/* Takes over the matrices of the set, until close; opens hex_linear on the CDSP in an unsigned PD.  placement: index into
 * hx_placements; packets: 1: calls go as packets (dsp/packets.h).
 * 0; -EINVAL: a matrix or all of them are too large; -ENOMEM; -EIO: the DSP refused something. */
int hx_linear_dsp_open(struct hx_linear_method **out, const struct hx_linear_set *set, uint32_t placement,
                       int packets, struct hx_error *err);

/* Matrices of low rank, of one open method: y[i] = ups[i] t of downs[of[i]], t = down x, which stays on the DSP: one call for n_ups
 * matrices whatever their bases, up to HX_LINEAR_PROJECT of either; n vectors as in apply().  of rises.  0; -EIO. */
enum { HX_LINEAR_PROJECT = 16 };

struct hx_linear_projection {
    const struct hx_linear *const *downs, *const *ups;
    const uint32_t *of; /* [n_ups] */
    size_t n_downs, n_ups;
};
int hx_linear_dsp_project(const struct hx_linear_projection *p, float *const *y, const float *x, size_t n, struct hx_error *err);

/* Matrices that are products of three, of one open method: y[i] = ups[i] (cores[i] (downs[i] x)), n of them up to HX_LINEAR_TOGETHER, in
 * one call; what lies between stays on the DSP; `vectors` as n in apply().  0; -EIO. */
struct hx_linear_sandwich {
    const struct hx_linear *const *downs, *const *cores, *const *ups;
    size_t n;
};
int hx_linear_dsp_sandwich(const struct hx_linear_sandwich *s, float *const *y, const float *x, size_t vectors, struct hx_error *err);

/* Matrices that read a small image of themselves where a gate there allows it (hex_linear.idl, gates and gated), of one open method. */
struct hx_linear_gate {
    const struct hx_linear *basis; /* [room][cols], HX_FORM_BASIS; all 0 from row k on */
    size_t k, first, n;            /* n parts from the first one on */
};
struct hx_linear_gate_part {
    const struct hx_linear *whole, *image; /* [rows][cols]; [rows][room], 0 from column k on */
};

/* Which there are from now on: gates take their parts one behind the other.  0; -ENOMEM; -EIO. */
int hx_linear_dsp_gates(struct hx_linear_method *m, const struct hx_linear_gate *list, size_t n, const struct hx_linear_gate_part *parts,
                        size_t n_parts, struct hx_error *err);

/* Which path a vector took, and whether its direction joined the basis. */
enum hx_linear_path {
    HX_LINEAR_SLOW,
    HX_LINEAR_FAST,
    HX_LINEAR_JOINED /* slow, and then it did */
};

struct hx_linear_gated {
    const uint32_t *which;            /* [n] parts, all of one gate, by their numbers in hx_linear_dsp_gates() */
    const struct hx_linear *const *w; /* [n]: their whole matrices */
    size_t n;
    float eps;                        /* INFINITY: there is no gate */
    uint32_t most;                    /* directions that may be reached by those that join */
};

/* y[m] for n vectors as in apply(), in one call; paths: [n] enum hx_linear_path.  0; -EIO. */
int hx_linear_dsp_gated(const struct hx_linear_gated *g, float *const *y, const float *x, size_t n, uint32_t *paths, struct hx_error *err);

/* 1: a matrix that an open method of this kind applies. */
int hx_linear_is_dsp(const struct hx_linear *w);

/* Directions q [f][cols] of such a matrix' input, orthonormal, that hx_linear_dsp_guarded() looks at; those before go.  f 0: none.  A
 * vector whose length in them, by its own, is above `above` loses it.  *in_vtcm: bytes of them that are in VTCM; 0: they are in memory.
 * 0; -EIO. */
int hx_linear_dsp_guard(const struct hx_linear *w, const float *q, size_t f, float above, size_t *in_vtcm, struct hx_error *err);

/* As apply() of w for n vectors, or, with ids, argmax(); behind the guard; teh [n]: each vector's length in its directions by
 * its own.  Of y [n][rows] and ids [n] one is NULL.  0; -EIO; -EDOM as argmax(). */
int hx_linear_dsp_guarded(const struct hx_linear *w, float *y, uint32_t *ids, const float *x, size_t n, float *teh,
                          struct hx_error *err);

/* Of `resident` and `auto`: which matrices stay, wholly or in part, which stream, and why, and bytes by layer; asks the DSP.  Else the
 * placement alone.  NULL: out of memory. */
json_t *hx_linear_dsp_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p);

#endif
