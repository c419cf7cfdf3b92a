/* Just enough of <stdlib.h> to compile kernels for Hexagon where the compiler has no C library. */
#ifndef HEXRIG_LIBC_STDLIB_H
#define HEXRIG_LIBC_STDLIB_H

#include <stddef.h>

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
void free(void *p);
void *memalign(size_t alignment, size_t n);
void *aligned_alloc(size_t alignment, size_t n);
int posix_memalign(void **p, size_t alignment, size_t n);
int abs(int x);
long labs(long x);
int atoi(const char *s);
long strtol(const char *s, char **end, int base);
unsigned long strtoul(const char *s, char **end, int base);
float strtof(const char *s, char **end);
double strtod(const char *s, char **end);
int rand(void);
void srand(unsigned seed);
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *a, const void *b));
char *getenv(const char *name);
_Noreturn void abort(void);
_Noreturn void exit(int status);

#endif
