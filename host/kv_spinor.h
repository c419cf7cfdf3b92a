/* KV cache of 63-byte spinor blocks that the DSP encodes and decodes over FastRPC (interface sp_hex).
 *
 * Density says how the work is cut into calls:
 *   per-vector  one call per K or V vector, in ordinary memory, so that its bytes are copied; tokens come one by one;
 *   batched     per layer one encode of all new positions and one decode of all past ones, in rpcmem, so that its bytes
 *               are shared; no decode when there is no past.
 * What the cache returns does not depend on it. */
#ifndef HX_KV_SPINOR_H
#define HX_KV_SPINOR_H

#include "cal_file.h"
#include "kv.h"
#include "model.h"

/* Names of the densities, NULL-terminated. */
extern const char *const hx_kv_spinor_densities[];

/* Opens sp_hex on the CDSP in an unsigned PD and hands it the tables (borrowed for the call), which must be of this
 * model.  0; -EINVAL (dh is not 128, unknown density, tables of another model, context too long for one call); -ENOMEM;
 * -EIO (the DSP refused or damaged something). */
int hx_kv_spinor_open(struct hx_kv **out, const struct hx_model *m, const struct hx_cal *cal,
                      const char *density, size_t n_ctx, struct hx_why *why);

#endif
