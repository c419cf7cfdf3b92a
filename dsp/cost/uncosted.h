/* Which code of this PD has no exact price, so that nothing is free, or a guess, in silence.
 *
 * A price is exact where a listing gives it (hexrig_code.h).  Elsewhere, code that is built with the trace flags is charged by an
 * estimate, and code that is not costs nothing but its HVX operations.  Both are told by name: each function, or library when no more
 * is known, once in the log, and with what is known of it in the table that the driver reads (hx_uncosted.h).  A function that was
 * estimated is told of when it has a fiftieth of a call and more than 500 pcycles of it.
 *
 * A library whose authors know all that and have a reason says so by a symbol, see hexrig_uncosted.h: it is in the table, and not in
 * the log.
 *
 * Functions have numbers below HX_UNCOSTED_FUNCTIONS; 0 is one that nobody knows.  All may be called by any thread. */
#ifndef HX_UNCOSTED_PD_H
#define HX_UNCOSTED_PD_H

#include <stdint.h>

#include "hx_uncosted.h"

enum { HX_UNCOSTED_FUNCTIONS = 512 };

/* Sets where the table is; kept.  Before, and without, nobody is told. */
void hx_uncosted_open(struct hx_uncosted_table *table);

/* A library was loaded: `handle` is dlopen()'s, name its file's without folder.  Its number as a function.  *replaced: its code lies
 * where another library's was. */
unsigned hx_uncosted_module(void *handle, const char *name, int *replaced);

/* The function that `pc` lies in. */
unsigned hx_uncosted_function(const void *pc);

/* A call of the library `module` begins and ends on this thread.  `exec_pcycles`: what it was charged. */
void hx_uncosted_call_begin(unsigned module);
void hx_uncosted_call_end(uint64_t exec_pcycles);

/* The thread was charged this much for `function` by an estimate. */
void hx_uncosted_estimated(unsigned function, double pcycles, uint64_t hvx_ops);

/* The thread enters, or has left, code that a listing pays for. */
void hx_uncosted_listed(int listed);

/* `caller` is about to call `callee`: if that is a function of another library's, it is told of as one without a price. */
void hx_uncosted_callee(unsigned caller, const void *callee);

/* Tells of whatever else has no price, once: a function and the reason. */
void hx_uncosted_name(const char *name, const char *reason);

#endif
