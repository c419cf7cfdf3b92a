/* What hexagon-clang and its C library have and the host's do not, or not by that name.
 *
 * Every Hexagon header here brings it.  Sources that use these and include none of them are compiled with
 * `-include hexrig_toolchain.h`. */
#ifndef HEXRIG_TOOLCHAIN_H
#define HEXRIG_TOOLCHAIN_H

#include <malloc.h> /* memalign(): the Hexagon library has it in <stdlib.h> */

/* Hexagon's compiler has __fp16, as clang has it everywhere.  gcc for x86 calls it _Float16: in C, in C++ from 13 on; before, C++ gets
 * a class that is stored as a half and computes as a float. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__fp16)
#ifdef __FLT16_MAX__
#define __fp16 _Float16
#elif defined(__cplusplus)
#include "hexrig_half.h"
#define __fp16 hx_half
#endif
#endif

/* "This holds": the optimiser may rely on it. */
#if !defined(__clang__) && !defined(__builtin_assume)
#define __builtin_assume(condition) ((void)((condition) ? 0 : (__builtin_unreachable(), 0)))
#endif

#endif
