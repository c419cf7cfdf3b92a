/* Kernels whose HX_TRIPS() do not fit their table: such code is charged wrongly, so each is told of, once.
 *
 * That is a number of a loop that the table does not have, or a loop that a finished call never told, not even that it made no
 * trip, although the loop around it ran.  A call that told no loop at all returned before them. */
#ifndef HX_CODE_CHECK_H
#define HX_CODE_CHECK_H

#include <stdint.h>

#include "hexrig_code.h"

/* Bits by level. */
struct hx_code_told {
    uint64_t told; /* by HX_TRIPS() */
    uint64_t ran;  /* with more than no trips */
};

/* Notes HX_TRIPS(level, trips) of code; false: there is no such loop, and that was told of. */
int hx_code_check_trips(struct hx_code_told *t, const struct hx_code *code, unsigned level, uint64_t trips);

/* A call of code is over. */
void hx_code_check_call(const struct hx_code_told *t, const struct hx_code *code);

/* Kernels told of so far in this PD. */
unsigned hx_code_check_kernels(void);

#endif
