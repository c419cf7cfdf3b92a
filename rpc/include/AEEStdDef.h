/* Common types of FastRPC interfaces, as code written for Qualcomm's headers spells them. */
#ifndef AEESTDDEF_H
#define AEESTDDEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int AEEResult; /* 0 or an AEE code, see AEEStdErr.h */

typedef uint32_t AEEUID;
typedef uint32_t AEEIID;
typedef uint32_t AEECLSID;
typedef uint32_t AEEPRIVID;
typedef uint16_t AECHAR;

/* Older spellings of <stdint.h>. */
typedef int8_t int8;
typedef uint8_t uint8;
typedef int16_t int16;
typedef uint16_t uint16;
typedef int32_t int32;
typedef uint32_t uint32;
typedef int64_t int64;
typedef uint64_t uint64;
typedef unsigned char byte;
typedef unsigned char boolean;
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

#endif
