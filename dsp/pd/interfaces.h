/* Tells the driver which interfaces this PD has opened, and what their methods are called (rpc/wire/hx_interfaces.h). */
#ifndef HX_DSP_INTERFACES_H
#define HX_DSP_INTERFACES_H

#include "hx_interfaces.h"

/* Where they are written from now on.  Before the first call. */
void hx_interfaces_open(struct hx_interface_table *table);

/* The number of the interface whose entry point is `symbol`, NAME_skel_invoke or NAME_skel_handle_invoke, in the loaded library `dl` with
 * the file name `library`; the same pair has the same number again.  Methods' names come from the library's
 * NAME_skel_methods, if it has one (hexidl writes it).  0: no room, or nobody to tell.  Any thread. */
unsigned hx_interface_number(void *dl, const char *library, const char *symbol);

#endif
