/* The published headers with their functions visible outside of libcdsprpc.so (the build hides everything else).
 * Every source file of the library that defines a published function includes this one first. */
#ifndef HX_EXPORT_H
#define HX_EXPORT_H

#pragma GCC visibility push(default)
#include "dspqueue.h"
#include "hx_rig.h"
#include "remote.h"
#include "rpcmem.h"
#pragma GCC visibility pop

#endif
