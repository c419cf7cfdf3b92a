/* KV cache of compressed vectors (rpc/block/hx_compress.h): the published form without calibration, 76 bytes for a K of 128
 * floats, in place of 512.  K is coded after RoPE, as attention uses it.
 *
 * The same bytes come from this CPU (the plain C, in fp64) and from the DSP (sp_hex, fp32 and qf32), but where a coefficient lies
 * about midway between two codes.  On the DSP each layer makes one call per put(), and one for rows().
 * What V loses costs more than what K loses, so V may have K's bands, or stay as it is. */
#ifndef HX_KV_BANDED_H
#define HX_KV_BANDED_H

#include "engine/kv.h"
#include "hx_compress.h"
#include "model/model.h"

enum hx_banded_v {
    HX_BANDED_V_3,   /* one band of 3 bits, as published */
    HX_BANDED_V_K,   /* as K */
    HX_BANDED_V_F32, /* not coded */
};

extern const char *const hx_banded_v_names[]; /* "3", "5543", "f32", NULL */

/* Who codes. */
enum hx_banded_by {
    HX_BANDED_CPU,
    HX_BANDED_DSP,
    HX_BANDED_DSP_PACKETS, /* calls go as packets (dsp/packets.h) */
};

/* 0; -EINVAL: a head dimension that cannot be compressed, a context too long for one call; -ENOMEM; with the DSP: what
 * hx_skel_open() returns. */
int hx_kv_banded_open(struct hx_kv **out, const struct hx_model *m, enum hx_banded_v v, enum hx_banded_by by, size_t n_ctx,
                      struct hx_error *err);

/* K (is_v 0) or V as it is coded, and how near what comes back is to what was put, by now; of V in f32 there is no format. */
struct hx_banded_state {
    const struct hx_compress *format; /* NULL: f32 */
    size_t vectors;
    double cosine, cosine_min;        /* mean, smallest; 0 without vectors */
};
struct hx_banded_state hx_kv_banded_state(const struct hx_kv *kv, int is_v);

#endif
