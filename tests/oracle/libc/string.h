/* Just enough of <string.h> to compile the kernels for Hexagon without a C library there. */
#ifndef ORACLE_STRING_H
#define ORACLE_STRING_H

#include <stddef.h>

void *memcpy(void *d, const void *s, size_t n);
void *memmove(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
