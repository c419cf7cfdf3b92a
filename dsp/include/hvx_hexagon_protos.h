/* The HVX intrinsics of V69 in 128-byte mode, as <hvx_hexagon_protos.h> of hexagon-clang declares
 * them, in portable C.
 *
 * Names, operand order and results are the published ones; docs/hvx.md lists the coverage.  Each
 * intrinsic counts itself under -DHEXRIG_COUNT (hexrig_hvx_count.h). */
#ifndef HVX_HEXAGON_PROTOS_H
#define HVX_HEXAGON_PROTOS_H

#include "hexrig_hvx_types.h"
#include "hexrig_hvx_lanes.h"

#include "hexrig_hvx_alu.h"
#include "hexrig_hvx_shift.h"
#include "hexrig_hvx_narrow.h"
#include "hexrig_hvx_mpy.h"
#include "hexrig_hvx_perm.h"
#include "hexrig_hvx_bits.h"
#include "hexrig_hvx_pack.h"
#include "hexrig_hvx_lut.h"
#include "hexrig_hvx_mem.h"
#include "hexrig_hvx_float.h"
#include "hexrig_hvx_ieee.h"
#include "hexrig_hvx_builtins.h"
#include "hexrig_hvx_names.h"

#include "hexrig_hvx_splat_check.h"

#endif
