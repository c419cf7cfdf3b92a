/* The scalar intrinsics of V69, as <hexagon_protos.h> of hexagon-clang declares them, in portable C.
 *
 * Each is defined in one line of the header of its family; hexrig_scalar.h explains the notation.  docs/skel.md says how they
 * are verified.  The `__builtin_HEXAGON_*` spellings that other people's headers use lead to the same functions. */
#ifndef HEXAGON_PROTOS_H
#define HEXAGON_PROTOS_H

#include "hexrig_hvx_types.h"

#include "hexrig_dma.h"
#include "hexrig_scalar_builtins.h"

#include "hexrig_scalar_alu.h"
#include "hexrig_scalar_bits.h"
#include "hexrig_scalar_float.h"
#include "hexrig_scalar_mem.h"
#include "hexrig_scalar_mpy.h"
#include "hexrig_scalar_mpyv.h"
#include "hexrig_scalar_pred.h"
#include "hexrig_scalar_shift.h"
#include "hexrig_scalar_vec.h"

#include "hexrig_scalar_names.h"

/* as there: with HVX come its intrinsics */
#include "hexagon_circ_brev_intrinsics.h"
#include "hvx_hexagon_protos.h"

#endif
