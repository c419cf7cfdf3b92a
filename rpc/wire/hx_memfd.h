/* Memory that is passed on by its descriptor. */
#ifndef HX_MEMFD_H
#define HX_MEMFD_H

#include <stdint.h>

/* A memfd called `name` of `bytes` zeros, whose size is sealed, so that nobody can kill (SIGBUS) those who map it by
 * truncating it.  flags: MFD_CLOEXEC or 0.  Returns the descriptor, owned by the caller, or negative errno. */
int hx_memfd_make(const char *name, uint64_t bytes, unsigned flags);

#endif
