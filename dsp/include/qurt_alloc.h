/* The heap (published names): malloc() and its kin by QuRT's names. */
#ifndef QURT_ALLOC_H
#define QURT_ALLOC_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `size` bytes below 4 GiB until qurt_free(), or NULL. */
static inline void *qurt_malloc(unsigned int size)
{
    return malloc(size);
}

/* `num` elements of `elsize` bytes, all 0; NULL: no memory. */
static inline void *qurt_calloc(unsigned int elsize, unsigned int num)
{
    return calloc(num, elsize);
}

/* `ptr` with another size; NULL: no memory, and `ptr` stays. */
static inline void *qurt_realloc(void *ptr, int newsize)
{
    return realloc(ptr, (size_t)newsize);
}

/* NULL is accepted. */
static inline void qurt_free(void *ptr)
{
    free(ptr);
}

#ifdef __cplusplus
}
#endif

#endif
