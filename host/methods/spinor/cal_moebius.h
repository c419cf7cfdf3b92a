/* Tables that need no calibration. */
#ifndef HX_CAL_MOEBIUS_H
#define HX_CAL_MOEBIUS_H

#include "hx_block_codec.h"

/* The table of any slot: skeleton = the first squarefree indices; coefficient n (counted from 1) is predicted as the sum over the
 * divisors d of n with n/d in the skeleton of mu(d) times that skeleton value.  f: basis vht2 or vht2w.  table:
 * [hx_block_table_bytes()], 2-byte aligned. */
void hx_moebius_table(const struct hx_codec_format *f, void *table);

#endif
