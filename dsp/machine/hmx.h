/* HMX as threads take it; the instructions are in hexrig_asm.h. */
#ifndef HX_HMX_H
#define HX_HMX_H

/* The calling thread takes HMX, which is one for all PDs, when it is free.  0; AEE_EALREADY: it has it. */
int hx_hmx_lock(void);

/* 0; AEE_EBADSTATE: the calling thread does not have it. */
int hx_hmx_unlock(void);

#endif
