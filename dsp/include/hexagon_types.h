/* The types of Hexagon code and all that comes with them, as hexagon-clang's <hexagon_types.h> brings it: vector and scalar types
 * (hexrig_hvx_types.h), macros that take registers apart (hexrig_accessors.h), and every intrinsic, scalar and HVX. */
#ifndef HEXAGON_TYPES_H
#define HEXAGON_TYPES_H

#include "hexrig_hvx_types.h"

#include "hexrig_accessors.h"

#include "hexagon_protos.h"

#endif
