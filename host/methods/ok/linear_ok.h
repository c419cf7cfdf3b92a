/* Linear method `ok`: q, k, v, o, gate, up and down as products in the ring of integers of Q(sqrt(-163)).
 *
 * At open every matrix is encoded (ok.h), shimmed, checked element by element, and laid out in planes of int32
 * (ok_planes.h).  A product rounds the activations to integers with one scale per vector, sums exactly in int64, un-shims
 * with every division checked, and makes one float of  sum * (row scale * vector scale).  With a scale for every 32 weights the
 * sum, the un-shim and the product with the scale are those of a block, and a row's blocks are added up in double, from left to
 * right.  So for one q_max and one x_bits
 * all modes give the same bits, on every kernel, on any number of threads, for any batch, here or on the DSP.
 * Embeddings, norms and the output matrix stay what they are. */
#ifndef HX_LINEAR_OK_H
#define HX_LINEAR_OK_H

#include "engine/linear.h"
#include "engine/method.h"
#include "model/model.h"
#include "ok.h"
#include "ok_planes.h"
#include "base/pool.h"

enum hx_ok_mode {
    HX_OK_NATIVE, /* no shim */
    HX_OK_B,      /* pi_p^k on every matrix */
    HX_OK_E,      /* 2^2 and pi_p^k by turns */
    HX_OK_MODES
};

/* Zeros mean the defaults. */
struct hx_ok_cfg {
    enum hx_ok_mode mode;
    unsigned p, k;       /* 41, 8 */
    unsigned q_max;      /* 9: |a| <= 2^q_max */
    int by_block;        /* 1: a scale for each HX_OK_BLOCK weights of a row (hx_ok_tensor_of_blocks()); 0: for each row */
    unsigned x_bits;     /* |x| <= 2^x_bits; default hx_ok_default_x_bits(), the same in all modes */
    const char *kernel;  /* name of one of hx_ok_kernels; default the fastest of this CPU */
    int packets;         /* 1: calls of the DSP go as packets (dsp/packets.h) */
};

/* "native", "B", "E" */
extern const char *const hx_ok_modes[];

/* What headroom pi_41^8 leaves over the model's widest matrix, at most 16. */
unsigned hx_ok_default_x_bits(const struct hx_model *m, unsigned q_max);

/* Takes over the set's matrices but the output one; of those that are `on_dsp` the DSP makes the sums, interface ok_linear.
 * m: the model they are of.  pool is borrowed until close.
 * 0; -EINVAL: cfg is not legal; -ERANGE: no headroom; -EDOM: a weight is not finite; -ENOMEM; with some on
 * the DSP: as hx_linear_dsp_open(). */
int hx_linear_ok_open(struct hx_linear_method **out, const struct hx_model *m, const struct hx_linear_set *set,
                      const struct hx_ok_cfg *cfg, struct hx_pool *pool, struct hx_error *err);

/* What an open method does and has done. */
struct hx_ok_report {
    enum hx_ok_mode mode;
    unsigned p, k, q_max, x_bits;
    const char *kernel;        /* "hvx" where the DSP sums */
    size_t matrices;
    size_t split;              /* of them, with coordinates beyond int32: two planes each, half as fast */
    uint64_t bytes;            /* of all planes */
    int by_block;
    size_t kept;               /* matrices whose weights were integers already, with these scales */
    double amax_ratio;         /* largest coordinate with the shim over the largest without */
    double lane_ratio;         /* largest coordinate over what an int32 holds: above 1 they are cut */
    double rel_l2;             /* of all weights: |decoded - W| / |W| */
    struct hx_ok_count count;  /* of all products so far */
};

void hx_linear_ok_report(const struct hx_linear_method *method, struct hx_ok_report *out);

/* Planes of matrix i < matrices, the method's; layer by layer q, k, v, o, gate, up, down, those that there are. */
const struct hx_ok_planes *hx_linear_ok_planes(const struct hx_linear_method *method, size_t i);

#endif
