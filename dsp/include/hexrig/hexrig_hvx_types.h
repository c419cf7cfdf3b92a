/* Vector and scalar types of the Hexagon SDK's <hexagon_types.h>, 128-byte HVX mode, on GCC vector
 * extensions; and what hexagon-clang predefines.
 *
 * HVX_Vector, HVX_VectorPair: 32 and 64 words.  They take operators, subscripts, unions, function
 * arguments and (in C++) template arguments as hexagon-clang's do.  The typedefs carry no `aligned`
 * attribute: the types are 128 and 256 bytes aligned by nature, and an attribute would be dropped
 * with a warning from template arguments. HVX_UVector: the same vector at any address (vmemu).
 * HVX_VectorPred: a vector whose byte i is 0xff where predicate bit i is set and 0 elsewhere, which
 * is what hexagon-clang keeps in memory too; hand only 0 and 0xff bytes to an intrinsic.
 *
 * HVX code reads float and int16_t arrays through HVX_Vector pointers.  In C the types may alias
 * anything; C++ does not let a template argument carry that, so C++ skels are built with
 * -fno-strict-aliasing (clang never needs it). */
#ifndef HEXRIG_HVX_TYPES_H
#define HEXRIG_HVX_TYPES_H

#include <stdint.h>

#include "hexrig_toolchain.h"

/* What hexagon-clang predefines, for code that asks.  __hexagon__ itself is the compiler command line's to define (docs/hvx.md). */
#ifndef HEXRIG_HVX_ARCH
#define HEXRIG_HVX_ARCH 69
#endif
#ifndef __HEXAGON_ARCH__
#define __HEXAGON_ARCH__ HEXRIG_HVX_ARCH
#endif
#ifndef __HVX__
#define __HVX__ 1
#endif
#ifndef __HVX_ARCH__
#define __HVX_ARCH__ HEXRIG_HVX_ARCH
#endif
#if defined(HEXRIG_HVX_IEEE) && !defined(__HVX_IEEE_FP__)
#define __HVX_IEEE_FP__ 1
#endif
#ifndef __HVX_LENGTH__
#define __HVX_LENGTH__ 128
#endif
#if __HVX_LENGTH__ != 128
#error "hexrig emulates the 128-byte mode of HVX only"
#endif

#if defined(HEXRIG_CHECK) && !defined(__cplusplus)
/* gcc's -fsanitize=alignment believes no more than the host's registers without the attribute */
#define HX_VECTOR_IS(bytes) __attribute__((vector_size(bytes), may_alias, aligned(bytes)))
#elif defined(__cplusplus)
#define HX_VECTOR_IS(bytes) __attribute__((vector_size(bytes)))
#else
#define HX_VECTOR_IS(bytes) __attribute__((vector_size(bytes), may_alias))
#endif

typedef int32_t HVX_Vector HX_VECTOR_IS(128);
typedef int32_t HVX_VectorPair HX_VECTOR_IS(256);
typedef HVX_Vector HVX_VectorPred;
typedef int32_t HVX_UVector __attribute__((vector_size(128), may_alias, aligned(1)));
typedef int32_t HVX_UVectorPair __attribute__((vector_size(256), may_alias, aligned(1)));

/* Operand types as the instruction set manual names them. */
typedef int8_t Byte;
typedef int16_t HWord;
typedef int32_t Word32;
typedef int64_t Word64;
typedef uint8_t UByte;
typedef uint16_t UHWord;
typedef uint32_t UWord32;
typedef uint64_t UWord64;
typedef int32_t Address;

/* Other names of the same. */
typedef HVX_Vector HEXAGON_Vect1024;
typedef HVX_VectorPair HEXAGON_Vect2048;
typedef HVX_VectorPred HEXAGON_VecPred128;
typedef HVX_UVector HEXAGON_UVect1024;
typedef HVX_UVectorPair HEXAGON_UVect2048;
typedef int HEXAGON_Pred;
typedef uint32_t HEXAGON_UVect32;
typedef uint64_t HEXAGON_UVect64;

#endif
