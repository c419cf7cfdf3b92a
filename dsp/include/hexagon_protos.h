/* Scalar Q6_ intrinsics that HVX kernels use, as <hexagon_protos.h> declares them. */
#ifndef HEXAGON_PROTOS_H
#define HEXAGON_PROTOS_H

#include "hexagon_types.h"

#endif
