#ifndef CYCLES_H
#define CYCLES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processor's cycle counter. */
uint64_t cycles_now(void);

#ifdef __cplusplus
}
#endif

#endif
