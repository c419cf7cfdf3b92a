/* What functions of libc's cost on the DSP.
 *
 * Skels that are linked with the flags of hexrig-skel.pc (-Wl,--wrap=NAME) call __wrap_NAME() here, which charges the thread and
 * does what NAME does.  Inside a function with a listing they are charged, too: a listing has no packets for what is called.  Copies of
 * up to 256 bytes are left to it, as the compilers make them in line or not as they like. */
#ifndef HX_LIBC_COST_H
#define HX_LIBC_COST_H

/* Whether this is the address of such a __wrap_NAME(). */
int hx_libc_has_price(const void *function);

#endif
