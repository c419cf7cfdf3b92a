/* A 64-bit digest of bytes, for telling files and weights apart; it resists accidents, not people. */
#ifndef HX_DIGEST_H
#define HX_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* Of n bytes behind what gave h (0: nothing before), so that pieces can be chained; how they are cut matters.  About as fast as memory.
 * The same on every machine that is little-endian. */
uint64_t hx_digest(uint64_t h, const void *bytes, size_t n);

#endif
