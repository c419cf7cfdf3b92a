/* Memory that is passed on by its descriptor. */
#ifndef HX_MEMFD_H
#define HX_MEMFD_H

#include <stdint.h>

/* A memfd called `name`: `bytes` bytes of zeros, whose number is sealed, so that nobody who maps it can be ended (SIGBUS)
 * by somebody who truncates it.  flags: MFD_CLOEXEC or 0.  The descriptor, the caller's, or negative errno. */
int hx_memfd_make(const char *name, uint64_t bytes, unsigned flags);

#endif
