/* What a basic block of a skel does, read from the host's machine code.
 *
 * The compiler puts a call into each block (-fsanitize-coverage=trace-pc); what stands behind that call up to the next block's is
 * decoded once, when the block runs for the first time.  Counted is what a DSP has to do as well: arithmetic, selects, branches
 * forward.  Left out is what only the host needs: moves between registers and to the stack, address increments and loop ends,
 * which Hexagon has for nothing, and the host's vector instructions, whose work the HVX intrinsics count themselves.  Loads and
 * stores tell of themselves (hexrig_hvx_trace.h). */
#ifndef HX_HOST_CODE_H
#define HX_HOST_CODE_H

#ifdef __x86_64__
enum { HX_HOST_CODE_IS_READ = 1 };
#else
enum { HX_HOST_CODE_IS_READ = 0 };
#endif

struct hx_host_block {
    unsigned plain;       /* integer arithmetic, selects, branches forward */
    unsigned slow;        /* multiplies, float arithmetic, conversions; a multiply of doubles is three */
    unsigned float_div;   /* divisions, square roots */
    unsigned int_div;
    unsigned calls;       /* of other functions */
    unsigned accesses;    /* loads and stores that tell of themselves */
    unsigned hvx;         /* HVX intrinsics */
};

/* What a call is for, by the address of the function. */
enum hx_host_call {
    HX_HOST_CALL,       /* a function of the skel's or of libc's */
    HX_HOST_CALL_BLOCK, /* the next block begins */
    HX_HOST_CALL_ACCESS, /* a load or store tells of itself */
    HX_HOST_CALL_TOOL,  /* other instrumentation: the DSP would not call */
};

/* `pc` is where the call of a block's callback returns to.  0, or -1: no such call stands before it (a block that ends in a jump to
 * the callback returns elsewhere), or HX_HOST_CODE_IS_READ is 0. */
int hx_host_block_at(const void *pc, enum hx_host_call (*kind_of)(const void *function), struct hx_host_block *out);

#endif
