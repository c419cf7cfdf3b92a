/* What a thread that serves calls or packets needs of the PD's heap for itself. */
#ifndef HX_SETTLE_IN_H
#define HX_SETTLE_IN_H

/* Allocates it.  To be called first in the thread, while its creator waits: otherwise a skel's memory, and with it the cost model's
 * figures, would depend on how soon the thread runs, or which one happens to serve a call. */
void hx_settle_in(void);

/* Last in a thread that ends. */
void hx_settle_out(void);

#endif
