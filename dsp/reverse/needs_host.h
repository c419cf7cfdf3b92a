/* Whether a skel will call its host: told before its open() is called, so that the client can start a listener for it. */
#ifndef HX_NEEDS_HOST_H
#define HX_NEEDS_HOST_H

#include <stdbool.h>

/* `dl` is dlopen()'s.  True when the library, or one of its folder that was loaded with it, has a function of the host's among those that
 * it wants from elsewhere: fopen, fopen64, apps_std_*, apps_mem_*, adspmsgd_apps_*, remote_handle_*.  What lies elsewhere is the system's
 * (libgomp calls fopen(), for files of its own machine) and does not count. */
bool hx_needs_host(void *dl);

#endif
