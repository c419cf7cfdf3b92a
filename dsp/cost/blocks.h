/* The price of scalar code without a listing, by basic blocks.
 *
 * Skels built with -fsanitize-coverage=trace-pc call __sanitizer_cov_trace_pc() in each block.  A block is priced when it runs for
 * the first time, by what its code does (host_code.h): two plain instructions to a packet, and a multiply or float operation
 * waits for most of the latency of the unit, since few loops have other work at hand.  Loads and stores are charged apart, but a
 * block that works on what it loads, or stores it, takes at least the latency of a load that hits L1.
 * Of machines whose code nobody here reads, each block has the price of an average one. */
#ifndef HX_BLOCKS_H
#define HX_BLOCKS_H

/* Forgets all blocks, as their addresses may belong to other code now. */
void hx_blocks_forget(void);

/* The callback. */
void __sanitizer_cov_trace_pc(void);

#endif
