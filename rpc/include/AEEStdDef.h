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
/* Of IDL files, too.  Host code passes `long long` to what an IDL compiler declares; DSP code was written for a machine whose int64_t is
 * `long long`, and defines it with either.  Here int64_t is `long`, so that skels (the flags of hexrig-skel.pc define HEXRIG_SKEL) have
 * that, and all else has the other. */
#if defined(HEXRIG_SKEL) || defined(__hexagon__)
typedef int64_t int64;
typedef uint64_t uint64;
#else
typedef long long int64;
typedef unsigned long long uint64;
#endif
typedef unsigned char byte;
typedef unsigned char boolean;
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

#define MIN_AECHAR 0
#define MAX_AECHAR 65535

/* Text and wide text; both lengths count the NUL. */
typedef struct _cstring_s {
    char *data;
    int dataLen; /* room, elements */
    int dataLenReq; /* what it would take */
} _cstring_t;
typedef struct _wstring_s {
    unsigned short *data;
    int dataLen;
    int dataLenReq;
} _wstring_t;

#endif
