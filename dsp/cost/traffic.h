/* Counts what the threads of a call move (hx_traffic.h), and their HVX operations.
 *
 * A thread counts for itself, and adds that to its call's sums with its next operation that others can notice (vtime.h).  So whoever
 * has waited for a thread finds what it moved. */
#ifndef HX_COST_TRAFFIC_H
#define HX_COST_TRAFFIC_H

#include "hx_traffic.h"

/* A call, or a thread that works for one, begins. */
void hx_traffic_begin(void);

/* The thread moves `bytes` of what `at` lies in. */
void hx_traffic_count(enum hx_traffic_place place, uint64_t at, uint64_t bytes);

/* The same by DMA, in one piece. */
void hx_traffic_dma(uint64_t from, uint64_t to, uint64_t bytes);

/* Adds what the thread has counted to its call's sums. */
void hx_traffic_settle(void);

/* What the calling thread's call has moved so far. */
struct hx_traffic hx_traffic_spent(void);

/* HVX operations of all threads that have worked for it. */
uint64_t hx_traffic_hvx_ops(void);

#endif
