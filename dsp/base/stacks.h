/* The stacks of the PD's threads.  What lies there is the host compiler's doing (spilled registers, where locals lie), so the cost model
 * leaves it out. */
#ifndef HX_STACKS_H
#define HX_STACKS_H

#include <stddef.h>

/* The calling thread's stack counts from now on, until hx_stacks_end().  Once per thread; more do nothing. */
void hx_stacks_begin(void);
void hx_stacks_end(void);

/* 1 when p lies on the calling thread's stack. */
int hx_on_stack(const void *p);

/* Bytes of the calling thread's stack below p, which lies on it; 0: it does not. */
size_t hx_stack_left(const void *p);

/* 1 when p lies on the stack of any thread that has begun. */
int hx_on_any_stack(const void *p);

#endif
