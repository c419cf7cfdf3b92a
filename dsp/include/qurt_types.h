/* QuRT's basic types (published names). */
#ifndef QURT_TYPES_H
#define QURT_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned long long qurt_time_t;
typedef unsigned int qurt_addr_t;
typedef unsigned int qurt_size_t;

#define QURT_TIME_NO_WAIT 0x00000000
#define QURT_TIME_WAIT_FOREVER 0xFFFFFFFF

#endif
